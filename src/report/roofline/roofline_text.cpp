// Text view of a roofline. Every figure here stands in roofline.json too.
#include "report/roofline/roofline_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "base/text/number_text.h"
#include "hal/counter_catalogue.h"
#include "hal/terms.h"
#include "report/bottleneck/bottleneck_text.h"
#include "report/kit/quantities.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"
#include "report/roofline/roofline_chart.h"
#include "report/roofline/roofline_drawing.h"

namespace perflab::report {
namespace {

using analyze::Figure;
using analyze::KernelRoofline;
using analyze::LevelTraffic;
using Column = TextTable::Column;
using enum TextTable::Align;

/// Kernels that are described one by one; the charts' legends list more.
constexpr std::size_t kMostDescribed = 5;

/// "waves in flight 1805", "l2 34.7 %": a figure under the last part of its name; "~" in front of
/// what only several passes give together.
std::string feature_text(const Figure& figure, std::string_view field, hal::Platform platform) {
  const std::string name = hal::field_in_terms(field, platform);
  const std::string about = figure.value ? "" : "~";
  const double value = figure.value ? *figure.value : *figure.across_passes;
  if (figure.unit == "%") return fmt::format("{} {}{:.1f} %", name, about, value);
  const bool said = figure.unit.empty() || figure.unit.find('/') != std::string::npos ||
                    name.find(figure.unit) != std::string::npos;
  return fmt::format("{} {}{}{}{}", name, about, number_text(value, 4), said ? "" : " ",
                     said ? "" : figure.unit);
}

std::string share_text(const std::optional<double>& share) {
  return share ? percent(*share) : kDash;
}

std::string rate_or_dash(const std::optional<double>& giga, std::string_view unit) {
  return giga ? rate_text(*giga, unit) : kDash;
}

std::string plain_or_dash(const std::optional<double>& value) {
  return value ? number_text(*value, 3) : kDash;
}

/// "12.3 GFLOP": a count of operations.
std::string work_text(double count, std::string_view unit) {
  return rate_text(count / 1e9, unit);
}

std::string gpu_name(const std::string& product, const std::string& architecture) {
  if (product.empty() && architecture.empty()) return "a GPU that the recording does not name";
  return product.empty() || architecture.empty() ? product + architecture
                                                 : product + " " + architecture;
}

const LevelTraffic* level_of(const KernelRoofline& kernel, std::string_view name) {
  const auto found = std::ranges::find(kernel.levels, name, &LevelTraffic::name);
  return found == kernel.levels.end() ? nullptr : &*found;
}

/// The name of a figure in a list; in the platform's words where those are not the field's.
std::string figure_name(const std::string& name, hal::Platform platform) {
  return platform == hal::Platform::amd ? name : hal::field_in_terms(name, platform);
}

/// "hbm", "l2"; a level of memory that platforms call otherwise, in the words of this one.
std::string level_name(std::string_view level, std::string_view architecture) {
  return hal::field_in_terms(level, hal::platform_of(architecture));
}

/// Why a figure of the analysis is missing.
std::string reason_of(const KernelRoofline& kernel, std::string_view field) {
  const auto entry = std::ranges::find(kernel.missing, field, &Missing::field);
  return entry == kernel.missing.end() ? "no figures for it" : entry->reason;
}

std::string chart_section(const analyze::Roofline& roofline, const Chart& chart,
                          const TerminalStyle& style, const Paint& paint) {
  const std::vector<const ChartMark*> marks = memory_marks(chart);
  if (marks.empty()) return {};
  const std::size_t shown = std::min(marks.size(), style.most_rows);
  TextTable table({Column{"", left}, Column{"FLOP/byte"}, Column{"FLOP/s"}, Column{"at most"},
                   Column{.title = "bound by", .align = left, .expendable = 1}, Column{"of roof"},
                   Column{"kernel", left, true}});
  for (const ChartMark* mark : std::span(marks).first(shown)) {
    const KernelRoofline& kernel = roofline.kernels[mark->kernel];
    const auto& binding = kernel.binding;
    table.add({mark->letter, plain_or_dash(mark->at.x), rate_text(mark->at.y, ""),
               rate_or_dash(binding ? binding->attainable_gflops : std::nullopt, ""),
               binding ? level_name(binding->roof, kernel.architecture) : kDash,
               share_text(binding ? binding->share : std::nullopt), kernel.kernel});
  }
  std::string out =
      heading(paint, fmt::format("Roofline of {} (FLOP/s by FLOP/byte of memory)",
                                 printable(gpu_name(chart.product, chart.architecture))));
  return out + drawn_chart(chart, shown, style) + "\n" + table.text(style.width) +
         cut_note(marks.size(), shown);
}

/// "812 GB/s of memory, 49.6 % of 1.64 TB/s", or that it is not known.
std::string bandwidth_text(const KernelRoofline& kernel) {
  const LevelTraffic* hbm = level_of(kernel, "hbm");
  if (hbm == nullptr || !hbm->gb_per_s)
    return "no bandwidth known: " + reason_of(kernel, "levels.hbm.gb_per_s");
  std::string out = fmt::format("{} of memory", rate_text(*hbm->gb_per_s, "B/s"));
  if (hbm->share && hbm->ceiling.value)
    out += fmt::format(", {} of {}", percent(*hbm->share), rate_text(*hbm->ceiling.value, "B/s"));
  return out;
}

std::string unmarked_section(const analyze::Roofline& roofline,
                             const std::vector<Unmarked>& unmarked, std::size_t shown,
                             const TerminalStyle& style, const Paint& paint) {
  if (unmarked.empty()) return {};
  std::string out = heading(paint, "Kernels without a mark in a roofline chart");
  const std::size_t many = std::min(unmarked.size(), shown);
  for (std::size_t i = 0; i < many; ++i) {
    const KernelRoofline& kernel = roofline.kernels[unmarked[i].kernel];
    out += fmt::format("  {}\n", fit(kernel.kernel, style.width > 22 ? style.width - 2 : 20));
    out += labelled("", bandwidth_text(kernel), style.width);
    out += labelled("", unmarked[i].reason, style.width);
  }
  return out + cut_note(unmarked.size(), many);
}

std::string levels_table(const KernelRoofline& kernel, std::size_t width) {
  if (kernel.levels.empty()) return {};
  TextTable table({Column{"level", left}, Column{.title = "read", .expendable = 2},
                   Column{.title = "written", .expendable = 1}, Column{"rate"}, Column{"ceiling"},
                   Column{"share"}, Column{"FLOP/byte"}, Column{"ridge"}});
  const auto bytes = [](const Figure& figure) {
    return figure.value ? bytes_text(*figure.value) : kDash;
  };
  for (const LevelTraffic& level : kernel.levels)
    table.add({level_name(level.name, kernel.architecture), bytes(level.read_bytes),
               level.split ? bytes(level.write_bytes) : "together",
               rate_or_dash(level.gb_per_s, "B/s"), rate_or_dash(level.ceiling.value, "B/s"),
               share_text(level.share), plain_or_dash(level.intensity),
               plain_or_dash(level.ridge)});
  return table.text(width);
}

std::string work_line(const KernelRoofline& kernel) {
  std::string out;
  for (const analyze::Work& work : kernel.work)
    if (work.flops.value.value_or(0) > 0)
      out += fmt::format("{}{} {} {}", out.empty() ? "" : ", ",
                         work_text(*work.flops.value, work.flops.unit),
                         level_name(hal::to_string(work.pipe), kernel.architecture),
                         hal::to_string(work.precision));
  if (kernel.estimate)
    out += fmt::format("{}{} by the published estimator ({})", out.empty() ? "" : ", ",
                       work_text(kernel.estimate->flops, "FLOP"), kernel.estimate->known_error);
  if (out.empty())
    out = kernel.flops_raw
              ? "no floating-point operations"
              : "floating-point operations not known: " + reason_of(kernel, "flops.raw");
  if (kernel.flops_raw && kernel.flops_lane_corrected &&
      *kernel.flops_raw != *kernel.flops_lane_corrected)
    out += fmt::format("; with the lanes that worked: {}",
                       work_text(*kernel.flops_lane_corrected, "FLOP"));
  return out;
}

std::string rate_line(const KernelRoofline& kernel) {
  std::string out = fmt::format("{} ({})", rate_text(*kernel.gflops, "FLOP/s"), kernel.flops_are);
  if (kernel.compute_roof.value)
    out += fmt::format(", {} of {} for its mix of instructions", share_text(kernel.compute_share),
                       rate_text(*kernel.compute_roof.value, "FLOP/s"));
  return out;
}

std::string binding_line(const analyze::Binding& binding, std::string_view architecture) {
  std::string out = fmt::format("{}: {} takes the longest", binding.bound,
                                level_name(binding.roof, architecture));
  if (binding.share) out += fmt::format(", {} of that roof is reached", percent(*binding.share));
  if (binding.attainable_gflops)
    out += fmt::format("; at most {}", rate_text(*binding.attainable_gflops, "FLOP/s"));
  return out;
}

/// How analyze/ begins the reason of a figure whose counters were not collected.
constexpr std::string_view kNotRecorded = "not recorded: ";
/// Names of figures that such a line has at most.
constexpr std::size_t kMostNames = 6;
/// Counters of no formula that a kernel shows.
constexpr std::size_t kMostCounters = 12;

/// One line for all figures whose counters were not collected: there can be dozens.
std::string not_recorded_line(const std::vector<std::string>& names, std::string_view all_figures) {
  const std::size_t shown = std::min(names.size(), kMostNames);
  std::string list;
  for (std::size_t i = 0; i < shown; ++i) list += (i == 0 ? "" : ", ") + names[i];
  if (shown < names.size()) list += fmt::format(" and {} more", names.size() - shown);
  return fmt::format("{}: their counters were not recorded (which: see {})", list, all_figures);
}

/// The reason as far as figures share it, so that all that lack for it make one line.
std::string shared_reason(const Figure& figure) {
  switch (figure.lack) {
    case analyze::Lack::recording:
      return std::string(kNotRecorded);
    case analyze::Lack::confidence:
      return "suspicious: " + figure.doubt;
    case analyze::Lack::other:
      break;
  }
  return figure.reason;
}

/// What stands in front of a group: ten columns hold "wave time", of "shared memory" the beginning.
std::string group_title(std::string_view group, hal::Platform platform) {
  constexpr std::size_t kLabel = 10;
  return group == "lds" && platform == hal::Platform::nvidia
             ? "shared mem"
             : fit(hal::field_in_terms(group, platform), kLabel);
}

/// A line per group of features, then one per reason for which figures are not known. Figures
/// without a group come first.
std::string feature_lines(const KernelRoofline& kernel, std::size_t width,
                          std::string_view all_figures) {
  const hal::Platform platform = hal::platform_of(kernel.architecture);
  std::vector<std::pair<std::string, std::string>> groups = {{"figures", ""}};
  std::map<std::string, std::vector<std::string>> unknown;  // names by reason
  bool together = false;
  const auto append = [](std::string& list, const std::string& item) {
    list += (list.empty() ? "" : ", ") + item;
  };
  for (const LevelTraffic& level : kernel.levels) {
    if (!level.read_bytes.value)
      unknown[shared_reason(level.read_bytes)].push_back(
          figure_name(level.read_bytes.name, platform));
    if (level.split && !level.write_bytes.value)
      unknown[shared_reason(level.write_bytes)].push_back(
          figure_name(level.write_bytes.name, platform));
    if (!level.ceiling.value)
      unknown[level.ceiling.reason].push_back(figure_name(level.name, platform) + " ceiling");
  }
  for (const Figure& figure : kernel.features) {
    if (!figure.value && !figure.across_passes) {
      unknown[shared_reason(figure)].push_back(figure_name(figure.name, platform));
      continue;
    }
    together = together || !figure.value;
    const std::size_t dot = figure.name.find('.');
    const std::string group = dot == std::string::npos ? "figures" : figure.name.substr(0, dot);
    auto at = std::ranges::find(groups, group, &std::pair<std::string, std::string>::first);
    if (at == groups.end()) at = groups.insert(groups.end(), {group, ""});
    append(
        at->second,
        feature_text(figure, figure.name.substr(dot == std::string::npos ? 0 : dot + 1), platform));
  }
  std::string out;
  for (const auto& [group, text] : groups) {
    if (!text.empty()) out += labelled(group_title(group, platform), text, width);
  }
  if (together)
    out +=
        labelled("~",
                 "no single pass has the counters of these figures: several passes put together, "
                 "which may differ in clock and cache state",
                 width);
  for (const auto& [reason, names] : unknown)
    out += labelled("not known",
                    reason == kNotRecorded ? not_recorded_line(names, all_figures)
                                           : fmt::format("{}: {}", fmt::join(names, ", "), reason),
                    width);
  return out;
}

/// Counters that no formula of the tables uses, a user's own among them: the mean per dispatch.
std::string other_counters(const KernelRoofline& kernel) {
  const hal::CounterTable* const table = hal::find_counter_table(kernel.architecture);
  if (table == nullptr) return {};
  std::set<std::string, std::less<>> used{table->in_every_pass};
  for (const hal::CounterFormula& formula : table->formulas)
    for (const hal::FormulaText& text : formula.alternatives)
      used.insert(text.counters.begin(), text.counters.end());
  std::map<std::string_view, const analyze::CounterValue*> others;
  for (const analyze::CounterValue& counter : kernel.counters)
    if (const std::string name = table->own_name(counter.name);
        counter.mean && !used.contains(name) && !used.contains(name + "_sum"))
      others.try_emplace(counter.name, &counter);
  std::string out;
  std::size_t shown = 0;
  for (const auto& [name, counter] : others) {
    if (shown == kMostCounters) break;
    out += fmt::format("{}{} {}", shown == 0 ? "" : ", ", name, number_text(*counter->mean));
    if (counter->state == analyze::CounterState::unsupported ||
        counter->state == analyze::CounterState::suspicious)
      out += fmt::format(" ({})", analyze::to_string(counter->state));
    ++shown;
  }
  if (shown < others.size()) out += fmt::format(" and {} more", others.size() - shown);
  return out;
}

std::string kernel_section(const KernelRoofline& kernel, const std::string& letter,
                           const TerminalStyle& style, std::string_view all_figures) {
  const Paint paint(style.colour);
  const std::size_t width = style.width;
  const std::string title = letter.empty() ? "" : letter + "  ";
  std::string out =
      heading(paint, title + fit(kernel.kernel, std::max<std::size_t>(width, 24) - title.size()));
  const hal::Platform platform = hal::platform_of(kernel.architecture);
  const hal::Terms& words = hal::terms(platform);
  std::string time = fmt::format("{} on {}", counted(kernel.dispatches, words.dispatch),
                                 gpu_name(kernel.product, kernel.architecture));
  if (kernel.time_ns)
    time = fmt::format("{} in {}{}", duration_text(*kernel.time_ns), time,
                       kernel.time_from == "trace" ? "" : ", under counters");
  else
    time += "; how long they took is not known: " + reason_of(kernel, "time_ns");
  out += labelled("time", time, width);
  out += labelled("work", work_line(kernel), width);
  if (kernel.gflops && *kernel.gflops > 0) out += labelled("rate", rate_line(kernel), width);
  out += labelled("bound",
                  kernel.binding ? binding_line(*kernel.binding, kernel.architecture)
                                 : "not known: " + reason_of(kernel, "binding"),
                  width);
  out += levels_table(kernel, width);
  out += feature_lines(kernel, width, all_figures);
  if (const std::string others = other_counters(kernel); !others.empty())
    out += labelled("counters", fmt::format("{} per {}", others, words.dispatch), width);
  for (const std::string& explanation : kernel.explanations)
    out += labelled("note", hal::in_terms(explanation, platform), width);
  for (const std::string& assumption : kernel.assumptions)
    out += labelled("assumed", hal::in_terms(assumption, platform), width);
  return out;
}

/// The letter of a kernel in its chart; empty without a mark there.
std::string letter_in(const RooflineCharts& charts, std::size_t kernel) {
  for (const Chart& chart : charts.gpus)
    for (const ChartMark* mark : memory_marks(chart))
      if (mark->kernel == kernel) return mark->letter;
  return {};
}

std::string passes_line(const analyze::Roofline& roofline) {
  std::set<std::string_view> counters;
  for (const analyze::PassInfo& pass : roofline.passes)
    counters.insert(pass.counters.begin(), pass.counters.end());
  return fmt::format(
      "{} in {}\n", counted(counters.size(), "counter"),
      roofline.passes.size() == 1 ? "1 pass" : fmt::format("{} passes", roofline.passes.size()));
}

}  // namespace

std::string roofline_text(const analyze::Analysis& analysis, const TerminalStyle& style,
                          std::string_view all_figures) {
  const Paint paint(style.colour);
  if (!analysis.roofline)
    return analysis.counters.empty()
               ? ""
               : fmt::format("\nno roofline: {}\n", printable(analysis.roofline_missing.reason));
  const analyze::Roofline& roofline = *analysis.roofline;
  const RooflineCharts charts = roofline_charts(roofline);
  std::string out;
  for (const Chart& chart : charts.gpus) out += chart_section(roofline, chart, style, paint);
  out += unmarked_section(roofline, charts.without_mark, style.most_rows, style, paint);
  const std::size_t described =
      std::min({kMostDescribed, style.most_rows, roofline.kernels.size()});
  for (std::size_t i = 0; i < described; ++i)
    out += kernel_section(roofline.kernels[i], letter_in(charts, i), style, all_figures);
  if (roofline.kernels.size() > described)
    out += fmt::format("\n{}: see {}\n",
                       counted(roofline.kernels.size() - described, "more kernel"), all_figures);
  return out + warnings_section(roofline.warnings, style.width, paint);
}

std::string roofline_report_text(const trace::Trace& trace, const analyze::Analysis& analysis,
                                 const TerminalStyle& style, std::string_view all_figures) {
  const Paint paint(style.colour);
  std::string out;
  if (const std::string note = trace::synthetic_note(trace); !note.empty())
    out += synthetic_line(note, style.width, paint);
  if (analysis.roofline) out += passes_line(*analysis.roofline);
  return out + roofline_text(analysis, style, all_figures) + bottleneck_text(analysis, style) +
         warnings_section(analysis.warnings, style.width, paint);
}

}  // namespace perflab::report
