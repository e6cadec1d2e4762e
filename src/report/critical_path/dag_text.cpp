// Text view of a critical path. Nothing is computed here but what fits a line.
#include "report/critical_path/dag_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "hal/terms.h"
#include "report/critical_path/dag_parts.h"
#include "report/kit/quantities.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"

namespace perflab::report {
namespace {

using analyze::CriticalPath;
using analyze::EdgeRule;
using analyze::PathSegment;
using analyze::Spent;
using analyze::SpentTimes;
using Column = TextTable::Column;
using enum TextTable::Align;

/// The words of the path's platform.
const hal::Terms& words_of(const CriticalPath& path) {
  return hal::terms(path.platform == trace::Platform::cuda ? hal::Platform::nvidia
                                                           : hal::Platform::amd);
}

/// Letters of the bar, by Spent.
constexpr std::array<char, analyze::kSpentKinds> kLetters = {'K', 'C', 'L', 'H', 'R', 'P', '.'};
/// Bubbles that are shown at most.
constexpr std::size_t kMostBubbles = 5;
/// Differences of the slowest segment that are shown at most.
constexpr std::size_t kMostDifferences = 3;
/// Columns of a name within a sentence.
constexpr std::size_t kMostName = 40;

std::string time_text(std::int64_t time) {
  return duration_text(static_cast<double>(time));
}

double ratio_of(std::int64_t time, std::int64_t length) {
  return length > 0 ? static_cast<double>(time) / static_cast<double>(length) : 0;
}

std::string share_text(std::int64_t time, std::int64_t length) {
  return length > 0 ? percent(ratio_of(time, length)) : kDash;
}

/// heading() in lines of at most `width` columns.
std::string wide_heading(const Paint& paint, std::string_view text, std::size_t width) {
  return heading(
      paint, fmt::format("{}", fmt::join(wrapped(text, std::max<std::size_t>(width, 20)), "\n")));
}

/// Columns of the widest line.
std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    most = std::max(most, display_width(std::string_view(text).substr(at, end - at)));
    at = end + 1;
  }
  return most;
}

/// A letter per part of the run, as wide as the part is long.
std::string bar(const SpentTimes& spent, std::int64_t length, std::size_t width) {
  const std::size_t columns = std::clamp<std::size_t>(width, 24, kMostBar + 4) - 4;
  std::string out;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < spent.size(); ++i) {
    sum += spent[i];
    const double until = ratio_of(sum, length) * static_cast<double>(columns);
    const auto end = static_cast<std::size_t>(std::llround(std::max(0.0, until)));
    if (end > out.size()) out.append(end - out.size(), kLetters[i]);
  }
  return out;
}

std::string time_section(const CriticalPath& path, const TerminalStyle& style, const Paint& paint,
                         std::optional<std::size_t> segment) {
  std::string title =
      fmt::format("Where the time went: critical path of {}", time_text(path.length));
  if (segment) title += fmt::format(", segment {} only", *segment);
  std::string out = wide_heading(paint, title, style.width);
  if (path.length > 0) out += fmt::format("  {}\n", bar(path.spent, path.length, style.width));
  TextTable table({Column{"", left}, Column{"share"}, Column{"time"}, Column{"spent on", left}});
  for (const Spent spent : all_spent()) {
    const auto at = static_cast<std::size_t>(spent);
    if (path.spent[at] > 0)
      table.add({std::string(1, kLetters[at]), share_text(path.spent[at], path.length),
                 time_text(path.spent[at]), std::string(words_for(spent))});
  }
  return out + (table.empty() ? "" : table.text(style.width));
}

/// For how much of the run so many operations ran side by side.
std::string parallelism_line(const CriticalPath& path, const TerminalStyle& style) {
  constexpr std::array<std::string_view, 4> kHowMany = {"none", "1", "2", "3 or more"};
  std::array<std::int64_t, kHowMany.size()> times{};
  for (const analyze::ConcurrencyLevel& level : path.concurrency)
    times[std::min<std::size_t>(level.running, times.size() - 1)] += level.time;
  if (path.length <= 0) return {};
  std::string text = fmt::format("{} and copies side by side:", words_of(path).dispatches);
  bool first = true;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i] == 0) continue;
    text += fmt::format("{} {} for {}", first ? "" : ",", kHowMany[i],
                        share_text(times[i], path.length));
    first = false;
  }
  return labelled("parallel", text + " of the run", style.width);
}

