// What choices cost, and the best configuration for a set of problems.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "tune/table/measured.h"

namespace perflab::tune {

/// Logarithms of losses below this are what rounding leaves of equal ones.
inline constexpr double kLossRounding = 1e-12;

/// What a choice costs over some problems. One that leaves fewer problems without a configuration
/// is better, whatever the rest loses.
struct Cost {
  std::size_t uncovered = 0;  ///< problems for which the chosen configuration did not work
  double regret = 0;          ///< sum over the others: logarithms of value / best
  friend Cost operator+(const Cost& a, const Cost& b) {
    return {a.uncovered + b.uncovered, a.regret + b.regret};
  }
  /// Better by more than what rounding makes of sums.
  [[nodiscard]] bool better_than(const Cost& other) const;
};

/// Places of problems, ascending.
using ProblemSet = std::vector<std::uint16_t>;

/// The configuration that costs the least for some problems; of equal ones the first.
struct Leaf {
  Cost cost;
  std::size_t configuration = 0;
};

/// Leaves of sets of problems. Only configurations count that no other one is at least as good as
/// for every problem: mostly a few of thousands.
class LeafCosts {
 public:
  /// `measured` has to outlive it; other problems than these are never looked at.
  LeafCosts(const MeasuredProblems& measured, const ProblemSet& problems);

  /// Sums of columns: |problems| * candidates() additions the first time, remembered later.
  const Leaf& of(const ProblemSet& problems);
  /// The cost of the first i + 1 problems as one leaf, for each i: as many additions in all.
  [[nodiscard]] std::vector<Cost> of_beginnings(std::span<const std::uint16_t> problems) const;

  [[nodiscard]] std::size_t candidates() const { return candidates_.size(); }

 private:
  /// What each candidate costs over problems that are added one by one.
  class Sums;

  std::vector<std::size_t> candidates_;       ///< configurations, ascending
  std::vector<std::vector<double>> regrets_;  ///< by problem, candidate; NaN: it did not work
  std::map<ProblemSet, Leaf> known_;
};

}  // namespace perflab::tune
