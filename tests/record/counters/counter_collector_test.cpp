// Counting with a profiler that is made up: which launches are counted, what is left alone, that
// values meet their launches, and what failures become.
#include "record/counters/counter_collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "record/counters/fake_profiler.h"

namespace perflab::record {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

CounterSettings both(CounterLimits limits = {}) {
  return {.metrics = {"a__b.sum", "c__d.sum"}, .limits = limits};
}

std::uint64_t skipped(const CounterResults& results, CounterSkip skip) {
  return results.skipped[static_cast<std::size_t>(skip)];
}

std::vector<std::string> names_of(const CountedLaunch& launch) {
  std::vector<std::string> names;
  for (const CountedMetric& metric : *launch.metrics) names.push_back(metric.name);
  return names;
}

/// What a test needs, in the order in which it has to be made.
struct Counting {
  explicit Counting(const CounterSettings& settings = both())
      : profiler(FakeProfiler::profiler()),
        driver(FakeProfiler::driver()),
        collector(driver, profiler, settings),
        program(gpu, collector) {}

  FakeProfiler gpu;
  cuda::Profiler profiler;
  cuda::Driver driver;
  CounterCollector collector;
  FakeProgram program;
};

/// Those of the launches that were counted.
std::vector<CountedLaunch> counted(std::vector<CountedLaunch> launches) {
  std::erase_if(launches, [](const CountedLaunch& launch) { return launch.metrics == nullptr; });
  return launches;
}

TEST(CounterCollector, GivesEachLaunchItsOwnValues) {
  Counting s;
  std::vector<std::uint32_t> calls;
  for (const char* const kernel : {"one", "two", "one", "three"})
    calls.push_back(s.program.launch(kernel));
  const CounterResults results = s.collector.finish();
  EXPECT_FALSE(results.failure);
  EXPECT_EQ(results.passes, 2U);
  EXPECT_EQ(results.launches_seen, 4U);
  ASSERT_THAT(results.launches, SizeIs(4));
  for (std::size_t i = 0; i < 4; ++i) {
    const CountedLaunch& launch = results.launches[i];
    EXPECT_EQ(launch.index, i);
    EXPECT_EQ(launch.call, calls[i]);
    EXPECT_EQ(launch.device, 3);
    EXPECT_THAT(names_of(launch), ElementsAre("a__b.sum", "c__d.sum"));
    const double number = 10.0 * static_cast<double>(i);
    EXPECT_THAT(launch.values, ElementsAre(number, number + 1));
  }
  EXPECT_EQ(results.launches[3].kernel, "three");
  // A session per call of the runtime.
  EXPECT_EQ(std::ranges::count(s.gpu.calls, "start"), 4);
  EXPECT_EQ(s.gpu.calls.front(), "enable");
  EXPECT_EQ(s.gpu.calls.back(), "disable");
  EXPECT_THAT(s.gpu.wrong, IsEmpty());
}

TEST(CounterCollector, TakesTheFirstLaunchesOfEveryGeometry) {
  Counting s(both({.launches_per_geometry = 2, .time = {}, .memory_mib = 0}));
  for (int round = 0; round < 4; ++round)
    for (const std::uint32_t blocks : {10U, 20U})
      s.program.launch("kernel", {.blocks = blocks,
                                  .id = round % 2 == 0 ? cuda::driver_call::launch_kernel
                                                       : cuda::driver_call::launch_kernel_ex});
  const CounterResults results = s.collector.finish();
  ASSERT_THAT(counted(results.launches), SizeIs(4));
  ASSERT_THAT(results.launches, SizeIs(8));  // a dispatch each
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(results.launches[i].index, i);
    EXPECT_EQ(results.launches[i].grid[0], i % 2 == 0 ? 10U : 20U);
    EXPECT_GT(results.launches[i].start, 0);
    EXPECT_GE(results.launches[i].end, results.launches[i].start);
  }
  EXPECT_EQ(skipped(results, CounterSkip::enough), 4U);
  EXPECT_EQ(s.gpu.launches, 8U);
  EXPECT_THAT(s.gpu.wrong, IsEmpty());
}