std::string dispatches_text(std::uint64_t count, const hal::Terms& words) {
  return fmt::format("{} {}", count, count == 1 ? words.dispatch : words.dispatches);
}

/// What the graph is made of, and which of its orders are inferred.
std::string graph_lines(const CriticalPath& path, const TerminalStyle& style) {
  const analyze::GraphReport& report = path.report;
  const std::uint64_t edges = std::accumulate(report.edges.begin(), report.edges.end(), 0UL);
  std::uint64_t inferred = 0;
  std::string rules;
  for (std::size_t i = 0; i < analyze::kEdgeRules; ++i) {
    const analyze::EdgeRuleInfo& rule = analyze::info(static_cast<EdgeRule>(i));
    if (rule.proven || report.edges[i] == 0) continue;
    inferred += report.edges[i];
    rules += fmt::format("{}{} by {} ({})", rules.empty() ? "" : ", ", report.edges[i], rule.name,
                         rule.reason);
  }
  std::string text =
      fmt::format("{}, {}, {}; {}", dispatches_text(report.dispatches, words_of(path)),
                  report.copies == 1 ? "1 copy" : fmt::format("{} copies", report.copies),
                  counted(report.calls, "host call"), counted(edges, "order"));
  text += inferred == 0 ? ", all of them proven"
                        : fmt::format(", {} of them inferred: {}", inferred, rules);
  return labelled("graph", text, style.width);
}

std::string gain_text(const analyze::KernelCriticality& kernel, double factor,
                      std::int64_t length) {
  const auto found = std::ranges::find(kernel.gains, factor, &analyze::Gain::factor);
  return found == kernel.gains.end() ? kDash : share_text(found->gain, length);
}

std::string kernels_table(const trace::Trace& trace, const CriticalPath& path, std::size_t shown,
                          bool with_slack, std::size_t width) {
  std::vector<Column> columns = {
      Column{"of path"}, Column{"on path"}, Column{std::string(words_of(path).dispatches)},
      Column{"2x"},      Column{"at once"}, Column{"kernel", left, true}};
  if (with_slack) columns.insert(columns.end() - 1, Column{"median slack"});
  TextTable table(columns);
  for (std::size_t i = 0; i < shown; ++i) {
    const analyze::KernelCriticality& kernel = path.kernels[i];
    std::vector<std::string> cells = {share_text(kernel.path_time, path.length),
                                      time_text(kernel.path_time),
                                      fmt::format("{}/{}", kernel.on_path, kernel.dispatches),
                                      gain_text(kernel, 2, path.length),
                                      gain_text(kernel, 0, path.length),
                                      std::string(trace.strings.view(kernel.name))};
    if (with_slack) cells.insert(cells.end() - 1, time_text(kernel.median_slack));
    table.add(std::move(cells));
  }
  return table.text(width);
}

std::string kernels_section(const trace::Trace& trace, const CriticalPath& path,
                            const TerminalStyle& style, const Paint& paint) {
  constexpr std::size_t kWithSlack = 90;  // below, names of kernels have no room beside it
  constexpr std::size_t kSlackNames = 3;
  if (path.kernels.empty()) return {};
  const std::size_t shown = std::min(style.most_rows, path.kernels.size());
  std::string out = wide_heading(
      paint, "Kernels: what the whole run would gain, twice as fast or done at once", style.width);
  if (style.width >= kWithSlack) {
    const std::string table = kernels_table(trace, path, shown, true, style.width);
    if (widest(table) <= style.width) return out + table + cut_note(path.kernels.size(), shown);
  }
  out +=
      kernels_table(trace, path, shown, false, style.width) + cut_note(path.kernels.size(), shown);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(shown, kSlackNames); ++i)
    names.emplace_back(trace.strings.view(path.kernels[i].name));
  names = fit_distinct(names, kMostName);
  std::string slack;
  for (std::size_t i = 0; i < names.size(); ++i)
    slack += fmt::format("{}{} {}", i == 0 ? "median of " : ", ", names[i],
                         time_text(path.kernels[i].median_slack));
  return out + labelled("slack", slack, style.width);
}

