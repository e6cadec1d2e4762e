// Which measurement could change the verdict: rules that lack features, and counter-conditions of
// rules that hold. A feature without a remedy cannot be had on this GPU or in this run: nobody is
// sent to measure it.
#include "analyze/bottleneck/next_measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "analyze/bottleneck/feature_parts.h"
#include "analyze/bottleneck/in_words.h"
#include "base/enum_names.h"

namespace perflab::analyze {
namespace {

/// What a verdict could still win or lose with measurements up to some source.
struct Doubt {
  int change = 0;
  std::set<FeatureId> features;
};

bool can_be_had(const Feature& feature) {
  return !feature.remedy.empty();
}

/// What it takes to get the feature: mostly its own source. Counters that lack only times need no
/// further passes, and how many waves fit is known from the code.
FeatureSource cost_of(const Feature& feature) {
  if (feature.remedy == kTimesRemedy) return FeatureSource::dispatches;
  if (feature.remedy == kCodeRemedy)
    return std::max(FeatureSource::resources, info(feature.id).source);
  return info(feature.id).source;
}

/// Values of a feature from `low` to below `high`.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};
using Ranges = std::map<FeatureId, Range>;

/// Narrows the ranges to where the condition holds; false: nothing is left.
bool narrow(Ranges& ranges, const Condition& condition) {
  Range& range = ranges[condition.feature];
  if (condition.comparison == Relation::at_least)
    range.low = std::max(range.low, condition.threshold);
  else
    range.high = std::min(range.high, condition.threshold);
  return range.low < range.high;
}

/// The condition holds everywhere in the ranges.
bool holds_throughout(const Condition& condition, const Ranges& ranges) {
  const auto found = ranges.find(condition.feature);
  if (found == ranges.end()) return false;
  return condition.comparison == Relation::at_least ? found->second.low >= condition.threshold
                                                    : found->second.high <= condition.threshold;
}

/// The most that open rules can count together: of rules that exclude each other only some hold.
class MostTogether {
 public:
  MostTogether(std::vector<const Rule*> rules, const FeatureSet& features)
      : rules_(std::move(rules)), features_(features) {}

  int find() {
    int left = 0;
    for (const Rule* const rule : rules_) left += counts(*rule, {});
    try_from(0, left, {});
    return most_;
  }

 private:
  /// Each rule from `next` on holds or does not; `left`: what those taken and to come can count.
  void try_from(std::size_t next, int left, const Ranges& ranges) {
    if (left <= most_) return;
    if (next == rules_.size()) {
      int sum = 0;
      for (const Rule* const rule : taken_) sum += counts(*rule, ranges);
      most_ = std::max(most_, sum);
      return;
    }
    Ranges narrowed = ranges;
    if (std::ranges::all_of(rules_[next]->when, [&](const Condition& condition) {
          return narrow(narrowed, condition);
        })) {
      taken_.push_back(rules_[next]);
      try_from(next + 1, left, narrowed);
      taken_.pop_back();
    }
    try_from(next + 1, left - counts(*rules_[next], {}), ranges);
  }

  [[nodiscard]] int counts(const Rule& rule, const Ranges& ranges) const {
    const auto against = std::ranges::count_if(rule.against, [&](const Condition& condition) {
      return holds(condition, features_).value_or(holds_throughout(condition, ranges));
    });
    return std::max(rule.weight - static_cast<int>(against), 0);
  }

