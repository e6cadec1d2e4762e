// Interleaved comparison of the best configurations (last_comparison.h). Its samples are fresh: the
// search's own values favour whatever was lucky once (docs/facts/tuning.md "Noise").
#include "tune/run/last_comparison.h"

#include <fmt/format.h>

#include <algorithm>

#include "stats/bootstrap.h"
#include "stats/summary.h"

namespace perflab::tune {
namespace {

double value_of(const Contestant& contestant) {
  if (contestant.samples.empty() || contestant.recorded) return contestant.search_value;
  return stats::summarize(contestant.samples).median.value_or(contestant.search_value);
}

/// Better first; failed ones last; of equals the one that the search found better.
void rank(std::vector<Contestant>& contestants, bool maximize) {
  std::ranges::stable_sort(contestants, [maximize](const Contestant& a, const Contestant& b) {
    if (a.failed != b.failed) return b.failed;
    const double of_a = value_of(a), of_b = value_of(b);
    if (of_a != of_b) return is_better(of_a, of_b, maximize);
    return is_better(a.search_value, b.search_value, maximize);
  });
}

const Contestant* best_of(const std::vector<Contestant>& contestants, bool maximize) {
  const Contestant* best = nullptr;
  for (const Contestant& contestant : contestants) {
    if (contestant.failed || contestant.outside) continue;
    if (best == nullptr || is_better(value_of(contestant), value_of(*best), maximize))
      best = &contestant;
  }
  return best;
}

std::optional<Gain> gain_of(const Contestant& a, const Contestant& b, bool maximize) {
  std::optional<Gain> gain = gain_over(a.samples, b.samples, value_of(a), value_of(b), maximize);
  // Recorded values are means, and the repeats of a ramping clock have another median: an interval
  // that its own ratio is not in would only mislead.
  if (gain && gain->low && (gain->ratio < *gain->low || gain->ratio > *gain->high))
    gain->low = gain->high = std::nullopt;
  return gain;
}

/// Whether `a` is better at `confidence`.
bool surely_better(const Contestant& a, const Contestant& b, bool maximize, double confidence) {
  if (!(value_of(a) > 0) || !(value_of(b) > 0)) return false;
  const auto interval = maximize ? stats::ratio_of_medians(a.samples, b.samples, confidence)
                                 : stats::ratio_of_medians(b.samples, a.samples, confidence);
  return interval && interval->low > 1;
}

constexpr double kConfidence = 0.95;

/// Of every one of so many looks at growing samples, when all of them together are to be wrong no
/// more often than one look at kConfidence (Bonferroni).
double confidence_of_looks(std::size_t looks) {
  return 1 - (1 - kConfidence) / static_cast<double>(std::max<std::size_t>(looks, 1));
}

bool unstable(const Contestant& contestant) {
  const std::optional<double> cv = stats::summarize(contestant.samples).cv;
  return contestant.unstable || (cv && stats::classify(*cv) == stats::Stability::unstable);
}

}  // namespace

std::vector<Contestant> contestants_of(const TuneResult& result, std::size_t most) {
  std::vector<const Step*> ranked;
  for (const Step& step : result.steps)
    if (step.evaluation.value && (step.within_limits || step.id == result.default_id))
      ranked.push_back(&step);
  std::ranges::stable_sort(ranked, [&](const Step* a, const Step* b) {
    return is_better(*a->evaluation.value, *b->evaluation.value, result.objective.maximize);
  });
  std::vector<Contestant> contestants;
  std::size_t within = 0;
  for (const Step* step : ranked)
    if (within < most || step->id == result.default_id) {
      contestants.push_back(
          {.id = step->id,
           .search_value = *step->evaluation.value,
           .unstable = step->evaluation.unstable,
           .samples = {},
           .outside = !step->within_limits,
           .metrics = values_of(step->evaluation.metrics, result.objective.metrics)});
      within += step->within_limits ? 1 : 0;
    }
  return contestants;
}

std::optional<Gain> gain_over(std::span<const double> a, std::span<const double> b, double value_a,
                              double value_b, bool maximize) {
  if (!(value_a > 0) || !(value_b > 0)) return std::nullopt;
  Gain gain{.ratio = maximize ? value_a / value_b : value_b / value_a, .low = {}, .high = {}};
  const auto interval = maximize ? stats::ratio_of_medians(a, b) : stats::ratio_of_medians(b, a);
  if (interval) {
    gain.low = interval->low;
    gain.high = interval->high;
  }
  return gain;
}

Result<void> compare_interleaved(std::vector<Contestant>& contestants,
                                 std::span<const ConfigId> keep, std::size_t most_rounds,
                                 bool maximize, const Round& round) {
  const double confidence = confidence_of_looks(looks_of(most_rounds));
  std::vector<std::size_t> running(contestants.size());
  for (std::size_t i = 0; i < running.size(); ++i) running[i] = i;
  for (std::size_t number = 0; number < most_rounds; ++number) {
    std::vector<std::size_t> order = running;
    std::ranges::rotate(order, order.begin() + static_cast<std::ptrdiff_t>(number % order.size()));
    PERFLAB_TRY(const std::vector<std::optional<double>> values, round(number, order));
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (values[i])
        contestants[order[i]].samples.push_back(*values[i]);
      else
        contestants[order[i]].failed = true;
    }
    const Contestant* best = best_of(contestants, maximize);
    if (best == nullptr) return {};
    std::size_t rivals = 0;
    std::erase_if(running, [&](std::size_t index) {
      const Contestant& other = contestants[index];
      if (&other == best) return false;
      if (other.failed) return true;
      if (other.outside && number + 1 >= kFewestRounds)
        return std::ranges::find(keep, other.id) == keep.end();
      if (number + 1 >= kFewestRounds && surely_better(*best, other, maximize, confidence))
        return std::ranges::find(keep, other.id) == keep.end();
      ++rivals;
      return false;
    });
    if (rivals == 0) return {};
  }
  return {};
}

