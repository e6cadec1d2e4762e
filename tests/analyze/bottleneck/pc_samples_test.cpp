// PC samples in the verdict, by construction: bounds of intervals decide, samples alone make no
// high confidence, other sources agree or contradict, and what cannot be concluded is not.
#include "analyze/bottleneck/pc_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyze/analysis.h"
#include "analyze/bottleneck/bottleneck_checks.h"
#include "analyze/bottleneck/feature_parts.h"
#include "analyze/bottleneck/features.h"

namespace perflab::analyze {
namespace {

using enum FeatureId;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

PcEstimate estimate(double low, double value, double high) {
  return {.value = value, .interval = stats::Interval{.low = low, .high = high}};
}

/// A kernel whose waves wait for memory in 60 % of the samples.
KernelPcSamples memory_waits() {
  KernelPcSamples samples;
  samples.kernel = "chase";
  samples.architecture = "gfx942";
  samples.samples = 5000;
  samples.ticks = 400;
  samples.confidence = Confidence::high;
  samples.features.memory_wait = estimate(0.56, 0.6, 0.64);
  samples.features.lds_wait = estimate(0, 0.01, 0.02);
  samples.features.scalar_wait = estimate(0, 0, 0.01);
  samples.features.wait_unknown = estimate(0, 0, 0.01);
  samples.features.barrier = estimate(0, 0.01, 0.02);
  samples.features.waves_per_busy_cu = estimate(3, 4, 5);
  return samples;
}

KernelBottleneck judged(const FeatureSet& features, const KernelPcSamples& samples) {
  return judge(features, Analysis{}, std::nullopt, nullptr, nullptr, &samples);
}

TEST(PcSamplesRules, HoldAtTheBoundThatIsNearerToTheThreshold) {
  FeatureSet set = features_of({{nearest_roof, 0.1}});
  set_sampled(set, pc_memory_wait, 0.5, 0.6, 0.7);
  EXPECT_NE(held_by(score(set), "latency.sampled_memory_wait"), nullptr);
  set_sampled(set, pc_memory_wait, std::nextafter(0.5, 0), 0.6, 0.7);
  EXPECT_EQ(held_by(score(set), "latency.sampled_memory_wait"), nullptr);
  EXPECT_FALSE(is_open(score(set), "latency.sampled_memory_wait"));  // it was measured
  // What must be below has to be so at the upper bound.
  set_sampled(set, pc_memory_wait, 0.56, 0.6, 0.64);
  set_sampled(set, pc_waves_per_cu, 3, 5, std::nextafter(8, 0));
  EXPECT_NE(held_by(score(set), "latency.sampled_few_waves"), nullptr);
  set_sampled(set, pc_waves_per_cu, 3, 5, 8);
  EXPECT_EQ(held_by(score(set), "latency.sampled_few_waves"), nullptr);
}

TEST(PcSamplesVerdict, AloneIsMediumAtMost) {
  const KernelPcSamples samples = memory_waits();
  FeatureSet set = features_of_pc_samples(samples);
  const KernelBottleneck alone = judged(set, samples);
  EXPECT_EQ(alone.verdict, Bottleneck::latency);  // memory_wait 1 and few_waves 1
  EXPECT_LE(alone.confidence, Confidence::medium);
  EXPECT_THAT(alone.confidence_reasons, Contains(HasSubstr("only PC samples")));
  EXPECT_EQ(alone.kernel, "chase");
  EXPECT_EQ(alone.architecture, "gfx942");
  EXPECT_TRUE(alone.next);
}

TEST(PcSamplesVerdict, CountersThatSayTheSameMakeItHigh) {
  const KernelPcSamples samples = memory_waits();
  FeatureSet set = features_of_pc_samples(samples);
  for (std::size_t i = 0; i < kFeatures; ++i)
    if (Feature& feature = set[static_cast<FeatureId>(i)]; !feature.value) feature.remedy.clear();
  for (const auto& [id, value] : {std::pair{wait_dependency, 0.7}, std::pair{nearest_roof, 0.1},
                                  std::pair{hbm_share, 0.1}, std::pair{valu_busy, 0.05}})
    set_value(set, id, value);
  const KernelBottleneck both = judged(set, samples);
  EXPECT_EQ(both.verdict, Bottleneck::latency);
  EXPECT_EQ(both.confidence, Confidence::high) << both.summary;
  ASSERT_EQ(both.cross_checks.size(), 1U);
  EXPECT_TRUE(both.cross_checks[0].agrees);
  EXPECT_EQ(both.cross_checks[0].other, wait_dependency);
  EXPECT_THAT(both.cross_checks[0].text, AllOf(HasSubstr("62.0 %"), HasSubstr("70.0 %")));
}

TEST(PcSamplesVerdict, AContradictionIsSaidAndCostsConfidence) {
  const KernelPcSamples samples = memory_waits();
  FeatureSet set = features_of_pc_samples(samples);
  for (std::size_t i = 0; i < kFeatures; ++i)
    if (Feature& feature = set[static_cast<FeatureId>(i)]; !feature.value) feature.remedy.clear();
  for (const auto& [id, value] :
       {std::pair{att_memory_wait, 0.1}, std::pair{compute_share, 0.85},
        std::pair{nearest_roof, 0.85}, std::pair{valu_busy, 0.9}, std::pair{lanes_active, 1.0}})
    set_value(set, id, value);
  const KernelBottleneck kernel = judged(set, samples);
  EXPECT_EQ(kernel.verdict, Bottleneck::compute_throughput);
  ASSERT_EQ(kernel.cross_checks.size(), 1U);
  EXPECT_FALSE(kernel.cross_checks[0].agrees);
  EXPECT_THAT(kernel.confidence_reasons, Contains(HasSubstr("contradict")));
  EXPECT_LE(kernel.confidence, Confidence::medium);
}

TEST(PcSamplesVerdict, ToleranceIsMeasuredFromTheBounds) {
  FeatureSet set = features_of({{att_barrier, 0.6}});
  set_sampled(set, pc_barrier, 0.4, 0.42, 0.46);
  EXPECT_TRUE(cross_check(set).front().agrees);  // 0.46 + 0.15
  set_value(set, att_barrier, 0.62);
  EXPECT_FALSE(cross_check(set).front().agrees);
  set_value(set, pc_barrier, 0.42);  // without an interval nothing is compared
  EXPECT_TRUE(cross_check(set).empty());
}

TEST(PcSamplesFeatures, HostTrapsAndRefusalsGiveNone) {
  KernelPcSamples trap = memory_waits();
  trap.method = pc_sampling::Method::host_trap;
  KernelPcSamples refused = memory_waits();
  refused.refusals = {"only 12 samples", "no ticks"};
  for (const KernelPcSamples& samples : {trap, refused}) {
    const FeatureSet set = features_of_pc_samples(samples);
    for (const Feature& feature : set.all()) {
      if (info(feature.id).source != FeatureSource::pc_sampling) continue;
      EXPECT_FALSE(feature.value);
      EXPECT_TRUE(feature.remedy.empty());
    }
    EXPECT_EQ(judged(set, samples).verdict, Bottleneck::insufficient_data);
  }
  EXPECT_EQ(features_of_pc_samples(refused)[pc_barrier].reason, "only 12 samples; no ticks");
  EXPECT_THAT(features_of_pc_samples(trap)[pc_barrier].reason, HasSubstr("where waves were"));
}

TEST(PcSamplesFeatures, AFigureWithoutAnIntervalDecidesNothing) {
  KernelPcSamples samples = memory_waits();
  samples.features.memory_wait.interval.reset();
  samples.intervals_reason = "9 ticks are fewer than 10";
  samples.missing = {{.field = "features.dependency", .reason = "CSV", .remedy = {}}};
  const FeatureSet set = features_of_pc_samples(samples);
  EXPECT_FALSE(set[pc_memory_wait].value);
  EXPECT_THAT(set[pc_memory_wait].reason, HasSubstr("9 ticks are fewer"));
  EXPECT_EQ(set[pc_dependency].reason, "CSV");
  EXPECT_THAT(set[pc_lds_wait].from, AllOf(HasSubstr("5000 samples"), HasSubstr("0 to 2 %")));
}

TEST(PcSamplesFeatures, AreAskedForOnlyWhereTheGpuCanSayWhy) {
  const Missing none{.field = {}, .reason = "no PC samples were given", .remedy = {}};
  for (const auto& [gpu, possible] :
       {std::pair{"gfx942", true}, std::pair{"gfx950", true}, std::pair{"gfx90a", false},
        std::pair{"gfx1201", false}, std::pair{"sm_90", false}, std::pair{"", false}}) {
    FeatureSet set;
    lack_pc_sampling(gpu, none, set);
    EXPECT_EQ(set[pc_memory_wait].remedy.empty(), !possible) << gpu;
    EXPECT_EQ(set[pc_memory_wait].reason, none.reason);
  }
}

TEST(PcSamplesOfKernels, TheOnesThatSayMostStandForTheKernel) {
  Analysis analysis;
  analysis.kernels.resize(2);
  PcSampling& sampling = analysis.pc_sampling.emplace();
  const auto add = [&](std::optional<std::size_t> kernel, pc_sampling::Method method,
                       std::uint64_t samples, bool refused) {
    KernelPcSamples one;
    one.analysis_kernel = kernel;
    one.kernel = kernel ? "known" : "unknown";
    one.method = method;
    one.samples = samples;
    if (refused) one.refusals = {"too few"};
    sampling.kernels.push_back(one);
  };
  add(1, pc_sampling::Method::stochastic, 5000, true);
  add(1, pc_sampling::Method::host_trap, 9000, false);
  add(1, pc_sampling::Method::stochastic, 300, false);
  add(std::nullopt, pc_sampling::Method::host_trap, 70, false);
  add(std::nullopt, pc_sampling::Method::stochastic, 60, false);
  const auto chosen = samples_of_kernels(analysis);
  ASSERT_EQ(chosen.size(), 2U);
  EXPECT_FALSE(chosen[0]);
  EXPECT_EQ(chosen[1], 2U);
  EXPECT_EQ(samples_without_kernel(sampling), std::vector<std::size_t>{4});
}

}  // namespace
}  // namespace perflab::analyze
