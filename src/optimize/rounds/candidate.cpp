// Decisions: pure functions of the records. The order is that of the steps; the first that failed
// gives the reason.
#include "optimize/rounds/candidate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/enum_names.h"

namespace perflab::optimize {
namespace {

Decision refusal(Reason reason, std::string sentence) {
  return {.outcome = Outcome::refused, .reason = reason, .sentence = std::move(sentence)};
}

std::optional<SpeedUp> speed_up_of(const stats::Comparison& comparison, bool larger_is_better) {
  if (!comparison.ratio || !comparison.interval) return std::nullopt;
  const auto& [low, high] = *comparison.interval;
  if (larger_is_better) return SpeedUp{.value = *comparison.ratio, .low = low, .high = high};
  if (low <= 0 || *comparison.ratio <= 0) return std::nullopt;
  return SpeedUp{.value = 1 / *comparison.ratio, .low = 1 / high, .high = 1 / low};
}

std::string speed_text(const SpeedUp& speed) {
  return fmt::format("{:.3f} times as fast ({:.3f} to {:.3f})", speed.value, speed.low, speed.high);
}

/// The proposer's stable names of what is wrong with a proposal.
Reason reason_of_problem(std::string_view problem) {
  if (problem == "no_code") return Reason::no_code;
  if (problem == "several_codes") return Reason::several_codes;
  if (problem == "too_large") return Reason::too_large;
  return Reason::bad_answer;
}

std::optional<Decision> refused_as_text(const Candidate& candidate) {
  if (!candidate.problem.empty())
    return refusal(reason_of_problem(candidate.problem), candidate.problem_detail);
  if (!candidate.same_as) return std::nullopt;
  if (*candidate.same_as == candidate.against)
    return refusal(Reason::unchanged, "it differs from the source it began with in layout only");
  return refusal(Reason::tried_before,
                 *candidate.same_as == 0
                     ? "it is the original but for its layout"
                     : fmt::format("it is candidate {} but for its layout", *candidate.same_as));
}

std::optional<Decision> refused_by(const GuardResults& guards, Reason otherwise) {
  const GuardResult* failed = first_failure(guards);
  if (failed == nullptr) return std::nullopt;
  return refusal(failed->reason.value_or(otherwise), failed->detail);
}

std::optional<Decision> refused_build(const BuildRecord& build, bool must_reproduce) {
  if (!build.compiled) {
    std::string_view text = build.compiler_text;
    // The first line that says what is wrong.
    const std::size_t error = text.find("error");
    const std::size_t begin = error == std::string_view::npos ? 0 : text.rfind('\n', error) + 1;
    text = text.substr(begin, text.find('\n', begin) - begin);
    return refusal(Reason::does_not_compile,
                   text.empty() ? "the compiler failed without a word" : std::string(text));
  }
  if (must_reproduce && !build.reproducible)
    return refusal(Reason::not_reproducible,
                   "two builds of it differ, and two builds of the original do not");
  return std::nullopt;
}

/// Whether there are no times of the two builds to speak of.
bool has_no_times(const Decision& decision) {
  return decision.reason == Reason::faulted || decision.reason == Reason::files_changed ||
         decision.reason == Reason::proves_nothing;
}

std::string changes_text(const ObjectGuards& object) {
  std::string text;
  for (const ResourceChange& change : object.changes) {
    if (!change.regression) continue;
    const auto figure = [](const std::optional<double>& value) {
      return value ? fmt::format("{:g}", *value) : std::string("unknown");
    };
    text += fmt::format("{}{} {} to {}", text.empty() ? "" : ", ", change.figure,
                        figure(change.before), figure(change.after));
  }
  return text;
}

}  // namespace

stats::ComparisonOptions JudgeOptions::comparison(bool larger_is_better) const {
  return {.margin = min_gain,
          .confidence = confidence,
          .larger_is_better = larger_is_better,
          .seed = seed,
          .resamples = resamples};
}

void recompute(const JudgeOptions& options, Measurement& measurement) {
  measure::InterleaveOptions interleaved;
  interleaved.stopping = options.stopping;
  interleaved.comparison = options.comparison(measurement.larger_is_better);
  measurement.confidence = stats::confidence_of_look(options.stopping, options.confidence);
  measurement.comparison =
      measure::compare_interleaved(measurement.before, measurement.after, interleaved);
}

std::string_view to_string(Outcome outcome) {
  using enum Outcome;
  static constexpr auto kNames =
      enum_names<Outcome>({{open, "open"}, {accepted, "accepted"}, {refused, "refused"}});
  return kNames[outcome];
}

std::optional<SpeedUp> speed_up(const Measurement& measurement) {
  return speed_up_of(measurement.comparison, measurement.larger_is_better);
}

bool times_are_clear(const stats::Comparison& comparison, const JudgeOptions& options,
                     bool larger_is_better) {
  using stats::SpeedVerdict;
  if (comparison.verdict == SpeedVerdict::same || comparison.verdict == SpeedVerdict::slower)
    return true;
  const std::optional<SpeedUp> speed = speed_up_of(comparison, larger_is_better);
  if (!speed) return false;
  const double wanted = 1 + options.min_gain;
  return (comparison.verdict == SpeedVerdict::faster && speed->low >= wanted) ||
         speed->high < wanted;
}

Decision judge_times(const Measurement& measurement, const JudgeOptions& options) {
  if (!measurement.changed_file.empty())
    return refusal(Reason::files_changed,
                   measurement.changed_file + " was a different file after it had been timed");
  if (!measurement.failure_before.empty())
    return refusal(Reason::proves_nothing,
                   "what it was timed against failed: " + measurement.failure_before);
  if (!measurement.failure_after.empty())
    return refusal(Reason::faulted, "it failed while it was timed: " + measurement.failure_after);
  const stats::Comparison& comparison = measurement.comparison;
  const std::optional<SpeedUp> speed = speed_up(measurement);
  const bool too_few = comparison.samples_b < options.stopping.fewest;
  if (!speed || too_few) {
    if (measurement.out_of_time)
      return {.outcome = Outcome::open,
              .reason = {},
              .sentence = "the time ended before it was measured"};
    return refusal(Reason::undecided, "there are too few samples for an interval");
  }
  const double wanted = 1 + options.min_gain;
  const std::string text = speed_text(*speed);
  if (comparison.verdict == stats::SpeedVerdict::faster && speed->low >= wanted)
    return {.outcome = Outcome::accepted, .reason = {}, .sentence = text};
  if (comparison.verdict == stats::SpeedVerdict::slower) return refusal(Reason::slower, text);
  if (comparison.verdict == stats::SpeedVerdict::same || speed->high < wanted)
    return refusal(Reason::no_gain, text + fmt::format(", and {:.3f} were asked for", wanted));
  if (measurement.out_of_time)
    return {.outcome = Outcome::open,
            .reason = {},
            .sentence = text + ": the time ended before that was clear"};
  return refusal(Reason::undecided,
                 text + fmt::format(": {} samples of each do not say whether that is beyond {:.3f}",
                                    comparison.samples_b, wanted));
}

std::optional<Decision> refused_proof(const Correctness& proof) {
  if (proof.reason) return refusal(*proof.reason, proof.sentence);
  if (proof.checks.empty()) return refusal(Reason::proves_nothing, "its proof has no checks");
  const auto failed = std::ranges::find(proof.checks, false, &Check::passed);
  if (failed == proof.checks.end()) return std::nullopt;
  return refusal(Reason::proves_nothing,
                 fmt::format("{} failed, and its proof gives no reason{}{}", failed->name,
                             failed->detail.empty() ? "" : ": ", failed->detail));
}

std::optional<Decision> decision_of(const Candidate& candidate, const JudgeOptions& options,
                                    bool must_reproduce) {
  if (auto refused = refused_as_text(candidate)) return refused;
  if (!candidate.guards) return std::nullopt;
  if (auto refused = refused_by(*candidate.guards, Reason::does_not_parse)) return refused;
  if (!candidate.build) return std::nullopt;
  if (auto refused = refused_build(*candidate.build, must_reproduce)) return refused;
  if (!candidate.object) return std::nullopt;
  if (auto refused = refused_by(candidate.object->results, Reason::other_code_changed))
    return refused;
  if (!candidate.proof) return std::nullopt;
  if (auto refused = refused_proof(*candidate.proof)) return refused;
  if (!candidate.measurement) return std::nullopt;
  Decision decision = judge_times(*candidate.measurement, options);
  const std::string worse = changes_text(*candidate.object);
  if (worse.empty()) return decision;
  if (decision.outcome == Outcome::accepted)
    decision.sentence += "; worse, and paid for by that: " + worse;
  else if (decision.outcome == Outcome::refused && !has_no_times(decision))
    decision = refusal(Reason::resources, worse + "; no gain is proven: " + decision.sentence);
  return decision;
}

std::string data_words(const FinalProof& proof) {
  if (!proof.measurement || !proof.as_captured) return {};
  const auto made = speed_up(*proof.measurement), captured = speed_up(*proof.as_captured);
  if (!made || !captured || (made->low <= captured->high && captured->low <= made->high)) return {};
  return fmt::format(
      "the gain depends on the data: {} on inputs made from the captured one, {} on that",
      speed_text(*made), speed_text(*captured));
}

Decision decision_of_final(const FinalProof& proof, const JudgeOptions& options) {
  const std::string_view begin = "the final comparison with the original does not hold: ";
  if (const auto refused = refused_proof(proof.proof))
    return refusal(*refused->reason, std::string(begin) + refused->sentence);
  if (!proof.measurement) return refusal(Reason::proves_nothing, "there is no final comparison");
  Decision decision = judge_times(*proof.measurement, options);
  if (decision.outcome == Outcome::accepted && proof.as_captured &&
      (!proof.as_captured->failure_after.empty() || !proof.as_captured->changed_file.empty()))
    decision = judge_times(*proof.as_captured, options);
  if (decision.outcome == Outcome::accepted) return decision;
  return refusal(decision.reason.value_or(Reason::undecided),
                 std::string(begin) + decision.sentence);
}

}  // namespace perflab::optimize