std::string what_if_section(const CriticalPath& path, const TerminalStyle& style,
                            const Paint& paint) {
  if (!path.what_if) return {};
  const analyze::WhatIfAnswer& answer = *path.what_if;
  std::string out = wide_heading(paint, "What if", style.width);
  for (std::size_t i = 0; i < answer.changes.size(); ++i)
    out += labelled(i == 0 ? "changes" : "",
                    fmt::format("{}: applies to {}", answer.changes[i].text,
                                counted(answer.matched[i], "node")),
                    style.width);
  const char* verb = answer.gain < 0 ? "longer" : "less";
  out += labelled("result",
                  fmt::format("{} instead of {}: {} {} ({})", time_text(answer.makespan),
                              time_text(path.length), time_text(std::abs(answer.gain)), verb,
                              share_text(std::abs(answer.gain), path.length)),
                  style.width);
  if (std::ranges::any_of(answer.changes, &analyze::WhatIf::drop))
    out +=
        labelled("", "a bound: sync=drop ignores every wait, also where the host needs the results",
                 style.width);
  return out;
}

/// What most of a stretch was spent on.
Spent largest(const SpentTimes& spent) {
  return static_cast<Spent>(std::ranges::max_element(spent) - spent.begin());
}

/// How a row of the path is written to fit the width.
struct RowShape {
  bool brief = false;  ///< short words for what the time was spent on, and for processes
  std::size_t names = analyze::kMostNamesOfSegment, columns = 64;  ///< of each name
};

/// The shapes that are tried, until one fits.
constexpr std::array<RowShape, 9> kRowShapes = {{{},
                                                 {.columns = 40},
                                                 {.columns = 24},
                                                 {.names = 2, .columns = 24},
                                                 {.names = 1, .columns = 40},
                                                 {.brief = true, .names = 2, .columns = 20},
                                                 {.brief = true, .names = 1, .columns = 40},
                                                 {.brief = true, .names = 1, .columns = 24},
                                                 {.brief = true, .names = 1, .columns = 12}}};

/// Each name is cut by itself, so that all of them can be told.
std::string names_text(const trace::Trace& trace, const PathSegment& segment,
                       const RowShape& shape) {
  std::string out;
  const std::size_t shown = std::min(shape.names, segment.names.size());
  for (std::size_t i = 0; i < shown; ++i)
    out += fmt::format("{}{}", i == 0 ? "" : ", ",
                       fit(trace.strings.view(segment.names[i].first), shape.columns));
  if (shown < segment.names.size()) out += ", …";
  return out.empty() ? kDash : out;
}

std::string where_text(const trace::Trace& trace, const PathSegment& segment, bool with_process,
                       bool brief) {
  constexpr std::size_t kBriefColumns = 24;
  if (segment.folded > 0) return fmt::format("{} short ones", 1 + segment.folded);
  std::string out = place_text(segment.place, segment.place_id);
  if (with_process && segment.process != trace::kNone) {
    const std::int64_t pid = trace.processes[segment.process].pid;
    out += brief ? fmt::format(" ({})", pid) : fmt::format(" of process {}", pid);
  }
  return brief ? fit(out, kBriefColumns) : out;
}

/// The segments with these numbers, in time order; what lies between them has rows of its own.
std::string path_table(const trace::Trace& trace, const CriticalPath& path,
                       const std::vector<std::size_t>& order, const RowShape& shape,
                       std::size_t width) {
  TextTable table({Column{"at"}, Column{"time"}, Column{"where", left},
                   Column{.title = "mostly", .align = left, .expendable = 1},
                   Column{"what", left, true}});
  std::size_t next = 0;
  const auto add_hole = [&](std::size_t until) {
    if (next == until) return;
    std::uint64_t stretches = 0;
    for (std::size_t i = next; i < until; ++i) stretches += 1 + path.segments[i].folded;
    table.add({"…", time_text(path.segments[until - 1].to - path.segments[next].from),
               fmt::format("{} more", stretches), "…", "…"});
  };
  for (const std::size_t i : order) {
    const PathSegment& segment = path.segments[i];
    add_hole(i);
    next = i + 1;
    const Spent most = largest(segment.spent);
    table.add({time_text(segment.from), time_text(segment.to - segment.from),
               where_text(trace, segment, path.processes > 1, shape.brief),
               std::string(shape.brief ? brief_words_for(most) : words_for(most)),
               names_text(trace, segment, shape)});
  }
  add_hole(path.segments.size());
  return table.text(width);
}

