// Layout of a comparison on a terminal.
#include "report/comparison/comparison_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text/number_text.h"
#include "report/kit/quantities.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"

namespace perflab::report {
namespace {

using Align = TextTable::Align;
using stats::SpeedVerdict;

/// "3.4 %", "0.05 %": a change as people compare it.
std::string change_text(double part) {
  const double percents = 100 * std::abs(part);
  return percents < 1 ? fmt::format("{:.2g} %", percents) : fmt::format("{:.1f} %", percents);
}

/// "1.034"; of what is far from 1 four digits.
std::string ratio_digits(double ratio) {
  return ratio >= 0.1 && ratio < 100 ? fmt::format("{:.3f}", ratio) : fmt::format("{:.4g}", ratio);
}

std::string verdict_cell(const stats::Comparison& found, bool regression, bool gated) {
  std::string out(to_string(found.verdict));
  if (regression) out += " (fails)";
  if (!gated) out += " (not gated)";
  return out;
}

std::string samples_cell(const stats::Comparison& found) {
  return found.samples_a == found.samples_b
             ? fmt::format("{}", found.samples_a)
             : fmt::format("{}/{}", found.samples_a, found.samples_b);
}

std::string decide_cell(const stats::Comparison& found) {
  if (found.verdict != SpeedVerdict::undecided) return "";
  return found.samples_to_decide ? fmt::format("{}", *found.samples_to_decide) : kDash;
}

std::string comparison_table(const compare::ComparisonResult& result, const TerminalStyle& style) {
  constexpr std::size_t kRoomy = 110;  // narrower, a title takes its first word from its neighbour
  std::vector<TextTable::Column> columns = {{"kernel", Align::left, true},
                                            {"A"},
                                            {"B"},
                                            {"B / A"},
                                            {interval_title(result.confidence_each)},
                                            {.title = "samples", .expendable = 2}};
  const bool decide =
      std::ranges::any_of(result.kernels, [](const compare::KernelComparison& kernel) {
        return kernel.comparison.verdict == SpeedVerdict::undecided;
      });
  if (decide)
    columns.push_back(
        {.title = style.width < kRoomy ? "to decide" : "samples to decide", .expendable = 3});
  columns.push_back({"verdict", Align::left});
  TextTable table(columns);
  const auto add = [&](const std::string& name, const stats::Comparison& found,
                       const std::string& samples, const std::string& verdict) {
    std::vector<std::string> cells = {name,
                                      sample_text(found.median_a, result.unit),
                                      sample_text(found.median_b, result.unit),
                                      ratio_text(found.ratio),
                                      interval_text(found.interval),
                                      samples};
    if (decide) cells.push_back(verdict == kDash ? "" : decide_cell(found));
    cells.push_back(verdict);
    table.add(std::move(cells));
  };
  const std::size_t shown = std::min(result.kernels.size(), style.most_rows);
  for (std::size_t i = 0; i < shown; ++i) {
    const compare::KernelComparison& kernel = result.kernels[i];
    add(compared_name(kernel.name), kernel.comparison, samples_cell(kernel.comparison),
        verdict_cell(kernel.comparison, kernel.regression, kernel.gated));
  }
  if (result.total) {
    const stats::Comparison& found = result.total->comparison;
    if (result.total->tested)
      add("total of a run", found, samples_cell(found),
          verdict_cell(found, result.total->regression, true));
    else
      add("total of a run, estimated", found, "", kDash);
  }
  return table.text(style.width) + cut_note(result.kernels.size(), shown);
}

std::string unpaired_section(const std::vector<compare::UnpairedKernel>& kernels,
                             std::string_view side, std::string_view unit,
                             const TerminalStyle& style, const Paint& paint) {
  if (kernels.empty()) return {};
  TextTable table({{"kernel", Align::left, true}, {"median"}, {"samples"}, {"share"}});
  const std::size_t shown = std::min(kernels.size(), style.most_rows);
  for (std::size_t i = 0; i < shown; ++i)
    table.add({compared_name(kernels[i].name), sample_text(kernels[i].median, unit),
               fmt::format("{}", kernels[i].samples), share_text(kernels[i].share)});
  return heading(paint, fmt::format("Only in {}", side)) + table.text(style.width) +
         cut_note(kernels.size(), shown);
}

std::string side_line(const compare::SideFacts& side) {
  std::string out = side.files.empty() ? "" : side.files.front();
  if (side.files.size() > 1) out += fmt::format(" and {} more", side.files.size() - 1);
  out += fmt::format(" ({}", side.kind);
  if (side.runs > 0) out += fmt::format(", {}", counted(side.runs, "run"));
  out += fmt::format(", {})",
                     side.kernels == 1 ? "1 series" : fmt::format("{} kernels", side.kernels));
  return out;
}

/// Regressions that the table had no room for are named all the same.
std::string regressions_below_the_cut(const compare::ComparisonResult& result,
                                      const TerminalStyle& style) {
  std::string out;
  for (std::size_t i = style.most_rows; i < result.kernels.size(); ++i)
    if (const compare::KernelComparison& kernel = result.kernels[i]; kernel.regression)
      out += labelled("fails",
                      fmt::format("{}: {}", compared_name(kernel.name),
                                  comparison_words(kernel.comparison, result)),
                      style.width);
  return out;
}

/// What the gate says of what was compared.
std::string compared_sentence(const compare::ComparisonResult& result,
                              const compare::CompareOptions& options) {
  const std::string threshold = change_text(options.threshold);
  const std::string of = counted(result.comparisons, "comparison");
  switch (result.verdict) {
    case compare::GateVerdict::pass:
      return fmt::format("pass: {} decided, and no median is slower by more than {}", of,
                         threshold);
    case compare::GateVerdict::regression:
      return fmt::format("regression: {} of {} slower by more than {}", result.regressions, of,
                         threshold) +
             (result.undecided > 0 ? fmt::format("; {} undecided", result.undecided) : "");
    case compare::GateVerdict::undecided:
      break;
  }
  std::string out = "no regression shown: ";
  if (result.comparisons == 0)
    out += "nothing was tested, since no kernel takes the share of time that --min-share asks for";
  else if (result.undecided == result.comparisons)
    out += result.comparisons == 1 ? "the only comparison is undecided"
                                   : fmt::format("all {} are undecided", of);
  else
    out += fmt::format("{} of {} {} undecided", result.undecided, of,
                       result.undecided == 1 ? "is" : "are");
  return result.fails ? out + "; the gate fails for that (--fail-undecided)" : out;
}

}  // namespace

std::string sample_text(const std::optional<double>& value, std::string_view unit) {
  if (!value) return kDash;
  if (unit == "ns") return duration_text(*value);
  return unit.empty() ? number_text(*value, 5)
                      : fmt::format("{} {}", number_text(*value, 5), printable(unit));
}

std::string ratio_text(const std::optional<double>& ratio) {
  return ratio ? ratio_digits(*ratio) : kDash;
}

std::string interval_text(const std::optional<stats::Interval>& interval) {
  return interval
             ? fmt::format("{} to {}", ratio_digits(interval->low), ratio_digits(interval->high))
             : kDash;
}

std::string share_text(const std::optional<double>& share) {
  return share ? percent(*share) : kDash;
}

std::string compared_name(const std::string& name) {
  return name.empty() ? "(samples)" : name;
}

std::string comparison_words(const stats::Comparison& found,
                             const compare::ComparisonResult& result) {
  std::string out(to_string(found.verdict));
  if (!found.ratio) return out + ": a side has no samples, or a median that is not positive";
  const std::string_view direction = *found.ratio >= 1 ? "more" : "less";
  out += fmt::format(": {}, {} {} than {}", sample_text(found.median_b, result.unit),
                     change_text(*found.ratio - 1), direction,
                     sample_text(found.median_a, result.unit));
  if (found.interval)
    out += fmt::format(" (B / A, {}: {})", interval_title(result.confidence_each),
                       interval_text(found.interval));
  out += fmt::format(", samples: {} of A, {} of B", found.samples_a, found.samples_b);
  if (found.samples_to_decide)
    out += fmt::format("; about {} of each would decide", *found.samples_to_decide);
  return out;
}

std::string gate_sentence(const compare::ComparisonResult& result,
                          const compare::CompareOptions& options) {
  const bool blind = std::ranges::any_of(result.not_compared, [](const compare::NotCompared& one) {
    return one.reason == compare::NotComparedReason::no_databases;
  });
  return compared_sentence(result, options) +
         (blind ? "; other kernels were not compared (no databases)" : "");
}

std::string comparison_kernels_text(const compare::ComparisonResult& result,
                                    const TerminalStyle& style) {
  const Paint paint(style.colour);
  std::string out;
  for (const compare::SideFacts* side : {&result.a, &result.b})
    if (!side->synthetic.empty()) out += synthetic_line(side->synthetic, style.width, paint);
  out += labelled("A", side_line(result.a), style.width);
  out += labelled("B", side_line(result.b), style.width);
  out += "\n" + comparison_table(result, style) + regressions_below_the_cut(result, style);
  out += unpaired_section(result.only_a, "A", result.unit, style, paint);
  return out + unpaired_section(result.only_b, "B", result.unit, style, paint);
}

std::string comparison_notes_text(const compare::ComparisonResult& result,
                                  const TerminalStyle& style) {
  std::string out = result.notes.empty() ? "" : "\n";
  for (const std::string& note : result.notes) out += labelled("note", note, style.width);
  return out + warnings_section(result.warnings, style.width, Paint(style.colour));
}

std::string comparison_verdict_text(const compare::ComparisonResult& result,
                                    const compare::CompareOptions& options,
                                    const TerminalStyle& style) {
  const Paint paint(style.colour);
  const std::string_view colour = result.verdict == compare::GateVerdict::pass ? paint.good
                                  : result.verdict == compare::GateVerdict::regression
                                      ? paint.bad
                                      : paint.warning;
  return fmt::format("\n{}{}{}\n", colour, gate_sentence(result, options), paint.end);
}

std::string comparison_text(const compare::ComparisonResult& result,
                            const compare::CompareOptions& options, const TerminalStyle& style) {
  return comparison_kernels_text(result, style) + comparison_notes_text(result, style) +
         comparison_verdict_text(result, options, style);
}

}  // namespace perflab::report
