// What a search with two objectives found: the configurations that no other one is better than in
// both (the Pareto front), and how much of what lies between the best values and a reference point
// they dominate (the hypervolume; Zitzler and Thiele, PPSN 1998).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tune/evaluate/job.h"

namespace perflab::tune {

/// Two losses: of both, less is better.
using Losses = std::array<double, 2>;

/// The losses of a value and its further metrics; missing: there is one objective, or the second
/// is not known.
std::optional<Losses> losses_of(double value, std::span<const std::optional<double>> metrics,
                                const Objective& objective);

/// Indices of the points that none dominates (is no worse in both and better in one), by the first
/// loss; of equal points the first.
std::vector<std::size_t> pareto_front(std::span<const Losses> points);

/// Area that the points dominate and the reference does not; points beyond it count nothing.
double hypervolume(std::span<const Losses> points, const Losses& reference);

/// Where hypervolumes of a front are measured from: a tenth of its range beyond its worst values
/// (the customary 1.1 of the normalised front; Ishibuchi, Imada, Setoguchi and Nojima, Evolutionary
/// Computation 26, 2018). Precondition: the front is not empty.
Losses reference_of(std::span<const Losses> front);

/// The front of a search, in the order of its steps.
struct Front {
  std::vector<std::size_t> steps;   ///< indices of TuneResult::steps, best first objective first
  Losses ideal{}, reference{};      ///< losses: negative values where more is better
  std::vector<double> hypervolume;  ///< after each step, as a share of what is between those two
  /// --simulate: the front of all that was recorded, from whose points ideal and reference are
  /// then.
  struct Recorded {
    std::size_t points = 0;
    double hypervolume = 0;
  };
  std::optional<Recorded> recorded{};
};

/// `losses`: of every step; missing: it failed, or is outside of a limit. `recorded`: the points of
/// a recording; empty: there is none. Missing: no step has any.
std::optional<Front> front_of(std::span<const std::optional<Losses>> losses,
                              std::span<const Losses> recorded);

}  // namespace perflab::tune
