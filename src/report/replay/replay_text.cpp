// Layout of a replay's figures and of a check of reservations.
#include "report/replay/replay_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/text/progress.h"
#include "report/kit/quantities.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"
#include "report/replay/left_memory_json.h"

namespace perflab::report {
namespace {

std::string spread_text(const stats::DurationSummary& summary) {
  if (!summary.cv) return "one iteration: no spread";
  return fmt::format("CV {} ({})", percent(*summary.cv),
                     stats::to_string(stats::classify(*summary.cv)));
}

std::string restore_clause(const replay::FullVmResult& result) {
  if (!result.recopy) return "nothing: the state carries over (--no-recopy)";
  return fmt::format(
      "{} before each iteration, {}; caches {}",
      bytes_text(static_cast<double>(result.restored_bytes_per_iteration)),
      result.restored_on_device ? "on the GPU" : "from the host",
      result.caches == replay::Caches::restored ? "as that leaves them" : to_string(result.caches));
}

std::string conditions_clause(const sensors::Conditions& conditions) {
  if (conditions.source.empty()) return fmt::format("not read: {}", conditions.missing_because);
  const std::string words = conditions.words();
  return words.empty() ? "even, and not throttled, as far as can be read" : words;
}

std::string captured_clause(const ReplayData& data) {
  if (!data.result.captured_ns) return "not timed when it was captured";
  const std::string time = duration_text(static_cast<double>(*data.result.captured_ns));
  const auto ratio = ratio_to_captured(data);
  if (!ratio) return fmt::format("{}, with the captured code object", time);
  return fmt::format("{}; the replay's median is {:.3f} times that", time, *ratio);
}

}  // namespace

std::string replay_text(const ReplayData& data, const TerminalStyle& style) {
  const Paint paint(style.colour);
  const replay::FullVmResult& result = data.result;
  const stats::DurationSummary summary = replay_summary(data);
  const auto time = [](const auto& value) {
    return value ? duration_text(static_cast<double>(*value)) : kDash;
  };
  std::string out = fmt::format(
      "{}{}{}\n", paint.heading,
      fit(result.demangled.empty() ? result.kernel : result.demangled, style.width), paint.end);
  const auto line = [&](std::string_view label, const std::string& text) {
    out += labelled(label, text, style.width);
  };
  line("GPU", data.device.product_name.empty()
                  ? data.device.agent_name
                  : fmt::format("{} ({})", data.device.agent_name, data.device.product_name));
  if (!data.original) line("code", fmt::format("{}, not the captured one", data.code_object));
  line("dispatches", fmt::format("{}, after {} that {} not counted", result.iterations,
                                 counted(data.warmup, "warm-up"), data.warmup == 1 ? "is" : "are"));
  line("restored", restore_clause(result));
  line("dirtied", left_memory_words(result.left_memory));
  line("GPU time",
       fmt::format("median {}, mean {}, {} to {}, {}", time(summary.median), time(summary.mean),
                   time(summary.min), time(summary.max), spread_text(summary)));
  line("captured", captured_clause(data));
  line("clocks", conditions_clause(result.conditions));
  line("wall", perflab::duration_text(std::chrono::nanoseconds(result.wall.value)));
  for (const std::string& note : result.notes) line("note", note);
  return out;
}

std::string reservation_text(const ReservationData& data, const TerminalStyle& style) {
  const Paint paint(style.colour);
  const replay::ReserveReport& report = data.report;
  std::string out =
      fmt::format("{}, {}, asked of {}: {} exact, {} relocated, {} failed\n",
                  counted(report.ranges.size(), report.probe ? "typical range" : "range"),
                  bytes_text(static_cast<double>(report.bytes)),
                  report.through == "hsa"    ? "the HSA runtime"
                  : report.through == "cuda" ? "the CUDA driver"
                                             : "the kernel alone",
                  report.exact, report.relocated, report.failed);
  if (!report.no_runtime.empty()) out += labelled("runtime", report.no_runtime, style.width);
  std::vector<const replay::RangeCheck*> order;
  for (const replay::RangeCheck& one : report.ranges) order.push_back(&one);
  std::ranges::stable_partition(order, [](const replay::RangeCheck* one) {
    return one->outcome != replay::Reservation::exact;
  });
  const std::size_t shown = std::min(order.size(), style.most_rows);
  TextTable table({TextTable::Column{"address"}, TextTable::Column{"bytes"},
                   TextTable::Column{"memory", TextTable::Align::left},
                   TextTable::Column{"outcome", TextTable::Align::left},
                   TextTable::Column{"in the way", TextTable::Align::left, true}});
  for (const replay::RangeCheck* const one : std::span(order).first(shown)) {
    std::string why = one->holder;
    if (why.empty() && one->returned != 0 && one->outcome != replay::Reservation::exact)
      why = fmt::format("nobody known; it went to {:#x}", one->returned);
    if (!one->status.empty()) why = one->status;
    table.add({fmt::format("{:#x}", one->range.base),
               bytes_text(static_cast<double>(one->range.bytes)), memory_of(one->range),
               std::string(replay::to_string(one->outcome)), why});
  }
  if (!table.empty()) out += "\n" + table.text(style.width) + cut_note(order.size(), shown);
  const std::string verdict = verdict_of(report);
  const bool good = verdict == "exact";
  out += fmt::format("\n{}{}{}\n", good ? paint.good : paint.bad,
                     good ? "Every range can be reserved at its own address."
                          : "Not every range can be reserved at its own address.",
                     paint.end);
  return out;
}

}  // namespace perflab::report
