// Text view of thread traces. Nothing is computed here but shares, and what fits a line.
#include "report/thread_trace/thread_trace_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <tuple>

#include "code/instructions/instruction_mix.h"
#include "report/bottleneck/bottleneck_text.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"

namespace perflab::report {
namespace {

using analyze::InstructionCycles;
using analyze::KernelThreadTrace;
using Column = TextTable::Column;
using enum TextTable::Align;

/// Columns of a wait, and of a source line, beside other columns.
constexpr std::size_t kInstruction = 24, kSource = 24;
/// Below, tables leave their less telling columns out.
constexpr std::size_t kAllColumns = 100;
/// From here on, source lines are shown with what they were inlined into.
constexpr std::size_t kWide = 120;

/// One of the parts that the time of waves falls into.
struct Bucket {
  char letter;
  std::string_view words;
  std::int64_t analyze::WaveTime::* cycles;
};
constexpr std::array<Bucket, 5> kBuckets = {{
    {'I', "issuing instructions", &analyze::WaveTime::issue},
    {'W', "waiting for memory and other results", &analyze::WaveTime::wait},
    {'B', "waiting at barriers", &analyze::WaveTime::barrier},
    {'S', "ready, but not issued: unit busy, queue full", &analyze::WaveTime::issue_stall},
    {'.', "idle: start-up, fetch, branches, other waves' turn", &analyze::WaveTime::idle},
}};

std::string part_text(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? percent(static_cast<double>(part) / static_cast<double>(whole)) : kDash;
}

/// The trace of the selected kernel, else one with waves, else the one with the most cycles;
/// nullptr: there are none.
const KernelThreadTrace* main_trace(const analyze::Analysis& analysis) {
  if (!analysis.thread_traces) return nullptr;
  const KernelThreadTrace* out = nullptr;
  const auto rank = [&](const KernelThreadTrace& one) {
    const bool selected = analysis.selection && one.analysis_kernel == analysis.selection->kernel;
    return std::tuple(selected, !one.from_stats, one.sums.cost());
  };
  for (const KernelThreadTrace& one : analysis.thread_traces->kernels)
    if (out == nullptr || rank(one) > rank(*out)) out = &one;
  return out;
}

/// What the numbers of a trace's CUs count: on gfx10 and later they are work-group processors.
std::string_view cu_name(const KernelThreadTrace& kernel) {
  return kernel.gfxip.value_or(0) >= 10 ? "WGP" : "CU";
}

/// "CU 1 of shader engines 0, 4"; "CUs (engine:CU) 0:1, 4:2" where they differ.
std::string traced_unit_text(const analyze::TraceCoverage& seen, std::string_view unit) {
  constexpr std::size_t kMostPlaces = 8;
  if (seen.cus.empty()) return fmt::format("no {}", unit);
  const bool same = std::ranges::all_of(
      seen.cus, [&](const auto& place) { return place.second == seen.cus.front().second; });
  std::string list;
  const std::size_t shown = std::min(seen.cus.size(), kMostPlaces);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [engine, cu] = seen.cus[i];
    list += fmt::format("{}{}", i == 0 ? "" : ", ",
                        same ? fmt::format("{}", engine) : fmt::format("{}:{}", engine, cu));
  }
  if (shown < seen.cus.size()) list += fmt::format(" and {} more", seen.cus.size() - shown);
  return same ? fmt::format("{} {} of shader engine{} {}", unit, seen.cus.front().second,
                            seen.cus.size() == 1 ? "" : "s", list)
              : fmt::format("{}s (engine:{}) {}", unit, unit, list);
}

std::string coverage_lines(const KernelThreadTrace& kernel, std::size_t width) {
  const analyze::TraceCoverage& seen = kernel.coverage;
  std::string text;
  if (kernel.from_stats) {
    text = "sums of each instruction from a stats file, without waves";
  } else {
    text = counted(seen.waves, "wave");
    if (seen.waves_of_dispatch)
      text += fmt::format(" of the dispatch's {} ({})", *seen.waves_of_dispatch,
                          part_text(static_cast<std::int64_t>(seen.waves),
                                    static_cast<std::int64_t>(*seen.waves_of_dispatch)));
    text += fmt::format(" on {}", traced_unit_text(seen, cu_name(kernel)));
    if (seen.waves_started > 0 || seen.waves == 0)
      text += fmt::format("; {} started there and beside", counted(seen.waves_started, "wave"));
  }
  if (kernel.dispatch_id) text += fmt::format("; dispatch {}", *kernel.dispatch_id);
  std::string out = labelled("seen", text, width);
  std::string lost;
  const auto add = [&](std::uint64_t count, std::string_view what) {
    if (count > 0) lost += fmt::format("{}{} {}", lost.empty() ? "" : ", ", count, what);
  };
  add(seen.packets_lost, "records lost by the hardware");
  add(seen.trace_stalls, "times the trace held the GPU up");
  add(seen.unattributed, "executions at unknown addresses");
  add(seen.rows_differing, "instructions whose sums are not those of the waves");
  for (const auto& [reason, count] : seen.dropped)
    lost += fmt::format("{}{} x {}", lost.empty() ? "" : ", ", count, reason);
  if (!lost.empty()) out += labelled("lost", lost, width);
  out += labelled("confidence", std::string(analyze::to_string(kernel.confidence)), width);
  for (const std::string& reason : kernel.confidence_reasons)
    out += labelled("", "- " + reason, width);
  return out;
}

/// A letter per part of the time, as wide as the part is long.
std::string time_bar(const analyze::WaveTime& time, std::size_t width) {
  const double columns = static_cast<double>(std::clamp<std::size_t>(width, 24, kMostBar + 4) - 4);
  const auto whole = static_cast<double>(time.total());
  std::string out;
  std::int64_t sum = 0;
  for (const Bucket& bucket : kBuckets) {
    sum += time.*bucket.cycles;
    const auto end = static_cast<std::size_t>(
        std::llround(std::clamp(static_cast<double>(sum) / whole, 0.0, 1.0) * columns));
    if (end > out.size()) out.append(end - out.size(), bucket.letter);
  }
  return out;
}

std::string time_lines(const KernelThreadTrace& kernel, std::size_t width) {
  const std::int64_t whole = kernel.time.total();
  if (whole <= 0) return labelled("cycles", "none: no traced wave ran this kernel", width);
  std::string out = fmt::format("\n  {}\n", time_bar(kernel.time, width));
  TextTable table({Column{"", left}, Column{"share"}, Column{"cycles"}, Column{"spent", left}});
  for (const Bucket& bucket : kBuckets)
    if (const std::int64_t cycles = kernel.time.*bucket.cycles; cycles != 0)
      table.add({std::string(1, bucket.letter), part_text(cycles, whole), fmt::format("{}", cycles),
                 std::string(bucket.words)});
  return out + table.text(width);
}

std::string rates_line(const KernelThreadTrace& kernel, std::size_t width) {
  std::string text;
  const auto add = [&](const std::optional<double>& value, std::string_view what) {
    if (value) text += fmt::format("{}{:.4g} {}", text.empty() ? "" : ", ", *value, what);
  };
  add(kernel.instructions_per_wave, "instructions per wave");
  add(kernel.wave_ipc, "per cycle of a wave");
  add(kernel.simd_ipc, "per cycle of a SIMD");
  add(kernel.core_clock_mhz, "MHz while traced");
  return text.empty() ? "" : labelled("rate", text, width);
}

std::string classes_table(const KernelThreadTrace& kernel, const TerminalStyle& style,
                          const Paint& paint) {
  const std::int64_t whole = kernel.sums.cost();
  TextTable table({Column{"cost"}, Column{"issue"}, Column{"stall"}, Column{"idle"},
                   Column{"waited for"}, Column{"executed"}, Column{"class", left}});
  for (const analyze::ClassCycles& one : kernel.classes)
    if (one.sums.hits != 0 || one.wait_caused != 0)
      table.add({part_text(one.sums.cost(), whole), part_text(one.sums.issue(), whole),
                 part_text(one.sums.stall, whole), part_text(one.sums.idle, whole),
                 part_text(one.wait_caused, whole), fmt::format("{}", one.sums.hits),
                 std::string(code::to_string(one.instruction_class))});
  if (table.empty()) return {};
  return heading(paint, "Classes of instructions (shares of all cycles)") + table.text(style.width);
}

/// "kernel.hip:12" of "/build/src/kernel.hip:12".
std::string_view without_folder(std::string_view line) {
  const std::size_t slash = line.find_last_of("/\\");
  return slash == std::string_view::npos ? line : line.substr(slash + 1);
}

/// The innermost line, and from where it was inlined.
std::string chain_text(const std::vector<std::string>& chain) {
  if (chain.empty()) return kDash;
  std::string out(without_folder(chain.front()));
  for (std::size_t i = 1; i < chain.size(); ++i)
    out += fmt::format(" < {}", without_folder(chain[i]));
  return out;
}

std::string hot_table(const KernelThreadTrace& kernel, const TerminalStyle& style,
                      const Paint& paint) {
  const std::int64_t whole = kernel.sums.cost();
  const bool sources = style.width >= kAllColumns &&
                       std::ranges::any_of(kernel.hot, [](const InstructionCycles& one) {
                         return !one.chain.empty();
                       });
  std::vector<Column> columns = {Column{"cost"}, Column{"stall"}, Column{"waited for"},
                                 Column{"executed"}, Column{"instruction", left, true}};
  if (sources) columns.push_back(Column{"source", left});
  TextTable table(columns);
  const std::size_t shown = std::min(style.most_rows, kernel.hot.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const InstructionCycles& one = kernel.hot[i];
    std::vector<std::string> cells = {
        part_text(one.sums.cost(), whole), part_text(one.sums.stall, whole),
        part_text(one.wait_caused, whole), fmt::format("{}", one.sums.hits), one.text};
    if (sources)
      cells.push_back(fit(style.width >= kWide ? chain_text(one.chain)
                          : one.chain.empty()  ? kDash
                                               : without_folder(one.chain.front()),
                          style.width >= kWide ? 2 * kSource : kSource));
    table.add(std::move(cells));
  }
  if (table.empty()) return {};
  return heading(paint, "Hot instructions (shares of all cycles)") + table.text(style.width) +
         cut_note(kernel.hot.size(), shown);
}

std::string lines_table(const KernelThreadTrace& kernel, const TerminalStyle& style,
                        const Paint& paint) {
  const std::int64_t whole = kernel.sums.cost();
  TextTable table({Column{"cost"}, Column{"stall"}, Column{"waited for"}, Column{"executed"},
                   Column{"source line < inlined into", left, true}});
  const std::size_t shown = std::min(style.most_rows, kernel.lines.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const analyze::SourceCycles& one = kernel.lines[i];
    table.add({part_text(one.sums.cost(), whole), part_text(one.sums.stall, whole),
               part_text(one.wait_caused, whole), fmt::format("{}", one.sums.hits),
               one.line.empty() ? "(no source line)" : chain_text(one.chain)});
  }
  if (table.empty()) return {};
  return heading(paint, "Hot source lines (shares of all cycles)") + table.text(style.width) +
         cut_note(kernel.lines.size(), shown);
}

/// The innermost source line of the instruction, where it is among those that waits were for.
std::string cause_source(const KernelThreadTrace& kernel, att::RowIndex row) {
  const auto found = std::ranges::find(kernel.causes, row, &InstructionCycles::row);
  return found == kernel.causes.end() || found->chain.empty()
             ? kDash
             : fit(without_folder(found->chain.front()), kSource);
}

std::string text_or_dash(const std::string& text) {
  return text.empty() ? kDash : text;
}

std::string waits_table(const KernelThreadTrace& kernel, const TerminalStyle& style,
                        const Paint& paint) {
  if (kernel.waits.empty()) return {};
  const std::int64_t whole = kernel.sums.cost();
  const bool sources = style.width >= kAllColumns && !kernel.lines.empty();
  std::vector<Column> columns = {Column{"cost"}, Column{"times"}, Column{"wait", left},
                                 Column{"for", left, true}};
  if (sources) columns.push_back(Column{"source", left});
  TextTable table(columns);
  const std::size_t shown = std::min(style.most_rows, kernel.waits.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const analyze::WaitPair& pair = kernel.waits[i];
    std::vector<std::string> cells = {part_text(pair.cycles, whole), fmt::format("{}", pair.times),
                                      fit(text_or_dash(pair.wait_text), kInstruction),
                                      text_or_dash(pair.cause_text)};
    if (sources) cells.push_back(cause_source(kernel, pair.cause));
    table.add(std::move(cells));
  }
  std::string out = heading(paint, "Waits, and the instructions they were for") +
                    table.text(style.width) + cut_note(kernel.waits.size(), shown);
  if (kernel.links == analyze::WaitLinks::rule)
    out += labelled("links", "by the counters of the instruction set: the trace has none",
                    style.width);
  else if (kernel.coverage.waits_by_rule > 0)
    out += labelled("links",
                    fmt::format("by the trace; of {} waits {} by the counters of the instruction "
                                "set, since the trace has none for them",
                                kernel.coverage.waits, kernel.coverage.waits_by_rule),
                    style.width);
  if (kernel.wait_unattributed > 0)
    out += labelled("unknown",
                    fmt::format("the cause of {} of all cycles in waits is not known",
                                part_text(kernel.wait_unattributed, whole)),
                    style.width);
  return out;
}

std::string occupancy_section(const KernelThreadTrace& kernel, const TerminalStyle& style,
                              const Paint& paint) {
  if (!kernel.occupancy) return {};
  const analyze::OccupancyOverTime& seen = *kernel.occupancy;
  std::string out = heading(paint, "Occupancy over time");
  if (!seen.bins.empty())
    out += fmt::format("  {}\n", sparkline(seen.bins, *std::ranges::max_element(seen.bins)));
  out += labelled("waves",
                  fmt::format("{:.3g} per {} on average, {} on one at most; {} with waves, {} "
                              "cycles from the first start to the last end",
                              seen.average, cu_name(kernel), seen.peak,
                              counted(seen.cus, cu_name(kernel)), seen.span),
                  style.width);
  out += labelled("tail",
                  fmt::format("less than half of the peak in the last {} of the time, and in the "
                              "first {}",
                              percent(seen.tail_share), percent(seen.ramp_share)),
                  style.width);
  return out + labelled("lifetime",
                        fmt::format("{:.0f} cycles of a wave on average, {:.0f} at most",
                                    seen.mean_lifetime, seen.longest_lifetime),
                        style.width);
}

std::string others_table(const analyze::Analysis& analysis, const KernelThreadTrace* shown_above,
                         const TerminalStyle& style, const Paint& paint) {
  const auto& kernels = analysis.thread_traces->kernels;
  if (kernels.size() < 2) return {};
  const bool all = style.width >= kAllColumns;
  std::vector<Column> columns = {Column{"cycles"},  Column{"issue"}, Column{"wait"},
                                 Column{"barrier"}, Column{"stall"}, Column{"idle"}};
  if (all) columns.insert(columns.end(), {Column{"sure", left}, Column{"dispatch"}});
  columns.push_back(Column{"kernel", left, true});
  TextTable table(columns);
  std::size_t shown = 0;
  for (const KernelThreadTrace& one : kernels) {
    if (&one == shown_above) continue;
    if (shown == style.most_rows) break;
    ++shown;
    std::vector<std::string> cells = {fmt::format("{}", one.time.total())};
    for (const Bucket& bucket : kBuckets)
      cells.push_back(part_text(one.time.*bucket.cycles, one.time.total()));
    if (all) {
      cells.emplace_back(analyze::to_string(one.confidence));
      cells.push_back(number_or_dash(one.dispatch_id));
    }
    cells.push_back(one.kernel);
    table.add(std::move(cells));
  }
  return heading(paint, "Other kernels and dispatches that were traced") + table.text(style.width) +
         cut_note(kernels.size() - 1, shown);
}

}  // namespace

