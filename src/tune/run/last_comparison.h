// The end of a tuning: the best configurations again, interleaved, until the winner is separated
// from the runner-up or the tie is said.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "tune/run/tuning.h"

namespace perflab::tune {

/// A configuration in the last comparison, with one sample per round that it took part in.
struct Contestant {
  ConfigId id = 0;
  double search_value = 0;  ///< what the search measured
  bool unstable = false;    ///< in the search
  std::vector<double> samples;
  bool failed = false;  ///< in a round: it cannot win
  /// It is not within the limits: it cannot win, gains may be over it.
  bool outside = false;
  /// Of Objective::metrics, in their order: what Finalist::metrics will have.
  std::vector<std::optional<double>> metrics{};
  /// The search value stands, the samples only say how sure it is (simulation).
  bool recorded = false;
};

/// The `most` best configurations of the search within the limits (of equals the earlier), and the
/// default when it worked; without samples.
std::vector<Contestant> contestants_of(const TuneResult& result, std::size_t most);

/// Runs one round: a value for every contestant named (indices), in that order; nothing: it failed.
using Round = std::function<Result<std::vector<std::optional<double>>>(
    std::size_t number, std::span<const std::size_t> contestants)>;

/// Fewest rounds before anything is decided: below, a bootstrap interval is no interval.
inline constexpr std::size_t kFewestRounds = 5;

/// Looks at the samples that compare_interleaved() may take.
constexpr std::size_t looks_of(std::size_t most_rounds) {
  return most_rounds >= kFewestRounds ? most_rounds - kFewestRounds + 1 : 1;
}

/// Rounds until the best is separated from every other contestant (the interval of the ratio of
/// medians does not touch 1, at a confidence that allows for every look), at most `most_rounds`.
/// Contestants that are surely slower than the best leave the comparison; those of `keep` (what
/// gains are over) stay to the end. The order rotates from round to round, so that none always runs
/// first.
Result<void> compare_interleaved(std::vector<Contestant>& contestants,
                                 std::span<const ConfigId> keep, std::size_t most_rounds,
                                 bool maximize, const Round& round);

/// Fills winner, finalists, decision, over_runner_up, tied, the default's value and what is said of
/// the captured code object, which cannot win. Contestants
/// without samples count with their search value. `most_finalists`: lines of the final table.
/// `looks`: how often the samples were looked at while they grew, for the confidence of each look.
void decide(TuneResult& result, const Space& space, std::vector<Contestant> contestants,
            std::size_t most_finalists, std::size_t looks = 1);

/// How many times better `a` is than `b`, with its 95 % interval where the samples allow one.
/// Missing: a value is not positive, a ratio would say nothing.
std::optional<Gain> gain_over(std::span<const double> a, std::span<const double> b, double value_a,
                              double value_b, bool maximize);

}  // namespace perflab::tune
