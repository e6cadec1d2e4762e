// Text view of verdicts. Nothing is computed here but what fits a line.
#include "report/bottleneck/bottleneck_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text/number_text.h"
#include "hal/terms.h"
#include "report/bottleneck/bottleneck_json.h"
#include "report/bottleneck/occupancy_gap.h"
#include "report/kit/quantities.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"

namespace perflab::report {
namespace {

using analyze::Evidence;
using analyze::HeldRule;
using analyze::KernelBottleneck;
using analyze::ScoredBottleneck;
using Column = TextTable::Column;
using enum TextTable::Align;

/// Source lines that a piece of advice shows at most; the document has all.
constexpr std::size_t kMostLines = 4;
/// Names of features in one line at most.
constexpr std::size_t kMostListed = 6;

/// Index of the verdict that is shown with its reasons; nullptr: there are none.
const KernelBottleneck* main_bottleneck(const analyze::Analysis& analysis) {
  const auto& kernels = analysis.bottlenecks.kernels;
  if (kernels.empty()) return nullptr;
  if (analysis.selection)
    for (const KernelBottleneck& one : kernels)
      if (one.analysis_kernel == analysis.selection->kernel) return &one;
  return &kernels.front();
}

/// The words of a list, "… and 3 more" behind the first few.
std::string listed(const std::vector<std::string_view>& words, std::size_t most) {
  const std::size_t shown = std::min(words.size(), most);
  std::string out;
  for (std::size_t i = 0; i < shown; ++i) out += fmt::format("{}{}", i == 0 ? "" : ", ", words[i]);
  if (shown < words.size()) out += fmt::format(" and {} more", words.size() - shown);
  return out;
}

/// "HBM bandwidth reached 87.3 %, at least 60.0 % (why); from X".
std::string evidence_text(const Evidence& evidence, const analyze::FeatureSet& features,
                          hal::Platform platform) {
  const analyze::Condition& condition = evidence.condition;
  const analyze::FeatureInfo& info = analyze::info(condition.feature);
  std::string out =
      fmt::format("{} {}, {} {}", info.label, feature_value_text(evidence.value, info.unit),
                  condition.comparison == analyze::Relation::at_least ? "at least" : "below",
                  feature_value_text(condition.threshold, info.unit));
  if (!condition.why.empty()) out += fmt::format(" ({})", condition.why);
  if (const std::string& from = features[condition.feature].from; !from.empty())
    out += fmt::format("; from {}", from);
  return hal::in_terms(out, platform);
}

std::string evidence_lines(const ScoredBottleneck& candidate, const KernelBottleneck& bottleneck,
                           std::size_t width) {
  const analyze::FeatureSet& features = bottleneck.features;
  const hal::Platform platform = hal::platform_of(bottleneck.architecture);
  std::string out;
  for (const HeldRule& rule : candidate.held) {
    out += labelled(out.empty() ? "because" : "", hal::in_terms(rule.rule->says, platform), width);
    for (const Evidence& one : rule.evidence)
      out += labelled("", "- " + evidence_text(one, features, platform), width);
  }
  // Two rules can have the same figure against them.
  std::vector<std::string> against;
  for (const HeldRule& rule : candidate.held)
    for (const Evidence& one : rule.against)
      if (std::string text = evidence_text(one, features, platform);
          std::ranges::find(against, text) == against.end())
        against.push_back(std::move(text));
  for (std::size_t i = 0; i < against.size(); ++i)
    out += labelled(i == 0 ? "against" : "", "- " + against[i], width);
  return out;
}

const ScoredBottleneck* candidate_of(const KernelBottleneck& bottleneck,
                                     analyze::Bottleneck verdict) {
  const auto found = std::ranges::find(bottleneck.candidates, verdict, &ScoredBottleneck::verdict);
  return found == bottleneck.candidates.end() ? nullptr : &*found;
}

std::string runner_up_line(const KernelBottleneck& bottleneck, std::size_t width) {
  if (!bottleneck.runner_up) return {};
  std::string text(analyze::label_of(*bottleneck.runner_up));
  const ScoredBottleneck* const second = candidate_of(bottleneck, *bottleneck.runner_up);
  const ScoredBottleneck* const first = winner(bottleneck);
  if (second != nullptr) {
    text += first != nullptr ? fmt::format(", score {} to {}", second->score, first->score)
                             : fmt::format(", score {}", second->score);
    if (!second->held.empty())
      text += fmt::format(": {}", hal::in_terms(second->held.front().rule->says,
                                                hal::platform_of(bottleneck.architecture)));
  }
  return labelled("runner-up", text, width);
}

std::string bound_lines(const analyze::Bound& bound, std::size_t width) {
  std::string text = "not known";
  if (bound.kernel_factor) text = fmt::format("{:.3g} times as fast", *bound.kernel_factor);
  for (const Missing& missing : bound.missing)
    if (!bound.kernel_factor && missing.field == "bound.kernel_factor")
      text += fmt::format(": {}", missing.reason);
  std::string out = labelled("at most", text, width);
  for (const analyze::GainBound& part : bound.parts)
    out += labelled("",
                    part.factor
                        ? fmt::format("- {}, {:.3g} times: {}", part.from, *part.factor, part.text)
                        : fmt::format("- {}: {}", part.from, part.text),
                    width);
  const bool said = std::ranges::find(bound.parts, "critical path", &analyze::GainBound::from) !=
                    bound.parts.end();
  if (bound.end_to_end_ns && !said) {
    std::string whole = fmt::format("the run would be at most {} shorter",
                                    duration_text(static_cast<double>(*bound.end_to_end_ns)));
    if (bound.end_to_end_share) whole += fmt::format(" ({})", percent(*bound.end_to_end_share));
    out += labelled("", whole, width);
  }
  return out;
}

std::string next_lines(const KernelBottleneck& bottleneck, std::size_t width) {
  if (!bottleneck.next) return {};
  return labelled("next", bottleneck.next->command, width) +
         labelled("", bottleneck.next->why, width);
}

std::string advice_lines(const KernelBottleneck& bottleneck, std::size_t width) {
  std::string out;
  for (const analyze::Advice& advice : bottleneck.advice) {
    out += labelled(out.empty() ? "try" : "", "- " + advice.text, width);
    const std::vector<std::string_view> lines(advice.lines.begin(), advice.lines.end());
    if (!lines.empty()) out += labelled("", "  at " + listed(lines, kMostLines), width);
  }
  return out;
}

/// How the verdict came about: what each source of figures changed. Nothing where none did.
std::string history_lines(const KernelBottleneck& bottleneck, std::size_t width) {
  std::string out;
  std::size_t shown = 0;
  const auto& steps = bottleneck.history;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i > 0 && steps[i].change.empty() && steps[i].verdict == steps[i - 1].verdict) continue;
    ++shown;
    std::string source(analyze::to_string(steps[i].with));
    std::ranges::replace(source, '_', ' ');
    source = hal::in_terms(source, hal::platform_of(bottleneck.architecture));
    const std::string_view change = steps[i].change;
    out += labelled(out.empty() ? "history" : "",
                    fmt::format("with {}: {}", source,
                                change.empty() ? analyze::label_of(steps[i].verdict) : change),
                    width);
  }
  return shown > 1 ? out : "";
}