std::string sparkline(const std::vector<double>& values, double most) {
  static constexpr std::array<std::string_view, 8> kBlocks = {"▁", "▂", "▃", "▄",
                                                              "▅", "▆", "▇", "█"};
  std::string out;
  for (const double value : values) {
    const double part = most > 0 ? std::clamp(value / most, 0.0, 1.0) : 0;
    const auto level = static_cast<std::size_t>(std::ceil(part * kBlocks.size()));
    out += level == 0 ? std::string_view(".") : kBlocks[level - 1];
  }
  return out;
}

std::string thread_trace_text(const analyze::Analysis& analysis, const TerminalStyle& style) {
  const KernelThreadTrace* const kernel = main_trace(analysis);
  if (kernel == nullptr) return {};
  const Paint paint(style.colour);
  const std::string title = "Thread trace of ";
  const std::size_t room = std::max<std::size_t>(style.width, 32) - title.size();
  return heading(paint, title + fit(kernel->kernel, room)) + coverage_lines(*kernel, style.width) +
         rates_line(*kernel, style.width) + time_lines(*kernel, style.width) +
         classes_table(*kernel, style, paint) + hot_table(*kernel, style, paint) +
         lines_table(*kernel, style, paint) + waits_table(*kernel, style, paint) +
         occupancy_section(*kernel, style, paint) + others_table(analysis, kernel, style, paint);
}

std::string thread_trace_report_text(const analyze::Analysis& analysis,
                                     const TerminalStyle& style) {
  const Paint paint(style.colour);
  const analyze::ThreadTraces none;
  const analyze::ThreadTraces& traces = analysis.thread_traces ? *analysis.thread_traces : none;
  std::string out = fmt::format("{} from {}, no recording of times\n",
                                counted(traces.kernels.size(), "traced kernel"),
                                counted(traces.traces.size(), "thread trace"));
  return out + bottleneck_headline(analysis, style) + thread_trace_text(analysis, style) +
         bottleneck_text(analysis, style) + warnings_section(analysis.warnings, style.width, paint);
}

}  // namespace perflab::report
