// What the tests of bottleneck verdicts share: feature sets by hand, and candidates by verdict.
#pragma once

#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>

#include "analyze/bottleneck/bottleneck.h"

namespace perflab::analyze {

inline void set_value(FeatureSet& set, FeatureId id, double value) {
  Feature& feature = set[id];
  feature = Feature();
  feature.id = id;
  feature.value = value;
  feature.from = "given";
}

/// A value with the bounds of its interval.
inline void set_sampled(FeatureSet& set, FeatureId id, double low, double value, double high) {
  set_value(set, id, value);
  set[id].low = low;
  set[id].high = high;
}

/// A set with these values; everything else is missing and can be had.
inline FeatureSet features_of(std::initializer_list<std::pair<FeatureId, double>> values) {
  FeatureSet set;
  for (std::size_t i = 0; i < kFeatures; ++i) {
    Feature& feature = set[static_cast<FeatureId>(i)];
    feature.reason = "not given";
    feature.remedy = "measure it";
  }
  for (const auto& [id, value] : values) set_value(set, id, value);
  return set;
}

/// The value nearest to the threshold on which the condition holds, or just does not.
inline double at(const Condition& condition) {
  return condition.comparison == Relation::at_least ? condition.threshold
                                                    : std::nextafter(condition.threshold, -1e300);
}
inline double across(const Condition& condition) {
  return condition.comparison == Relation::at_least ? std::nextafter(condition.threshold, -1e300)
                                                    : condition.threshold;
}

/// nullptr: the verdict has neither held nor open rules.
inline const ScoredBottleneck* candidate_of(const std::vector<ScoredBottleneck>& candidates,
                                            Bottleneck verdict) {
  for (const ScoredBottleneck& candidate : candidates)
    if (candidate.verdict == verdict) return &candidate;
  return nullptr;
}

/// nullptr: the rule does not hold.
inline const HeldRule* held_by(const std::vector<ScoredBottleneck>& candidates,
                               std::string_view rule) {
  for (const ScoredBottleneck& candidate : candidates)
    for (const HeldRule& held : candidate.held)
      if (held.rule->id == rule) return &held;
  return nullptr;
}

inline bool is_open(const std::vector<ScoredBottleneck>& candidates, std::string_view rule) {
  for (const ScoredBottleneck& candidate : candidates)
    for (const Rule* const open : candidate.open)
      if (open->id == rule) return true;
  return false;
}

}  // namespace perflab::analyze