TEST(CounterCollector, EndsASessionBeforeWhatItMustNotCount) {
  Counting s;
  s.program.launch("mine");
  s.program.launch("_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  s.program.launch("", {.runtime = false, .id = cuda::driver_call::graph_launch});
  const std::uint32_t last = s.program.launch("mine");
  const CounterResults results = s.collector.finish();
  const std::vector<CountedLaunch> mine = counted(results.launches);
  ASSERT_THAT(mine, SizeIs(2));
  EXPECT_EQ(mine[0].values[0], 0);
  EXPECT_EQ(mine[1].values[0], 30);  // the fourth that ran
  EXPECT_EQ(mine[1].call, last);
  EXPECT_EQ(mine[1].index, 2U);  // a graph is no launch of a kernel
  EXPECT_EQ(skipped(results, CounterSkip::other_ranks), 1U);
  EXPECT_EQ(skipped(results, CounterSkip::graph), 1U);
  EXPECT_EQ(std::ranges::count(s.gpu.calls, "start"), 2);
  EXPECT_THAT(s.gpu.wrong, IsEmpty());
}

TEST(CounterCollector, ManyLaunchesAreManySessions) {
  Counting s(both({.launches_per_geometry = 0, .time = {}, .memory_mib = 0}));
  for (int i = 0; i < 200; ++i) s.program.launch("kernel", {.runtime = false});
  EXPECT_THAT(s.collector.take(), SizeIs(192));  // three sessions of 64
  const CounterResults results = s.collector.finish();
  ASSERT_THAT(results.launches, SizeIs(8));
  EXPECT_EQ(results.launches_counted, 200U);
  EXPECT_EQ(results.launches[7].values[0], 1990);
  EXPECT_THAT(s.gpu.wrong, IsEmpty());
}

TEST(CounterCollector, LaunchesThatFailAndThoseOfACaptureAreNoRanges) {
  Counting s;
  s.program.launch("kernel", {.fails = true});
  s.program.launch("kernel");
  s.gpu.capturing = true;
  s.program.launch("kernel");
  s.gpu.capturing = false;
  const std::uint32_t last = s.program.launch("kernel");
  const CounterResults results = s.collector.finish();
  EXPECT_FALSE(results.failure);
  ASSERT_THAT(results.launches, SizeIs(2));
  EXPECT_EQ(results.launches[1].call, last);
  EXPECT_EQ(results.launches[1].values[0], 10);
  EXPECT_EQ(results.launches_seen, 3U);
}

TEST(CounterCollector, ASessionEndsWithTheCallOfTheRuntime) {
  Counting s(both({.launches_per_geometry = 0, .time = {}, .memory_mib = 0}));
  for (int i = 0; i < 3; ++i) s.program.launch("kernel");
  EXPECT_EQ(std::ranges::count(s.gpu.calls, "stop"), 3);
  EXPECT_THAT(counted(s.collector.take()), SizeIs(3));
}

TEST(CounterCollector, OtherRangesThanLaunchesAreNotUsed) {
  Counting s(both({.launches_per_geometry = 0, .time = {}, .memory_mib = 0}));
  s.gpu.ranges_per_launch = 2;
  for (int i = 0; i < 7; ++i) s.program.launch("kernel");
  s.gpu.ranges_per_launch = 1;  // one that is right does not bring the others back
  s.program.launch("kernel");
  s.gpu.ranges_per_launch = 2;
  for (int i = 0; i < 2; ++i) s.program.launch("kernel");  // the eighth ends it
  const CounterResults results = s.collector.finish();
  EXPECT_THAT(results.launches, SizeIs(10));
  EXPECT_THAT(counted(results.launches), SizeIs(1));
  ASSERT_TRUE(results.failure);
  EXPECT_EQ(results.failure->problem, CounterProblem::mismatch);
  EXPECT_EQ(skipped(results, CounterSkip::failed), 9U);
  EXPECT_EQ(s.gpu.launches, 10U);
}

TEST(CounterCollector, KeepsToItsLimitOfMemory) {
  Counting s(both({.launches_per_geometry = 8, .time = {}, .memory_mib = 1024}));
  s.program.launch("kernel");
  s.gpu.used_memory = std::size_t{1025} << 20;
  s.program.launch("kernel");
  s.gpu.used_memory = 0;
  s.program.launch("kernel");
  const CounterResults results = s.collector.finish();
  EXPECT_THAT(counted(results.launches), SizeIs(2));
  EXPECT_EQ(skipped(results, CounterSkip::memory), 1U);
}

TEST(CounterCollector, WhatIsNotPermittedIsSaidWithItsRemedy) {
  Counting s;
  s.gpu.availability = cuda::CuptiResult::insufficient_privileges;
  s.program.launch("kernel");
  s.program.launch("kernel");
  const CounterResults results = s.collector.finish();
  ASSERT_TRUE(results.failure);
  EXPECT_EQ(results.failure->problem, CounterProblem::not_permitted);
  EXPECT_THAT(results.failure->reason, HasSubstr("cuptiProfilerGetCounterAvailability"));
  EXPECT_THAT(results.failure->remedy, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_THAT(results.failure->remedy, HasSubstr("RmProfilingAdminOnly"));
  EXPECT_EQ(skipped(results, CounterSkip::failed), 2U);
  EXPECT_EQ(s.gpu.launches, 2U);
  EXPECT_THAT(counters_json(results), HasSubstr("\"problem\": \"not_permitted\""));
}

TEST(CounterCollector, FailuresAreToldApartByResults) {
  const auto problem_of = [](cuda::CuptiResult result) {
    return failure_of(cuda::ProfilerFailure{.call = "x", .result = result, .detail = {}}).problem;
  };
  using enum cuda::CuptiResult;
  EXPECT_EQ(problem_of(virtualized_device_insufficient_privileges), CounterProblem::not_permitted);
  EXPECT_EQ(problem_of(mig_device_not_supported), CounterProblem::not_supported);
  EXPECT_EQ(problem_of(hardware_busy), CounterProblem::busy);
  EXPECT_EQ(problem_of(invalid_metric_name), CounterProblem::no_metric);
  EXPECT_EQ(problem_of(unknown), CounterProblem::failed);
  cuda::DeviceSupported device{};
  device.vgpu = cuda::SupportLevel::disabled;
  EXPECT_EQ(failure_of(device).problem, CounterProblem::not_permitted);
  device.vgpu = cuda::SupportLevel::unsupported;
  EXPECT_EQ(failure_of(device).problem, CounterProblem::not_supported);
}

TEST(CounterCollector, ADeviceOrALibraryThatCannotCount) {
  {
    Counting s;
    s.gpu.vgpu = cuda::SupportLevel::unsupported;
    s.program.launch("kernel");
    EXPECT_EQ(s.collector.finish().failure->problem, CounterProblem::not_supported);
  }
  Counting s;
  s.profiler.range_decode = nullptr;
  s.program.launch("kernel");
  const CounterResults results = s.collector.finish();
  EXPECT_EQ(results.failure->problem, CounterProblem::old_library);
  EXPECT_THAT(results.failure->reason, HasSubstr("cuptiRangeProfilerDecodeData"));
}

TEST(CounterCollector, CountsWhatTheChipHasAndNamesTheRest) {
  Counting s({.metrics = {"a__b.sum", "x__y.sum"}, .limits = {}});
  s.program.launch("kernel");
  const CounterResults results = s.collector.finish();
  ASSERT_THAT(results.launches, SizeIs(1));
  EXPECT_THAT(names_of(results.launches[0]), ElementsAre("a__b.sum"));
  ASSERT_THAT(results.refused, SizeIs(1));
  EXPECT_THAT(counters_json(results), HasSubstr("\"refused\": [\"x__y.sum\"]"));
  Counting none({.metrics = {"x__y.sum"}, .limits = {}});
  none.program.launch("kernel");
  EXPECT_EQ(none.collector.finish().failure->problem, CounterProblem::no_metric);
}

TEST(CounterCollector, AContextThatGoesTakesItsSessionAlong) {
  Counting s;
  s.program.launch("kernel");
  s.collector.leave(reinterpret_cast<cuda::Context>(std::uintptr_t{0x1000}));
  EXPECT_FALSE(s.gpu.enabled);
  s.program.launch("kernel", {.context = 0x2000});
  const CounterResults results = s.collector.finish();
  EXPECT_THAT(results.launches, SizeIs(2));
  s.program.launch("kernel");  // after the end
  EXPECT_THAT(s.collector.finish().launches, IsEmpty());
  EXPECT_THAT(s.gpu.wrong, IsEmpty());
}

TEST(CounterCollector, ThreadsTakeTurnsInAContext) {
  Counting s(both({.launches_per_geometry = 0, .time = {}, .memory_mib = 0}));
  FakeProgram other(s.gpu, s.collector);
  const auto run = [](FakeProgram& program, const char* kernel) {
    for (int i = 0; i < 100; ++i) program.launch(kernel);
  };
  std::thread thread([&] { run(other, "other"); });
  run(s.program, "mine");
  thread.join();
  const CounterResults results = s.collector.finish();
  EXPECT_FALSE(results.failure);
  ASSERT_THAT(results.launches, SizeIs(200));
  for (const CountedLaunch& launch : results.launches)
    EXPECT_EQ(launch.values[0], 10.0 * static_cast<double>(launch.index));
}

TEST(CounterSettingsTest, ListsAndLimits) {
  setenv(kCounterLaunchesVariable, "3", 1);
  setenv(kCounterSecondsVariable, "0", 1);
  unsetenv(kCounterMemoryVariable);
  const auto settings = counter_settings("a__b.sum,c__d.sum,a__b.sum");
  ASSERT_TRUE(settings);
  EXPECT_THAT(settings->metrics, ElementsAre("a__b.sum", "c__d.sum"));
  EXPECT_EQ(settings->limits.launches_per_geometry, 3U);
  EXPECT_EQ(settings->limits.time.count(), 0);
  EXPECT_EQ(settings->limits.memory_mib, CounterLimits{}.memory_mib);
  EXPECT_FALSE(counter_settings(""));
  EXPECT_FALSE(counter_settings("a,,b"));
  setenv(kCounterLaunchesVariable, "3x", 1);
  const auto wrong = counter_settings("a");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::usage);
  EXPECT_THAT(wrong.error().message, HasSubstr(kCounterLaunchesVariable));
  unsetenv(kCounterLaunchesVariable);
  unsetenv(kCounterSecondsVariable);
}

}  // namespace
}  // namespace perflab::record
