// analyze/critical_path/build_graph.h: which calls are nodes, what waiting calls, events, streams
// and devices order. Every edge into the node in question is said. Times in microseconds.
#include "analyze/critical_path/build_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyze/critical_path/path_recording.h"
#include "trace/select.h"

namespace perflab::analyze {
namespace {

using test::api_call;
using test::build;
using test::Built;
using test::copy_call;
using test::device_synchronize;
using test::event_record;
using test::event_synchronize;
using test::handle;
using test::kernel_call;
using test::Recording;
using test::set_device;
using test::stream_argument;
using test::stream_synchronize;
using test::stream_wait_event;
using testing::ElementsAre;

constexpr test::Handle kEvent = 0xa00, kOther = 0xb00;

std::uint64_t contradicted(const Built& b, EdgeRule rule) {
  return b.path.report.contradicted[static_cast<std::size_t>(rule)];
}

TEST(BuildGraph, ABlockingCopyIsACallInTwoHalves) {
  Recording r;
  r.launch_copy(api_call("hipMemcpy", 0, 30), 10, 25);
  r.launch(kernel_call(31, 33), "a", 40, 50);
  const Built b = build(r);
  EXPECT_THAT(b.into("copy@10"), ElementsAre("hipMemcpy@0 launch_inside"));
  EXPECT_THAT(b.into("hipMemcpy@0/wait"),
              ElementsAre("copy@10 blocking_call", "hipMemcpy@0 program_order"));
  EXPECT_THAT(b.into("hipLaunchKernel@31"), ElementsAre("hipMemcpy@0/wait program_order"));
  EXPECT_THAT(b.into("a"), ElementsAre("copy@10 stream_order", "hipLaunchKernel@31 launch"));
  // a 10, its launch 7 after a call of 2, code 1, return of the copy 5, copy 15, its launch 10
  EXPECT_EQ(b.spent(),
            "kernel 10, copy 15, launch_latency 17, host_call 2, sync_return 5, host_code 1");
  EXPECT_EQ(b.path.report.calls, 2U);
}

// What a copy takes before it begins says nothing about what a launch takes after its return.
TEST(BuildGraph, BlockingCopiesDoNotSayHowLongALaunchTakes) {
  Recording r;
  r.launch_copy(api_call("hipMemcpy", 0, 100), 80, 90);
  r.launch_copy(api_call("hipMemcpy", 110, 210), 190, 200);
  r.launch(kernel_call(211, 213), "a", 216, 250);
  r.launch(kernel_call(214, 216), "b", 250, 260);
  const Built b = build(r);
  // a began 3 after the return of its launch: b's may return at 250 - 3 instead of 216.
  EXPECT_EQ(b.slack("hipLaunchKernel@214"), 31);
}

TEST(BuildGraph, ABlockingCopyThatReturnedBeforeItsWorkIsOneCall) {
  Recording r;
  r.launch_copy(api_call("hipMemcpy", 0, 30), 10, 45);
  const Built b = build(r);
  EXPECT_THAT(b.into("copy@10"), ElementsAre("hipMemcpy@0 launch_inside"));
  EXPECT_EQ(b.graph().size(), 2U);
}

TEST(BuildGraph, ABlockingCopyWithoutARecordWaitedForWhatEndedWhileItRan) {
  Recording r;
  r.launch(kernel_call(0, 2), "a", 5, 25);
  r.call(api_call("hipMemcpy", 3, 40));
  r.launch(kernel_call(41, 43), "b", 45, 50);
  r.call(api_call("hipMemcpy", 44, 48));  // b ends later: it did not wait for that
  const Built b = build(r);
  EXPECT_THAT(b.into("hipMemcpy@3"),
              ElementsAre("a implicit_sync", "hipLaunchKernel@0 program_order"));
  EXPECT_THAT(b.into("hipMemcpy@44"), ElementsAre("hipLaunchKernel@41 program_order"));
  EXPECT_FALSE(info(EdgeRule::implicit_sync).proven);
}

TEST(BuildGraph, FreeWaitsImplicitly) {
  Recording r;
  r.launch(kernel_call(0, 2, handle(1)), "a", 5, 25, {.stream = 1});
  r.launch(kernel_call(3, 4, handle(2)), "b", 6, 60, {.stream = 2, .queue = 2});
  r.call(api_call("hipFree", 5, 27));
  r.call(api_call("hipFree", 28, 29));
  const Built b = build(r);
  EXPECT_THAT(b.into("hipFree@5"),
              ElementsAre("a implicit_sync", "hipLaunchKernel@3 program_order"));
  EXPECT_THAT(b.into("hipFree@28"), ElementsAre("hipFree@5 program_order"));
}

TEST(BuildGraph, AnEventsLastRecordCounts) {
  Recording r;
  r.launch(kernel_call(0, 1, handle(1)), "a", 5, 25, {.stream = 1});
  r.call(event_record(2, 3, kEvent, handle(1)));
  r.launch(kernel_call(4, 5, handle(1)), "b", 25, 45, {.stream = 1});
  r.call(event_record(6, 7, kEvent, handle(1)));
  r.launch(kernel_call(8, 9, handle(1)), "c", 45, 65, {.stream = 1});
  r.call(event_synchronize(10, 47, kEvent));
  r.call(stream_wait_event(48, 49, handle(2), kEvent));
  r.launch(kernel_call(50, 51, handle(2)), "d", 55, 60, {.stream = 2, .queue = 2});
  const Built b = build(r);
  EXPECT_THAT(b.into("hipEventSynchronize@10"),
              ElementsAre("b event_sync", "hipLaunchKernel@8 program_order"));
  EXPECT_THAT(b.into("d"), ElementsAre("b event_wait", "hipLaunchKernel@50 launch"));
}

TEST(BuildGraph, AnEventRecordedAfterTheWaitOrdersNothing) {
  Recording r;
  r.launch(kernel_call(0, 1, handle(1)), "a", 5, 25, {.stream = 1});
  r.call(stream_wait_event(2, 3, handle(2), kEvent));
  r.call(event_record(4, 5, kEvent, handle(1)));
  r.launch(kernel_call(6, 7, handle(2)), "d", 55, 60, {.stream = 2, .queue = 2});
  const Built b = build(r);
  EXPECT_THAT(b.into("d"), ElementsAre("hipLaunchKernel@6 launch"));
  EXPECT_EQ(b.path.report.unknown_events, 1U);
}

TEST(BuildGraph, WaitsForUnknownEventsAreCounted) {
  Recording r;
  r.launch(kernel_call(0, 1, handle(1)), "a", 5, 25, {.stream = 1});
  r.call(stream_wait_event(2, 3, handle(1), kOther));
  r.call(event_synchronize(4, 9, kOther));
  const Built b = build(r);
  EXPECT_EQ(b.path.report.unknown_events, 2U);
  EXPECT_THAT(b.into("hipEventSynchronize@4"), ElementsAre("hipStreamWaitEvent@2 program_order"));
}

TEST(BuildGraph, AnEventRecordedOnAStreamThatWaitedPassesTheWaitOn) {
  Recording r;
  r.launch(kernel_call(0, 1, handle(2)), "x", 2, 3, {.stream = 2, .queue = 2});
  r.launch(kernel_call(2, 3, handle(1)), "a", 5, 25, {.stream = 1});
  r.call(event_record(4, 5, kEvent, handle(1)));
  r.call(stream_wait_event(6, 7, handle(2), kEvent));
  r.call(event_record(8, 9, kOther, handle(2)));  // behind x and the wait for a
  r.call(stream_wait_event(10, 11, handle(3), kOther));
  r.launch(kernel_call(12, 13, handle(3)), "d", 27, 40, {.stream = 3, .queue = 3});
  const Built b = build(r);
  EXPECT_THAT(b.into("d"),
              ElementsAre("a event_wait", "hipLaunchKernel@12 launch", "x event_wait"));
}

TEST(BuildGraph, AStreamThatOnlyWaitsPassesTheWaitOn) {
  Recording r;
  r.launch(kernel_call(2, 3, handle(1)), "a", 5, 25, {.stream = 1});
  r.call(event_record(4, 5, kEvent, handle(1)));
  r.call(stream_wait_event(6, 7, handle(2), kEvent));  // nothing ever runs on stream 2
  r.call(event_record(8, 9, kOther, handle(2)));
  r.call(stream_wait_event(10, 11, handle(3), kOther));
  r.launch(kernel_call(12, 13, handle(3)), "d", 27, 40, {.stream = 3, .queue = 3});
  r.call(stream_synchronize(14, 28, handle(2)));
  const Built b = build(r);
  EXPECT_THAT(b.into("d"), ElementsAre("a event_wait", "hipLaunchKernel@12 launch"));
  EXPECT_THAT(b.into("hipStreamSynchronize@14"),
              ElementsAre("a stream_sync", "hipLaunchKernel@12 program_order"));
}

TEST(BuildGraph, AStreamHandleCanBeReused) {
  Recording r;
  const test::Handle same = handle(1);
  r.launch(kernel_call(0, 1, same), "a", 5, 25, {.stream = 1});
  r.call(stream_synchronize(2, 27, same));
  r.call(api_call("hipStreamDestroy", 28, 29, {stream_argument(same)}));
  r.call(api_call("hipStreamCreate", 30, 31));
  r.launch(kernel_call(32, 33, same), "b", 35, 55, {.stream = 2, .queue = 2});
  r.call(stream_synchronize(34, 58, same));
  const Built b = build(r);
  EXPECT_THAT(b.into("hipStreamSynchronize@2"),
              ElementsAre("a stream_sync", "hipLaunchKernel@0 program_order"));
  EXPECT_THAT(b.into("hipStreamSynchronize@34"),
              ElementsAre("b stream_sync", "hipLaunchKernel@32 program_order"));
}

TEST(BuildGraph, AReusedHandleMeansTheNewStreamBeforeItsFirstLaunch) {
  Recording r;
  const test::Handle same = handle(1);
  r.launch(kernel_call(0, 1, same), "a", 5, 25, {.stream = 1});
  r.call(api_call("hipStreamDestroy", 2, 3, {stream_argument(same)}));
  r.launch(kernel_call(4, 5, handle(3)), "c", 8, 40, {.stream = 3, .queue = 3});
  r.call(event_record(6, 7, kEvent, handle(3)));
  r.call(api_call("hipStreamCreate", 8, 9));
  r.call(stream_wait_event(10, 11, same, kEvent));
  r.launch(kernel_call(12, 13, same), "b", 45, 55, {.stream = 2, .queue = 2});
  const Built b = build(r);
  EXPECT_THAT(b.into("b"), ElementsAre("c event_wait", "hipLaunchKernel@12 launch"));
}

void two_blocking_streams(Recording& r, const char* create) {
  r.call(api_call(create, 0, 1));
  r.launch(kernel_call(2, 3, handle(1)), "a", 5, 25, {.stream = 1});
  r.launch(kernel_call(4, 5), "n", 27, 35, {.stream = 0, .queue = 2});
  r.launch(kernel_call(6, 7, handle(1)), "b", 37, 45, {.stream = 1});
  r.launch(kernel_call(8, 9, handle(2)), "c", 38, 44, {.stream = 2, .queue = 3});
  r.call(stream_synchronize(10, 50));
}

TEST(BuildGraph, TheDefaultStreamIsOrderedWithBlockingStreams) {
  Recording r;
  two_blocking_streams(r, "hipStreamCreate");
  const Built b = build(r);
  EXPECT_THAT(b.into("n"), ElementsAre("a null_stream", "hipLaunchKernel@4 launch"));
  EXPECT_THAT(b.into("b"),
              ElementsAre("a stream_order", "hipLaunchKernel@6 launch", "n null_stream"));
  EXPECT_THAT(b.into("c"), ElementsAre("hipLaunchKernel@8 launch", "n null_stream"));
  EXPECT_THAT(b.into("hipStreamSynchronize@10"),
              ElementsAre("b stream_sync", "c stream_sync", "hipLaunchKernel@8 program_order",
                          "n stream_sync"));
}

TEST(BuildGraph, TheDefaultStreamIsNotOrderedWithStreamsThatMayNotBlock) {
  for (const char* create : {"hipStreamCreateWithFlags", "hipStreamCreateWithPriority"}) {
    Recording r(create);
    two_blocking_streams(r, create);
    const Built b = build(r);
    EXPECT_EQ(b.count(EdgeRule::null_stream), 0U);
    EXPECT_THAT(b.into("c"), ElementsAre("hipLaunchKernel@8 launch"));
    EXPECT_THAT(b.into("hipStreamSynchronize@10"),
                ElementsAre("hipLaunchKernel@8 program_order", "n stream_sync"));
  }
}

TEST(BuildGraph, SynchronisationMeansTheDeviceThatWasSet) {
  Recording r;
  r.launch(kernel_call(0, 1), "a", 5, 25);
  r.call(set_device(2, 3, 1));
  r.launch(kernel_call(4, 5), "b", 8, 30, {.queue = 2, .agent = 2});
  r.call(device_synchronize(6, 33));
  r.call(stream_synchronize(34, 35));
  r.call(set_device(36, 37, 0));
  r.call(device_synchronize(38, 40));
  const Built b = build(r);
  EXPECT_THAT(b.into("hipDeviceSynchronize@6"),
              ElementsAre("b device_sync", "hipLaunchKernel@4 program_order"));
  EXPECT_THAT(b.into("hipStreamSynchronize@34"),
              ElementsAre("b stream_sync", "hipDeviceSynchronize@6 program_order"));
  EXPECT_THAT(b.into("hipDeviceSynchronize@38"),
              ElementsAre("a device_sync", "hipStreamSynchronize@34 program_order"));
  // Default streams of two GPUs are two streams.
  EXPECT_THAT(b.into("b"), ElementsAre("hipLaunchKernel@4 launch"));
}

TEST(BuildGraph, TheDefaultStreamOfAnUnknownDeviceIsNotGuessed) {
  Recording r;
  r.launch(kernel_call(0, 1), "a", 5, 9);
  r.call(set_device(10, 11, 1));
  r.call(stream_synchronize(12, 13));  // of device 1: nothing ran there so far
  r.launch(kernel_call(14, 15), "b", 18, 30, {.queue = 2, .agent = 2});
  const Built b = build(r);
  EXPECT_THAT(b.into("hipStreamSynchronize@12"), ElementsAre("hipLaunchKernel@0 program_order"));
}

TEST(BuildGraph, ACopyToAnotherDeviceIsWorkOfItsStreamsDevice) {
  Recording r;
  r.launch_copy(api_call("hipMemcpyPeerAsync", 0, 1, {stream_argument(handle(1))}), 2, 12,
                {.stream = 1, .agent = 2});
  r.launch(kernel_call(3, 4, handle(1)), "a", 14, 25, {.stream = 1});
  r.call(set_device(5, 6, 1));
  r.launch(kernel_call(7, 8, handle(2)), "b", 14, 40, {.stream = 2, .queue = 2, .agent = 2});
  r.call(set_device(9, 10, 0));
  r.call(device_synchronize(11, 45));
  r.call(set_device(46, 47, 1));
  r.call(device_synchronize(48, 49));
  const Built b = build(r);
  EXPECT_THAT(b.into("hipDeviceSynchronize@11"),
              ElementsAre("a device_sync", "hipLaunchKernel@7 program_order"));
  EXPECT_THAT(b.into("hipDeviceSynchronize@48"),
              ElementsAre("b device_sync", "hipDeviceSynchronize@11 program_order"));
}

TEST(BuildGraph, PerThreadDefaultStreamsAreOnesOfTheirThreads) {
  Recording r;
  const test::Id second = r.thread(4243);
  constexpr test::Handle kPerThread = 2;  // hipStreamPerThread
  r.launch(kernel_call(0, 1, kPerThread), "a", 5, 25, {.stream = 1});
  r.launch(kernel_call(2, 3, kPerThread), "b", 6, 20, {.stream = 2, .queue = 2, .tid = second});
  r.call(stream_synchronize(4, 28, kPerThread));  // by the first thread
  const Built b = build(r);
  EXPECT_THAT(b.into("hipStreamSynchronize@4"),
              ElementsAre("a stream_sync", "hipLaunchKernel@0 program_order"));
}

// What it waits for between its calls is not recorded: as host code it would hold every what-if.
TEST(BuildGraph, AThreadThatOnlyKeepsResourcesIsNoPartOfTheRun) {
  Recording r;
  r.launch(kernel_call(0, 2), "a", 5, 25);
  r.call(stream_synchronize(3, 28));
  const test::Id keeper = r.thread(4243);
  for (test::RegionRow call : {api_call("hipMemMap", 1, 4), api_call("hipMemUnmap", 30, 40)}) {
    call.tid = keeper;
    r.call(call);
  }
  const Built b = build(r);
  EXPECT_EQ(b.path.report.calls, 2U);
  EXPECT_EQ(b.graph().size(), 3U);

  Recording alone;  // of its process nothing else is known but a kernel that no call launched
  alone.dispatch("a", 5, 25);
  alone.call(api_call("hipMalloc", 1, 4));
  alone.call(api_call("hipFreeAsync", 30, 40));
  EXPECT_EQ(build(alone).path.report.calls, 2U);
}

TEST(BuildGraph, ANestedHsaCallIsNoNode) {
  Recording r;
  const test::Id outer = r.writer().next_stack_id(), inner = r.writer().next_stack_id();
  test::RegionRow hip = kernel_call(0, 10);
  hip.event.stack_id = outer;
  r.call(hip);
  test::RegionRow hsa = api_call("hsa_signal_store_screlease", 4, 5, {}, inner);
  hsa.event.category = "HSA_CORE_API";
  hsa.event.parent_stack_id = outer;
  r.call(hsa);
  r.dispatch("a", 12, 20, {}, inner);  // rocprofv3 names the innermost call
  test::RegionRow wait = device_synchronize(11, 30);
  wait.event.stack_id = r.writer().next_stack_id();
  const test::Id sync = wait.event.stack_id;
  r.call(wait);
  test::RegionRow signal =
      api_call("hsa_signal_wait_scacquire", 12, 25, {}, r.writer().next_stack_id());
  signal.event.category = "HSA_CORE_API";
  signal.event.parent_stack_id = sync;
  r.call(signal);
  const Built b = build(r);
  EXPECT_EQ(b.graph().size(), 3U);
  EXPECT_EQ(b.path.report.calls, 2U);
  EXPECT_THAT(b.into("a"), ElementsAre("hipLaunchKernel@0 launch"));
  EXPECT_THAT(b.into("hipDeviceSynchronize@11"),
              ElementsAre("a device_sync", "hipLaunchKernel@0 program_order"));
}

TEST(BuildGraph, ABareHsaWaitWaitsForWhatEndedLastWhileItRan) {
  Recording r;
  r.dispatch("a", 5, 25);
  r.dispatch("b", 26, 40);
  r.dispatch("c", 60, 80);
  r.call(api_call("hsa_signal_wait_scacquire", 10, 45));
  r.call(api_call("hsa_signal_wait_scacquire", 46, 50));  // for nothing on a GPU
  r.call(api_call("hsa_signal_wait_scacquire", 51, 82));
  const Built b = build(r);
  EXPECT_THAT(b.into("hsa_signal_wait_scacquire@10"), ElementsAre("b signal_wait"));
  EXPECT_THAT(b.into("hsa_signal_wait_scacquire@46"),
              ElementsAre("hsa_signal_wait_scacquire@10 program_order"));
  EXPECT_THAT(b.into("hsa_signal_wait_scacquire@51"),
              ElementsAre("c signal_wait", "hsa_signal_wait_scacquire@46 program_order"));
}

TEST(BuildGraph, ABareHsaWaitCanBeForACopy) {
  Recording r;
  r.launch_copy(api_call("hsa_amd_memory_async_copy", 0, 2), 5, 25);
  r.call(api_call("hsa_signal_wait_scacquire", 3, 28));
  const Built b = build(r);
  EXPECT_THAT(b.into("hsa_signal_wait_scacquire@3"),
              ElementsAre("copy@5 signal_wait", "hsa_amd_memory_async_copy@0 program_order"));
}

// A program on bare HSA has no streams: rocprofv3 writes stream 0 for all that it does.
TEST(BuildGraph, QueuesOfBareHsaAreNotOrderedByStreamZero) {
  Recording r;
  r.dispatch("a", 5, 25, {.queue = 1});
  r.dispatch("b", 10, 40, {.queue = 2});
  r.dispatch("c", 45, 50, {.queue = 1});
  r.call(api_call("hsa_signal_wait_scacquire", 3, 42));
  const Built b = build(r);
  EXPECT_THAT(b.into("b"), ElementsAre());
  EXPECT_THAT(b.into("c"), ElementsAre("a queue_order"));
  EXPECT_EQ(contradicted(b, EdgeRule::stream_order), 0U);
}

TEST(BuildGraph, RangesAndCallsOfLibrariesMakeNoProgramOneOfBareHsa) {
  const char* const kCategories[] = {"MARKER_CORE_RANGE_API", "RCCL_API"};
  for (const char* category : kCategories) {
    Recording r;
    r.dispatch("a", 5, 25, {.queue = 1});
    r.dispatch("b", 30, 40, {.queue = 1});
    test::RegionRow region = api_call("ncclAllReduce", 1, 45);
    region.event.category = category;
    r.call(region);
    EXPECT_THAT(build(r).into("b"), ElementsAre("a stream_order")) << category;
  }
}

// rocprofiler-systems writes every call twice, a little apart.
TEST(BuildGraph, ACallThatIsWrittenTwiceIsOneNode) {
  Recording r("a", {}, 1);
  const auto twice = [&](const char* name, std::int64_t start, std::int64_t end, test::Id stack) {
    test::RegionRow hip = api_call(name, start, end, {}, stack);
    hip.event.category = "rocm_hip_api";
    test::RegionRow marker = api_call(name, start + 3, end + 4);
    marker.event.category = "rocm_marker_api";
    r.call(marker);
    r.call(hip);
  };
  const test::Id stack = r.writer().next_stack_id();
  twice("hipMalloc", 0, 100, 0);
  twice("hipLaunchKernel", 200, 300, stack);
  twice("hipDeviceSynchronize", 400, 900, 0);
  r.dispatch("a", 350, 800, {}, stack);
  const Built b = build({r.write()}, {}, 1);
  EXPECT_THAT(b.edges(), testing::UnorderedElementsAre(
                             "hipMalloc@0 > hipLaunchKernel@200 program_order",
                             "hipLaunchKernel@200 > a launch",
                             "hipLaunchKernel@200 > hipDeviceSynchronize@400 program_order",
                             "a > hipDeviceSynchronize@400 device_sync"));
}

TEST(BuildGraph, AWaitOfWhichNoStreamIsKnownWaitedForWhatEndedWhileItRan) {
  Recording r;
  r.launch(kernel_call(0, 2), "a", 5, 25);
  r.call(api_call("hipStreamSynchronize", 3, 28));  // without arguments
  const Built b = build(r);
  EXPECT_THAT(b.into("hipStreamSynchronize@3"),
              ElementsAre("a implicit_sync", "hipLaunchKernel@0 program_order"));
}

TEST(BuildGraph, WaitsThatTheTimesDenyAreLeftOutAndCounted) {
  Recording r;
  r.launch(kernel_call(0, 1, handle(1)), "a", 5, 25, {.stream = 1});
  r.call(event_record(2, 3, kEvent, handle(1)));
  r.call(stream_wait_event(4, 5, handle(2), kEvent));
  r.launch(kernel_call(6, 7, handle(2)), "b", 10, 30, {.stream = 2, .queue = 2});
  r.call(stream_synchronize(8, 20, handle(1)));
  const Built b = build(r);
  EXPECT_THAT(b.into("b"), ElementsAre("hipLaunchKernel@6 launch"));
  EXPECT_THAT(b.into("hipStreamSynchronize@8"), ElementsAre("hipLaunchKernel@6 program_order"));
  EXPECT_EQ(contradicted(b, EdgeRule::event_wait), 1U);
  EXPECT_EQ(contradicted(b, EdgeRule::stream_sync), 1U);
  EXPECT_THAT(b.path.warnings,
              testing::Contains(testing::HasSubstr("2 orders that launches, streams, events or "
                                                   "synchronisation demand are denied")));
}

TEST(BuildGraph, ADispatchBeforeItsLaunchIsClockSkewUpToTheNoise) {
  Recording r("a", {}, 1);
  r.launch(kernel_call(10'000, 12'000), "a", 9'000, 20'000);
  r.launch(kernel_call(30'000, 31'000), "b", 28'999, 40'000);
  const Built b = build({r.write()}, {}, 1);
  EXPECT_THAT(b.into("a"), ElementsAre("hipLaunchKernel@10000 launch_inside"));
  EXPECT_THAT(b.into("b"), ElementsAre("a stream_order"));
  EXPECT_EQ(contradicted(b, EdgeRule::launch), 1U);
  EXPECT_EQ(b.path.begin - b.begin, 9'000);
}

// A launch leads from the return of its call where the work began at that moment or later.
TEST(BuildGraph, WorkThatBeganBeforeItsCallReturnedBeganInsideOfIt) {
  Recording r("a", {}, 1);
  r.launch(kernel_call(10'000, 12'000), "a", 12'000, 12'500);
  r.launch(kernel_call(20'000, 22'000), "b", 21'999, 22'500);
  r.launch(kernel_call(30'000, 32'000), "c", 30'000, 32'500);
  const Built b = build({r.write()}, {}, 1);
  EXPECT_THAT(b.into("a"), ElementsAre("hipLaunchKernel@10000 launch"));
  EXPECT_THAT(b.into("b"), ElementsAre("a stream_order", "hipLaunchKernel@20000 launch_inside"));
  EXPECT_THAT(b.into("c"), ElementsAre("b stream_order", "hipLaunchKernel@30000 launch_inside"));
  EXPECT_EQ(contradicted(b, EdgeRule::launch), 0U);
  // Of a only the call is spent, of c nothing: it began with its call. The host ran from 12 to 20
  // and from 22 to 30 between calls, b's call is left at 20.
  EXPECT_EQ(b.spent(), "kernel 2500, host_call 4000, host_code 16000");
}

TEST(BuildGraph, WorkWithoutALaunchIsCounted) {
  Recording r;
  r.dispatch("before", 0, 3);
  r.launch(kernel_call(4, 5), "a", 8, 20);
  r.dispatch("after", 25, 30);
  const Built b = build(r);
  EXPECT_EQ(b.path.report.without_launch, 2U);
  EXPECT_THAT(b.path.warnings, testing::Contains(testing::HasSubstr("2 of 3 dispatches")));
  EXPECT_THAT(b.into("a"), ElementsAre("before stream_order", "hipLaunchKernel@4 launch"));
  EXPECT_THAT(b.into("after"), ElementsAre("a stream_order"));
}

TEST(BuildGraph, ASegmentIsAGraphOfItsOwn) {
  Recording r;
  r.launch(kernel_call(0, 1), "a", 5, 25);
  r.launch(kernel_call(2, 3), "b", 25, 45);
  r.launch_copy(copy_call(4, 5), 46, 50);
  r.call(device_synchronize(6, 52));
  const Built whole = build(r);
  trace::Selection rows{.dispatches = {false, true},
                        .copies = {true},
                        .regions = std::vector<bool>(whole.trace.regions.size(), true),
                        .allocations = {}};
  rows.regions[0] = rows.regions[1] = false;  // both launches
  const Built part = build(trace::select(whole.trace, rows));
  EXPECT_THAT(part.edges(), testing::UnorderedElementsAre(
                                "b > copy@46 stream_order", "hipMemcpyAsync@4 > copy@46 launch",
                                "hipMemcpyAsync@4 > hipDeviceSynchronize@6 program_order",
                                "copy@46 > hipDeviceSynchronize@6 device_sync",
                                "b > hipDeviceSynchronize@6 device_sync"));  // of its queue
  EXPECT_EQ(part.path.report.without_launch, 1U);
  EXPECT_EQ(part.length(), 48);
  EXPECT_EQ(part.path.processes, 1U);
}

TEST(BuildGraph, AProcessOfNoMachineIsNoCrash) {
  test::WriterOptions options;
  options.strictness = test::Strictness::nullable;
  options.process.overrides = {{"nid", nullptr}};
  Recording r("a", options);
  r.launch(kernel_call(0, 1), "a", 5, 25);
  const Built b = build(r);
  EXPECT_EQ(b.path.report.dispatches, 1U);
}

TEST(BuildGraph, AnEmptyTraceHasNoPath) {
  Recording r;
  const Built b = build(r);
  EXPECT_EQ(b.graph().size(), 0U);
  EXPECT_EQ(b.path.length, 0);
  EXPECT_TRUE(b.path.segments.empty());
}

}  // namespace
}  // namespace perflab::analyze
