// Text from the records; nothing is computed here.
#include "optimize/rounds/optimization_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "optimize/rounds/apply.h"
#include "report/kit/quantities.h"
#include "report/kit/style.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"

namespace perflab::optimize {
namespace {

/// "1.238 (1.201 to 1.270)".
std::string speed_cell(const std::optional<Measurement>& measurement) {
  if (!measurement) return report::kDash;
  const std::optional<SpeedUp> speed = speed_up(*measurement);
  if (!speed) return report::kDash;
  return fmt::format("{:.3f} ({:.3f} to {:.3f})", speed->value, speed->low, speed->high);
}

/// "1.238 times as fast as the original (99.4 % interval 1.201 to 1.270)".
std::string speed_words(const Measurement& measurement) {
  const std::optional<SpeedUp> speed = speed_up(measurement);
  if (!speed) return "without an interval of its speed-up";
  return fmt::format("{:.3f} times as fast as the original ({} {:.3f} to {:.3f})", speed->value,
                     report::interval_title(measurement.confidence), speed->low, speed->high);
}

/// The beginning of a sentence, as many words as one line has room for.
std::string one_line(std::string_view sentence, std::size_t room) {
  const std::string clean = printable(sentence);
  if (report::display_width(clean) <= room) return clean;
  const std::string line = report::wrapped(clean, room - 2).front();
  return report::display_width(line) <= room - 2 ? line + " …" : report::fit(line, room);
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

/// A line per candidate, and below one that was not accepted a line that says why.
std::string candidates_text(const std::vector<Candidate>& candidates, std::size_t width) {
  constexpr std::string_view kMargin = "       ";
  constexpr std::size_t kLeastRoom = 40;
  report::TextTable table(
      {{.title = "#"},
       {.title = "what", .align = report::TextTable::Align::left, .flexible = true},
       {.title = "decision", .align = report::TextTable::Align::left},
       {.title = "compared with"},
       {.title = "times as fast as that"}});
  for (const Candidate& candidate : candidates)
    table.add({fmt::format("{}", candidate.number), printable(what_cell(candidate)),
               decision_cell(candidate.decision),
               candidate.against == 0 ? "original" : fmt::format("{}", candidate.against),
               speed_cell(candidate.measurement)});
  const std::string rows = table.text(width);
  const std::size_t room = std::max(width, kMargin.size() + kLeastRoom) - kMargin.size();
  std::size_t at = rows.find('\n') + 1;  // behind the titles
  std::string text = rows.substr(0, at);
  for (const Candidate& candidate : candidates) {
    const std::size_t end = rows.find('\n', at) + 1;
    text += rows.substr(at, end - at);
    at = end;
    const Decision& decision = candidate.decision;
    if (decision.outcome != Outcome::accepted && !decision.sentence.empty())
      text += fmt::format("{}{}\n", kMargin, one_line(decision.sentence, room));
  }
  return text;
}

/// A source can hold anything: nothing of it drives the terminal.
std::string diff_text(const Optimization& out) {
  const std::string diff = accepted_diff(out);
  std::string text = diff.empty() ? "" : "\n";
  for (std::string_view rest = diff; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    text += printable(rest.substr(0, end)) + "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return text;
}

/// What came of it, in one line.
std::string verdict_text(const Optimization& out) {
  if (out.accepted && out.final_proof && out.final_proof->measurement)
    return fmt::format("accepted: candidate {} is {}", *out.accepted,
                       speed_words(*out.final_proof->measurement));
  if (out.best || out.candidates.empty())
    return "nothing is accepted: " + printable(out.decision.sentence);
  const auto open = static_cast<std::size_t>(std::ranges::count(
      out.candidates, Outcome::open, [](const Candidate& one) { return one.decision.outcome; }));
  std::string text = fmt::format("nothing is accepted: {} refused",
                                 report::counted(out.candidates.size() - open, "candidate"));
  return open > 0 ? text + fmt::format(", {} not decided in time", open) : text;
}

/// What a proof says: why it does not hold, or the checks that passed.
std::string proof_text(const Correctness& proof) {
  if (proof.reason) return proof.sentence;
  std::string passed;
  for (const Check& check : proof.checks) {
    if (!check.passed)
      return check.name + " failed" + (check.detail.empty() ? "" : ": " + check.detail);
    passed += fmt::format("{}{}", passed.empty() ? "" : ", ", check.name);
  }
  return passed.empty() ? "nothing was checked" : passed + " passed";
}

std::string time_text(const Measurement& measurement, const std::optional<double>& value) {
  if (!value) return report::kDash;
  if (measurement.unit == "ns") return report::duration_text(*value);
  if (measurement.unit == "s") return report::duration_text(*value * 1e9);
  return fmt::format("{:.4g}{}{}", *value, measurement.unit.empty() ? "" : " ", measurement.unit);
}

std::string final_text(const Optimization& out, std::size_t width) {
  const FinalProof& proof = *out.final_proof;
  std::string text =
      report::labelled("proof",
                       fmt::format("candidate {} against the original, once more: {}", *out.best,
                                   proof_text(proof.proof)),
                       width);
  if (!proof.measurement) return text;
  const Measurement& times = *proof.measurement;
  const stats::Comparison& comparison = times.comparison;
  text += report::labelled(
      "times",
      fmt::format("{} before, {} after ({}; {} samples of each, in turns): {}, {}",
                  time_text(times, comparison.median_a), time_text(times, comparison.median_b),
                  times.backend, comparison.samples_b, speed_words(times),
                  stats::to_string(comparison.verdict)),
      width);
  if (proof.as_captured)
    text += report::labelled(
        "captured", fmt::format("on the captured input {}", speed_words(*proof.as_captured)),
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

/// What was tried.
std::string all_candidates_text(const Optimization& out, std::size_t width,
                                const report::Paint& paint) {
  std::string text = report::heading(
      paint, fmt::format("{} of {}", printable(out.kernel), printable(out.source_name)));
  if (!out.candidates.empty()) text += candidates_text(out.candidates, width);
  text += "\n" + report::labelled("ended", out.ended_sentence, width);
  if (!out.sandbox.why_not || out.sandbox.why_not == NoSandbox::turned_off)
    text += report::labelled("sandbox", out.sandbox.sentence, width);
  return text;
}

/// The last proof, and what it means for the whole run.
std::string all_proof_text(const OptimizationData& data, std::size_t width,
                           const report::Paint& paint) {
  const Optimization& out = *data.optimization;
  std::string text;
  if (out.final_proof) text += final_text(out, width);
  if (data.projection)
    text += report::labelled("whole run", data.projection->sentence, width);
  else if (out.accepted)
    text += report::labelled("whole run", "not known: " + data.projection_missing.reason, width);
  return text + report::warnings_section(out.warnings, width, paint);
}

}  // namespace

std::string decided_line(const Candidate& candidate) {
  const Decision& decision = candidate.decision;
  std::string text =
      fmt::format("candidate {}: {}", candidate.number, printable(what_cell(candidate)));
  text += fmt::format(": {}", to_string(decision.outcome));
  if (decision.reason) text += fmt::format(" ({})", to_string(*decision.reason));
  if (!decision.sentence.empty()) text += ": " + printable(decision.sentence);
  return text;
}

std::string optimization_section(const OptimizationData& data, std::string_view name,
                                 const report::TerminalStyle& style) {
  const Optimization& out = *data.optimization;
  const report::Paint paint(style.colour);
  if (name == "candidates") return all_candidates_text(out, style.width, paint);
  if (name == "proof") return all_proof_text(data, style.width, paint);
  PERFLAB_CHECK(name == "diff");
  return diff_text(out) + fmt::format("\n{}{}{}\n", out.accepted ? paint.good : paint.warning,
                                      verdict_text(out), paint.end);
}

std::string optimization_text(const OptimizationData& data, const report::TerminalStyle& style) {
  std::string text;
  for (const std::string_view name : kOptimizationSections)
    text += optimization_section(data, name, style);
  return text;
}

}  // namespace perflab::optimize
