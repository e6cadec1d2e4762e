// What the verdicts score over the features of a kernel: rules that hold, with the figures they
// met, and rules that are open for want of features.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analyze/bottleneck/feature_table.h"
#include "analyze/bottleneck/rules.h"

namespace perflab::analyze {

/// A condition that was looked at, with the figure it met.
struct Evidence {
  std::string_view rule;  ///< id
  Condition condition;
  double value = 0;
};

/// A rule that held.
struct HeldRule {
  const Rule* rule = nullptr;
  std::vector<Evidence> evidence;  ///< its conditions
  std::vector<Evidence> against;   ///< of its counter-conditions, those that hold

  /// What it adds to the score: its weight, less 1 for each of `against`, at least 0.
  [[nodiscard]] int counts() const;
};

/// A verdict with its score: the sum of what the rules that hold count.
struct ScoredBottleneck {
  Bottleneck verdict = Bottleneck::insufficient_data;
  int score = 0;
  std::vector<HeldRule> held;     ///< heaviest first
  std::vector<const Rule*> open;  ///< rules of it that could not be decided: features are missing
};

/// The score that a verdict must reach.
inline constexpr int kEnoughScore = 2;

/// Scores of all verdicts over the features, best first (equal scores: order of Bottleneck).
std::vector<ScoredBottleneck> score(const FeatureSet& features);

/// The verdict of candidates: the first with at least kEnoughScore, else insufficient_data.
Bottleneck decide(const std::vector<ScoredBottleneck>& candidates);

/// Whether the condition holds, of a figure with an interval everywhere in it; nullopt: the feature
/// is missing.
std::optional<bool> holds(const Condition& condition, const FeatureSet& features);

/// The first of them when its score is enough for a verdict, else nullptr.
const ScoredBottleneck* winner_of(const std::vector<ScoredBottleneck>& candidates);

}  // namespace perflab::analyze
