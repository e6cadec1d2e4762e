// Markdown of a comparison. Rules for code spans and tables: GitHub Flavored Markdown, sections 6.3
// and 4.10.
#include "report/comparison/comparison_markdown.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/comparison/comparison_text.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"

namespace perflab::report {
namespace {

using stats::SpeedVerdict;

/// A sentence: what Markdown or HTML would take for markup is escaped.
std::string markdown_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (std::string_view("\\`*_{}[]<>()#+!|~@&").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string markdown_row(const std::string& name, const stats::Comparison& found, bool regression,
                         const std::string& verdict, std::string_view unit) {
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", name,
                     markdown_text(sample_text(found.median_a, unit)),
                     markdown_text(sample_text(found.median_b, unit)), ratio_text(found.ratio),
                     interval_text(found.interval),
                     found.samples_a == found.samples_b
                         ? fmt::format("{}", found.samples_a)
                         : fmt::format("{} / {}", found.samples_a, found.samples_b),
                     regression ? fmt::format("**{}**", verdict) : verdict);
}

std::string verdict_and_need(const stats::Comparison& found, bool gated) {
  std::string out(to_string(found.verdict));
  if (found.verdict == SpeedVerdict::undecided && found.samples_to_decide)
    out += fmt::format(" (about {} samples to decide)", *found.samples_to_decide);
  return gated ? out : out + " (not gated)";
}

std::string markdown_unpaired(const std::vector<compare::UnpairedKernel>& kernels,
                              std::string_view side, std::string_view unit) {
  if (kernels.empty()) return {};
  std::string out = fmt::format("\nOnly in {}:\n\n", side);
  for (const compare::UnpairedKernel& kernel : kernels)
    out += fmt::format(
        "- {}, median {}{}\n", markdown_code(kernel.name),
        markdown_text(sample_text(kernel.median, unit)),
        kernel.share ? fmt::format(", {} of its time", percent(*kernel.share)) : std::string());
  return out;
}

}  // namespace

std::string markdown_code(const std::string& name) {
  std::string text = printable(compared_name(name));
  std::size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  if (text.starts_with('`') || text.ends_with('`')) text = " " + text + " ";
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return fence + escaped + fence;
}

std::string comparison_markdown(const compare::ComparisonResult& result,
                                const compare::CompareOptions& options) {
  std::string out = fmt::format("### rocm-perf compare: {}\n\n{}\n\n", to_string(result.verdict),
                                markdown_text(gate_sentence(result, options)));
  out += fmt::format("| kernel | A | B | B / A | {} | samples | verdict |\n",
                     interval_title(result.confidence_each));
  out += "|:--|--:|--:|--:|--:|--:|:--|\n";
  for (const compare::KernelComparison& kernel : result.kernels)
    out += markdown_row(markdown_code(kernel.name), kernel.comparison, kernel.regression,
                        verdict_and_need(kernel.comparison, kernel.gated), result.unit);
  if (result.total) {
    const stats::Comparison& found = result.total->comparison;
    if (result.total->tested)
      out += markdown_row("total of a run", found, result.total->regression,
                          verdict_and_need(found, true), result.unit);
    else
      out += markdown_row("total of a run, estimated", found, false, kDash, result.unit);
  }
  out += markdown_unpaired(result.only_a, "A", result.unit);
  out += markdown_unpaired(result.only_b, "B", result.unit);
  if (!result.notes.empty() || !result.warnings.empty()) out += "\n";
  for (const std::string& note : result.notes) out += fmt::format("- {}\n", markdown_text(note));
  for (const std::string& warning : result.warnings)
    out += fmt::format("- warning: {}\n", markdown_text(warning));
  return out;
}

}  // namespace perflab::report