std::string path_section(const trace::Trace& trace, const CriticalPath& path,
                         const TerminalStyle& style, const Paint& paint) {
  constexpr std::size_t kAnyWidth = 10'000;
  if (path.segments.empty()) return {};
  // The longest ones, in time order.
  std::vector<std::size_t> order(path.segments.size());
  std::iota(order.begin(), order.end(), 0);
  const auto length = [&](std::size_t i) { return path.segments[i].to - path.segments[i].from; };
  std::ranges::stable_sort(order, std::greater{}, length);
  order.resize(std::min(order.size(), style.most_rows));
  std::ranges::sort(order);
  std::uint64_t shown = 0;
  for (const std::size_t i : order) shown += 1 + path.segments[i].folded;
  const std::uint64_t all = std::max(path.stretches, shown);
  const std::string title =
      shown == all
          ? fmt::format("The path in time order: {}",
                        fmt::format("{} {}", all, all == 1 ? "stretch" : "stretches"))
          : fmt::format("The path in time order: the {} longest of {}; … means the others", shown,
                        fmt::format("{} {}", all, all == 1 ? "stretch" : "stretches"));
  std::string table;
  for (const RowShape& shape : kRowShapes) {
    table = path_table(trace, path, order, shape, kAnyWidth);
    if (widest(table) <= style.width) break;
    table = path_table(trace, path, order, shape, style.width);
  }
  return wide_heading(paint, title, style.width) + table;
}

/// The call in which the most of a bubble passed; "first" of one that loads its kernel.
std::string call_text(const trace::Trace& trace, const analyze::Bubble& bubble,
                      std::size_t columns) {
  constexpr std::string_view kFirst = " (first)";
  const std::string_view name = trace.strings.view(trace.regions.name[bubble.call]);
  if (!bubble.first_launch) return fit(name, columns);
  return fit(name, columns - kFirst.size()) + std::string(kFirst);
}

/// The longest bubbles.
std::string bubbles_table(const trace::Trace& trace, const CriticalPath& path, std::size_t shown,
                          bool brief, std::size_t width) {
  const std::size_t call_columns = brief ? 20 : 26;
  TextTable table({Column{"time"}, Column{"at"}, Column{"mostly", left},
                   Column{.title = "call", .align = left, .expendable = 1},
                   Column{"before", left, true}});
  for (std::size_t i = 0; i < shown; ++i) {
    const analyze::Bubble& bubble = path.bubbles[i];
    const bool called = bubble.call != trace::kNone;
    table.add({time_text(bubble.to - bubble.from), time_text(bubble.from),
               std::string(brief ? brief_words_for(bubble.cause) : words_for(bubble.cause)),
               called ? call_text(trace, bubble, call_columns) : kDash,
               bubble.after_row.row == trace::kNone
                   ? kDash
                   : std::string(trace.strings.view(name_of_row(trace, bubble.after_row)))});
  }
  return table.text(width);
}

std::string bubbles_section(const trace::Trace& trace, const CriticalPath& path,
                            const TerminalStyle& style, const Paint& paint) {
  if (path.bubbles.empty()) return {};
  const std::size_t shown = std::min({kMostBubbles, style.most_rows, path.bubbles.size()});
  std::string table = bubbles_table(trace, path, shown, false, style.width);
  if (widest(table) > style.width) table = bubbles_table(trace, path, shown, true, style.width);
  return wide_heading(
             paint,
             fmt::format("Nothing running on any GPU, until the last operation: {}, {} ({} of the "
                         "run)",
                         counted(path.bubble_count, "gap"), time_text(path.bubble_time),
                         share_text(path.bubble_time, path.length)),
             style.width) +
         table + cut_note(path.bubble_count, shown);
}

/// Empty when it is not to be seen at this precision.
std::string difference_text(const trace::Trace& trace, const analyze::SegmentDifference& difference,
                            const hal::Terms& words) {
  const bool idle = difference.kernel == trace::kNone;
  const std::string time = time_text(difference.time), usual = time_text(difference.usual_time);
  const bool more = !idle && static_cast<double>(difference.count) != difference.usual_count;
  if (time == usual && !more) return {};
  std::string out =
      fmt::format("{} {} (usually {}",
                  idle ? "nothing running" : fit(trace.strings.view(difference.kernel), kMostName),
                  time, usual);
  if (more)
    out += fmt::format("; {}, usually {:.4g}",
                       difference.copy ? counted(difference.count, "time")
                                       : dispatches_text(difference.count, words),
                       difference.usual_count);
  return out + ")";
}

