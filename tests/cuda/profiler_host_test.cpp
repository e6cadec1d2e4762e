// The profiler host of the real CUPTI of this machine: it answers without a GPU. The numbers are
// those that an H100 gave as well (docs/facts/cuda_counters.md "Profiler host", "Passes").
#include "cuda/profiler_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dlfcn.h>

#include <algorithm>

namespace perflab::cuda {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint32_t kKnownVersion = 130001;  // of the numbers below

class RealProfilerHost : public testing::Test {
 protected:
  void SetUp() override {
    if (PERFLAB_SANITIZED)
      GTEST_SKIP() << "sanitizers refuse to load libnvperf_host.so: preset edit runs this";
    library_ = open_cupti();
    if (library_.problem != LibraryProblem::none) GTEST_SKIP() << library_.detail;
    profiler_ = profiler_of(library_);
    if (const char* const missing = missing_entry(profiler_, false))
      GTEST_SKIP() << library_.path << " has no " << missing;
  }

  std::size_t passes(const std::vector<std::string>& metrics) {
    const auto plan = plan_metrics(profiler_, "GH100", metrics);
    if (!plan || plan->groups.size() != 1 || !plan->refused.empty()) return 0;
    return plan->groups.front().passes;
  }

  CuptiLibrary library_;
  Profiler profiler_{};
};

TEST_F(RealProfilerHost, KnowsChips) {
  const auto chips = supported_chips(profiler_);
  ASSERT_TRUE(chips);
  for (const char* const chip : {"GV100", "TU102", "GA100", "GA102", "AD102", "GH100"})
    EXPECT_THAT(*chips, Contains(chip));
  const auto unknown = ProfilerHost::open(profiler_, "XX100");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().result, CuptiResult::success);
  EXPECT_EQ(unknown.error().detail, "XX100");
}

TEST_F(RealProfilerHost, ListsBaseMetricsAndTheirProperties) {
  const auto host = ProfilerHost::open(profiler_, "GH100");
  ASSERT_TRUE(host);
  const auto counters = host->base_metrics(MetricType::counter);
  ASSERT_TRUE(counters);
  EXPECT_GT(counters->size(), 3000U);
  EXPECT_THAT(*counters, Contains("sm__inst_executed"));
  const auto ratios = host->base_metrics(MetricType::ratio);
  ASSERT_TRUE(ratios);
  EXPECT_THAT(*ratios, Contains("smsp__thread_inst_executed_per_inst_executed"));
  const auto properties = host->properties("dram__bytes_read.sum");
  ASSERT_TRUE(properties);
  EXPECT_EQ(properties->type, MetricType::counter);
  EXPECT_EQ(properties->unit, "dram");
  EXPECT_EQ(properties->dimension, "byte");
  EXPECT_FALSE(properties->description.empty());
  const auto unknown = host->properties("launch__grid_size");  // of Nsight Compute alone
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().result, CuptiResult::invalid_metric_name);
}

TEST_F(RealProfilerHost, PassesAreThoseOfTheHardware) {
  if (library_.version != kKnownVersion) GTEST_SKIP() << "CUPTI " << library_.version;
  EXPECT_EQ(passes({"gpu__time_duration.sum", "sm__cycles_elapsed.max"}), 1U);
  const std::string op = "sm__sass_thread_inst_executed_op_";
  std::vector<std::string> operations;
  for (const char* const name :
       {"fadd", "fmul", "ffma", "dadd", "dmul", "dfma", "hadd", "hmul", "hfma"})
    operations.push_back(op + name + "_pred_on.sum");
  EXPECT_EQ(passes(operations), 1U);
  std::vector<std::string> stalls;
  for (const char* const name : {"long_scoreboard", "barrier", "lg_throttle", "math_pipe_throttle",
                                 "wait", "short_scoreboard", "mio_throttle", "not_selected"})
    stalls.push_back("smsp__average_warps_issue_stalled_" + std::string(name) +
                     "_per_issue_active.ratio");
  EXPECT_EQ(passes(stalls), 3U);
}

TEST_F(RealProfilerHost, PlansOneGroupWithoutWhatTheChipLacks) {
  const auto plan = plan_metrics(
      profiler_, "GA100",
      std::vector<std::string>{"sm__inst_executed.sum", "sm__ops_path_tensor_src_fp8.sum",
                               "sm__inst_executed.sum", "no_such_metric"});
  ASSERT_TRUE(plan);
  ASSERT_THAT(plan->groups, SizeIs(1));
  EXPECT_THAT(plan->groups[0].metrics, ElementsAre("sm__inst_executed.sum"));
  EXPECT_EQ(plan->groups[0].passes, 1U);
  EXPECT_FALSE(plan->groups[0].config_image.empty());
  ASSERT_THAT(plan->refused, SizeIs(2));
  EXPECT_EQ(plan->refused[0].name, "sm__ops_path_tensor_src_fp8.sum");
  EXPECT_EQ(plan->refused[1].name, "no_such_metric");
  // Adding answers so for every name that it cannot count; asked for properties, the library
  // says 17.
  for (const RefusedMetric& metric : plan->refused)
    EXPECT_EQ(metric.result, CuptiResult::invalid_parameter) << metric.name;
}

TEST_F(RealProfilerHost, KeepsToALimitOfPasses) {
  std::vector<std::string> metrics;
  for (const char* const stall : {"barrier", "wait", "membar", "drain", "sleeping", "selected",
                                  "not_selected", "long_scoreboard", "short_scoreboard"})
    metrics.push_back("smsp__warps_issue_stalled_" + std::string(stall) + ".sum");
  const auto whole = plan_metrics(profiler_, "GH100", metrics);
  ASSERT_TRUE(whole);
  ASSERT_THAT(whole->groups, SizeIs(1));
  ASSERT_GT(whole->groups[0].passes, 1U);
  const auto split = plan_metrics(profiler_, "GH100", metrics, 1);
  ASSERT_TRUE(split);
  EXPECT_GT(split->groups.size(), 1U);
  std::vector<std::string> together;
  for (const MetricGroup& group : split->groups) {
    EXPECT_EQ(group.passes, 1U);
    together.insert(together.end(), group.metrics.begin(), group.metrics.end());
  }
  EXPECT_EQ(together, metrics);
}

TEST_F(RealProfilerHost, NothingWantedIsNothingPlanned) {
  const auto plan = plan_metrics(profiler_, "GH100", {});
  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->groups, IsEmpty());
  EXPECT_THAT(plan->refused, IsEmpty());
  const auto wrong = plan_metrics(profiler_, "XX100", std::vector<std::string>{"a__b.sum"});
  ASSERT_FALSE(wrong);
  EXPECT_STREQ(wrong.error().call, "cuptiProfilerHostInitialize");
}

TEST(ProfilerEntries, OfALibraryWithoutAnyAreMissing) {
  const Profiler none = profiler_of_library(dlopen(nullptr, RTLD_NOW));
  EXPECT_STREQ(missing_entry(none, false), "cuptiProfilerHostInitialize");
  Profiler planning = none;
  EXPECT_STREQ(missing_entry(planning, true), "cuptiProfilerHostInitialize");
  EXPECT_STREQ(missing_entry(profiler_of(CuptiLibrary{}), false), "cuptiProfilerHostInitialize");
  EXPECT_EQ(profiler_entries().size() * sizeof(void*), sizeof(Profiler));
}

}  // namespace
}  // namespace perflab::cuda
