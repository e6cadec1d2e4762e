// Which recordings' times count: counter passes run the same work again and are never added up, and
// a pass without counters is preferred.
#include "analyze/scope/timing_scope.h"

#include <gtest/gtest.h>

#include "analyze/pipeline.h"
#include "analyze/trace_builder.h"

namespace perflab::analyze {
namespace {

using trace::Index;

class Scope : public testing::Test {
 protected:
  /// A recording with one dispatch of that length, a call, a copy and an allocation; with a counter
  /// value when it is a counter pass.
  void recording(std::optional<int> pass, std::int64_t duration, bool counters) {
    b_.source(pass);
    const Index dispatch =
        b_.dispatch(b_.kernel("k"), {.start = clock_ += 1000, .duration = duration});
    b_.region("HIP", "hipLaunchKernel", clock_ - 50, 7);
    b_.copy("COPY", clock_ + 500, 10, 64);
    b_.allocation("ALLOC", "REAL", 256);
    if (!counters) return;
    if (b_.trace.counter_infos.empty()) b_.counter("SQ_WAVES");
    b_.value(dispatch, 0, 4);
  }
  [[nodiscard]] std::vector<bool> counted() const {
    return find_timing_scope(b_.trace, find_passes(b_.trace)).source_counts;
  }
  [[nodiscard]] Analysis analysis() const { return analyze_trace(b_.trace); }
  using Counts = std::vector<bool>;

  TraceBuilder b_;
  std::int64_t clock_ = 0;
};

TEST_F(Scope, OfProcessesIsAllOfThem) {
  recording({}, 10, false);
  recording({}, 20, false);
  EXPECT_EQ(counted(), (Counts{true, true}));
  EXPECT_EQ(analysis().kernels[0].durations.total, 30);
  EXPECT_FALSE(analysis().timed_under_counters);
}

TEST_F(Scope, OfCounterPassesIsTheFirst) {
  recording(3, 30, true);
  recording(1, 10, true);
  recording(2, 20, true);
  EXPECT_EQ(counted(), (Counts{false, true, false}));
  const Analysis a = analysis();
  EXPECT_EQ(a.kernels[0].durations.total, 10);
  EXPECT_EQ(a.timed_dispatches, 1U);
  EXPECT_EQ(a.other_pass_dispatches, 2U);
  EXPECT_TRUE(a.timed_under_counters);
  EXPECT_EQ(a.warnings[0],
            "times were taken while counters were collected: dispatches ran one after the other, "
            "and each pass differs");
}

TEST_F(Scope, OfProcessesOfOnePassIsAllOfThem) {
  recording(1, 10, true);
  recording(1, 20, true);
  recording(2, 40, true);
  EXPECT_EQ(counted(), (Counts{true, true, false}));
}

TEST_F(Scope, PrefersARecordingWithoutCounters) {
  recording(1, 10, true);
  recording({}, 99, false);
  recording(2, 20, true);
  EXPECT_EQ(counted(), (Counts{false, true, false}));
  const Analysis a = analysis();
  EXPECT_EQ(a.kernels[0].durations.total, 99);
  EXPECT_EQ(a.other_pass_dispatches, 2U);
  EXPECT_FALSE(a.timed_under_counters);
  EXPECT_EQ(a.counters.size(), 2U);  // by pass; still reported
}

TEST_F(Scope, PrefersAPassWithoutCountersToAFirstPassWith) {
  recording(1, 10, true);
  recording(2, 20, false);
  EXPECT_EQ(counted(), (Counts{false, true}));
}

TEST_F(Scope, OfCountersOutsidePassFoldersIsAllAndSaysSo) {
  recording({}, 10, true);
  recording({}, 20, true);
  EXPECT_EQ(counted(), (Counts{true, true}));
  EXPECT_EQ(analysis().warnings[1],
            "2 recordings hold counters but are in no pass_N folder: they are taken as processes "
            "of one run");
}

TEST_F(Scope, OfOtherPassesIsLeftOutOfEverySum) {
  recording(1, 10, true);
  recording(2, 20, true);
  const Analysis a = analysis();
  ASSERT_EQ(a.api_calls.size(), 1U);
  EXPECT_EQ(a.api_calls[0].count, 1U);
  EXPECT_EQ(a.api_calls[0].total, 7);
  EXPECT_EQ(a.copies[0].count, 1U);
  EXPECT_EQ(a.copies[0].bytes, 64);
  EXPECT_EQ(a.allocations[0].count, 1U);
  EXPECT_EQ(a.activity.dispatch_total, 10);
  EXPECT_EQ(a.activity.last_end - a.activity.first_start, 510);  // with the copy
}

// A launcher process dispatches nothing and has no counters: it is no recording to take times from.
TEST_F(Scope, IgnoresAProcessWithoutDispatches) {
  b_.source();
  recording({}, 10, true);
  const Analysis a = analysis();
  ASSERT_TRUE(a.selection);
  EXPECT_EQ(a.kernels[0].durations.total, 10);
  EXPECT_TRUE(a.timed_under_counters);
}

TEST_F(Scope, IgnoresALauncherOutsideThePassFolders) {
  b_.source();
  recording(2, 20, true);
  recording(1, 10, true);
  EXPECT_EQ(counted(), (Counts{false, false, true}));
}

TEST_F(Scope, IgnoresALauncherBesideAPassWithoutCounters) {
  b_.source();
  recording(4, 10, false);
  ASSERT_TRUE(analysis().selection);
  EXPECT_EQ(analysis().kernels[0].durations.total, 10);
}

TEST_F(Scope, KeepsTheCallsOfALauncherOfTheSamePass) {
  b_.source(1);
  b_.region("HIP", "hipInit", 1, 3);
  recording(1, 10, true);
  EXPECT_EQ(counted(), (Counts{true, true}));
  EXPECT_EQ(analysis().api_calls.size(), 2U);
}

TEST_F(Scope, TakesAProcessThatRanBesideOneWithoutCounters) {
  // Two processes of one run, one of them with counters: the same time, so not the same work again.
  b_.source();
  b_.dispatch(b_.kernel("a"), {.start = 1000, .duration = 500});
  b_.source();
  const Index other = b_.dispatch(b_.kernel("b"), {.start = 1200, .duration = 100});
  b_.counter("SQ_WAVES");
  b_.value(other, 0, 4);
  EXPECT_EQ(counted(), (Counts{true, true}));
  const Analysis a = analysis();
  EXPECT_EQ(a.timed_dispatches, 2U);
  EXPECT_EQ(a.other_pass_dispatches, 0U);
  EXPECT_TRUE(a.timed_under_counters);
}

TEST_F(Scope, OfNoDispatchAtAllIsEveryRecording) {
  b_.source();
  b_.source();
  EXPECT_EQ(counted(), (Counts{true, true}));
  EXPECT_FALSE(analysis().timed_under_counters);
}

}  // namespace
}  // namespace perflab::analyze
