// Rules against features: which hold, which are open, and what the verdicts score.
#include "analyze/bottleneck/score.h"

#include <algorithm>
#include <optional>

namespace perflab::analyze {
namespace {

enum class RuleState { held, refuted, open };

RuleState state_of(const Rule& rule, const FeatureSet& features) {
  bool missing = false;
  for (const Condition& condition : rule.when) {
    const std::optional<bool> held = holds(condition, features);
    if (held && !*held) return RuleState::refuted;
    missing = missing || !held;
  }
  return missing ? RuleState::open : RuleState::held;
}

Evidence evidence_of(const Rule& rule, const Condition& condition, const FeatureSet& features) {
  return {.rule = rule.id, .condition = condition, .value = *features[condition.feature].value};
}

HeldRule held_rule(const Rule& rule, const FeatureSet& features) {
  HeldRule held{.rule = &rule, .evidence = {}, .against = {}};
  for (const Condition& condition : rule.when)
    held.evidence.push_back(evidence_of(rule, condition, features));
  for (const Condition& condition : rule.against)
    if (holds(condition, features).value_or(false))
      held.against.push_back(evidence_of(rule, condition, features));
  return held;
}

int score_of(const ScoredBottleneck& candidate) {
  int score = 0;
  for (const HeldRule& held : candidate.held) score += held.counts();
  return score;
}

}  // namespace

std::optional<bool> holds(const Condition& condition, const FeatureSet& features) {
  const Feature& feature = features[condition.feature];
  if (!feature.value) return std::nullopt;
  return condition.comparison == Relation::at_least
             ? feature.low.value_or(*feature.value) >= condition.threshold
             : feature.high.value_or(*feature.value) < condition.threshold;
}

int HeldRule::counts() const {
  return std::max(rule->weight - static_cast<int>(against.size()), 0);
}

std::vector<ScoredBottleneck> score(const FeatureSet& features) {
  std::vector<ScoredBottleneck> candidates;
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    ScoredBottleneck candidate{
        .verdict = static_cast<Bottleneck>(i), .score = 0, .held = {}, .open = {}};
    for (const Rule& rule : bottleneck_rules()) {
      if (rule.verdict != candidate.verdict) continue;
      const RuleState state = state_of(rule, features);
      if (state == RuleState::held) candidate.held.push_back(held_rule(rule, features));
      if (state == RuleState::open) candidate.open.push_back(&rule);
    }
    if (candidate.held.empty() && candidate.open.empty()) continue;
    std::ranges::stable_sort(candidate.held, [](const HeldRule& a, const HeldRule& b) {
      return a.rule->weight > b.rule->weight;
    });
    candidate.score = score_of(candidate);
    candidates.push_back(std::move(candidate));
  }
  std::ranges::stable_sort(candidates, [](const ScoredBottleneck& a, const ScoredBottleneck& b) {
    return a.score > b.score;
  });
  return candidates;
}

const ScoredBottleneck* winner_of(const std::vector<ScoredBottleneck>& candidates) {
  if (candidates.empty() || candidates.front().score < kEnoughScore) return nullptr;
  return &candidates.front();
}

Bottleneck decide(const std::vector<ScoredBottleneck>& candidates) {
  const ScoredBottleneck* const winner = winner_of(candidates);
  return winner == nullptr ? Bottleneck::insufficient_data : winner->verdict;
}

}  // namespace perflab::analyze
