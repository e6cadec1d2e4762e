// The rows of a part of a run, chosen after all of it was read.
#include "trace/part.h"

#include <algorithm>
#include <vector>

#include "base/units.h"
#include "trace/select.h"

namespace perflab::trace {
namespace {

/// Rows are ordered by start.
void take_earliest(const auto& start, std::int64_t& earliest) {
  if (!start.empty()) earliest = std::min(earliest, start.front());
}

std::vector<bool> rows_in(const auto& start, const Window& window, bool any) {
  std::vector<bool> rows(start.size());
  for (std::size_t i = 0; any && i < rows.size(); ++i) rows[i] = window.has(start[i]);
  return rows;
}

/// Leaves the dispatches of kernels that are wanted, and the calls that launched them.
void keep_kernels(const Trace& trace, const Pattern& wanted, Selection& rows) {
  std::vector<bool> kernels;
  for (const KernelSymbol& symbol : trace.kernel_symbols)
    kernels.push_back(wanted.found_in(trace.strings.view(symbol.name)));
  std::vector<bool> launches(trace.regions.size());
  for (std::size_t i = 0; i < trace.dispatches.size(); ++i) {
    rows.dispatches[i] = rows.dispatches[i] && kernels[trace.dispatches.kernel[i]];
    if (rows.dispatches[i] && trace.dispatches.launch[i] != kNone)
      launches[trace.dispatches.launch[i]] = true;
  }
  for (std::size_t i = 0; i < launches.size(); ++i)
    rows.regions[i] = rows.regions[i] && launches[i];
}

}  // namespace

Window window_of(const Part& part, std::int64_t zero) {
  Window window;
  if (part.from) window.begin = add_saturating(zero, *part.from);
  if (part.to) window.end = add_saturating(zero, *part.to);
  return window;
}

Trace keep_part(const Trace& whole, const Part& part) {
  std::int64_t zero = std::numeric_limits<std::int64_t>::max();
  for (const auto* start : {&whole.dispatches.start, &whole.regions.start, &whole.copies.start})
    take_earliest(*start, zero);
  const Window window = part.has_window() ? window_of(part, zero) : Window();
  Selection rows;
  rows.dispatches = rows_in(whole.dispatches.start, window, true);
  rows.regions = rows_in(whole.regions.start, window, true);
  rows.copies = rows_in(whole.copies.start, window, !part.kernel);
  rows.allocations = rows_in(whole.allocations.start, window, !part.kernel);
  if (part.kernel) keep_kernels(whole, *part.kernel, rows);
  Trace kept = select(whole, rows);
  const auto tell = [&](const char* table, std::size_t all, std::size_t left) {
    count(kept.report.dropped, {table, std::string(kOutsideOfPart)}, all - left);
  };
  tell("kernel_dispatch", whole.dispatches.size(), kept.dispatches.size());
  tell("region", whole.regions.size(), kept.regions.size());
  tell("memory_copy", whole.copies.size(), kept.copies.size());
  tell("memory_allocate", whole.allocations.size(), kept.allocations.size());
  return kept;
}

}  // namespace perflab::trace
