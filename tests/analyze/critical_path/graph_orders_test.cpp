// Order within streams and hardware queues (build_graph.h): gaps of real queues, overlap, equal
// times, several streams on a queue, threads that cross. Times in ns.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyze/critical_path/path_recording.h"

namespace perflab::analyze {
namespace {

using test::build;
using test::Built;
using test::device_synchronize;
using test::handle;
using test::kernel_call;
using test::On;
using test::Recording;
using testing::ElementsAre;

/// What orders the second of two dispatches without calls.
std::vector<std::string> second_of(std::int64_t a_start, std::int64_t a_end, std::int64_t b_start,
                                   std::int64_t b_end, On of_a = {}, On of_b = {}) {
  Recording r("a", {}, 1);
  r.dispatch("a", a_start, a_end, of_a);
  r.dispatch("b", b_start, b_end, of_b);
  return build({r.write()}, {}, 1).into("b");
}

TEST(GraphOrders, NegativeGapsUpToTheNoiseAreOrder) {
  EXPECT_THAT(second_of(0, 10'000, 10'000, 20'000), ElementsAre("a stream_order"));
  EXPECT_THAT(second_of(0, 10'000, 9'999, 20'000), ElementsAre("a stream_order"));
  EXPECT_THAT(second_of(0, 10'000, 9'000, 20'000), ElementsAre("a stream_order"));
  EXPECT_THAT(second_of(0, 10'000, 8'999, 20'000), ElementsAre("a submission_order"));
}

TEST(GraphOrders, NegativeGapsAreAtMostHalfOfTheShorterOne) {
  EXPECT_THAT(second_of(0, 10'000, 9'800, 10'200), ElementsAre("a stream_order"));
  EXPECT_THAT(second_of(0, 10'000, 9'799, 10'199), ElementsAre("a submission_order"));
  EXPECT_THAT(second_of(9'600, 10'000, 9'800, 20'000), ElementsAre("a stream_order"));
  EXPECT_THAT(second_of(9'600, 10'000, 9'799, 20'000), ElementsAre("a submission_order"));
}

TEST(GraphOrders, OfAQueueWithSeveralStreams) {
  const On one{.stream = 1}, two{.stream = 2};
  EXPECT_THAT(second_of(0, 10'000, 10'500, 20'000, one, two), ElementsAre("a queue_order"));
  EXPECT_THAT(second_of(0, 10'000, 5'000, 20'000, one, two), ElementsAre("a submission_order"));
  EXPECT_THAT(
      second_of(0, 10'000, 10'500, 20'000, {.stream = 1, .queue = 1}, {.stream = 2, .queue = 2}),
      ElementsAre());
  EXPECT_THAT(
      second_of(0, 10'000, 10'500, 20'000, {.stream = 1, .queue = 1}, {.stream = 1, .queue = 2}),
      ElementsAre("a stream_order"));
}

TEST(GraphOrders, OverlapInAStreamIsCounted) {
  Recording r("a", {}, 1);
  r.dispatch("a", 0, 10'000);
  r.dispatch("b", 5'000, 20'000);
  r.dispatch("c", 20'100, 30'000);
  const Built b = build({r.write()}, {}, 1);
  EXPECT_THAT(b.into("b"), ElementsAre("a submission_order"));
  EXPECT_THAT(b.into("c"), ElementsAre("b stream_order"));
  EXPECT_EQ(b.path.report.contradicted[static_cast<std::size_t>(EdgeRule::stream_order)], 1U);
  // c 9900, gap 100, b 15000, and a only until b begins.
  EXPECT_EQ(b.path.length, 30'000);
  EXPECT_EQ(b.path.spent[static_cast<std::size_t>(Spent::kernel)], 29'900);
  for (const KernelCriticality& kernel : b.path.kernels) {
    if (b.trace.strings.view(kernel.name) != "a") continue;
    EXPECT_EQ(kernel.path_time, 5'000);
    EXPECT_EQ(kernel.on_path, 1U);
  }
}

TEST(GraphOrders, BehindOverlapComesTheOneThatEndsLast) {
  Recording r("a", {}, 1);
  r.dispatch("long", 0, 20'000);
  r.dispatch("short", 5'000, 10'000);
  r.dispatch("next", 21'000, 30'000);
  const Built b = build({r.write()}, {}, 1);
  EXPECT_THAT(b.into("next"), ElementsAre("long stream_order", "short stream_order"));
}

TEST(GraphOrders, ZeroLengthsAndEqualTimes) {
  Recording r("a", {}, 1);
  for (int i = 0; i < 20; ++i) r.dispatch(fmt::format("z{:02}", i), 1'000, 1'000);
  r.dispatch("end", 1'000, 2'000);
  const Built b = build({r.write()}, {}, 1);
  for (int i = 1; i < 20; ++i)
    EXPECT_THAT(b.into(fmt::format("z{:02}", i)),
                ElementsAre(fmt::format("z{:02} stream_order", i - 1)));
  EXPECT_THAT(b.into("end"), ElementsAre("z19 stream_order"));
  EXPECT_EQ(b.path.length, 1'000);
  EXPECT_EQ(b.on_path().size(), 21U);
  EXPECT_EQ(b.path.concurrency.size(), 1U);
}

TEST(GraphOrders, ARunOfNoLength) {
  Recording r("a", {}, 1);
  r.dispatch("a", 1'000, 1'000);
  r.dispatch("b", 1'000, 1'000, {.stream = 2, .queue = 2});
  const Built b = build({r.write()}, {}, 1);
  EXPECT_EQ(b.path.length, 0);
  EXPECT_EQ(b.graph().size(), 2U);
  EXPECT_TRUE(b.path.parallelism.empty());
}

TEST(GraphOrders, ACopyOfNoLengthComesBeforeTheKernelThatBeginsThen) {
  Recording r("a", {}, 1);
  r.launch_copy(test::copy_call(0, 100), 1'000, 1'000);
  r.launch(kernel_call(200, 300), "a", 1'000, 5'000);
  const Built b = build({r.write()}, {}, 1);
  EXPECT_THAT(b.into("copy@1000"), ElementsAre("hipMemcpyAsync@0 launch"));
  EXPECT_THAT(b.into("a"), ElementsAre("copy@1000 stream_order", "hipLaunchKernel@200 launch"));
}

TEST(GraphOrders, EqualStartsOfDifferentQueuesAreNotOrdered) {
  Recording r("a", {}, 1);
  for (int i = 0; i < 4; ++i)
    r.dispatch(fmt::format("k{}", i), 1'000, 2'000, {.stream = i, .queue = i});
  const Built b = build({r.write()}, {}, 1);
  EXPECT_TRUE(b.edges().empty());
  ASSERT_EQ(b.path.concurrency.size(), 1U);
  EXPECT_EQ(b.path.concurrency[0].running, 4U);
}

// Two threads launch into one stream; the call that began first submitted last.
TEST(GraphOrders, ThreadsThatCross) {
  Recording r("a", {}, 1);
  const test::Id second = r.thread(4243);
  r.launch(kernel_call(0, 5'000, handle(1)), "late", 20'000, 30'000, {.stream = 1});
  r.launch(kernel_call(1'000, 2'000, handle(1)), "early", 10'000, 20'000,
           {.stream = 1, .tid = second});
  r.call(device_synchronize(6'000, 31'000));
  const Built b = build({r.write()}, {}, 1);
  EXPECT_THAT(b.into("early"), ElementsAre("hipLaunchKernel@1000 launch"));
  EXPECT_THAT(b.into("late"), ElementsAre("early stream_order", "hipLaunchKernel@0 launch"));
  EXPECT_THAT(b.into("hipDeviceSynchronize@6000"),
              ElementsAre("hipLaunchKernel@0 program_order", "late device_sync"));
}

// As before, but the first thread waits before the second one has even launched.
TEST(GraphOrders, ThreadsThatCrossAWait) {
  Recording r("a", {}, 1);
  const test::Id second = r.thread(4243);
  r.launch(kernel_call(0, 1'000, handle(1)), "late", 20'000, 30'000, {.stream = 1});
  r.call(device_synchronize(2'000, 31'000));
  r.launch(kernel_call(3'000, 4'000, handle(1)), "early", 10'000, 20'000,
           {.stream = 1, .tid = second});
  const Built b = build({r.write()}, {}, 1);
  EXPECT_THAT(b.into("late"), ElementsAre("early stream_order", "hipLaunchKernel@0 launch"));
  EXPECT_EQ(b.path.length, 31'000);
}

TEST(GraphOrders, ANoiseOfZeroMakesEveryNegativeGapAnOverlap) {
  Recording r("a", {}, 1);
  r.dispatch("a", 0, 10'000);
  r.dispatch("b", 9'999, 20'000);
  CriticalPathOptions options;
  options.graph.noise = 0;
  EXPECT_THAT(build({r.write()}, options, 1).into("b"), ElementsAre("a submission_order"));
}

// Where a place is entered from another one by an order of begins, that is said.
TEST(GraphOrders, AStretchThatIsEnteredByOverlapSaysSo) {
  Recording r("a", {}, 1);
  r.dispatch("a", 0, 10'000, {.stream = 1});
  r.dispatch("b", 5'000, 20'000, {.stream = 2});
  const Built b = build({r.write()}, {}, 1);
  ASSERT_EQ(b.path.segments.size(), 2U);
  EXPECT_EQ(b.path.segments[0].place_id, 1);
  EXPECT_EQ(b.path.segments[1].place_id, 2);
  EXPECT_EQ(b.path.segments[1].entered, EdgeRule::submission_order);
  EXPECT_EQ(b.path.segments[0].entered, std::nullopt);
}

}  // namespace
}  // namespace perflab::analyze
