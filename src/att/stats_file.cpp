// stats_ui_output_*.csv: the rows of code.json without their line numbers, by code object and
// address (docs/facts/thread_trace.md "Stats files").
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "att/parse.h"
#include "att/rows.h"
#include "base/text/csv.h"
#include "base/text/text.h"

namespace perflab::att {
namespace {

/// Columns by name; `order` is their index in a row.
constexpr std::array<std::string_view, 8> kColumns{"CodeObj", "Vaddr", "Instruction", "Hitcount",
                                                   "Latency", "Stall", "Idle",        "Source"};
using Order = std::array<std::size_t, kColumns.size()>;

Result<Order> order_of(std::span<const std::string_view> header, std::string_view file) {
  Order order{};
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    const auto found = std::ranges::find(header, kColumns.at(i), trimmed);
    if (found == header.end())
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: is not a stats file of a thread trace: it has no column {}",
                              file, kColumns.at(i)));
    order.at(i) = static_cast<std::size_t>(found - header.begin());
  }
  return order;
}

std::optional<CodeRow> stats_row(std::span<const std::string_view> fields, const Order& order) {
  const auto number = [&](std::size_t column) {
    return whole_number(trimmed(fields[order.at(column)]));
  };
  const auto object = number(0), vaddr = number(1), hits = number(3), latency = number(4),
             stall = number(5), idle = number(6);
  if (!object || !vaddr || !hits || !latency || !stall || !idle) return std::nullopt;
  return CodeRow{.text = std::string(fields[order.at(2)]),
                 .line = -1,
                 .source = std::string(fields[order.at(7)]),
                 .code_object = *object,
                 .vaddr = static_cast<std::uint64_t>(*vaddr),
                 .hits = *hits,
                 .latency = *latency,
                 .stall = *stall,
                 .idle = *idle};
}

}  // namespace

Result<void> parse_stats(std::string_view text, std::string_view name, ThreadTrace& trace) {
  std::optional<Order> order;
  CodeSums sums;
  PERFLAB_TRY_VOID(for_each_csv_row(
      text, name, [&](std::span<const std::string_view> fields, std::size_t) -> Result<void> {
        if (!order) {
          PERFLAB_TRY(order, order_of(fields, name));
          return {};
        }
        std::optional<CodeRow> row = stats_row(fields, *order);
        if (row && sums.take(*row))
          trace.code.push_back(std::move(*row));
        else
          count_drop(trace.dropped, kStatsRowDropped);
        return {};
      }));
  return {};
}

}  // namespace perflab::att
