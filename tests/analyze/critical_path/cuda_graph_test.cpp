// Orders of CUDA programs: waits by exact records, streams by id, default streams, graph launches,
// pools, lazy loading. Times in us.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyze/critical_path/path_recording.h"
#include "support/cuda_rows.h"

namespace perflab::analyze {
namespace {

using test::build;
using test::Built;
using test::cuda_call;
using test::cuda_event_record;
using test::cuda_event_sync;
using test::cuda_launch;
using test::cuda_recording;
using test::cuda_stream_sync;
using test::cuda_stream_wait;
using test::On;
using test::Recording;
using testing::ElementsAre;
using testing::HasSubstr;

std::uint64_t denied(const Built& b) {
  std::uint64_t all = 0;
  for (const std::uint64_t count : b.path.report.contradicted) all += count;
  return all;
}

constexpr On kOne{.stream = 1, .queue = 1}, kTwo{.stream = 2, .queue = 2};

TEST(CudaGraph, WaitsForTheRecordThatItNames) {
  Recording r("a", cuda_recording());
  r.launch(cuda_launch(0, 2), "first", 10, 40, kOne);
  r.call(cuda_event_record(3, 4, {.event = 5, .record = 100, .stream = 1}));
  r.launch(cuda_launch(5, 7), "second", 41, 90, kOne);
  r.call(cuda_event_record(8, 9, {.event = 5, .record = 101, .stream = 1}));
  // The wait names the older record: only the first kernel holds it up.
  r.call(cuda_stream_wait(10, 11, {.event = 5, .record = 100, .stream = 2}));
  r.launch(cuda_launch(12, 13), "other", 42, 60, kTwo);
  r.call(cuda_event_sync(14, 95, {.event = 5, .record = 101}));
  const Built b = build(r);
  EXPECT_THAT(b.into("other"), ElementsAre("cudaLaunchKernel@12 launch", "first event_wait"));
  EXPECT_THAT(b.into("cudaEventSynchronize@14"),
              ElementsAre("cudaLaunchKernel@12 program_order", "second event_sync"));
  EXPECT_EQ(denied(b), 0U);
  EXPECT_EQ(b.path.report.unknown_events, 0U);
}

TEST(CudaGraph, ARecordThatIsNotThereOrdersNothing) {
  Recording r("a", cuda_recording());
  r.launch(cuda_launch(0, 2), "first", 10, 40, kOne);
  r.call(cuda_event_record(3, 4, {.event = 5, .record = 100, .stream = 1}));
  r.call(cuda_event_sync(5, 6, {.event = 5, .record = 99}));
  const Built b = build(r);
  EXPECT_EQ(b.path.report.unknown_events, 1U);
  EXPECT_EQ(b.count(EdgeRule::event_sync), 0U);
}

TEST(CudaGraph, StreamsAreSynchronisedById) {
  Recording r("a", cuda_recording());
  r.launch(cuda_launch(0, 2), "one", 10, 40, kOne);
  r.launch(cuda_launch(3, 5), "two", 10, 80, kTwo);
  r.call(cuda_stream_sync(6, 45, 1));
  r.call(cuda_stream_sync(46, 85, 2));
  const Built b = build(r);
  EXPECT_THAT(b.into("cudaStreamSynchronize@6"),
              ElementsAre("cudaLaunchKernel@3 program_order", "one stream_sync"));
  EXPECT_THAT(b.into("cudaStreamSynchronize@46"),
              ElementsAre("cudaStreamSynchronize@6 program_order", "two stream_sync"));
}

TEST(CudaGraph, QueuesOrderNothingBesideStreams) {
  Recording r("a", cuda_recording());
  r.launch(cuda_launch(0, 2), "one", 10, 40, {.stream = 1, .queue = 1});
  r.launch(cuda_launch(3, 5), "two", 41, 80, {.stream = 2, .queue = 1});
  const Built b = build(r);
  EXPECT_THAT(b.into("two"), ElementsAre("cudaLaunchKernel@3 launch"));
}

TEST(CudaGraph, TheLegacyDefaultStreamWaitsForBlockingStreams) {
  for (const bool flags : {false, true}) {
    Recording r(fmt::format("f{}", flags), cuda_recording());
    r.call(cuda_call(flags ? "cudaStreamCreateWithFlags" : "cudaStreamCreate", 0, 1));
    r.launch(cuda_launch(2, 3), "side", 10, 40, kOne);
    r.launch(cuda_launch(4, 5), "main", 41, 60, {.stream = 0, .queue = 0});
    const Built b = build(r);
    if (flags) {
      EXPECT_THAT(b.into("main"), ElementsAre("cudaLaunchKernel@4 launch"));
    } else {
      EXPECT_THAT(b.into("main"), ElementsAre("cudaLaunchKernel@4 launch", "side null_stream"));
    }
  }
}

TEST(CudaGraph, PerThreadDefaultStreamsAreBlockingOnes) {
  Recording r("a", cuda_recording());
  r.launch(cuda_call("cudaLaunchKernel_ptsz", 0, 2), "mine", 10, 40, kOne);
  r.launch(cuda_launch(3, 5), "legacy", 41, 60, {.stream = 0, .queue = 0});
  EXPECT_THAT(build(r).into("legacy"),
              ElementsAre("cudaLaunchKernel@3 launch", "mine null_stream"));
}

TEST(CudaGraph, AGraphsBranchesAreNoContradiction) {
  Recording r("a", cuda_recording());
  r.launch(cuda_launch(0, 2), "before", 5, 20, kOne);
  const test::Id graph = r.launch(cuda_call("cudaGraphLaunch", 3, 6), "root", 21, 30, kOne);
  r.dispatch("left", 31, 60, kOne, graph);
  r.dispatch("right", 32, 50, kOne, graph);
  r.dispatch("join", 61, 70, kOne, graph);
  r.launch(cuda_launch(7, 8), "after", 71, 80, kOne);
  const Built b = build(r);
  EXPECT_THAT(b.into("root"), ElementsAre("before stream_order", "cudaGraphLaunch@3 launch"));
  EXPECT_THAT(b.into("left"), ElementsAre("cudaGraphLaunch@3 launch", "root graph_order"));
  EXPECT_THAT(b.into("right"), ElementsAre("cudaGraphLaunch@3 launch", "root graph_order"));
  EXPECT_THAT(b.into("join"), ElementsAre("cudaGraphLaunch@3 launch", "left graph_order"));
  EXPECT_THAT(b.into("after"), ElementsAre("cudaLaunchKernel@7 launch", "join stream_order"));
  EXPECT_EQ(denied(b), 0U);
  EXPECT_EQ(b.path.report.graph_launches, 1U);
  EXPECT_EQ(b.path.report.blind_graph_launches, 0U);
}

TEST(CudaGraph, ASecondLaunchOfAGraphFollowsTheFirst) {
  Recording r("a", cuda_recording());
  const test::Id one = r.launch(cuda_call("cudaGraphLaunch", 0, 2), "a", 5, 20, kOne);
  r.dispatch("b", 6, 30, kOne, one);
  r.launch(cuda_call("cudaGraphLaunch", 3, 4), "c", 31, 40, kOne);
  const Built b = build(r);
  EXPECT_THAT(b.into("c"), ElementsAre("b stream_order", "cudaGraphLaunch@3 launch"));
  EXPECT_EQ(denied(b), 0U);
}

TEST(CudaGraph, OverlapOutsideOfGraphsIsStillCounted) {
  Recording r("a", cuda_recording());
  r.launch(cuda_launch(0, 2), "a", 5, 40, kOne);
  r.launch(cuda_launch(3, 4), "b", 20, 60, kOne);
  EXPECT_EQ(denied(build(r)), 1U);
}

TEST(CudaGraph, PoolsWaitForNothing) {
  Recording r("a", cuda_recording());
  r.launch(cuda_launch(0, 2), "a", 5, 40, kOne);
  r.call(cuda_call("cudaMallocAsync", 3, 45));
  r.call(cuda_call("cudaFreeAsync_ptsz", 46, 47));
  r.call(cuda_call("cudaFree", 48, 60));
  const Built b = build(r);
  EXPECT_THAT(b.into("cudaMallocAsync@3"), ElementsAre("cudaLaunchKernel@0 program_order"));
  EXPECT_THAT(b.into("cudaFreeAsync_ptsz@46"), ElementsAre("cudaMallocAsync@3 program_order"));
}

TEST(CudaGraph, FreeWaitsForWhatEndedInIt) {
  Recording r("a", cuda_recording());
  r.launch(cuda_launch(0, 2), "a", 5, 40, kOne);
  r.call(cuda_call("cudaFree", 3, 45));
  EXPECT_THAT(build(r).into("cudaFree@3"),
              ElementsAre("a implicit_sync", "cudaLaunchKernel@0 program_order"));
}

TEST(CudaGraph, OfSeveralGpusTheTimesSayWhichWasWaitedFor) {
  Recording r("a", cuda_recording());
  r.launch(cuda_launch(0, 2), "one", 5, 40, {.stream = 1, .queue = 1, .agent = 1});
  r.launch(cuda_launch(3, 5), "two", 8, 200, {.stream = 2, .queue = 2, .agent = 2});
  r.call(cuda_call("cudaDeviceSynchronize", 6, 45));
  const Built b = build(r);
  EXPECT_THAT(b.into("cudaDeviceSynchronize@6"),
              ElementsAre("cudaLaunchKernel@3 program_order", "one device_sync"));
  EXPECT_EQ(denied(b), 0U);
}

TEST(CudaGraph, StreamsOfTwoGpusWithOneIdAreTwo) {
  Recording r("a", cuda_recording());
  r.launch(cuda_launch(0, 2), "one", 5, 40, {.stream = 1, .queue = 1, .agent = 1});
  r.launch(cuda_launch(3, 5), "two", 8, 60, {.stream = 1, .queue = 1, .agent = 2});
  const Built b = build(r);
  EXPECT_THAT(b.into("two"), ElementsAre("cudaLaunchKernel@3 launch"));
  EXPECT_EQ(denied(b), 0U);
}

TEST(CudaGraph, AMemcpyWaitsForItsCopy) {
  Recording r("a", cuda_recording());
  r.launch(cuda_launch(0, 2), "a", 5, 40, kOne);
  r.launch_copy(cuda_call("cudaMemcpy", 3, 55), 41, 50, kOne);
  const Built b = build(r);
  EXPECT_THAT(b.into("cudaMemcpy@3/wait"),
              ElementsAre("copy@41 blocking_call", "cudaMemcpy@3 program_order"));
  EXPECT_THAT(b.into("copy@41"), ElementsAre("a stream_order", "cudaMemcpy@3 launch_inside"));
}

TEST(CudaGraph, FirstLaunchesThatLoadCodeAreNamed) {
  Recording r("a", cuda_recording());
  r.launch(cuda_launch(0, 400), "a", 402, 410, kOne);
  for (int i = 1; i <= 5; ++i) {
    const std::int64_t at = 400 + 20 * i;
    r.launch(cuda_launch(at, at + 4), "a", at + 6, at + 15, kOne);
  }
  r.launch(cuda_launch(600, 604), "b", 606, 615, kOne);
  r.launch(cuda_launch(620, 920), "c", 922, 930, kOne);
  const Built b = build(r);
  EXPECT_EQ(b.path.first_launches.calls.size(), 2U);
  EXPECT_EQ(b.path.first_launches.time, 700'000);
  EXPECT_EQ(b.path.first_launches.usual, 4'000);
  EXPECT_THAT(b.path.warnings,
              testing::Contains(HasSubstr("2 first launches of kernels took 0.7 ms in all")));
  ASSERT_FALSE(b.path.bubbles.empty());
  EXPECT_TRUE(b.path.bubbles[0].first_launch);
}

TEST(CudaGraph, OfHipNoFirstLaunchIsNamed) {
  Recording r("a");
  r.launch(test::kernel_call(0, 400), "a", 402, 410);
  r.launch(test::kernel_call(412, 414), "a", 420, 430);
  EXPECT_TRUE(build(r).path.first_launches.calls.empty());
}

}  // namespace
}  // namespace perflab::analyze
