// What a model says of itself and of the space.
#pragma once

#include <cstddef>
#include <optional>

namespace perflab::tune {

/// How well the model predicts what it has not seen. TGP: each correct result but the slowest 10 %
/// (which the model does not tell apart) against its prediction from all others, with the same
/// hyper-parameters, as log(value): 1 - sum of squared errors / sum of squared deviations from the
/// mean. Polynomial: the same for the values themselves, all correct ones.
struct ModelQuality {
  std::optional<double> r2;  ///< missing below 4 distinct values, and before the first fit
  std::size_t samples = 0;   ///< that it is over
  std::size_t fits = 0;      ///< times that the hyper-parameters were fitted
};

/// What the search learned of a prior.
struct PriorFigures {
  /// Of its prediction in the model: standard deviations of the result for one of the prior's. 0:
  /// the model does not believe the priors. Missing before the first fit.
  std::optional<double> weight;
  /// Spearman's, of what it says and what was measured (correct results); missing below
  /// kLeastRanked of them, or where all say the same.
  std::optional<double> rank_correlation;
  std::size_t ranked = 0;  ///< results that it is over
};
inline constexpr std::size_t kLeastRanked = 4;

/// What a parameter mattered, from the model.
struct Importance {
  std::size_t parameter = 0;  ///< index into Space::parameters()
  double share = 0;           ///< of the model's variance over the space that goes with it alone or
                              ///< with others (total-effect Sobol index, scaled to a sum of 1)
  /// Predicted ratio of its worst value to its best, others as in the best configuration; 1: no
  /// other value is allowed there. Values that are not positive have no ratio: 1 + their distance
  /// as a share of the larger.
  double best_to_worst = 1;
};

/// Configurations that the model rules out, and why. They are not proposed while others are left;
/// when none is, the search ends, unless the effort is full. Of a space above 20,000 configurations
/// only the pool that the model looks at is counted.
struct PrunedByModel {
  std::size_t slow = 0;     ///< even the lower bound (mean - 2 sd) is above prune_factor x best
  std::size_t failing = 0;  ///< P(valid) < 0.1
};

}  // namespace perflab::tune