/// Rules that could not be decided, and which figures they lack.
std::string open_line(const KernelBottleneck& bottleneck, std::size_t width) {
  std::size_t open = 0;
  std::vector<std::string_view> lacking;
  for (const ScoredBottleneck& candidate : bottleneck.candidates)
    for (const analyze::Rule* rule : candidate.open) {
      ++open;
      for (const analyze::FeatureId id : missing_features(*rule, bottleneck.features))
        if (const std::string_view name = analyze::info(id).name;
            std::ranges::find(lacking, name) == lacking.end())
          lacking.push_back(name);
    }
  if (open == 0) return {};
  return labelled("open",
                  fmt::format("{} could not be decided without {}", counted(open, "rule"),
                              listed(lacking, kMostListed)),
                  width);
}

std::string verdict_text(const KernelBottleneck& bottleneck) {
  return fmt::format("{}, confidence {}", analyze::label_of(bottleneck.verdict),
                     analyze::to_string(bottleneck.confidence));
}

/// Where wave slots stand empty, when that is a large part.
std::string occupancy_gap_line(const KernelBottleneck& bottleneck,
                               const analyze::Analysis& analysis, std::size_t width) {
  constexpr double kLargeGap = 0.2;
  if (!bottleneck.analysis_kernel) return {};
  const analyze::Kernel& kernel = analysis.kernels[*bottleneck.analysis_kernel];
  if (!kernel.occupancy_gap || kernel.occupancy_gap->gap < kLargeGap) return {};
  const hal::Platform platform = hal::platform_of(bottleneck.architecture);
  return labelled("occupancy", occupancy_gap_text(*kernel.occupancy_gap, platform), width);
}

