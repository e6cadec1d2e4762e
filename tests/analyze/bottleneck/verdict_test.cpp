// The verdict around the score: history, next measurement, bounds worked out by hand, confidence
// and advice. Properties are tried on random sets of features, with values around the thresholds.
#include <gtest/gtest.h>

#include <algorithm>

#include "analyze/analysis.h"
#include "analyze/bottleneck/bottleneck_checks.h"
#include "analyze/bottleneck/in_words.h"
#include "support/prng.h"

namespace perflab::analyze {
namespace {

using enum FeatureId;

/// Values that rules tell apart: just on and just across every threshold of the feature.
std::vector<double> telling_values(FeatureId id) {
  std::vector<double> values;
  for (const Rule& rule : bottleneck_rules())
    for (const auto& conditions : {rule.when, rule.against})
      for (const Condition& condition : conditions)
        if (condition.feature == id) {
          values.push_back(at(condition));
          values.push_back(across(condition));
        }
  if (values.empty()) values.push_back(0.5);
  return values;
}

double some_value(FeatureId id, test::Prng& random) {
  static const auto kValues = [] {
    std::vector<std::vector<double>> all;
    for (std::size_t i = 0; i < kFeatures; ++i)
      all.push_back(telling_values(static_cast<FeatureId>(i)));
    return all;
  }();
  const std::vector<double>& values = kValues[static_cast<std::size_t>(id)];
  return values[static_cast<std::size_t>(random.below(std::ssize(values)))];
}

/// About `percent` of the features; of the rest, a quarter cannot be had.
FeatureSet random_set(test::Prng& random, std::int64_t percent) {
  FeatureSet set = features_of({});
  for (std::size_t i = 0; i < kFeatures; ++i) {
    const auto id = static_cast<FeatureId>(i);
    if (random.below(100) < percent)
      set_value(set, id, some_value(id, random));
    else if (random.below(4) == 0)
      set[id].remedy.clear();
  }
  return set;
}

KernelBottleneck judged(const FeatureSet& features) {
  return judge(features, Analysis{}, std::nullopt, nullptr);
}

TEST(BottleneckHistory, GrowsWithTheSourcesAndEndsAtTheVerdict) {
  test::Prng random(1);
  for (int round = 0; round < 300; ++round) {
    const FeatureSet set = random_set(random, 60);
    for (std::size_t i = 0; i + 1 < kFeatureSources; ++i) {
      const FeatureSet less = set.only_up_to(static_cast<FeatureSource>(i));
      const FeatureSet more = set.only_up_to(static_cast<FeatureSource>(i + 1));
      for (const Feature& feature : less.all()) {
        EXPECT_TRUE(!feature.value || more[feature.id].value == feature.value);
        EXPECT_NE(feature.value.has_value(), !feature.reason.empty());
      }
    }
    const KernelBottleneck kernel = judged(set);
    ASSERT_FALSE(kernel.history.empty());
    EXPECT_EQ(kernel.history.back().verdict, kernel.verdict);
    EXPECT_EQ(kernel.history.front().change, "");
    for (std::size_t i = 1; i < kernel.history.size(); ++i) {
      const HistoryStep& before = kernel.history[i - 1];
      const HistoryStep& step = kernel.history[i];
      EXPECT_LT(before.with, step.with);
      EXPECT_EQ(step.change.empty(), before.verdict == step.verdict && before.score == step.score);
    }
  }
}

TEST(BottleneckHistory, SaysWhatAnAdditionChanged) {
  const KernelBottleneck kernel = judged(features_of(
      {{dispatch_median, 1e5}, {work_per_cu, 0.2}, {hbm_share, 0.9}, {nearest_roof, 0.9}}));
  ASSERT_EQ(kernel.history.size(), 2U);
  EXPECT_EQ(kernel.history[0].verdict, Bottleneck::under_occupied);
  EXPECT_EQ(kernel.history[0].score, 2);
  EXPECT_EQ(kernel.history[1].with, FeatureSource::counters);
  EXPECT_EQ(kernel.history[1].verdict, Bottleneck::memory_bandwidth);
  EXPECT_EQ(
      kernel.history[1].change,
      "memory-bandwidth bound instead of under-occupied: memory bandwidth used 90 % (at least "
      "60 %) and nearness of the binding roof 90 % (at least 60 %)");
}

TEST(NextMeasurement, IsNoneOnlyWhenNothingCanChangeTheVerdict) {
  test::Prng random(2);
  int settled = 0;
  for (int round = 0; round < 500; ++round) {
    const FeatureSet set = random_set(random, 40 + random.below(60));
    const KernelBottleneck kernel = judged(set);
    if (kernel.next) continue;
    ++settled;
    for (int completion = 0; completion < 12; ++completion) {
      FeatureSet complete = set;
      for (std::size_t i = 0; i < kFeatures; ++i) {
        const auto id = static_cast<FeatureId>(i);
        if (!set[id].value && !set[id].remedy.empty())
          set_value(complete, id, some_value(id, random));
      }
      EXPECT_EQ(to_string(decide(score(complete))), to_string(kernel.verdict)) << kernel.summary;
    }
  }
  EXPECT_GT(settled, 50);
}

TEST(NextMeasurement, NamesWhatCanBeHadAndItsCheapestSource) {
  test::Prng random(3);
  int open = 0;
  for (int round = 0; round < 500; ++round) {
    const FeatureSet set = random_set(random, 50);
    const KernelBottleneck kernel = judged(set);
    if (!kernel.next) continue;
    ++open;
    EXPECT_FALSE(kernel.next->features.empty());
    EXPECT_FALSE(kernel.next->decides.empty());
    for (const FeatureId id : kernel.next->features) {
      EXPECT_FALSE(set[id].value);
      EXPECT_FALSE(set[id].remedy.empty());
      EXPECT_LE(info(id).source, kernel.next->source);
    }
  }
  EXPECT_GT(open, 100);
  // A trace that says nothing: the path is the cheapest that could (launches).
  const KernelBottleneck kernel = judged(features_of({{dispatch_count, 100},
                                                      {dispatch_median, 9000},
                                                      {idle_before, 0.3},
                                                      {work_fill, 2},
                                                      {work_per_cu, 8},
                                                      {theoretical_occupancy, 1}}));
  ASSERT_TRUE(kernel.next);
  EXPECT_EQ(kernel.next->source, FeatureSource::critical_path);
  EXPECT_EQ(kernel.next->decides, std::vector{Bottleneck::launch});
  EXPECT_EQ(kernel.next->command, "rocm-perf profile -- ./app");
}

/// Nothing else can be had than these.
FeatureSet only_missing(std::initializer_list<std::pair<FeatureId, double>> values,
                        std::initializer_list<FeatureId> missing, std::string_view remedy) {
  FeatureSet set = features_of(values);
  for (std::size_t i = 0; i < kFeatures; ++i) {
    Feature& feature = set[static_cast<FeatureId>(i)];
    const bool wanted = std::ranges::find(missing, feature.id) != missing.end();
    if (!feature.value) feature.remedy = wanted ? remedy : "";
  }
  return set;
}

TEST(NextMeasurement, DoesNotAddUpRulesThatExcludeEachOther) {
  // Latency: waits_far_from_roofs (1, below 40 %) and waits_between_roofs (2, 40 to 60 %) are open.
  // Bandwidth has 3: together they would reach it, but no nearness is both.
  FeatureSet set = only_missing({{wait_dependency, 0.7}, {hbm_share, 0.65}}, {nearest_roof}, "do");
  EXPECT_EQ(judged(set).verdict, Bottleneck::memory_bandwidth);
  EXPECT_FALSE(judged(set).next) << judged(set).next->why;
  for (const double value : {0.1, 0.39, 0.4, 0.59, 0.6, 1.0}) {
    set_value(set, nearest_roof, value);
    EXPECT_EQ(judged(set).verdict, Bottleneck::memory_bandwidth) << value;
  }
  // Without a rival the one of 2 is enough, and there is a nearness that brings it.
  set = only_missing({{wait_dependency, 0.7}}, {nearest_roof}, "do");
  ASSERT_TRUE(judged(set).next);
  EXPECT_EQ(judged(set).next->decides, std::vector{Bottleneck::latency});
  set_value(set, nearest_roof, 0.5);
  EXPECT_EQ(judged(set).verdict, Bottleneck::latency);
}

TEST(NextMeasurement, OfTheFillIsTheCodeObject) {
  const FeatureSet set = only_missing({{wait_dependency, 0.45}}, {work_fill},
                                      "give the program or its code object with --code");
  const KernelBottleneck kernel = judged(set);
  ASSERT_TRUE(kernel.next);
  EXPECT_EQ(kernel.next->source, FeatureSource::resources);
  EXPECT_EQ(kernel.next->command, "rocm-perf analyze RUN.db --code ./app");
  EXPECT_EQ(kernel.next->decides, std::vector{Bottleneck::under_occupied});
}

TEST(NextMeasurement, AsksForCountersThenForSamplesThenForAThreadTrace) {
  FeatureSet set = features_of({{dispatch_count, 5},
                                {dispatch_median, 1e6},
                                {idle_before, 0.01},
                                {work_fill, 2},
                                {work_per_cu, 8},
                                {theoretical_occupancy, 1}});
  EXPECT_EQ(judged(set).verdict, Bottleneck::insufficient_data);
  ASSERT_TRUE(judged(set).next);
  EXPECT_EQ(judged(set).next->command, "rocm-perf profile --roofline -- ./app");
  for (std::size_t i = 0; i < kFeatures; ++i)  // nothing is near anything
    if (const auto id = static_cast<FeatureId>(i); info(id).source == FeatureSource::counters)
      set_value(set, id, 0.3);
  set_value(set, lanes_active, 1);
  set_value(set, cu_busy, 0.9);
  set_value(set, occupancy_reached, 0.9);
  set_value(set, branch_share, 0.05);
  set_value(set, gap_tail, 0.05);
  set_value(set, gap_imbalance, 0.05);
  ASSERT_TRUE(judged(set).next);
  EXPECT_EQ(judged(set).next->command, "rocm-perf profile --pc-sampling -- ./app");
  // A GPU that cannot be sampled so.
  for (std::size_t i = 0; i < kFeatures; ++i)
    if (const auto id = static_cast<FeatureId>(i); info(id).source == FeatureSource::pc_sampling)
      set[id].remedy.clear();
  const KernelBottleneck kernel = judged(set);
  EXPECT_EQ(kernel.verdict, Bottleneck::insufficient_data);
  ASSERT_TRUE(kernel.next);
  EXPECT_EQ(kernel.next->command, "rocm-perf profile --att -- ./app");
  EXPECT_NE(kernel.summary.find("--att"), std::string::npos) << kernel.summary;
}

/// An analysis whose critical path has the kernel for 600 of 1000 ns.
struct PathCase {
  Analysis analysis;
  KernelCriticality row;

