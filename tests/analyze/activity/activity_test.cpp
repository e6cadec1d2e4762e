// Everything beside the kernels: overlaps, busy time, API calls, copies, allocations, counters.
#include "analyze/activity/activity.h"

#include <gtest/gtest.h>

#include "analyze/pipeline.h"
#include "analyze/trace_builder.h"

namespace perflab::analyze {
namespace {

using trace::Index;

class ActivityTest : public testing::Test {
 protected:
  ActivityTest() {
    b_.source();
    b_.agent("gfx942");
    kernel_ = b_.kernel("k");
  }
  Index at(std::int64_t start, std::int64_t duration, Index queue = trace::kNone) {
    return b_.dispatch(kernel_, {.start = start, .duration = duration, .queue = queue});
  }
  [[nodiscard]] Analysis analysis() const { return analyze_trace(b_.trace); }
  TraceBuilder b_;
  Index kernel_ = 0;
};

using Overlap = ActivityTest;
using Busy = ActivityTest;
using ApiCalls = ActivityTest;
using CopyKinds = ActivityTest;
using AllocationKinds = ActivityTest;
using CounterTable = ActivityTest;
using Warnings = ActivityTest;

TEST_F(Overlap, IsCountedOnOneQueue) {
  const Index q = b_.queue();
  at(100, 50, q);
  at(140, 100, q);  // began before the first ended
  at(200, 10, q);   // inside the second
  at(240, 10, q);   // begins when the second ends
  EXPECT_EQ(analysis().activity.overlapping_on_queue, 2U);
  EXPECT_EQ(analysis().warnings,
            std::vector<std::string>{"2 dispatches began before an earlier one of their queue had "
                                     "ended: their times overlap"});
}

TEST_F(Overlap, OfOneDispatchIsSaidOfOne) {
  const Index q = b_.queue();
  at(100, 50, q);
  at(140, 100, q);
  EXPECT_EQ(analysis().warnings,
            std::vector<std::string>{"1 dispatch began before an earlier one of its queue had "
                                     "ended: their times overlap"});
}

TEST_F(Overlap, OfTwoQueuesIsNone) {
  const Index a = b_.queue();
  const Index b = b_.queue();
  at(100, 50, a);
  at(110, 50, b);
  EXPECT_EQ(analysis().activity.overlapping_on_queue, 0U);
  EXPECT_TRUE(analysis().warnings.empty());
}

TEST_F(Overlap, WithoutAQueueIsNone) {
  at(100, 50);
  at(110, 50);
  EXPECT_EQ(analysis().activity.overlapping_on_queue, 0U);
}

TEST_F(Busy, CountsTimeOnce) {
  at(100, 50);
  at(120, 10);  // inside
  at(140, 30);  // 20 more
  at(300, 5);
  const Activity activity = analysis().activity;
  EXPECT_EQ(activity.gpu_busy, 75);
  EXPECT_EQ(activity.dispatch_total, 95);
  EXPECT_EQ(activity.first_start, 100);
  EXPECT_EQ(activity.last_end, 305);
}

TEST_F(Busy, SpansCopiesToo) {
  b_.copy("COPY", 40, 10, 1);
  at(100, 50);
  b_.copy("COPY", 400, 10, 1);
  const Activity activity = analysis().activity;
  EXPECT_EQ(activity.first_start, 40);
  EXPECT_EQ(activity.last_end, 410);
  EXPECT_EQ(activity.gpu_busy, 50);
}

TEST_F(ApiCalls, AreSummedByCategoryAndName) {
  b_.region("HIP", "hipLaunchKernel", 10, 5);
  b_.region("HIP", "hipLaunchKernel", 20, 1);
  b_.region("HIP", "hipMalloc", 30, 100);
  b_.region("MARKER", "hipLaunchKernel", 10, 5);  // the same call in another category
  b_.region("HIP", "hipLaunchKernel", 40, 9);
  const auto calls = analysis().api_calls;
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_EQ(calls[0].name, "hipMalloc");
  EXPECT_EQ(calls[1].name, "hipLaunchKernel");
  EXPECT_EQ(calls[1].category, "HIP");
  EXPECT_EQ(calls[1].count, 3U);
  EXPECT_EQ(calls[1].total, 15);
  EXPECT_EQ(calls[1].min, 1);
  EXPECT_EQ(calls[1].max, 9);
  EXPECT_EQ(calls[2].category, "MARKER");
  EXPECT_EQ(calls[2].count, 1U);
}

TEST_F(ApiCalls, OfEqualTimeAreOrderedByCategoryThenName) {
  for (const char* name : {"b", "a"})
    for (const char* category : {"Z", "Y"}) b_.region(category, name, 10, 5);
  std::vector<std::string> order;
  for (const ApiCall& call : analysis().api_calls) order.push_back(call.category + call.name);
  EXPECT_EQ(order, (std::vector<std::string>{"Ya", "Yb", "Za", "Zb"}));
}

TEST_F(CopyKinds, HaveTheirRate) {
  b_.copy("HOST_TO_DEVICE", 10, 100, 4000);
  b_.copy("HOST_TO_DEVICE", 200, 100, 1000);
  b_.copy("DEVICE_TO_HOST", 400, 1000, 500);
  const auto copies = analysis().copies;
  ASSERT_EQ(copies.size(), 2U);
  EXPECT_EQ(copies[0].kind, "DEVICE_TO_HOST");
  EXPECT_DOUBLE_EQ(copies[0].gb_per_s.value(), 0.5);
  EXPECT_EQ(copies[1].count, 2U);
  EXPECT_EQ(copies[1].bytes, 5000);
  EXPECT_EQ(copies[1].total, 200);
  EXPECT_DOUBLE_EQ(copies[1].gb_per_s.value(), 25);
}

TEST_F(CopyKinds, WithoutTimeHaveNoRate) {
  b_.copy("HOST_TO_DEVICE", 10, 0, 4000);
  EXPECT_EQ(analysis().copies[0].gb_per_s, std::nullopt);
}

TEST_F(CopyKinds, BeyondAnyMemoryStayAtTheLargest) {
  for (int i = 0; i < 2; ++i) b_.copy("HOST_TO_DEVICE", 10, 1, INT64_MAX);
  EXPECT_EQ(analysis().copies[0].bytes, INT64_MAX);
}

TEST_F(AllocationKinds, AreSummedByTypeAndLevel) {
  b_.allocation("ALLOC", "REAL", 100);
  b_.allocation("FREE", "REAL", 0);
  b_.allocation("ALLOC", "VIRTUAL", 7);
  b_.allocation("ALLOC", "REAL", 30);
  const auto kinds = analysis().allocations;
  ASSERT_EQ(kinds.size(), 3U);
  EXPECT_EQ(kinds[0].type, "ALLOC");
  EXPECT_EQ(kinds[0].level, "REAL");
  EXPECT_EQ(kinds[0].count, 2U);
  EXPECT_EQ(kinds[0].bytes, 130);
  EXPECT_EQ(kinds[1].level, "VIRTUAL");
  EXPECT_EQ(kinds[2].type, "FREE");
  EXPECT_EQ(kinds[2].bytes, 0);
}

TEST_F(CounterTable, SumsPerKernelAndCounter) {
  const Index other = b_.kernel("another");
  const Index waves = b_.counter("SQ_WAVES");
  const Index first = at(10, 5);
  const Index second = at(20, 5);
  const Index third = b_.dispatch(other, {.start = 30, .duration = 5});
  b_.value(first, waves, 100);
  b_.trace.counters.instances[0] = 8;
  b_.value(second, waves, 40);
  b_.value(third, waves, 7);
  const auto counters = analysis().counters;
  ASSERT_EQ(counters.size(), 2U);
  EXPECT_EQ(counters[0].kernel, "another");
  EXPECT_EQ(counters[0].total, 7);
  EXPECT_EQ(counters[1].kernel, "k");
  EXPECT_EQ(counters[1].name, "SQ_WAVES");
  EXPECT_EQ(counters[1].dispatches, 2U);
  EXPECT_EQ(counters[1].instances, 9U);
  EXPECT_EQ(counters[1].total, 140);
  EXPECT_EQ(counters[1].mean, 70);
  EXPECT_EQ(counters[1].min, 40);
  EXPECT_EQ(counters[1].max, 100);
  EXPECT_EQ(counters[1].state, CounterState::measured);
}

TEST_F(CounterTable, DerivedCountersHaveNoTotal) {
  const Index ratio = b_.counter("VALUUtilization", true);
  b_.value(at(10, 5), ratio, 80);
  b_.value(at(20, 5), ratio, 90);
  const Counter counter = analysis().counters[0];
  EXPECT_TRUE(counter.derived);
  EXPECT_EQ(counter.total, std::nullopt);
  EXPECT_EQ(counter.mean, 85);
}

TEST_F(CounterTable, ZeroBesideOthersIsZero) {
  const Index waves = b_.counter("SQ_WAVES");
  const Index atomics = b_.counter("TCC_ATOMIC");
  const Index dispatch = at(10, 5);
  b_.value(dispatch, waves, 4);
  b_.value(dispatch, atomics, 0);
  const auto counters = analysis().counters;
  EXPECT_EQ(counters[0].state, CounterState::measured);
  EXPECT_EQ(counters[1].state, CounterState::zero);
  EXPECT_TRUE(analysis().warnings.size() == 1U);  // about counters and times, not about zeros
}

TEST_F(CounterTable, AllZeroIsSuspicious) {
  const Index waves = b_.counter("SQ_WAVES");
  const Index atomics = b_.counter("TCC_ATOMIC");
  const Index dispatch = at(10, 5);
  b_.value(dispatch, waves, 0);
  b_.value(dispatch, atomics, 0);
  const Analysis a = analysis();
  EXPECT_EQ(a.counters[0].state, CounterState::suspicious);
  EXPECT_EQ(a.counters[1].state, CounterState::suspicious);
  EXPECT_EQ(a.warnings.back(),
            "2 counters are suspicious: every counter of every dispatch is 0, so nothing was "
            "counted");
}

TEST_F(CounterTable, SuspicionIsPerRecording) {
  const Index waves = b_.counter("SQ_WAVES");
  b_.value(at(10, 5), waves, 0);
  b_.source();
  const Index other = b_.kernel("other");
  b_.value(b_.dispatch(other, {.start = 20, .duration = 5}), waves, 3);
  const auto counters = analysis().counters;
  EXPECT_EQ(counters[0].state, CounterState::suspicious);  // of k
  EXPECT_EQ(counters[1].state, CounterState::measured);
}

TEST_F(CounterTable, ValuesThatCancelAreMeasured) {
  const Index waves = b_.counter("SQ_WAVES");
  b_.value(at(10, 5), waves, 0);
  b_.trace.counters.min[0] = -3;
  b_.trace.counters.max[0] = 3;
  EXPECT_EQ(analysis().counters[0].state, CounterState::measured);
}

TEST_F(CounterTable, PassesStayApart) {
  b_.trace.sources[0].pass = 1;
  const Index waves = b_.counter("SQ_WAVES");
  b_.value(at(10, 5), waves, 4);
  b_.source(2);
  b_.value(at(20, 5), waves, 6);
  const auto counters = analysis().counters;
  ASSERT_EQ(counters.size(), 2U);
  EXPECT_EQ(counters[0].pass, 1);
  EXPECT_EQ(counters[0].total, 4);
  EXPECT_EQ(counters[1].pass, 2);
  EXPECT_EQ(counters[1].total, 6);
}

TEST_F(Warnings, NameSeveralNodes) {
  at(10, 5);
  b_.source();
  b_.trace.nodes.push_back({.machine_id = "other", .hash = 2});
  b_.trace.processes.back().node = 1;
  EXPECT_EQ(analysis().warnings,
            std::vector<std::string>{"2 nodes: their clocks are not aligned, times of different "
                                     "nodes cannot be compared"});
}

TEST_F(Warnings, NameGraphsWithoutDispatches) {
  b_.region("HIP", "hipGraphLaunch", 10, 5);
  b_.region("HIP", "hipGraphLaunch", 20, 5);
  EXPECT_EQ(analysis().warnings,
            std::vector<std::string>{"2 graph launches but no dispatch: this profiler does not see "
                                     "kernels inside graphs"});
}

TEST_F(Warnings, AreNoneForAPlainTrace) {
  b_.region("HIP", "hipGraphLaunch", 10, 5);
  at(30, 5);
  EXPECT_TRUE(analysis().warnings.empty());
}

TEST(CounterStates, HaveNames) {
  EXPECT_EQ(to_string(CounterState::measured), "measured");
  EXPECT_EQ(to_string(CounterState::zero), "zero");
  EXPECT_EQ(to_string(CounterState::suspicious), "suspicious");
}

}  // namespace
}  // namespace perflab::analyze