std::string verdict_section(const KernelBottleneck& bottleneck, const analyze::Analysis& analysis,
                            const TerminalStyle& style, const Paint& paint) {
  const std::size_t width = style.width;
  std::string out = heading(
      paint, "What limits " + fit(bottleneck.kernel, std::max<std::size_t>(width, 32) - 12));
  out += labelled("verdict", verdict_text(bottleneck), width);
  // The summary begins with the label, which stands above it.
  std::string_view summary = bottleneck.summary;
  const std::string label = fmt::format("{}: ", analyze::label_of(bottleneck.verdict));
  if (summary.starts_with(label)) summary.remove_prefix(label.size());
  if (!summary.empty()) out += labelled("", summary, width);
  for (const std::string& reason : bottleneck.confidence_reasons)
    out += labelled("", fmt::format("confidence: {}", reason), width);
  if (const ScoredBottleneck* candidate = winner(bottleneck))
    out += evidence_lines(*candidate, bottleneck, width);
  out += occupancy_gap_line(bottleneck, analysis, width);
  for (std::size_t i = 0; i < bottleneck.cross_checks.size(); ++i)
    out += labelled(i == 0 ? "sources" : "", bottleneck.cross_checks[i].text, width);
  out += runner_up_line(bottleneck, width);
  out += bound_lines(bottleneck.bound, width);
  out += advice_lines(bottleneck, width);
  out += next_lines(bottleneck, width);
  out += history_lines(bottleneck, width);
  return out + open_line(bottleneck, width);
}

/// Kernels that have none, with the reason that they share.
std::string without_verdict_lines(const analyze::Analysis& analysis, std::size_t width) {
  std::string out;
  std::string_view said;
  for (const analyze::WithoutVerdict& one : analysis.bottlenecks.without_verdict) {
    out += labelled(out.empty() ? "no verdict" : "", one.kernel, width);
    said = one.reason;
  }
  return out.empty() ? out : "\n" + out + labelled("", said, width);
}

std::string others_section(const analyze::Analysis& analysis, const KernelBottleneck* shown_above,
                           const TerminalStyle& style, const Paint& paint) {
  const auto& kernels = analysis.bottlenecks.kernels;
  if (kernels.size() < 2) return {};
  TextTable table({Column{"verdict", left}, Column{"sure", left}, Column{"at most"},
                   Column{"kernel", left, true}});
  std::size_t shown = 0;
  for (const KernelBottleneck& one : kernels) {
    if (&one == shown_above) continue;
    if (shown == style.most_rows) break;
    ++shown;
    table.add({std::string(analyze::label_of(one.verdict)),
               std::string(analyze::to_string(one.confidence)),
               one.bound.kernel_factor ? fmt::format("{:.3g}x", *one.bound.kernel_factor) : "—",
               one.kernel});
  }
  return heading(paint, "What limits the other kernels") + table.text(style.width) +
         cut_note(kernels.size() - 1 + analysis.bottlenecks.left_out, shown);
}

}  // namespace

std::string feature_value_text(double value, std::string_view unit) {
  if (unit == "share") return percent(value);
  if (unit == "ns") return duration_text(value);
  if (unit == "bytes") return bytes_text(value);
  const std::string number = number_text(value, 4);
  return unit.empty() || unit == "count" ? number : fmt::format("{} {}", number, unit);
}

std::string bottleneck_headline(const analyze::Analysis& analysis, const TerminalStyle& style) {
  const KernelBottleneck* const main = main_bottleneck(analysis);
  if (main == nullptr) return {};
  constexpr std::size_t kMostName = 40;
  std::string out;
  for (const std::string& line : wrapped(
           fmt::format("{}: {}", fit(main->kernel, kMostName), verdict_text(*main)), style.width))
    out += line + "\n";
  return out;
}

std::string bottleneck_text(const analyze::Analysis& analysis, const TerminalStyle& style) {
  const KernelBottleneck* const main = main_bottleneck(analysis);
  if (main == nullptr) return without_verdict_lines(analysis, style.width);
  const Paint paint(style.colour);
  return verdict_section(*main, analysis, style, paint) +
         others_section(analysis, main, style, paint) +
         without_verdict_lines(analysis, style.width);
}

}  // namespace perflab::report