  std::vector<const Rule*> rules_;
  const FeatureSet& features_;
  std::vector<const Rule*> taken_;
  int most_ = 0;
};

/// Adds the features that the rule lacks; false: not all of them can be had at this cost.
bool lacks(const Rule& rule, const FeatureSet& features, FeatureSource most,
           std::set<FeatureId>& lacking) {
  std::set<FeatureId> missing;
  for (const FeatureId id : rule.needs()) {
    const Feature& feature = features[id];
    if (feature.value) continue;
    if (cost_of(feature) > most || !can_be_had(feature)) return false;
    missing.insert(id);
  }
  lacking.insert(missing.begin(), missing.end());
  return true;
}

/// Counter-conditions that hold already.
int known_against(const Rule& rule, const FeatureSet& features) {
  return static_cast<int>(std::ranges::count_if(rule.against, [&](const Condition& condition) {
    return holds(condition, features).value_or(false);
  }));
}

Doubt could_win(const ScoredBottleneck& candidate, const FeatureSet& features, FeatureSource most) {
  Doubt doubt;
  std::vector<const Rule*> possible;
  for (const Rule* const rule : candidate.open)
    if (rule->weight > known_against(*rule, features) &&
        lacks(*rule, features, most, doubt.features))
      possible.push_back(rule);
  doubt.change = MostTogether(std::move(possible), features).find();
  return doubt;
}

Doubt could_lose(const ScoredBottleneck& candidate, const FeatureSet& features,
                 FeatureSource most) {
  Doubt doubt;
  for (const HeldRule& held : candidate.held) {
    int open = 0;
    for (const Condition& condition : held.rule->against) {
      const Feature& feature = features[condition.feature];
      if (feature.value || cost_of(feature) > most || !can_be_had(feature) || held.counts() == 0)
        continue;
      doubt.features.insert(condition.feature);
      ++open;
    }
    doubt.change += std::min(open, held.counts());
  }
  return doubt;
}

std::string_view command_of(FeatureSource source) {
  using enum FeatureSource;
  static constexpr auto kNames =
      enum_names<FeatureSource>({{dispatches, "rocm-perf profile -- ./app"},
                                 {resources, "rocm-perf analyze RUN.db --code ./app"},
                                 {critical_path, "rocm-perf profile -- ./app"},
                                 {counters, "rocm-perf profile --roofline -- ./app"},
                                 {pc_sampling, "rocm-perf profile --pc-sampling -- ./app"},
                                 {thread_trace, "rocm-perf profile --att -- ./app"}});
  return kNames[source];
}

std::string reason_for(const NextMeasurement& next, Bottleneck verdict) {
  std::vector<std::string> labels, verdicts;
  for (const FeatureId id : next.features) labels.emplace_back(info(id).label);
  constexpr std::size_t kMostNamed = 3;
  if (labels.size() > kMostNamed) {
    const std::size_t others = labels.size() - kMostNamed;
    labels.resize(kMostNamed);
    labels.push_back(fmt::format("{} other{}", others, others == 1 ? "" : "s"));
  }
  bool itself = false;
  for (const Bottleneck decided : next.decides) {
    if (decided == verdict)
      itself = true;
    else
      verdicts.emplace_back(label_of(decided));
  }
  std::string text = fmt::format("it gives {}", list_in_words(labels));
  if (!verdicts.empty()) text += fmt::format(", which could make it {}", list_in_words(verdicts));
  if (itself)
    text += fmt::format("{} take the verdict away", verdicts.empty() ? ", which could" : ", or");
  return text;
}

}  // namespace

std::optional<NextMeasurement> find_next_measurement(
    const FeatureSet& features, const std::vector<ScoredBottleneck>& candidates) {
  const ScoredBottleneck* const winner = winner_of(candidates);
  for (std::size_t i = 0; i < kFeatureSources; ++i) {
    NextMeasurement next{.source = static_cast<FeatureSource>(i),
                         .command = {},
                         .why = {},
                         .features = {},
                         .decides = {}};
    std::set<FeatureId> wanted;
    const auto take = [&](const ScoredBottleneck& candidate, const Doubt& doubt) {
      wanted.insert(doubt.features.begin(), doubt.features.end());
      next.decides.push_back(candidate.verdict);
    };
    const Doubt loss = winner == nullptr ? Doubt{} : could_lose(*winner, features, next.source);
    // What the verdict has left at worst; a rival of that score can come before it.
    const int worst = winner == nullptr ? kEnoughScore : winner->score - loss.change;
    bool loss_matters = loss.change > 0 && worst < kEnoughScore;
    for (const ScoredBottleneck& rival : candidates) {
      if (&rival == winner) continue;
      const Doubt gain = could_win(rival, features, next.source);
      const int most = rival.score + gain.change;
      if (most < std::max(worst, kEnoughScore)) continue;
      if (gain.change > 0) take(rival, gain);
      loss_matters = loss_matters || loss.change > 0;
    }
    if (loss_matters) take(*winner, loss);
    if (wanted.empty()) continue;
    next.command = command_of(next.source);
    next.features.assign(wanted.begin(), wanted.end());
    std::ranges::sort(next.decides);
    next.why =
        reason_for(next, winner == nullptr ? Bottleneck::insufficient_data : winner->verdict);
    return next;
  }
  return std::nullopt;
}

}  // namespace perflab::analyze