  PathCase() {
    analysis.critical_path.emplace();
    analysis.critical_path->length = 1000;
    row.path_time = 600;
    row.gains = {{.factor = 2, .makespan = 750, .gain = 250},
                 {.factor = 0, .makespan = 550, .gain = 450}};
  }
  KernelBottleneck judge_with(const FeatureSet& features) {
    return judge(features, analysis, std::nullopt, nullptr, &row);
  }
};

const GainBound* part_of(const Bound& bound, std::string_view from) {
  const auto found = std::ranges::find(bound.parts, from, &GainBound::from);
  return found == bound.parts.end() ? nullptr : &*found;
}

TEST(BottleneckBound, OfTheRooflineAndTheCriticalPath) {
  PathCase path;
  const KernelBottleneck kernel =
      path.judge_with(features_of({{hbm_share, 0.8}, {nearest_roof, 0.8}}));
  EXPECT_EQ(kernel.verdict, Bottleneck::memory_bandwidth);
  ASSERT_TRUE(kernel.bound.kernel_factor);
  EXPECT_DOUBLE_EQ(*kernel.bound.kernel_factor, 1.25);
  EXPECT_EQ(kernel.bound.end_to_end_ns, 120);  // 600 * (1 - 0.8)
  EXPECT_DOUBLE_EQ(*kernel.bound.end_to_end_share, 0.12);
  EXPECT_DOUBLE_EQ(*part_of(kernel.bound, "critical path")->factor, 1 / (1 - 0.12));
  EXPECT_TRUE(kernel.bound.missing.empty());
}

TEST(BottleneckBound, IsNoMoreThanAnInfinitelyFastKernelGains) {
  PathCase path;
  const KernelBottleneck kernel = path.judge_with(
      features_of({{hbm_share, 0.05}, {nearest_roof, 0.1}, {wait_dependency, 0.9}}));
  EXPECT_EQ(kernel.verdict, Bottleneck::latency);
  EXPECT_DOUBLE_EQ(*kernel.bound.kernel_factor, 10);
  EXPECT_EQ(kernel.bound.end_to_end_ns, 450);  // 540 by the path, 450 by the run without it
}

TEST(BottleneckBound, OfWavesAndLanesIsNeverBeyondTheRoofline) {
  PathCase path;
  FeatureSet set = features_of(
      {{hbm_share, 0.05}, {nearest_roof, 0.1}, {wait_dependency, 0.9}, {achieved_occupancy, 0.25}});
  // Little's 1 / 0.25 is by more waves alone: more accesses of each are not bound by it.
  EXPECT_DOUBLE_EQ(*path.judge_with(set).bound.kernel_factor, 10);
  EXPECT_DOUBLE_EQ(*part_of(path.judge_with(set).bound, "occupancy")->factor, 4);
  set = features_of({{lanes_active, 0.4}, {partial_waves, 0}, {nearest_roof, 0.1}});
  EXPECT_EQ(path.judge_with(set).verdict, Bottleneck::divergence);
  EXPECT_DOUBLE_EQ(*path.judge_with(set).bound.kernel_factor, 2.5);
  set_value(set, nearest_roof, 0.5);  // of arithmetic: 0.2 without the lanes that are off
  EXPECT_DOUBLE_EQ(*path.judge_with(set).bound.kernel_factor, 2.5);
  set_value(set, hbm_share, 0.5);
  EXPECT_DOUBLE_EQ(*path.judge_with(set).bound.kernel_factor, 2);
}

TEST(BottleneckBound, OfAnUnderOccupiedKernelFromItsLaunch) {
  const KernelBottleneck kernel = judged(features_of({{work_per_cu, 0.1},
                                                      {work_fill, 0.125},
                                                      {theoretical_occupancy, 0.5},
                                                      {dispatch_median, 1e6}}));
  EXPECT_EQ(kernel.verdict, Bottleneck::under_occupied);
  EXPECT_DOUBLE_EQ(*kernel.bound.kernel_factor, 16);  // 1 / (0.125 * 0.5)
  EXPECT_FALSE(kernel.bound.end_to_end_ns);
  ASSERT_EQ(kernel.bound.missing.size(), 2U);
  EXPECT_EQ(kernel.bound.missing[0].field, "bound.end_to_end_ns");
}

// 16 of 64 lanes at work in 89 % of the wave slots: full waves could do four times as much.
TEST(BottleneckBound, OfWavesThatAreNotFullCountsTheirLanes) {
  FeatureSet set =
      features_of({{partial_waves, 1}, {lanes_active, 0.25}, {achieved_occupancy, 0.89}});
  KernelBottleneck kernel = judged(set);
  EXPECT_EQ(kernel.verdict, Bottleneck::under_occupied);
  EXPECT_DOUBLE_EQ(*kernel.bound.kernel_factor, 1 / (0.89 * 0.25));
  EXPECT_EQ(part_of(kernel.bound, "occupancy")->text,
            "by more and fuller waves alone: 89 % of the wave slots were in use on average, with "
            "25 % of their lanes at work");
  set[achieved_occupancy] = features_of({})[achieved_occupancy];
  set_value(set, work_fill, 0.8);
  set_value(set, theoretical_occupancy, 0.5);
  EXPECT_DOUBLE_EQ(*judged(set).bound.kernel_factor, 10);  // 1 / (0.8 * 0.5 * 0.25)
  // Whole waves with lanes switched off do not get more lanes from more waves.
  set = features_of({{work_per_cu, 0.1},
                     {dispatch_median, 1e6},
                     {lanes_active, 0.6},
                     {partial_waves, 0},
                     {achieved_occupancy, 0.5}});
  kernel = judged(set);
  EXPECT_EQ(kernel.verdict, Bottleneck::under_occupied);
  EXPECT_DOUBLE_EQ(*kernel.bound.kernel_factor, 2);
}

TEST(BottleneckBound, OfLaunchesIsEndToEndOnly) {
  PathCase path;
  const KernelBottleneck kernel = path.judge_with(features_of({{idle_before, 0.75},
                                                               {dispatch_count, 100},
                                                               {dispatch_median, 5000},
                                                               {path_launch_share, 0.4},
                                                               {path_kernel_share, 0.6}}));
  EXPECT_EQ(kernel.verdict, Bottleneck::launch);
  EXPECT_FALSE(kernel.bound.kernel_factor);
  EXPECT_DOUBLE_EQ(*part_of(kernel.bound, "launch")->factor, 4);
  EXPECT_EQ(kernel.bound.end_to_end_ns, 400);
}

TEST(BottleneckBound, AboveTheRoofLeavesNothing) {
  const KernelBottleneck kernel = judged(features_of({{hbm_share, 1.1}, {nearest_roof, 1.1}}));
  EXPECT_DOUBLE_EQ(*kernel.bound.kernel_factor, 1);
}

TEST(BottleneckBound, WithoutInputsIsMissingWithItsReason) {
  const KernelBottleneck kernel = judged(features_of({{hbm_share, 0.9}}));
  EXPECT_FALSE(kernel.bound.kernel_factor);
  ASSERT_FALSE(kernel.bound.missing.empty());
  EXPECT_EQ(kernel.bound.missing[0].field, "bound.kernel_factor");
  EXPECT_EQ(kernel.bound.missing[0].reason, "not given");
}

TEST(BottleneckConfidence, FollowsMarginAndDoubt) {
  // Everything known, score 4, no rival.
  FeatureSet set = features_of({});
  for (std::size_t i = 0; i < kFeatures; ++i) set[static_cast<FeatureId>(i)].remedy.clear();
  set_value(set, hbm_share, 0.9);
  KernelBottleneck kernel = judged(set);
  EXPECT_EQ(kernel.confidence, Confidence::high) << kernel.confidence_reasons.front();
  EXPECT_TRUE(kernel.confidence_reasons.empty());
  set_value(set, compute_share, 0.7);  // 3 against 4
  kernel = judged(set);
  EXPECT_EQ(kernel.runner_up, Bottleneck::compute_throughput);
  EXPECT_EQ(kernel.confidence, Confidence::medium);
  set_value(set, compute_share, 0.85);  // 4 against 4
  EXPECT_EQ(judged(set).confidence, Confidence::low);
  set[compute_share].value.reset();
  set[compute_share].remedy = "measure it";  // could be 4
  EXPECT_EQ(judged(set).confidence, Confidence::medium);
  EXPECT_EQ(judged(FeatureSet()).confidence, Confidence::low);
}

TEST(BottleneckConfidence, IsNoMoreThanTheThreadTraces) {
  FeatureSet set = features_of({});
  for (std::size_t i = 0; i < kFeatures; ++i) set[static_cast<FeatureId>(i)].remedy.clear();
  set_value(set, att_alu, 0.8);
  KernelThreadTrace traced;
  traced.confidence = Confidence::low;
  traced.confidence_reasons = {"2 waves were seen"};
  const KernelBottleneck kernel = judge(set, Analysis{}, std::nullopt, &traced);
  EXPECT_EQ(kernel.verdict, Bottleneck::compute_throughput);
  EXPECT_EQ(kernel.confidence, Confidence::low);
  EXPECT_EQ(kernel.confidence_reasons.back(), "2 waves were seen");
}

TEST(BottleneckAdvice, NamesTheLinesThatWaitsPointTo) {
  KernelThreadTrace traced;
  traced.kernel = "chase";
  const auto cause = [&](std::string line, std::int64_t cycles) {
    InstructionCycles row;
    row.chain = {std::move(line), "main.hip:9"};
    row.wait_caused = cycles;
    traced.causes.push_back(std::move(row));
  };
  cause("list.h:7", 900);
  cause("list.h:7", 50);
  cause("list.h:8", 20);
  cause("list.h:9", 0);
  const KernelBottleneck kernel = judge(features_of({{att_memory_wait, 0.9}, {nearest_roof, 0.1}}),
                                        Analysis{}, std::nullopt, &traced);
  EXPECT_EQ(kernel.kernel, "chase");
  EXPECT_EQ(kernel.verdict, Bottleneck::latency);
  ASSERT_FALSE(kernel.advice.empty());
  EXPECT_EQ(kernel.advice[0].rule, "latency.traced_memory_wait_far");
  EXPECT_EQ(kernel.advice[0].lines, (std::vector<std::string>{"list.h:7", "list.h:8"}));
}

TEST(BottleneckAdvice, NamesTheLimiterAndTheNextStepOfTheOccupancy) {
  Analysis analysis;
  Kernel kernel;
  kernel.name = "k";
  kernel.gpu.architecture = "gfx942";
  kernel.launch.workgroup = {256, 1, 1};
  kernel.resources.vgprs = 256;  // 512 registers of a SIMD: two waves
  hal::OccupancyInput input{.kernel = {.workgroup_size = 256, .allocated_vgprs = 256}};
  kernel.occupancy = *hal::compute_occupancy(*hal::find_arch("gfx942"), input);
  analysis.kernels.push_back(kernel);
  const KernelBottleneck made = judge(
      features_of({{theoretical_occupancy, 0.25}, {wait_dependency, 0.6}, {nearest_roof, 0.5}}),
      analysis, 0, nullptr);
  EXPECT_EQ(made.verdict, Bottleneck::under_occupied);
  ASSERT_FALSE(made.advice.empty());
  // Three waves need 512 / 3 registers each, in granules of 8: 168.
  EXPECT_EQ(made.advice[0].text,
            "make room for more waves: 2 of 8 waves per SIMD fit, limited by vgpr; from 256 to 168 "
            "vector registers gives 3");
}

TEST(BottleneckSummary, TellsAFigureFromTheThresholdThatItMisses) {
  const auto words = [](FeatureId id, Relation relation, double threshold, double value) {
    return in_words(Evidence{.rule = "r",
                             .condition = {.feature = id,
                                           .comparison = relation,
                                           .threshold = threshold,
                                           .why = "because"},
                             .value = value});
  };
  using enum Relation;
  EXPECT_EQ(words(cu_busy, below, 0.5, 0.4998), "CUs with waves 49.98 % (below 50 %)");
  EXPECT_EQ(words(cu_busy, below, 0.5, 0.49999998), "CUs with waves 49.999998 % (below 50 %)");
  EXPECT_EQ(words(cu_busy, below, 0.5, 0.487), "CUs with waves 48.7 % (below 50 %)");
  EXPECT_EQ(words(cu_busy, at_least, 0.5, 0.5), "CUs with waves 50 % (at least 50 %)");
  EXPECT_EQ(words(att_waves_per_cu, below, 8, 7.99999),
            "waves on a CU 7.99999 waves (below 8 waves)");
  EXPECT_EQ(words(dispatch_median, below, 20'000, 19'999.9),
            "time of a dispatch 19.9999 us (below 20 us)");
  EXPECT_EQ(words(work_per_cu, below, 0.5, 0.49999), "work-groups per CU 0.49999 (below 0.5)");
}

TEST(BottleneckSummary, NamesTheFiguresThatDecide) {
  const KernelBottleneck kernel = judged(features_of({{hbm_share, 0.83}}));
  EXPECT_EQ(kernel.summary,
            "memory-bandwidth bound: memory works near its bandwidth: memory bandwidth used 83 % "
            "(at least 60 %)");
}

}  // namespace
}  // namespace perflab::analyze
