// Builder of `bottlenecks`.
#include "report/bottleneck/bottleneck_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "hal/terms.h"
#include "report/kit/document.h"
#include "report/kit/null_reasons.h"

namespace perflab::report {
namespace {

using analyze::Evidence;
using analyze::FeatureId;
using analyze::FeatureSet;
using analyze::HeldRule;
using analyze::KernelBottleneck;
using analyze::ScoredBottleneck;

const char* comparison_name(analyze::Relation comparison) {
  return comparison == analyze::Relation::at_least ? "at_least" : "below";
}

Json evidence_json(const Evidence& evidence, const FeatureSet& features) {
  const analyze::FeatureInfo& info = analyze::info(evidence.condition.feature);
  Json out = object_with_room(10);
  out["rule"] = evidence.rule;
  out["feature"] = info.name;
  out["label"] = info.label;
  out["value"] = evidence.value;
  out["unit"] = info.unit;
  out["comparison"] = comparison_name(evidence.condition.comparison);
  out["threshold"] = evidence.condition.threshold;
  out["why"] = evidence.condition.why;
  out["source"] = analyze::to_string(info.source);
  out["from"] = features[evidence.condition.feature].from;
  return out;
}

Json evidence_list(const std::vector<Evidence>& list, const FeatureSet& features) {
  Json out = Json::array();
  for (const Evidence& evidence : list) out.push_back(evidence_json(evidence, features));
  return out;
}

/// The names of features.
Json names_json(const std::vector<FeatureId>& features) {
  Json out = Json::array();
  for (const FeatureId feature : features) out.push_back(analyze::info(feature).name);
  return out;
}

Json candidate_json(const ScoredBottleneck& candidate, const FeatureSet& features) {
  Json held = Json::array();
  for (const HeldRule& rule : candidate.held)
    held.push_back({{"rule", rule.rule->id},
                    {"weight", rule.rule->weight},
                    {"says", rule.rule->says},
                    {"evidence", evidence_list(rule.evidence, features)},
                    {"against", evidence_list(rule.against, features)}});
  Json open = Json::array();
  for (const analyze::Rule* rule : candidate.open)
    open.push_back({{"rule", rule->id},
                    {"weight", rule->weight},
                    {"says", rule->says},
                    {"missing_features", names_json(missing_features(*rule, features))}});
  return {{"verdict", analyze::to_string(candidate.verdict)},
          {"score", candidate.score},
          {"held", std::move(held)},
          {"open", std::move(open)}};
}

Json bound_json(const analyze::Bound& bound) {
  NullReasons reasons(bound.missing);
  constexpr std::string_view kNoPath = "there is no critical path";
  Json parts = Json::array();
  for (const analyze::GainBound& part : bound.parts)
    parts.push_back({{"from", part.from}, {"factor", or_null(part.factor)}, {"text", part.text}});
  Json out = {
      {"kernel_factor", reasons.value("kernel_factor", bound.kernel_factor, {"bound.kernel_factor"},
                                      "nothing that was measured bounds it")},
      {"parts", std::move(parts)},
      {"end_to_end_ns",
       reasons.value("end_to_end_ns", bound.end_to_end_ns, {"bound.end_to_end_ns"}, kNoPath)},
      {"end_to_end_share", reasons.value("end_to_end_share", bound.end_to_end_share,
                                         {"bound.end_to_end_share"}, kNoPath)}};
  out["missing"] = reasons.json();
  return out;
}

Json next_json(const std::optional<analyze::NextMeasurement>& next) {
  if (!next) return nullptr;
  Json decides = Json::array();
  for (const analyze::Bottleneck verdict : next->decides)
    decides.push_back(analyze::to_string(verdict));
  return {{"source", analyze::to_string(next->source)},
          {"command", next->command},
          {"why", next->why},
          {"features", names_json(next->features)},
          {"decides", std::move(decides)}};
}

Json history_json(const KernelBottleneck& bottleneck) {
  Json out = Json::array();
  for (const analyze::HistoryStep& step : bottleneck.history)
    out.push_back({{"with", analyze::to_string(step.with)},
                   {"verdict", analyze::to_string(step.verdict)},
                   {"score", step.score},
                   {"change", or_null(step.change)}});
  return out;
}

Json features_json(const FeatureSet& features) {
  Json out = Json::array();
  for (const analyze::Feature& feature : features.all())
    out.push_back({{"name", analyze::info(feature.id).name},
                   {"value", or_null(feature.value)},
                   {"from", feature.value ? or_null(feature.from) : Json(nullptr)},
                   {"reason", feature.value ? Json(nullptr) : or_null(feature.reason)},
                   {"remedy", feature.value ? Json(nullptr) : or_null(feature.remedy)}});
  return out;
}

/// The score that the verdict was given for; of insufficient data: what the best one fell short
/// with.
int score_of(const KernelBottleneck& bottleneck) {
  if (const ScoredBottleneck* candidate = winner(bottleneck)) return candidate->score;
  return bottleneck.candidates.empty() ? 0 : bottleneck.candidates.front().score;
}

/// Puts the sentences of an object in the words of NVIDIA's GPUs, however deep. Names and figures
/// stay.
void say_in_cuda_terms(Json& value, bool sentence) {
  static constexpr std::array<std::string_view, 6> kSentences{"label", "unit",   "why",
                                                              "from",  "reason", "says"};
  if (value.is_string() && sentence) {
    value = hal::in_terms(value.get_ref<const std::string&>(), hal::Platform::nvidia);
  } else if (value.is_array()) {
    for (Json& one : value) say_in_cuda_terms(one, sentence);
  } else if (value.is_object()) {
    for (const auto& [key, one] : value.items())
      say_in_cuda_terms(one, std::ranges::find(kSentences, key) != kSentences.end());
  }
}

Json kernel_bottleneck_json(const KernelBottleneck& bottleneck) {
  static const std::vector<Missing> kNone;
  NullReasons reasons(kNone);
  Json out = object_with_room(24);
  out["name"] = bottleneck.kernel;
  out["architecture"] = reasons.text("architecture", bottleneck.architecture,
                                     "nothing that was given says which GPU it ran on");
  out["kernel"] =
      reasons.value("kernel", bottleneck.analysis_kernel, {}, "it is in no recording of times");
  out["thread_trace"] =
      reasons.value("thread_trace", bottleneck.thread_trace, {}, "no thread trace of it was given");
  out["pc_samples"] =
      reasons.value("pc_samples", bottleneck.pc_samples, {}, "no PC samples of it were given");
  out.update(verdict_json(bottleneck));
  out["confidence_reasons"] = bottleneck.confidence_reasons;
  out["cross_checks"] = Json::array();
  for (const analyze::CrossCheck& check : bottleneck.cross_checks)
    out["cross_checks"].push_back({{"feature", analyze::info(check.feature).name},
                                   {"other", analyze::info(check.other).name},
                                   {"agrees", check.agrees},
                                   {"text", check.text}});
  out["runner_up"] = bottleneck.runner_up
                         ? Json(analyze::to_string(*bottleneck.runner_up))
                         : reasons.null("runner_up", {}, "no other verdict has a rule that holds");
  Json evidence = Json::array();
  Json against = Json::array();
  if (const ScoredBottleneck* candidate = winner(bottleneck))
    for (const HeldRule& rule : candidate->held) {
      for (const Evidence& one : rule.evidence)
        evidence.push_back(evidence_json(one, bottleneck.features));
      for (const Evidence& one : rule.against)
        against.push_back(evidence_json(one, bottleneck.features));
    }
  out["evidence"] = std::move(evidence);
  out["against"] = std::move(against);
  out["candidates"] = Json::array();
  for (const ScoredBottleneck& candidate : bottleneck.candidates)
    out["candidates"].push_back(candidate_json(candidate, bottleneck.features));
  out["bound"] = bound_json(bottleneck.bound);
  out["next"] = bottleneck.next ? next_json(bottleneck.next)
                                : reasons.null("next", {}, "no measurement could change it");
  out["advice"] = Json::array();
  for (const analyze::Advice& advice : bottleneck.advice)
    out["advice"].push_back(
        {{"rule", advice.rule}, {"text", advice.text}, {"lines", advice.lines}});
  out["history"] = history_json(bottleneck);
  out["features"] = features_json(bottleneck.features);
  out["missing"] = reasons.json();
  if (hal::platform_of(bottleneck.architecture) == hal::Platform::nvidia)
    for (const char* part : {"evidence", "against", "candidates", "features", "missing"})
      say_in_cuda_terms(out[part], false);
  return out;
}

Json feature_table() {
  Json out = Json::array();
  for (std::size_t i = 0; i < analyze::kFeatures; ++i) {
    const analyze::FeatureInfo& info = analyze::info(static_cast<FeatureId>(i));
    out.push_back({{"name", info.name},
                   {"label", info.label},
                   {"unit", info.unit},
                   {"source", analyze::to_string(info.source)},
                   {"formula", info.formula}});
  }
  return out;
}

}  // namespace

const ScoredBottleneck* winner(const KernelBottleneck& bottleneck) {
  const auto found =
      std::ranges::find(bottleneck.candidates, bottleneck.verdict, &ScoredBottleneck::verdict);
  return found == bottleneck.candidates.end() ? nullptr : &*found;
}

std::vector<FeatureId> missing_features(const analyze::Rule& rule, const FeatureSet& features) {
  std::vector<FeatureId> out = rule.needs();
  std::erase_if(out, [&](FeatureId id) { return features[id].value.has_value(); });
  return out;
}

Json verdict_json(const KernelBottleneck& bottleneck) {
  return {{"verdict", analyze::to_string(bottleneck.verdict)},
          {"label", analyze::label_of(bottleneck.verdict)},
          {"score", score_of(bottleneck)},
          {"confidence", analyze::to_string(bottleneck.confidence)},
          {"summary", bottleneck.summary}};
}

Json bottlenecks_json(const analyze::Bottlenecks& bottlenecks) {
  Json kernels = array_of(bottlenecks.kernels.size(), [&](std::size_t index) {
    return kernel_bottleneck_json(bottlenecks.kernels[index]);
  });
  Json out = {{"enough_score", analyze::kEnoughScore},
              {"features", feature_table()},
              {"kernels", std::move(kernels)},
              {"left_out", bottlenecks.left_out},
              {"without_verdict", Json::array()}};
  if (!bottlenecks.kernels.empty() &&
      std::ranges::all_of(bottlenecks.kernels, [](const KernelBottleneck& one) {
        return hal::platform_of(one.architecture) == hal::Platform::nvidia;
      }))
    say_in_cuda_terms(out["features"], false);
  for (const analyze::WithoutVerdict& one : bottlenecks.without_verdict)
    out["without_verdict"].push_back(
        {{"name", one.kernel}, {"verdict", nullptr}, {"reason", one.reason}});
  return out;
}

}  // namespace perflab::report
