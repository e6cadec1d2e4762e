// Text from the records; nothing is computed here.
#include "optimize/loop/optimization_text.h"

#include <fmt/format.h>

#include "optimize/loop/apply.h"
#include "report/text_parts.h"
#include "report/text_table.h"

namespace perflab::optimize {
namespace {

/// "1.238 (1.201 to 1.270)".
std::string speed_cell(const std::optional<Measurement>& measurement) {
  if (!measurement) return report::kDash;
  const std::optional<SpeedUp> speed = speed_up(*measurement);
  if (!speed) return report::kDash;
  return fmt::format("{:.3f} ({:.3f} to {:.3f})", speed->value, speed->low, speed->high);
}

std::string decision_cell(const Decision& decision) {
  if (decision.outcome != Outcome::refused) return std::string(to_string(decision.outcome));
  return decision.reason ? std::string(to_string(*decision.reason)) : "refused";
}

std::string what_cell(const Candidate& candidate) {
  std::string text = candidate.summary.empty() ? "(no words)" : candidate.summary;
  if (candidate.repairs) text = fmt::format("repair of {}: {}", *candidate.repairs, text);
  return text;
}

std::string checks_text(const Correctness& proof) {
  std::string text;
  for (const Check& check : proof.checks)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", check.name);
  return text.empty() ? "nothing" : text;
}

std::string time_text(const Measurement& measurement, const std::optional<double>& value) {
  if (!value) return report::kDash;
  if (measurement.unit == "ns") return report::duration_text(*value);
  if (measurement.unit == "s") return report::duration_text(*value * 1e9);
  return fmt::format("{:.4g}{}{}", *value, measurement.unit.empty() ? "" : " ", measurement.unit);
}

std::string final_text(const Optimization& out, std::size_t width) {
  const FinalProof& proof = *out.final_proof;
  std::string text = report::labelled(
      "proof",
      fmt::format("candidate {} against the original, once more: {}", *out.best,
                  proof.proof.reason ? proof.proof.sentence : checks_text(proof.proof) + " passed"),
      width);
  if (!proof.measurement) return text;
  const Measurement& times = *proof.measurement;
  const stats::Comparison& comparison = times.comparison;
  text += report::labelled(
      "times",
      fmt::format("{} before, {} after ({}; {} samples of each, in turns): {} times as fast, {}",
                  time_text(times, comparison.median_a), time_text(times, comparison.median_b),
                  times.backend, comparison.samples_b, speed_cell(proof.measurement),
                  stats::to_string(comparison.verdict)),
      width);
  for (const auto& [name, health] :
       {std::pair{"original", &comparison.health_a}, {"final source", &comparison.health_b}})
    if (health->outliers > 0 || health->drifting)
      text += report::labelled(
          "note",
          fmt::format(
              "samples of the {}: {}{}", name, report::counted(health->outliers, "outlier"),
              health->drifting && health->drift
                  ? fmt::format(", drift of {} over the run", report::percent(*health->drift))
                  : ""),
          width);
  return text;
}

}  // namespace

std::string decided_line(const Candidate& candidate) {
  const Decision& decision = candidate.decision;
  std::string text =
      fmt::format("candidate {}: {}", candidate.number, report::printable(what_cell(candidate)));
  text += fmt::format(": {}", to_string(decision.outcome));
  if (decision.reason) text += fmt::format(" ({})", to_string(*decision.reason));
  if (!decision.sentence.empty()) text += ": " + report::printable(decision.sentence);
  return text;
}

std::string optimization_text(const OptimizationData& data, const report::TerminalStyle& style) {
  const Optimization& out = *data.optimization;
  const report::Paint paint(style.colour);
  std::string text = report::heading(paint, fmt::format("{} of {}", report::printable(out.kernel),
                                                        report::printable(out.source_name)));
  if (!out.candidates.empty()) {
    report::TextTable table(
        {{.title = "#"},
         {.title = "what", .align = report::TextTable::Align::left, .flexible = true},
         {.title = "decision", .align = report::TextTable::Align::left},
         {.title = "against"},
         {.title = "times as fast"}});
    for (const Candidate& candidate : out.candidates)
      table.add({fmt::format("{}", candidate.number), report::printable(what_cell(candidate)),
                 decision_cell(candidate.decision),
                 candidate.against == 0 ? "original" : fmt::format("{}", candidate.against),
                 speed_cell(candidate.measurement)});
    text += table.text(style.width);
  }
  text += "\n" + report::labelled("ended", out.ended_sentence, style.width);
  if (out.final_proof) text += final_text(out, style.width);
  if (data.projection)
    text += report::labelled("whole run", data.projection->sentence, style.width);
  else if (out.accepted)
    text +=
        report::labelled("whole run", "not known: " + data.projection_missing.reason, style.width);
  text += report::warnings_section(out.warnings, style.width, paint);
  if (out.accepted)
    text += fmt::format("\n{}accepted: candidate {}{}\n", paint.good, *out.accepted, paint.end);
  else
    text += fmt::format("\n{}nothing is accepted: {}{}\n", paint.warning,
                        report::printable(out.decision.sentence), paint.end);
  if (const std::string diff = accepted_diff(out); !diff.empty()) {
    text += "\n";
    std::string_view rest = diff;
    while (!rest.empty()) {  // a source can hold anything
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      text += report::printable(rest.substr(0, end)) + "\n";
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return text;
}

}  // namespace perflab::optimize