/// The slowest segment and what differs in it most.
std::string slowest_line(const trace::Trace& trace, const analyze::Segments& segments,
                         const TerminalStyle& style, const hal::Terms& words) {
  if (!segments.slowest) return {};
  std::string slow = fmt::format("number {} with {}", *segments.slowest,
                                 time_text(segments.segments[*segments.slowest].period));
  std::size_t told = 0;
  for (const analyze::SegmentDifference& difference : segments.differences) {
    if (told == kMostDifferences) break;
    const std::string text = difference_text(trace, difference, words);
    if (!text.empty()) slow += fmt::format("{}{}", told++ == 0 ? ": " : ", ", text);
  }
  return labelled("slowest", slow, style.width);
}

std::string segments_section(const trace::Trace& trace, const analyze::FoundSegments& found,
                             const TerminalStyle& style, const Paint& paint,
                             const hal::Terms& words) {
  if (!found.segments)
    return found.missing.reason.empty() ? ""
                                        : heading(paint, "Repeated segments") +
                                              labelled("none", found.missing.reason, style.width);
  const analyze::Segments& segments = *found.segments;
  const analyze::SegmentSpread& spread = segments.spread;
  std::string out = heading(paint, "Repeated segments");
  const bool ranges = segments.source == analyze::Segments::Source::ranges;
  std::string what = fmt::format("{} {}", counted(segments.segments.size(), "segment"),
                                 ranges ? "from user ranges: " : "found, each begins with ") +
                     fit(segments.pattern, kMostName);
  if (segments.dispatches_outside > 0)
    what += fmt::format("; {} outside", dispatches_text(segments.dispatches_outside, words));
  out += labelled("found", what, style.width);
  std::string steady =
      fmt::format("{} at a median of {}, {} to {}", counted(spread.count, "segment"),
                  duration_text(spread.median), time_text(spread.min), time_text(spread.max));
  if (spread.cv) steady += fmt::format(", CV {}", percent(*spread.cv));
  steady += fmt::format("; {} have the usual {}", percent(segments.regularity), words.dispatches);
  if (segments.warm_up > 0) {
    std::int64_t time = 0;
    for (std::size_t i = 0; i < segments.warm_up && i < segments.segments.size(); ++i)
      time += segments.segments[i].period;
    out +=
        labelled("warm-up",
                 fmt::format("{} first, {}", counted(segments.warm_up, "segment"), time_text(time)),
                 style.width);
  }
  out += labelled("steady", steady, style.width);
  return out + slowest_line(trace, segments, style, words);
}

}  // namespace

std::string dag_text(const trace::Trace& trace, const analyze::Analysis& analysis,
                     const TerminalStyle& style) {
  const Paint paint(style.colour);
  if (!analysis.critical_path) {
    const std::string& reason = analysis.critical_path_missing.reason;
    std::string out;
    if (!reason.empty())
      for (const std::string& line :
           wrapped("no critical path: " + reason, std::max<std::size_t>(style.width, 20)))
        out += fmt::format("{}{}\n", out.empty() ? "\n" : "", line);
    return out;
  }
  const CriticalPath& path = *analysis.critical_path;
  return time_section(path, style, paint, analysis.segment) + parallelism_line(path, style) +
         graph_lines(path, style) + kernels_section(trace, path, style, paint) +
         what_if_section(path, style, paint) + path_section(trace, path, style, paint) +
         bubbles_section(trace, path, style, paint) +
         segments_section(trace, analysis.segments, style, paint, words_of(path)) +
         warnings_section(path.warnings, style.width, paint);
}

std::string dag_report_text(const trace::Trace& trace, const analyze::Analysis& analysis,
                            const TerminalStyle& style) {
  const Paint paint(style.colour);
  std::string out;
  if (const std::string note = trace::synthetic_note(trace); !note.empty())
    out += synthetic_line(note, style.width, paint);
  return out + dag_text(trace, analysis, style) +
         warnings_section(analysis.warnings, style.width, paint);
}

}  // namespace perflab::report
