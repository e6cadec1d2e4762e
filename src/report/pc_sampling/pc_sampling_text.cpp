// Text view of PC samples. Nothing is computed here but what fits a line.
#include "report/pc_sampling/pc_sampling_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "code/instructions/instruction_mix.h"
#include "report/bottleneck/bottleneck_text.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"

namespace perflab::report {
namespace {

using analyze::KernelPcSamples;
using analyze::PcEstimate;
using analyze::PcInstruction;
using analyze::PcSampleSet;
using SampleColumn = TextTable::Column;
using enum TextTable::Align;

/// Below, tables leave their less telling columns out.
constexpr std::size_t kWideSamples = 100, kVeryWide = 130;
/// Columns of a source line beside other columns.
constexpr std::size_t kLineRoom = 22;

std::string estimate_text(const PcEstimate& estimate) {
  return estimate.value ? percent(*estimate.value) : kDash;
}

/// "63.6 – 81.0": bounds of the 95 % interval, in %.
std::string bounds_text(const PcEstimate& estimate) {
  if (!estimate.interval) return kDash;
  return fmt::format("{:.1f} – {:.1f}", 100 * estimate.interval->low,
                     100 * estimate.interval->high);
}

const KernelPcSamples* shown_samples(const analyze::Analysis& analysis) {
  if (!analysis.pc_sampling) return nullptr;
  const KernelPcSamples* out = nullptr;
  const auto rank = [&](const KernelPcSamples& one) {
    const bool selected = analysis.selection && one.analysis_kernel == analysis.selection->kernel;
    return std::pair(selected, one.samples);
  };
  for (const KernelPcSamples& one : analysis.pc_sampling->kernels)
    if (out == nullptr || rank(one) > rank(*out)) out = &one;
  return out;
}

std::string_view method_words(pc_sampling::Method method) {
  switch (method) {
    case pc_sampling::Method::stochastic:
      return "stochastic";
    case pc_sampling::Method::host_trap:
      return "host trap";
    case pc_sampling::Method::cupti:
      break;
  }
  return "CUPTI";
}

std::string sample_interval_words(const PcSampleSet& set) {
  std::string out;
  if (set.interval)
    out = fmt::format("every {} {}", set.interval->value,
                      set.interval->unit == pc_sampling::IntervalUnit::cycles ? "cycles" : "us");
  if (set.interval_source == analyze::PcIntervalSource::config) out += " (profiling_config.yaml)";
  if (set.interval_source == analyze::PcIntervalSource::estimated && set.tick_ns)
    out = fmt::format("about every {:.1f} us (estimated)", *set.tick_ns / 1000);
  return out.empty() ? "interval not stated" : out;
}

/// How many there are, of how many, and what they are worth.
std::string certainty_lines(const KernelPcSamples& kernel, const PcSampleSet& set,
                            std::size_t width) {
  std::string seen = fmt::format("{} of {} samples, {}, {}", kernel.samples, set.samples,
                                 method_words(set.method), sample_interval_words(set));
  if (kernel.ticks > 0) seen += fmt::format("; {}", counted(kernel.ticks, "tick"));
  if (!kernel.agent.empty()) seen += fmt::format("; {}", kernel.agent);
  std::string out = labelled("seen", seen, width);
  std::string others =
      fmt::format("{} samples are of other kernels, {} of no known one",
                  set.samples - kernel.samples - set.kernel_unknown, set.kernel_unknown);
  if (set.samples > kernel.samples) {
    if (!set.reasons.empty() && !kernel.reasons.empty())
      others += fmt::format("; over all samples most stalls are {} ({}), in this kernel {} ({})",
                            set.reasons.front().name, estimate_text(set.reasons.front().of_stalled),
                            kernel.reasons.front().name,
                            estimate_text(kernel.reasons.front().of_stalled));
    out += labelled("left out", others, width);
  }
  const analyze::PcQuality& quality = kernel.quality;
  if (quality.delivered)
    out += labelled("delivered",
                    fmt::format("{} of the expected samples", percent(*quality.delivered)), width);
  if (quality.dispatches)
    out += labelled(
        "dispatches",
        fmt::format("{} of {} have samples", *quality.dispatches_sampled, *quality.dispatches),
        width);
  out += labelled("confidence", std::string(analyze::to_string(kernel.confidence)), width);
  for (const std::string& reason : kernel.confidence_reasons)
    out += labelled("", "- " + reason, width);
  for (const std::string& refusal : kernel.refusals) out += labelled("refused", refusal, width);
  return out;
}

/// "file.hip:12" of the innermost line.
std::string line_words(const std::vector<std::string>& chain) {
  if (chain.empty()) return {};
  const std::size_t slash = chain.front().find_last_of("/\\");
  return slash == std::string::npos ? chain.front() : chain.front().substr(slash + 1);
}

/// The answer in a sentence: where most samples are, and why.
std::string answer_line(const KernelPcSamples& kernel, std::size_t width) {
  if (kernel.hot.empty()) return {};
  const PcInstruction& top = kernel.instructions[kernel.hot.front()];
  std::string text = fmt::format("{} of its samples are at {}", estimate_text(top.share), top.text);
  if (const std::string line = line_words(top.chain); !line.empty())
    text += fmt::format(" ({})", line);
  if (!top.waits_for.empty())
    text += fmt::format(", which waits for {}", kernel.instructions[top.waits_for.back()].text);
  if (kernel.intervals != analyze::PcIntervals::none && kernel.hot.size() > 1 &&
      kernel.instructions[kernel.hot[1]].tied_with_previous)
    text += "; the next one cannot be told from it";
  if (!kernel.reasons.empty())
    text += fmt::format(". {} issued; the most frequent stall is {}, {} of all samples",
                        estimate_text(kernel.issued.share), kernel.reasons.front().name,
                        estimate_text(kernel.reasons.front().of_all));
  return labelled("answer", text, width);
}

std::string reasons_table(const KernelPcSamples& kernel, const TerminalStyle& style,
                          const Paint& paint) {
  if (kernel.reasons.empty()) return {};
  TextTable table({SampleColumn{"share"}, SampleColumn{"95 % interval"}, SampleColumn{"of stalled"},
                   SampleColumn{"of wave time"}, SampleColumn{"samples"},
                   SampleColumn{"reason", left}});
  table.add({estimate_text(kernel.issued.share), bounds_text(kernel.issued.share), kDash, kDash,
             fmt::format("{}", kernel.issued.samples), "issued"});
  for (const analyze::PcReason& one : kernel.reasons)
    table.add({estimate_text(one.of_all), bounds_text(one.of_all), estimate_text(one.of_stalled),
               estimate_text(one.of_wave_time), fmt::format("{}", one.samples), one.name});
  std::string out = heading(paint, "Why waves did not issue (shares of all its samples)") +
                    table.text(style.width);
  static constexpr std::array<std::pair<analyze::PcWait, std::string_view>, analyze::kPcWaits>
      kWords = {{{analyze::PcWait::vector_memory, "vector memory"},
                 {analyze::PcWait::lds, "the LDS"},
                 {analyze::PcWait::scalar, "scalar loads"},
                 {analyze::PcWait::unknown, "what is not known"}}};
  std::string waits;
  for (const auto& [wait, words] : kWords)
    if (const analyze::PcShare& share = kernel.waits[static_cast<std::size_t>(wait)];
        share.samples > 0)
      waits += fmt::format("{}{} {}", waits.empty() ? "" : ", ", words, estimate_text(share.share));
  if (!waits.empty()) out += labelled("waits for", waits, style.width);
  std::string refused;
  for (const auto& [one, share] : kernel.refused_by_class)
    refused += fmt::format("{}{} {}", refused.empty() ? "" : ", ", code::to_string(one),
                           estimate_text(share.share));
  if (!refused.empty()) out += labelled("pipe full", refused, style.width);
  return out;
}

/// Columns that all places have, and with `all` those that say less.
std::vector<SampleColumn> count_columns(bool all) {
  std::vector<SampleColumn> columns = {SampleColumn{"share  "}, SampleColumn{"95 % interval"},
                                       SampleColumn{"most stalls", left}};
  if (all) columns.insert(columns.end(), {SampleColumn{"issued"}, SampleColumn{"samples"}});
  return columns;
}

std::vector<std::string> count_cells(const analyze::PcCounts& counts, bool all) {
  std::vector<std::string> cells = {
      estimate_text(counts.share) + (counts.tied_with_previous ? " ~" : "  "),
      bounds_text(counts.share), counts.reasons.empty() ? kDash : counts.reasons.front().first};
  if (all) {
    cells.push_back(estimate_text(counts.issued_share));
    cells.push_back(fmt::format("{}", counts.samples));
  }
  return cells;
}

std::string hot_samples_table(const KernelPcSamples& kernel, const TerminalStyle& style,
                              const Paint& paint) {
  if (kernel.hot.empty()) return {};
  const bool sources = style.width >= kWideSamples && !kernel.lines.empty();
  const bool all = style.width >= kVeryWide;
  std::vector<SampleColumn> columns = count_columns(all);
  columns.push_back(SampleColumn{"instruction", left, true});
  if (sources) columns.push_back(SampleColumn{"source", left});
  TextTable table(columns);
  const std::size_t shown = std::min(style.most_rows, kernel.hot.size());
  bool ties = false;
  for (std::size_t i = 0; i < shown; ++i) {
    const PcInstruction& one = kernel.instructions[kernel.hot[i]];
    ties = ties || one.tied_with_previous;
    std::vector<std::string> cells = count_cells(one, all);
    cells.push_back(one.text);
    if (sources) cells.push_back(one.chain.empty() ? kDash : fit(line_words(one.chain), kLineRoom));
    table.add(std::move(cells));
  }
  std::string out = heading(paint, "Instructions with most samples") + table.text(style.width) +
                    cut_note(kernel.hot.size(), shown);
  if (ties) out += labelled("~", "cannot be told from the row above it", style.width);
  if (kernel.code_known)
    out += labelled(
        "code",
        fmt::format("{} of {} instructions of the kernel have no samples",
                    kernel.instructions.size() - kernel.hot.size(), kernel.instructions.size()),
        style.width);
  return out;
}

std::string causes_table(const KernelPcSamples& kernel, const TerminalStyle& style,
                         const Paint& paint) {
  if (kernel.causes.empty()) return {};
  TextTable table({SampleColumn{"samples"}, SampleColumn{"waited for", left, true},
                   SampleColumn{"source", left}});
  const std::size_t shown = std::min(style.most_rows, kernel.causes.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const PcInstruction& load = kernel.instructions[kernel.causes[i].instruction];
    table.add({fmt::format("{}", kernel.causes[i].samples), load.text,
               load.chain.empty() ? kDash : fit(line_words(load.chain), kLineRoom)});
  }
  return heading(paint, "What waits were for, by program order") + table.text(style.width) +
         cut_note(kernel.causes.size(), shown);
}

std::string sampled_lines_table(const std::vector<analyze::PcLine>& lines, std::string_view title,
                                const TerminalStyle& style, const Paint& paint) {
  if (lines.empty()) return {};
  std::vector<SampleColumn> columns = count_columns(style.width >= kWideSamples);
  columns.push_back(SampleColumn{"source line", left, true});
  TextTable table(columns);
  const std::size_t shown = std::min(style.most_rows, lines.size());
  for (std::size_t i = 0; i < shown; ++i) {
    std::vector<std::string> cells = count_cells(lines[i], style.width >= kWideSamples);
    cells.push_back(lines[i].line.empty() ? "(no source line)" : line_words({lines[i].line}));
    table.add(std::move(cells));
  }
  return heading(paint, title) + table.text(style.width) + cut_note(lines.size(), shown);
}

std::string sampled_classes_table(const KernelPcSamples& kernel, const TerminalStyle& style,
                                  const Paint& paint) {
  std::vector<SampleColumn> columns = count_columns(style.width >= kWideSamples);
  columns.push_back(SampleColumn{"class", left});
  TextTable table(columns);
  for (const analyze::PcClass& one : kernel.classes) {
    std::vector<std::string> cells = count_cells(one, style.width >= kWideSamples);
    cells.emplace_back(code::to_string(one.instruction_class));
    table.add(std::move(cells));
  }
  if (kernel.classes.size() < 2) return {};  // CUPTI's have no text, so no class
  return heading(paint, "Classes of instructions") + table.text(style.width);
}

std::string arbiter_section(const KernelPcSamples& kernel, const TerminalStyle& style,
                            const Paint& paint) {
  if (!kernel.arbiter) return {};
  TextTable table({SampleColumn{"issued"}, SampleColumn{"refused"}, SampleColumn{"idle"},
                   SampleColumn{"pipe", left}});
  for (const analyze::PcPipe& one : kernel.arbiter->pipes)
    if (one.available)
      table.add({estimate_text(one.used.share), estimate_text(one.backpressured.share),
                 estimate_text(one.idle.share), std::string(pc_sampling::to_string(one.pipe))});
  std::string out = heading(paint, "Pipes of the sampled SIMDs") + table.text(style.width);
  return out + labelled("no pipe used",
                        fmt::format("{} of the samples; in {} of them no wave wanted one",
                                    estimate_text(kernel.arbiter->no_pipe_used.share),
                                    estimate_text(kernel.arbiter->nobody_asked.share)),
                        style.width);
}

std::string waves_lines(const KernelPcSamples& kernel, std::size_t width) {
  std::string out;
  if (kernel.waves && kernel.waves->mean.value)
    out += labelled("waves",
                    fmt::format("{:.1f} on a busy {} on average, {:.0f} in the median, "
                                "{} at most",
                                *kernel.waves->mean.value, kernel.waves->per_simd ? "SIMD" : "CU",
                                kernel.waves->median, kernel.waves->most),
                    width);
  if (kernel.features.lanes_active.value)
    out += labelled("lanes",
                    fmt::format("{} are on, on average over the samples",
                                estimate_text(kernel.features.lanes_active)),
                    width);
  if (kernel.xccs.size() > 1) {
    const auto [least, most] = std::ranges::minmax(
        kernel.xccs, {}, [](const analyze::PcXcc& one) { return one.samples.samples; });
    out +=
        labelled("XCCs",
                 fmt::format("{} with samples, from {} (XCC {}) to {} (XCC {})", kernel.xccs.size(),
                             least.samples.samples, least.xcc, most.samples.samples, most.xcc),
                 width);
  }
  return out;
}

std::string other_samples_table(const analyze::Analysis& analysis, const KernelPcSamples* above,
                                const TerminalStyle& style, const Paint& paint) {
  const auto& kernels = analysis.pc_sampling->kernels;
  std::vector<analyze::PcOtherKernel> counted_only;
  for (const PcSampleSet& set : analysis.pc_sampling->sets)
    counted_only.insert(counted_only.end(), set.others.begin(), set.others.end());
  const std::size_t all = kernels.size() - 1 + counted_only.size();
  if (all == 0) return {};
  TextTable table({SampleColumn{"samples"}, SampleColumn{"issued"},
                   SampleColumn{.title = "most stalls", .align = left, .expendable = 1},
                   SampleColumn{.title = "of stalled", .expendable = 2}, SampleColumn{"sure", left},
                   SampleColumn{"kernel", left, true}});
  std::size_t shown = 0;
  for (const KernelPcSamples& one : kernels) {
    if (&one == above || shown == style.most_rows) continue;
    ++shown;
    table.add({fmt::format("{}", one.samples), estimate_text(one.issued.share),
               one.reasons.empty() ? kDash : one.reasons.front().name,
               one.reasons.empty() ? kDash : estimate_text(one.reasons.front().of_stalled),
               std::string(analyze::to_string(one.confidence)), one.kernel});
  }
  for (const analyze::PcOtherKernel& one : counted_only) {
    if (shown == style.most_rows) break;
    ++shown;
    table.add({fmt::format("{}", one.samples), kDash, kDash, kDash, kDash, one.name});
  }
  return heading(paint, "Other kernels with samples") + table.text(style.width) +
         cut_note(all, shown);
}

}  // namespace

std::string pc_sampling_text(const analyze::Analysis& analysis, const TerminalStyle& style) {
  const KernelPcSamples* const kernel = shown_samples(analysis);
  if (kernel == nullptr) return {};
  const Paint paint(style.colour);
  const std::string title = "PC samples of ";
  const std::size_t room = std::max<std::size_t>(style.width, 32) - title.size();
  const PcSampleSet& set = analysis.pc_sampling->sets[kernel->set];
  return heading(paint, title + fit(kernel->kernel, room)) + answer_line(*kernel, style.width) +
         certainty_lines(*kernel, set, style.width) + waves_lines(*kernel, style.width) +
         reasons_table(*kernel, style, paint) + hot_samples_table(*kernel, style, paint) +
         causes_table(*kernel, style, paint) +
         sampled_lines_table(kernel->lines, "Source lines with most samples", style, paint) +
         sampled_lines_table(kernel->call_sites, "The same by the line of the kernel itself", style,
                             paint) +
         sampled_classes_table(*kernel, style, paint) + arbiter_section(*kernel, style, paint) +
         other_samples_table(analysis, kernel, style, paint);
}

std::string pc_sampling_report_text(const analyze::Analysis& analysis, const TerminalStyle& style) {
  const Paint paint(style.colour);
  const std::size_t kernels = analysis.pc_sampling ? analysis.pc_sampling->kernels.size() : 0;
  std::uint64_t samples = 0;
  if (analysis.pc_sampling)
    for (const PcSampleSet& set : analysis.pc_sampling->sets) samples += set.samples;
  return fmt::format("{} in {}, no recording of times\n", counted(samples, "PC sample"),
                     counted(kernels, "kernel")) +
         bottleneck_headline(analysis, style) + pc_sampling_text(analysis, style) +
         bottleneck_text(analysis, style) + warnings_section(analysis.warnings, style.width, paint);
}

}  // namespace perflab::report
