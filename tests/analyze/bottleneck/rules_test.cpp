// Properties of the table of rules: every rule is reached, each of its thresholds decides, and the
// evidence names what decided.
#include "analyze/bottleneck/rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "analyze/bottleneck/bottleneck_checks.h"
#include "base/system/files.h"

namespace perflab::analyze {
namespace {

using enum FeatureId;

/// Only what the rule needs, each feature just on its threshold. A feature with two conditions is
/// put on the lower bound.
FeatureSet just_met(const Rule& rule) {
  FeatureSet set = features_of({});
  for (const Condition& condition : rule.when)
    if (!set[condition.feature].value || condition.comparison == Relation::at_least)
      set_value(set, condition.feature, at(condition));
  return set;
}

class EveryRule : public testing::TestWithParam<std::size_t> {
 protected:
  const Rule& rule_ = bottleneck_rules()[GetParam()];
};

TEST_P(EveryRule, HoldsWhenJustMetAndMakesItsVerdict) {
  const auto candidates = score(just_met(rule_));
  const HeldRule* const held = held_by(candidates, rule_.id);
  ASSERT_NE(held, nullptr);
  ASSERT_EQ(held->evidence.size(), rule_.when.size());
  EXPECT_TRUE(held->against.empty());
  EXPECT_EQ(held->counts(), rule_.weight);
  for (std::size_t i = 0; i < rule_.when.size(); ++i) {
    const Evidence& evidence = held->evidence[i];
    EXPECT_EQ(evidence.rule, rule_.id);
    EXPECT_EQ(evidence.condition.feature, rule_.when[i].feature);
    EXPECT_EQ(evidence.condition.threshold, rule_.when[i].threshold);
    EXPECT_EQ(evidence.value, *just_met(rule_)[rule_.when[i].feature].value);
  }
  if (rule_.weight >= kEnoughScore)
    EXPECT_EQ(decide(candidates), rule_.verdict);
  else
    EXPECT_GE(candidate_of(candidates, rule_.verdict)->score, rule_.weight);
}

TEST_P(EveryRule, IsRefutedJustAcrossEachThreshold) {
  for (const Condition& condition : rule_.when) {
    FeatureSet set = just_met(rule_);
    set_value(set, condition.feature, across(condition));
    const auto candidates = score(set);
    EXPECT_EQ(held_by(candidates, rule_.id), nullptr) << info(condition.feature).name;
    EXPECT_FALSE(is_open(candidates, rule_.id)) << info(condition.feature).name;
  }
}

TEST_P(EveryRule, IsOpenWithoutEachFeature) {
  for (const FeatureId id : rule_.needs()) {
    FeatureSet set = just_met(rule_);
    set[id] = features_of({})[id];
    const auto candidates = score(set);
    EXPECT_EQ(held_by(candidates, rule_.id), nullptr) << info(id).name;
    EXPECT_TRUE(is_open(candidates, rule_.id)) << info(id).name;
  }
}

TEST_P(EveryRule, CountsOneLessForEachCounterCondition) {
  for (const Condition& condition : rule_.against) {
    FeatureSet set = just_met(rule_);
    ASSERT_FALSE(set[condition.feature].value) << "decided by the rule's own condition";
    set_value(set, condition.feature, across(condition));
    EXPECT_EQ(held_by(score(set), rule_.id)->counts(), rule_.weight);
    set_value(set, condition.feature, at(condition));
    const auto candidates = score(set);
    const HeldRule* const held = held_by(candidates, rule_.id);
    ASSERT_NE(held, nullptr);
    ASSERT_EQ(held->against.size(), 1U);
    EXPECT_EQ(held->against[0].condition.feature, condition.feature);
    EXPECT_EQ(held->against[0].value, at(condition));
    EXPECT_EQ(held->counts(), rule_.weight - 1);
  }
}

TEST_P(EveryRule, SaysWhy) {
  EXPECT_GE(rule_.weight, 1);
  EXPECT_LE(rule_.weight, 4);
  EXPECT_NE(rule_.verdict, Bottleneck::insufficient_data);
  EXPECT_FALSE(rule_.when.empty());
  EXPECT_FALSE(rule_.says.empty());
  EXPECT_FALSE(rule_.advice.empty());
  for (const auto& conditions : {rule_.when, rule_.against})
    for (const Condition& condition : conditions) {
      EXPECT_FALSE(condition.why.empty()) << info(condition.feature).name;
      if (info(condition.feature).unit == "share") {
        EXPECT_GT(condition.threshold, 0);
        EXPECT_LE(condition.threshold, 1);
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Table, EveryRule,
                         testing::Range(std::size_t{0}, bottleneck_rules().size()),
                         [](const auto& tested) {
                           std::string name(bottleneck_rules()[tested.param].id);
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

TEST(RuleTable, HasUniqueIdsAndEveryVerdict) {
  std::set<std::string_view> ids;
  std::set<Bottleneck> decided;
  for (const Rule& rule : bottleneck_rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    if (rule.weight >= kEnoughScore) decided.insert(rule.verdict);
  }
  EXPECT_EQ(decided.size(), kVerdicts - 1);  // insufficient_data is the lack of one
}

std::string in_document(const Condition& condition) {
  const FeatureInfo& feature = info(condition.feature);
  const double limit = condition.threshold;
  std::string value = fmt::format("{:g}", limit);
  if (feature.unit == "share") value = fmt::format("{:g} %", 100 * limit);
  if (feature.unit == "ns")
    value =
        limit >= 1e6 ? fmt::format("{:g} ms", limit / 1e6) : fmt::format("{:g} us", limit / 1e3);
  return fmt::format("{} {} {}", feature.name,
                     condition.comparison == Relation::at_least ? ">=" : "<", value);
}

std::string in_document(std::span<const Condition> conditions) {
  std::vector<std::string> texts;
  for (const Condition& condition : conditions) texts.push_back(in_document(condition));
  return fmt::format("{}", fmt::join(texts, ", "));
}

TEST(RuleTable, IsTheOneOfTheModelsDocument) {
  const auto text =
      read_file(std::filesystem::path(PERFLAB_SOURCE_DIR) / "docs/models/bottleneck_rules.md");
  ASSERT_TRUE(text.has_value());
  std::string rows;
  for (const Rule& rule : bottleneck_rules())
    rows += fmt::format("| `{}` | {} | {} | {} |\n", rule.id, rule.weight, in_document(rule.when),
                        in_document(rule.against));
  EXPECT_NE(text->find(rows), std::string::npos)
      << "put these rows into docs/models/bottleneck_rules.md:\n"
      << rows;
}

TEST(RuleTable, LeavesOutOnlyWhatIsShownForReading) {
  std::set<FeatureId> used;
  for (const Rule& rule : bottleneck_rules())
    for (const auto& conditions : {rule.when, rule.against})
      for (const Condition& condition : conditions) used.insert(condition.feature);
  const std::set<FeatureId> shown = {scratch_bytes,
                                     vmem_busy,
                                     lds_busy,
                                     achieved_occupancy,
                                     l2_hit,
                                     att_issue,
                                     att_wait,
                                     att_idle,
                                     att_issue_stall,
                                     pc_issued,
                                     pc_scalar_wait,
                                     pc_wait_unknown,
                                     pc_lds_backpressure,
                                     pc_contention,
                                     pc_lanes_active,
                                     pc_simd_latency};
  for (std::size_t i = 0; i < kFeatures; ++i) {
    const auto id = static_cast<FeatureId>(i);
    EXPECT_NE(used.contains(id), shown.contains(id)) << info(id).name;
  }
}

TEST(FeatureTable, IsCompleteAndNamesAreUnique) {
  std::set<std::string_view> names, labels;
  for (std::size_t i = 0; i < kFeatures; ++i) {
    const auto id = static_cast<FeatureId>(i);
    const FeatureInfo& row = info(id);
    EXPECT_EQ(row.id, id);
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(labels.insert(row.label).second) << row.label;
    EXPECT_FALSE(row.formula.empty());
    EXPECT_TRUE(row.name.starts_with(to_string(row.source))) << row.name;
    EXPECT_TRUE(
        std::set<std::string_view>({"share", "ns", "count", "bytes", "waves"}).contains(row.unit))
        << row.unit;
  }
}

TEST(Verdicts, OfEqualScoresComeInTheirOrder) {
  // Bandwidth 3 (near HBM), compute 3 (near the roof): bandwidth is the earlier one.
  const auto candidates = score(features_of({{hbm_share, 0.65}, {compute_share, 0.65}}));
  EXPECT_EQ(candidates[0].verdict, Bottleneck::memory_bandwidth);
  EXPECT_EQ(candidates[0].score, 3);
  EXPECT_EQ(candidates[1].verdict, Bottleneck::compute_throughput);
  EXPECT_EQ(candidates[1].score, 3);
  EXPECT_EQ(decide(candidates), Bottleneck::memory_bandwidth);
}

TEST(Verdicts, NeedEnoughEvidence) {
  EXPECT_EQ(decide(score(FeatureSet())), Bottleneck::insufficient_data);
  // One hint of weight 1.
  const auto hint = score(features_of({{att_branch, 0.3}}));
  EXPECT_EQ(hint.front().verdict, Bottleneck::divergence);
  EXPECT_EQ(hint.front().score, 1);
  EXPECT_EQ(decide(hint), Bottleneck::insufficient_data);
}

/// Kernels whose answer is known, as a profiler would see them with everything collected.
struct Known {
  std::string_view name;
  Bottleneck verdict;
  FeatureSet features;
};

std::vector<Known> known_kernels() {
  return {
      {"pointer chase on every CU", Bottleneck::latency,
       features_of({{dispatch_count, 5},     {dispatch_median, 4e6},   {idle_before, 0.01},
                    {work_fill, 1},          {work_per_cu, 8},         {theoretical_occupancy, 1},
                    {hbm_share, 0.08},       {l2_share, 0.02},         {lds_share, 0},
                    {compute_share, 0},      {integer_share, 0},       {nearest_roof, 0.08},
                    {memory_side, 1},        {valu_busy, 0.02},        {mfma_busy, 0},
                    {cu_busy, 0.98},         {busy_cu_occupancy, 0.9}, {occupancy_reached, 0.9},
                    {wait_dependency, 0.95}, {lanes_active, 1},        {partial_waves, 0},
                    {branch_share, 0.08}})},
      {"copy", Bottleneck::memory_bandwidth,
       features_of({{dispatch_count, 5},     {dispatch_median, 2e5},    {idle_before, 0.05},
                    {work_fill, 5},          {work_per_cu, 40},         {theoretical_occupancy, 1},
                    {hbm_share, 0.78},       {l2_share, 0.3},           {lds_share, 0},
                    {compute_share, 0},      {integer_share, 0},        {nearest_roof, 0.78},
                    {memory_side, 1},        {valu_busy, 0.04},         {mfma_busy, 0},
                    {cu_busy, 0.9},          {busy_cu_occupancy, 0.87}, {occupancy_reached, 0.87},
                    {wait_dependency, 0.93}, {lanes_active, 1},         {partial_waves, 0},
                    {branch_share, 0.05}})},
      {"loop of multiply-adds", Bottleneck::compute_throughput,
       features_of({{dispatch_count, 5},     {dispatch_median, 1e6},    {idle_before, 0.05},
                    {work_fill, 4},          {work_per_cu, 16},         {theoretical_occupancy, 1},
                    {hbm_share, 0.02},       {l2_share, 0.01},          {lds_share, 0},
                    {compute_share, 0.9},    {integer_share, 0},        {nearest_roof, 0.9},
                    {memory_side, 0.02},     {valu_busy, 0.95},         {mfma_busy, 0},
                    {cu_busy, 0.99},         {busy_cu_occupancy, 0.95}, {occupancy_reached, 0.95},
                    {wait_dependency, 0.05}, {wait_issue, 0.8},         {lanes_active, 1},
                    {partial_waves, 0},      {branch_share, 0.01}})},
      {"divergent branch", Bottleneck::divergence,
       features_of({{dispatch_count, 5},    {dispatch_median, 1e6},   {idle_before, 0.05},
                    {work_fill, 4},         {work_per_cu, 16},        {theoretical_occupancy, 1},
                    {hbm_share, 0.05},      {l2_share, 0.02},         {lds_share, 0},
                    {compute_share, 0.2},   {integer_share, 0},       {nearest_roof, 0.2},
                    {memory_side, 0.2},     {valu_busy, 0.85},        {mfma_busy, 0},
                    {cu_busy, 0.95},        {busy_cu_occupancy, 0.9}, {occupancy_reached, 0.9},
                    {wait_dependency, 0.1}, {wait_issue, 0.4},        {lanes_active, 0.25},
                    {partial_waves, 0},     {branch_share, 0.15}})},
      {"one huge work-group", Bottleneck::under_occupied,
       features_of({{dispatch_count, 5},    {dispatch_median, 5e6},   {idle_before, 0.01},
                    {work_fill, 0.0016},    {work_per_cu, 0.0033},    {theoretical_occupancy, 1},
                    {hbm_share, 0.01},      {l2_share, 0.01},         {lds_share, 0},
                    {compute_share, 0.002}, {integer_share, 0},       {nearest_roof, 0.01},
                    {memory_side, 0.8},     {valu_busy, 0.001},       {mfma_busy, 0},
                    {cu_busy, 0.0033},      {busy_cu_occupancy, 0.5}, {occupancy_reached, 0.5},
                    {wait_dependency, 0.7}, {lanes_active, 1},        {partial_waves, 0},
                    {branch_share, 0.05}})},
      {"ten thousand tiny launches", Bottleneck::launch,
       features_of({{dispatch_count, 10'000},
                    {dispatch_median, 3000},
                    {idle_before, 0.7},
                    {work_fill, 0.001},
                    {work_per_cu, 0.003},
                    {theoretical_occupancy, 1},
                    {path_launch_share, 0.6},
                    {path_kernel_share, 0.3},
                    {hbm_share, 0.001},
                    {nearest_roof, 0.001},
                    {memory_side, 0.9},
                    {valu_busy, 0.001},
                    {cu_busy, 0.003},
                    {wait_dependency, 0.6},
                    {lanes_active, 1},
                    {partial_waves, 0}})},
  };
}

TEST(KnownKernels, GetTheirLabel) {
  for (const Known& known : known_kernels()) {
    const auto candidates = score(known.features);
    EXPECT_EQ(to_string(decide(candidates)), to_string(known.verdict)) << known.name;
  }
}

TEST(KnownKernels, GetItOrNoneFromLess) {
  // What the trace alone says is never another label, whatever a later source adds.
  for (const Known& known : known_kernels())
    for (std::size_t i = 0; i < kFeatureSources; ++i) {
      const Bottleneck verdict =
          decide(score(known.features.only_up_to(static_cast<FeatureSource>(i))));
      EXPECT_TRUE(verdict == known.verdict || verdict == Bottleneck::insufficient_data)
          << known.name << ": " << to_string(verdict);
    }
}

TEST(KnownKernels, MoveWithOneFeature) {
  FeatureSet copy = known_kernels()[1].features;
  set_value(copy, hbm_share, 0.35);  // waits stay: what is left is latency
  set_value(copy, nearest_roof, 0.25);
  EXPECT_EQ(decide(score(copy)), Bottleneck::latency);
  const auto candidates = score(copy);
  const HeldRule* const held = held_by(candidates, "latency.waits_far_from_memory_roof");
  ASSERT_NE(held, nullptr);
  EXPECT_EQ(held->evidence[1].condition.feature, hbm_share);
  EXPECT_EQ(held->evidence[1].value, 0.35);
  EXPECT_EQ(held->evidence[1].condition.threshold, 0.4);
}

}  // namespace
}  // namespace perflab::analyze
