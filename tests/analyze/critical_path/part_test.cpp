// The critical path of one segment (PathPart): what of the run's path lies in its time. And orders
// that a reviewer found missing: overtaken copies, copies of pageable memory, the per-thread API,
// stream capture. Figures in the comments are worked out by hand; times in us.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyze/critical_path/path_recording.h"
#include "analyze/pipeline.h"

namespace perflab::test {
namespace {

using analyze::CriticalPath;
using analyze::EdgeRule;
using analyze::Spent;
using testing::Contains;

std::int64_t spent(const CriticalPath& path, Spent what) {
  return path.spent[static_cast<std::size_t>(what)] / 1000;
}

/// The critical path of one segment of a written recording.
CriticalPath path_of_segment(Recording& recording, std::size_t segment) {
  analyze::AnalyzeOptions options;
  options.search_code = false;
  options.segment = segment;
  auto analyzed = analyze::analyze_files({recording.write()}, options);
  EXPECT_TRUE(analyzed) << describe(analyzed.error());
  return *analyzed->analysis.critical_path;
}

TEST(PartOfAPath, OfAPipelinedRunIsOnePeriod) {
  // Six steps of a (60) and b (40), back to back from 100 on, all launched before 24.
  Recording r;
  for (std::int64_t step = 0; step < 6; ++step) {
    const std::int64_t call = step * 4, work = 100 + step * 100;
    r.launch(kernel_call(call, call + 1, handle(1)), "a", work, work + 60, {.stream = 1});
    r.launch(kernel_call(call + 2, call + 3, handle(1)), "b", work + 60, work + 100, {.stream = 1});
  }
  r.call(stream_synchronize(24, 702, handle(1)));
  const CriticalPath path = path_of_segment(r, 3);
  // Segment 3 lasts from 400 to 500; the path is in its kernels throughout.
  EXPECT_EQ(path.length, 100'000);
  EXPECT_EQ(path.run_length, 702'000);
  EXPECT_EQ(spent(path, Spent::kernel), 100);
  ASSERT_EQ(path.kernels.size(), 2U);
  EXPECT_EQ(path.kernels[0].path_time, 60'000);
  EXPECT_EQ(path.kernels[0].dispatches, 1U);
  EXPECT_EQ(path.kernels[0].on_path, 1U);
  // Infinitely fast: the run, and so this step, is 60 shorter.
  EXPECT_EQ(path.kernels[0].gains[2].gain, 60'000);
  EXPECT_EQ(path.kernels[0].gains[2].makespan, 40'000);
}

TEST(PartOfAPath, KnowsTheWaitsOfTheWholeRun) {
  // Eight steps of 100: launch 0-2, a 5-85, synchronisation 3-87.
  Recording r;
  for (std::int64_t t = 0; t < 800; t += 100) {
    r.launch(kernel_call(t, t + 2, handle(1)), "a", t + 5, t + 85, {.stream = 1});
    r.call(stream_synchronize(t + 3, t + 87, handle(1)));
  }
  const CriticalPath path = path_of_segment(r, 4);
  // From the begin of a in step 4 (405) to that in step 5 (505): a 80, return 2, host code 13 (to
  // 500), the launching call 2, latency 3.
  EXPECT_EQ(path.length, 100'000);
  EXPECT_EQ(spent(path, Spent::kernel), 80);
  EXPECT_EQ(spent(path, Spent::sync_return), 2);
  EXPECT_EQ(spent(path, Spent::host_code), 13);
  EXPECT_EQ(spent(path, Spent::host_call), 2);
  EXPECT_EQ(spent(path, Spent::launch_latency), 3);
  EXPECT_EQ(path.report.edges[static_cast<std::size_t>(EdgeRule::stream_sync)], 8U);
  // The bubble lies from 485 to 505.
  ASSERT_EQ(path.bubbles.size(), 1U);
  EXPECT_EQ(path.bubbles[0].from, 80'000);
  EXPECT_EQ(path.bubbles[0].to, 100'000);
}

TEST(PartOfAPath, CannotDropTheSynchronisationOfOneStep) {
  Recording r;
  for (std::int64_t t = 0; t < 400; t += 100) r.launch(kernel_call(t, t + 2), "a", t + 5, t + 85);
  analyze::AnalyzeOptions options;
  options.search_code = false;
  options.segment = 1;
  options.critical_path.what_if.push_back(*analyze::parse_what_if("sync=drop"));
  const auto analyzed = analyze::analyze_files({r.write()}, options);
  ASSERT_FALSE(analyzed);
  EXPECT_EQ(analyzed.error().code, ErrorCode::usage);
}

TEST(BuildGraph, ACopyThatAnotherThreadOvertookIsStillWaitedFor) {
  // Two threads copy on the default stream; the second call's copy runs first.
  Recording r;
  const Id second = r.thread(77);
  RegionRow later = api_call("hipMemcpy", 5, 18);
  later.tid = second;
  r.launch_copy(api_call("hipMemcpy", 0, 40), 20, 38);
  r.launch_copy(later, 8, 16, {.tid = second});
  const Built b = build(r);
  EXPECT_EQ(b.count(EdgeRule::blocking_call), 2U);
  EXPECT_THAT(b.into("hipMemcpy@0/wait"), Contains("copy@20 blocking_call"));
  EXPECT_THAT(b.into("hipMemcpy@5/wait"), Contains("copy@8 blocking_call"));
}

TEST(BuildGraph, AnAsynchronousCopyThatEndedInsideItsCallIsWaitedFor) {
  Recording r;
  r.launch_copy(copy_call(0, 30, handle(1)), 10, 25, {.stream = 1});
  r.launch_copy(copy_call(40, 45, handle(1)), 50, 60, {.stream = 1});
  const Built b = build(r);
  EXPECT_EQ(b.count(EdgeRule::implicit_sync), 1U);
  EXPECT_THAT(b.into("hipMemcpyAsync@0/wait"), Contains("copy@10 implicit_sync"));
}

TEST(BuildGraph, StreamZeroOfThePerThreadApiIsTheThreadsOwn) {
  Recording r;
  r.launch(api_call("hipLaunchKernel_spt", 0, 2, {stream_argument(0)}), "a", 5, 85, {.stream = 2});
  r.call(api_call("hipStreamSynchronize_spt", 3, 87, {stream_argument(0)}));
  const Built b = build(r);
  EXPECT_THAT(b.into("hipStreamSynchronize_spt@3"), Contains("a stream_sync"));
}

TEST(BuildGraph, EventsInACaptureOrderNothing) {
  Recording r;
  constexpr Handle kEvent = 0x99;
  r.launch(kernel_call(0, 2, handle(1)), "a", 5, 20, {.stream = 1});
  r.call(api_call("hipStreamBeginCapture", 3, 4, {stream_argument(handle(1))}));
  r.call(event_record(5, 6, kEvent, handle(1)));
  r.call(stream_wait_event(7, 8, handle(2), kEvent));
  r.call(api_call("hipStreamEndCapture", 9, 10, {stream_argument(handle(1))}));
  r.launch(kernel_call(11, 12, handle(2)), "b", 30, 40, {.stream = 2, .queue = 2});
  EXPECT_EQ(build(r).count(EdgeRule::event_wait), 0U);
}

}  // namespace
}  // namespace perflab::test