namespace {

/// Takes the captured code object out of the contestants; missing: there is none, or it failed.
std::optional<Contestant> take_captured(TuneResult& result, std::vector<Contestant>& contestants) {
  const auto found = std::ranges::find(contestants, kCapturedId, &Contestant::id);
  if (found == contestants.end()) return std::nullopt;
  Contestant captured = std::move(*found);
  contestants.erase(found);
  if (captured.failed) {
    result.warnings.emplace_back(
        "the captured code object failed in the last comparison: nothing is said of the gain over "
        "it");
    return std::nullopt;
  }
  result.captured->value = value_of(captured);
  if (!captured.samples.empty()) {
    result.captured->samples = captured.samples.size();
    result.captured->cv = stats::summarize(captured.samples).cv;
  }
  return captured;
}

}  // namespace

void decide(TuneResult& result, const Space& space, std::vector<Contestant> contestants,
            std::size_t most_finalists, std::size_t looks) {
  const bool maximize = result.objective.maximize;
  const std::optional<Contestant> captured = take_captured(result, contestants);
  for (const Contestant& contestant : contestants)
    if (contestant.failed)
      result.warnings.push_back(
          fmt::format("{} worked in the search and failed in the last comparison: it cannot win",
                      space.text(contestant.id)));
  rank(contestants, maximize);
  std::erase_if(contestants, [](const Contestant& contestant) { return contestant.failed; });
  std::optional<Contestant> baseline;  // a copy: outside of a limit it is no contestant
  for (const Contestant& contestant : contestants)
    if (contestant.id == result.default_id) baseline = contestant;
  if (baseline) result.default_value = value_of(*baseline);
  std::erase_if(contestants, [](const Contestant& contestant) { return contestant.outside; });
  if (contestants.empty()) return;

  const Contestant& winner = contestants.front();
  result.winner = winner.id;
  if (captured) result.captured->winners = gain_of(winner, *captured, maximize);
  for (const Contestant& contestant : contestants) {
    if (result.finalists.size() == most_finalists) break;
    Finalist candidate;
    candidate.id = contestant.id;
    candidate.value = value_of(contestant);
    candidate.samples = contestant.samples.size();
    candidate.cv = stats::summarize(contestant.samples).cv;
    candidate.unstable = unstable(contestant);
    candidate.metrics = contestant.metrics;
    if (baseline) candidate.over_default = gain_of(contestant, *baseline, maximize);
    result.finalists.push_back(std::move(candidate));
  }
  if (unstable(winner))
    result.warnings.emplace_back("the winner is unstable: its repeats vary by more than 10 % (CV)");
  if (contestants.size() == 1) {
    result.decision = Decision::only_one;
    return;
  }
  result.over_runner_up = gain_of(winner, contestants[1], maximize);
  if (std::min(winner.samples.size(), contestants[1].samples.size()) < 3) {
    result.decision = Decision::not_compared;
    return;
  }
  for (std::size_t i = 1; i < contestants.size(); ++i)
    if (!surely_better(winner, contestants[i], maximize, confidence_of_looks(looks)))
      result.tied.push_back(contestants[i].id);
  result.decision = result.tied.empty() ? Decision::separated : Decision::tie;
}

}  // namespace perflab::tune
