// analyze/critical_path/critical_path.h on traces by construction: path, attribution, slack, gains
// and bubbles worked out by hand. Times in microseconds. "L@3" in comments: the launching call that
// starts at 3.
#include "analyze/critical_path/critical_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analyze/critical_path/path_recording.h"

namespace perflab::analyze {
namespace {

using test::api_call;
using test::build;
using test::Built;
using test::copy_call;
using test::device_synchronize;
using test::event_record;
using test::handle;
using test::kernel_call;
using test::Recording;
using test::stream_synchronize;
using test::stream_wait_event;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr test::Handle kEventA = 0xa00, kEventB = 0xb00, kEventC = 0xc00;

/// "kernel" and "idle" of a bubble with the start of its call.
std::string bubble_text(const Built& b, std::size_t i) {
  const Bubble& bubble = b.path.bubbles.at(i);
  std::string text = std::to_string(bubble.from / b.unit) + "-" +
                     std::to_string(bubble.to / b.unit) + ": " + b.spent(bubble.spent);
  if (bubble.call == trace::kNone) return text;
  return text + "; " + std::string(b.trace.strings.view(b.trace.regions.name[bubble.call])) + "@" +
         std::to_string((b.trace.regions.start[bubble.call] - b.begin) / b.unit) + " " +
         std::to_string(bubble.call_time / b.unit);
}

// The host is far ahead, kernels follow each other: a deep queue.
//   L@0 L@3 L@6 sync@9......................................70
//          a 10-30   b 30-50 (gap 2) c 52-66
Built deep_queue() {
  Recording r;
  r.launch(kernel_call(0, 2), "a", 10, 30);
  r.launch(kernel_call(3, 5), "b", 30, 50);
  r.launch(kernel_call(6, 8), "c", 52, 66);
  r.call(device_synchronize(9, 70));
  return build(r);
}

TEST(CriticalPathByHand, DeepQueue) {
  const Built b = deep_queue();
  EXPECT_THAT(b.edges(),
              UnorderedElementsAre("hipLaunchKernel@0 > hipLaunchKernel@3 program_order",
                                   "hipLaunchKernel@3 > hipLaunchKernel@6 program_order",
                                   "hipLaunchKernel@6 > hipDeviceSynchronize@9 program_order",
                                   "hipLaunchKernel@0 > a launch", "hipLaunchKernel@3 > b launch",
                                   "hipLaunchKernel@6 > c launch", "a > b stream_order",
                                   "b > c stream_order", "c > hipDeviceSynchronize@9 device_sync"));
  EXPECT_EQ(b.length(), 70);
  // 70 <-4- c 66-52 <-2- b 50-30 a 30-10 <-8- L@0 2-0
  EXPECT_EQ(b.spent(), "kernel 54, launch_latency 8, host_call 2, sync_return 4, idle 2");
  EXPECT_EQ(b.slack("a"), 0);
  EXPECT_EQ(b.slack("b"), 0);
  EXPECT_EQ(b.slack("c"), 0);
  EXPECT_EQ(b.slack("hipLaunchKernel@0"), 0);
  // Work begins 8 after its launch returned (the only launch that held up its kernel): L@3 may
  // return at 30 - 8 instead of 5, L@6 at 52 - 8 instead of 8.
  EXPECT_EQ(b.slack("hipLaunchKernel@3"), 17);
  EXPECT_EQ(b.slack("hipLaunchKernel@6"), 36);
  EXPECT_EQ(b.slack("hipDeviceSynchronize@9"), 61);
}

TEST(CriticalPathByHand, NodesOnThePathOfADeepQueue) {
  EXPECT_THAT(deep_queue().on_path(),
              UnorderedElementsAre("hipLaunchKernel@0", "a", "b", "c", "hipDeviceSynchronize@9"));
}

TEST(CriticalPathByHand, GainsOfADeepQueue) {
  const Built b = deep_queue();
  ASSERT_EQ(b.path.kernels.size(), 3U);
  EXPECT_EQ(b.trace.strings.view(b.path.kernels[0].name), "a");
  EXPECT_EQ(b.trace.strings.view(b.path.kernels[1].name), "b");
  EXPECT_EQ(b.trace.strings.view(b.path.kernels[2].name), "c");
  // b of 13,333 ns: everything behind it comes 6,667 earlier.
  EXPECT_EQ(b.gain("b", 1.5), 6667);
  EXPECT_EQ(b.gain("b", 2), 10'000);
  EXPECT_EQ(b.gain("b", 0), 20'000);
  // Without a, b waits for its launch: 5 + 8 instead of 30.
  EXPECT_EQ(b.gain("a", 0), 17'000);
  EXPECT_EQ(b.gain("c", 2), 7'000);
  EXPECT_EQ(b.gain("c", 0), 14'000);
}

TEST(CriticalPathByHand, BubblesOfADeepQueue) {
  const Built b = deep_queue();
  EXPECT_EQ(b.path.bubble_count, 2U);
  EXPECT_EQ(b.path.bubble_time, 12'000);
  ASSERT_EQ(b.path.bubbles.size(), 2U);
  EXPECT_EQ(bubble_text(b, 0), "0-10: launch_latency 8, host_call 2; hipLaunchKernel@0 10");
  EXPECT_EQ(b.path.bubbles[0].cause, Spent::launch_latency);
  EXPECT_EQ(b.path.bubbles[0].before, kNoNode);
  EXPECT_EQ(bubble_text(b, 1), "50-52: idle 2");
  EXPECT_EQ(b.name(b.path.bubbles[1].before), "b");
  EXPECT_EQ(b.name(b.path.bubbles[1].after), "c");
}

TEST(CriticalPathByHand, ParallelismOfADeepQueue) {
  const Built b = deep_queue();
  ASSERT_EQ(b.path.concurrency.size(), 2U);
  EXPECT_EQ(b.path.concurrency[0].running, 0U);
  EXPECT_EQ(b.path.concurrency[0].time, 16'000);  // 0-10, 50-52, 66-70
  EXPECT_EQ(b.path.concurrency[1].running, 1U);
  EXPECT_EQ(b.path.concurrency[1].time, 54'000);
  ASSERT_EQ(b.path.parallelism.size(), 100U);  // of 0.7 each
  double dispatches = 0;
  for (const ParallelismBin& bin : b.path.parallelism) {
    dispatches += bin.dispatches;
    EXPECT_DOUBLE_EQ(bin.dispatches, bin.busy);
    EXPECT_EQ(bin.copies, 0);
  }
  EXPECT_NEAR(dispatches, 54 / 0.7, 1e-6);
  EXPECT_EQ(b.path.parallelism[0].busy, 0);
  EXPECT_EQ(b.path.parallelism[50].busy, 1);                  // 35.0-35.7
  EXPECT_NEAR(b.path.parallelism[14].busy, 0.5 / 0.7, 1e-9);  // 9.8-10.5
}

TEST(CriticalPathByHand, StretchesOfADeepQueue) {
  const Built b = deep_queue();
  // The host that launched, the stream from the return of that launch on, the host that waited.
  ASSERT_EQ(b.path.segments.size(), 3U);
  EXPECT_EQ(b.path.stretches, 3U);
  const PathSegment& launch = b.path.segments[0];
  EXPECT_EQ(launch.place, Place::host_thread);
  EXPECT_EQ(launch.to, 2'000);
  EXPECT_EQ(launch.nodes, 1U);
  EXPECT_EQ(b.spent(launch.spent), "host_call 2");
  EXPECT_EQ(launch.entered, std::nullopt);
  const PathSegment& stream = b.path.segments[1];
  EXPECT_EQ(stream.place, Place::stream);
  EXPECT_EQ(stream.place_id, 0);
  EXPECT_EQ(stream.entered, EdgeRule::launch);
  EXPECT_EQ(stream.from, 2'000);
  EXPECT_EQ(stream.to, 66'000);
  EXPECT_EQ(stream.nodes, 3U);
  ASSERT_EQ(stream.names.size(), 3U);
  EXPECT_EQ(b.trace.strings.view(stream.names[2].first), "c");
  EXPECT_EQ(stream.names[2].second, 14'000);
  const PathSegment& host = b.path.segments[2];
  EXPECT_EQ(host.place, Place::host_thread);
  EXPECT_EQ(host.place_id, 4242);
  EXPECT_EQ(b.spent(host.spent), "sync_return 4");
  EXPECT_EQ(host.entered, EdgeRule::device_sync);
}

// 60 rounds of launch, kernel and wait; kernel 17 is by far the longest. The path is in the stream
// once a round, from the return of the launch on, and on the host around it: 60 + 61 stretches.
TEST(CriticalPathByHand, ManyStretchesAreFolded) {
  Recording r;
  for (std::int64_t i = 0, at = 0; i < 60; ++i) {
    const std::int64_t end = at + (i == 17 ? 5'000 : 100 + i);
    r.launch(kernel_call(at, at + 2), i % 2 == 0 ? "even" : "odd", at + 5, end);
    r.call(device_synchronize(at + 3, end + 40));
    at = end + 50;
  }
  const auto file = r.write();
  CriticalPathOptions options;
  options.most_segments = 1000;
  const Built whole = build({file}, options);
  EXPECT_EQ(whole.path.stretches, 121U);
  EXPECT_EQ(whole.path.segments.size(), 121U);
  options.most_segments = 7;
  const Built b = build({file}, options);
  EXPECT_EQ(b.path.stretches, 121U);
  EXPECT_EQ(b.path.segments.size(), 7U);
  std::uint64_t stretches = 0, nodes = 0, nodes_of_whole = 0;
  SpentTimes spent{};
  bool longest = false;
  for (const PathSegment& segment : b.path.segments) {
    stretches += segment.folded + 1;
    nodes += segment.nodes;
    for (std::size_t i = 0; i < kSpentKinds; ++i) spent[i] += segment.spent[i];
    EXPECT_LE(segment.names.size(), kMostNamesOfSegment);
    longest = longest || (segment.folded == 0 && segment.to - segment.from == 4'998'000 &&
                          segment.place == Place::stream);
  }
  for (const PathSegment& segment : whole.path.segments) nodes_of_whole += segment.nodes;
  EXPECT_TRUE(longest);
  EXPECT_EQ(stretches, 121U);
  EXPECT_EQ(nodes, nodes_of_whole);
  EXPECT_EQ(spent, b.path.spent);
}

// The host takes longer for each launch than the kernels run.
//   L@0...10 L@12...22 L@24...34 sync@36-38
//     a 5-8    b 17-20   c 29-32
Built storm() {
  Recording r;
  r.launch(kernel_call(0, 10), "a", 5, 8);
  r.launch(kernel_call(12, 22), "b", 17, 20);
  r.launch(kernel_call(24, 34), "c", 29, 32);
  r.call(device_synchronize(36, 38));
  return build(r);
}

TEST(CriticalPathByHand, LaunchStorm) {
  const Built b = storm();
  EXPECT_EQ(b.length(), 38);
  EXPECT_EQ(b.spent(), "host_call 32, host_code 6");
  for (const KernelCriticality& kernel : b.path.kernels) {
    EXPECT_EQ(kernel.path_time, 0);
    EXPECT_EQ(kernel.on_path, 0U);
    EXPECT_TRUE(kernel.gains.empty());
  }
  EXPECT_EQ(bubble_text(b, 0),
            "8-17: launch_latency 5, host_call 2, host_code 2; "
            "hipLaunchKernel@12 5");
}

TEST(CriticalPathByHand, KernelsOfALaunchStormHaveSlack) {
  const Built b = storm();
  // c may end when the call that waits returns (38), b when c then has to begin (35), a at 32.
  EXPECT_EQ(b.slack("c"), 6);
  EXPECT_EQ(b.slack("b"), 15);
  EXPECT_EQ(b.slack("a"), 24);
  for (const KernelCriticality& kernel : b.path.kernels) EXPECT_EQ(kernel.without_slack, 0U);
}

// 4 bytes do not hold ten seconds in ns.
TEST(CriticalPathByHand, SlacksOfSecondsAreExact) {
  constexpr std::int64_t kLater = 10'000'000;
  Recording r;
  r.launch(kernel_call(0, 2), "early", 5, 8);
  r.launch(kernel_call(12, 14), "early", 17, 20);
  r.launch(kernel_call(kLater, kLater + 2), "late", kLater + 5, kLater + 8);
  r.call(device_synchronize(kLater + 20, kLater + 22));
  const Built b = build(r);
  ASSERT_EQ(b.path.kernels.size(), 2U);
  for (const KernelCriticality& kernel : b.path.kernels) {
    const bool is_late = b.trace.strings.view(kernel.name) == "late";
    const std::int64_t shortest =
        is_late ? b.slack("late") : std::min(b.slack("early@5"), b.slack("early@17"));
    EXPECT_EQ(kernel.least_slack, shortest * b.unit);
    EXPECT_EQ(kernel.median_slack, shortest * b.unit);
    EXPECT_EQ(kernel.without_slack, 0U);
    EXPECT_EQ(shortest > kLater / 2, !is_late) << shortest;
  }
}

// Ten launches of 60 each, 1 apart, and kernels of 3 that begin 5 after the return of their launch:
// the next launch runs already.
//   L@0....60 L@61....121 L@122....182 ... L@549....609 sync@610-619
//               0 65-68      1 126-129             9 614-617
// The same with launches of 5 and kernels that begin 3 after them.
//   L@0-5 L@6-11 L@12-17 ... L@54-59 sync@60-67
//           0 8-11 1 14-17     9 62-65
std::filesystem::path write_host_bound(std::int64_t call, std::int64_t latency) {
  Recording r;
  for (std::int64_t i = 0; i < 10; ++i) {
    const std::int64_t at = i * (call + 1), start = at + call + latency;
    r.launch(kernel_call(at, at + call), i < 9 ? "early" : "last", start, start + 3);
  }
  const std::int64_t done = 9 * (call + 1) + call + latency + 3;
  r.call(device_synchronize(10 * (call + 1), done + 2));
  return r.write();
}

/// What the whole run gains by that change.
std::int64_t gain_of(const std::filesystem::path& file, std::string_view what_if) {
  CriticalPathOptions options;
  options.what_if = {parse_what_if(what_if).value()};
  const Built b = build({file}, options);
  EXPECT_EQ(b.path.what_if->gain, b.path.length - b.path.what_if->makespan);
  return b.path.what_if->gain;
}

std::vector<std::string> host_bound_path(std::int64_t call) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < 10; ++i)
    names.push_back("hipLaunchKernel@" + std::to_string(i * (call + 1)));
  names.emplace_back("last");
  names.push_back("hipDeviceSynchronize@" + std::to_string(10 * (call + 1)));
  return names;
}

TEST(CriticalPathByHand, LaunchesThatTakeLongAreThePathAndNothingIsIdle) {
  const auto file = write_host_bound(60, 5);
  const Built b = build({file});
  EXPECT_EQ(b.count(EdgeRule::launch), 10U);
  EXPECT_EQ(b.length(), 619);
  // 619 <-2- last 617-614 <-5- L@549 609-549 <-1- L@488 548-488 <-1- ... L@0 60-0
  EXPECT_EQ(b.spent(), "kernel 3, launch_latency 5, host_call 600, sync_return 2, host_code 9");
  EXPECT_THAT(b.on_path(), testing::UnorderedElementsAreArray(host_bound_path(60)));
  // Nothing ran from 68 to 126: in L@61 from 68 to 121.
  const auto bubble = std::ranges::find(b.path.bubbles, 68'000, &Bubble::from);
  ASSERT_NE(bubble, b.path.bubbles.end());
  EXPECT_EQ(bubble_text(b, static_cast<std::size_t>(bubble - b.path.bubbles.begin())),
            "68-126: launch_latency 5, host_call 53; hipLaunchKernel@61 58");
  EXPECT_EQ(bubble->cause, Spent::host_call);
}

TEST(CriticalPathByHand, WhatAnApplicationOfLongLaunchesGains) {
  const auto file = write_host_bound(60, 5);
  // Launches at 0, 1, ... 9: kernel 0 at 5, the others behind each other up to 5 + 10 * 3 = 35,
  // and 2 for the return.
  EXPECT_EQ(gain_of(file, "launch=0"), 619'000 - 37'000);
  EXPECT_EQ(gain_of(file, "^early$=0"), 0);
  EXPECT_EQ(gain_of(file, "^early$=2x"), 0);
  EXPECT_EQ(gain_of(file, "^last$=0"), 3'000);  // the host waits for that one at the end
  EXPECT_EQ(gain_of(file, "sync=drop"), 619'000 - 617'000);
}

TEST(CriticalPathByHand, ShortLaunchesCanBeThePathToo) {
  const auto file = write_host_bound(5, 3);
  const Built b = build({file});
  EXPECT_EQ(b.length(), 67);
  // 67 <-2- last 65-62 <-3- L@54 59-54 <-1- L@48 53-48 <-1- ... L@0 5-0
  EXPECT_EQ(b.spent(), "kernel 3, launch_latency 3, host_call 50, sync_return 2, host_code 9");
  EXPECT_THAT(b.on_path(), testing::UnorderedElementsAreArray(host_bound_path(5)));
  // Then the kernels are the path: 3 + 10 * 3 and 2 for the return.
  EXPECT_EQ(gain_of(file, "launch=0"), 67'000 - 35'000);
  EXPECT_EQ(gain_of(file, "^early$=0"), 0);
  EXPECT_EQ(gain_of(file, "^last$=0"), 3'000);
}

TEST(CriticalPathByHand, KernelsBetweenLongLaunchesHaveSlack) {
  const Built b = build({write_host_bound(60, 5)});
  EXPECT_EQ(b.slack("last"), 0);
  // Each may begin 3 before the next one: kernel 8 at 611, not 553, kernel 0 at 614 - 9 * 3,
  // not 65.
  EXPECT_EQ(b.slack("early@553"), 58);
  EXPECT_EQ(b.slack("early@65"), 522);
  EXPECT_EQ(b.slack("hipLaunchKernel@0"), 0);
  EXPECT_EQ(b.slack("hipLaunchKernel@549"), 0);
}

// a, then b and c side by side, then d, by events.
//   stream 1: a 5-25                                   d 70-80
//   stream 2:         b 27--------------------67
//   stream 3:          c 28--------48
Built fork_join() {
  Recording r;
  r.launch(kernel_call(0, 2, handle(1)), "a", 5, 25, {.stream = 1, .queue = 1});
  r.call(event_record(3, 4, kEventA, handle(1)));
  r.call(stream_wait_event(5, 6, handle(2), kEventA));
  r.launch(kernel_call(7, 9, handle(2)), "b", 27, 67, {.stream = 2, .queue = 2});
  r.call(stream_wait_event(10, 11, handle(3), kEventA));
  r.launch(kernel_call(12, 14, handle(3)), "c", 28, 48, {.stream = 3, .queue = 3});
  r.call(event_record(15, 16, kEventB, handle(2)));
  r.call(event_record(17, 18, kEventC, handle(3)));
  r.call(stream_wait_event(19, 20, handle(1), kEventB));
  r.call(stream_wait_event(21, 22, handle(1), kEventC));
  r.launch(kernel_call(23, 25, handle(1)), "d", 70, 80, {.stream = 1, .queue = 1});
  r.call(stream_synchronize(26, 84, handle(1)));
  return build(r);
}

TEST(CriticalPathByHand, ForkJoinThroughEvents) {
  const Built b = fork_join();
  EXPECT_THAT(b.into("a"), ElementsAre("hipLaunchKernel@0 launch"));
  EXPECT_THAT(b.into("b"), ElementsAre("a event_wait", "hipLaunchKernel@7 launch"));
  EXPECT_THAT(b.into("c"), ElementsAre("a event_wait", "hipLaunchKernel@12 launch"));
  EXPECT_THAT(b.into("d"), ElementsAre("a stream_order", "b event_wait", "c event_wait",
                                       "hipLaunchKernel@23 launch"));
  EXPECT_THAT(b.into("hipStreamSynchronize@26"),
              ElementsAre("d stream_sync", "hipLaunchKernel@23 program_order"));
  EXPECT_EQ(b.length(), 84);
  // 84 <-4- d 80-70 <-3- b 67-27 <-2- a 25-5 <-3- L@0 2-0
  EXPECT_EQ(b.spent(), "kernel 70, launch_latency 3, host_call 2, sync_return 4, idle 5");
  // Waits for events took 2 (b), 3 (c), 3 (d): usually 3. c may end at 70 - 3.
  EXPECT_EQ(b.slack("c"), 19);
  EXPECT_EQ(b.slack("b"), 0);
  EXPECT_EQ(b.path.report.unknown_events, 0U);
}

TEST(CriticalPathByHand, GainsOfAForkJoin) {
  const Built b = fork_join();
  EXPECT_EQ(b.gain("d", 0), 10'000);
  // b of no length ends at 27; d waits for c at 48, and 3 for the event: 51 instead of 70.
  EXPECT_EQ(b.gain("b", 0), 19'000);
  EXPECT_EQ(b.gain("b", 2), 19'000);
  EXPECT_EQ(b.gain("b", 1.5), 13'333);
}

// Copies in stream 1, kernels in stream 2, each kernel after its copy.
Built overlap() {
  Recording r;
  r.launch_copy(copy_call(0, 2, handle(1)), 5, 25, {.stream = 1});
  r.call(event_record(2, 3, kEventA, handle(1)));
  r.launch_copy(copy_call(4, 6, handle(1)), 25, 45, {.stream = 1});
  r.call(event_record(6, 7, kEventB, handle(1)));
  r.call(stream_wait_event(8, 9, handle(2), kEventA));
  r.launch(kernel_call(10, 11, handle(2)), "k1", 28, 58, {.stream = 2, .queue = 2});
  r.call(stream_wait_event(12, 13, handle(2), kEventB));
  r.launch(kernel_call(14, 15, handle(2)), "k2", 58, 88, {.stream = 2, .queue = 2});
  r.call(device_synchronize(16, 90));
  return build(r);
}

TEST(CriticalPathByHand, CopiesBesideKernels) {
  const Built b = overlap();
  EXPECT_THAT(b.into("k1"), ElementsAre("copy@5 event_wait", "hipLaunchKernel@10 launch"));
  EXPECT_THAT(b.into("k2"),
              ElementsAre("copy@25 event_wait", "hipLaunchKernel@14 launch", "k1 stream_order"));
  EXPECT_THAT(b.into("copy@25"), ElementsAre("copy@5 stream_order", "hipMemcpyAsync@4 launch"));
  EXPECT_THAT(
      b.into("hipDeviceSynchronize@16"),
      ElementsAre("copy@25 device_sync", "hipLaunchKernel@14 program_order", "k2 device_sync"));
  EXPECT_EQ(b.length(), 90);
  // 90 <-2- k2 88-58 k1 58-28 <-3- copy 25-5 <-3- L@0 2-0
  EXPECT_EQ(b.spent(), "kernel 60, copy 20, launch_latency 3, host_call 2, sync_return 2, idle 3");
  // The only wait that held anything up took 3: the copy may end at 58 - 3.
  EXPECT_EQ(b.slack("copy@25"), 10);
  ASSERT_EQ(b.path.concurrency.size(), 3U);
  EXPECT_EQ(b.path.concurrency[0].time, 7'000);   // 0-5, 88-90
  EXPECT_EQ(b.path.concurrency[1].time, 66'000);  // 5-28, 45-88
  EXPECT_EQ(b.path.concurrency[2].time, 17'000);  // 28-45
  ASSERT_EQ(b.path.most_slack.size(), 1U);
  EXPECT_EQ(b.name(b.path.most_slack[0].node), "copy@25");
}

// Host work between a wait and the next launch: that time passes in no call.
TEST(CriticalPathByHand, HostCodeBetweenCallsIsNotTimeInACall) {
  Recording r;
  r.launch(kernel_call(0, 2), "a", 5, 25);
  r.call(device_synchronize(3, 30));
  r.launch(kernel_call(1030, 1032), "b", 1036, 1040);
  const Built b = build(r);
  ASSERT_EQ(b.path.bubbles.size(), 2U);
  EXPECT_EQ(b.path.bubbles[0].cause, Spent::host_code);
  // 25-30 in the wait, 1000 between the calls, 2 in the launch, 4 from its return to its kernel.
  EXPECT_EQ(bubble_text(b, 0),
            "25-1036: launch_latency 4, host_call 2, sync_return 5, host_code 1000; "
            "hipLaunchKernel@1030 6");
}

// What a thread did before its first call nobody knows: that time is not the call's either.
TEST(CriticalPathByHand, IdleTimeBeforeACallIsNotTimeInIt) {
  Recording r;
  const test::Id other = r.thread(4243);
  r.launch(kernel_call(0, 2, handle(1)), "a", 5, 25, {.stream = 1});
  r.launch(kernel_call(100, 102, handle(2)), "b", 105, 110,
           {.stream = 2, .queue = 2, .tid = other});
  const Built b = build(r);
  ASSERT_EQ(b.path.bubbles.size(), 2U);
  EXPECT_EQ(bubble_text(b, 0),
            "25-105: launch_latency 3, host_call 2, idle 75; "
            "hipLaunchKernel@100 5");
  EXPECT_EQ(b.path.bubbles[0].cause, Spent::idle);
}

TEST(CriticalPathByHand, ACallThatTookLongIsTheCauseOfItsBubble) {
  Recording r;
  r.launch(kernel_call(0, 2), "a", 5, 25);
  r.call(api_call("hipMalloc", 3, 200));
  r.launch(kernel_call(201, 203), "b", 206, 210);
  const Built b = build(r);
  ASSERT_FALSE(b.path.bubbles.empty());
  EXPECT_EQ(bubble_text(b, 0),
            "25-206: launch_latency 3, host_call 177, host_code 1; hipMalloc@3 175");
  EXPECT_EQ(b.path.bubbles[0].cause, Spent::host_call);
}

test::WriterOptions process_options(int number, int node = 0) {
  test::WriterOptions options;
  options.guid = "0000000" + std::to_string(number) + "-7f00-7000-8000-000000000001";
  options.process.pid = 4000 + number;
  options.node.id += node;
  options.node.hash += node;
  options.node.machine_id.back() = static_cast<char>('0' + node);
  options.node.hostname = "node" + std::to_string(node);
  return options;
}

TEST(CriticalPathByHand, ProcessesShareAClockAndNothingElse) {
  Recording first("first", process_options(1));
  Recording second("second", process_options(2));
  first.launch(kernel_call(0, 2), "a", 5, 25);
  first.call(device_synchronize(3, 28));
  second.launch(kernel_call(20, 22), "b", 25, 60);  // in stream 0 and queue 1 too
  second.call(device_synchronize(23, 64));
  const auto f = first.write(), s = second.write();
  const Built b = build({f, s});
  EXPECT_EQ(b.path.processes, 2U);
  EXPECT_TRUE(b.path.other_nodes.empty());
  EXPECT_THAT(b.into("b"), ElementsAre("hipLaunchKernel@20 launch"));
  EXPECT_THAT(b.into("hipLaunchKernel@20"), ElementsAre());
  EXPECT_EQ(b.length(), 64);
  // Nothing is known of what the second process did before its first call.
  EXPECT_EQ(b.spent(), "kernel 35, launch_latency 3, host_call 2, sync_return 4, idle 20");
  EXPECT_EQ(b.summary(), build({s, f}).summary());
}

TEST(CriticalPathByHand, MachinesAreKeptApartAndThatIsSaid) {
  Recording first("first", process_options(1));
  Recording second("second", process_options(2, 1));
  first.launch(kernel_call(0, 2), "a", 5, 25);
  second.launch(kernel_call(1000, 1002), "b", 1005, 1100);
  second.launch(kernel_call(1003, 1004), "b2", 1100, 1105);
  const auto f = first.write(), s = second.write();
  for (const bool swapped : {false, true}) {
    const Built b = swapped ? build({s, f}) : build({f, s});
    EXPECT_EQ(b.path.report.dispatches, 2U);
    EXPECT_EQ(b.length(), 105);
    ASSERT_EQ(b.path.other_nodes.size(), 1U);
    EXPECT_EQ(b.path.other_nodes[0].dispatches, 1U);
    EXPECT_EQ(b.path.other_nodes[0].processes, 1U);
    EXPECT_EQ(b.path.other_nodes[0].span, 20'000);
    EXPECT_THAT(b.path.warnings, testing::Contains(HasSubstr("one of 2 machines")));
  }
}

TEST(CriticalPathByHand, NothingOfAnEqualMachineDependsOnTheOrderOfFiles) {
  Recording first("first", process_options(1));
  Recording second("second", process_options(2, 1));
  first.launch(kernel_call(0, 2), "a", 5, 25);
  second.launch(kernel_call(100, 102), "b", 105, 125);
  const auto f = first.write(), s = second.write();
  EXPECT_EQ(build({f, s}).summary(), build({s, f}).summary());
}

// Two processes that do the same at the same time: which of them is shown must not depend on the
// order of files.
TEST(CriticalPathByHand, NothingOfEqualTimesDependsOnTheOrderOfFiles) {
  Recording first("first", process_options(1));
  Recording second("second", process_options(2));
  for (Recording* r : {&first, &second}) {
    const std::string own = r == &first ? "a" : "b";
    r->launch(kernel_call(0, 2), own + "1", 5, 25);
    r->launch(kernel_call(3, 4), own + "2", 25, 45);
    r->launch(kernel_call(5, 6), own + "3", 45, 65);
    r->launch(kernel_call(7, 8), own + "4", 65, 85);
    r->call(api_call("hipMalloc", 9, 100));
    r->launch(kernel_call(101, 102), own + "5", 105, 125);
  }
  const auto f = first.write(), s = second.write();
  EXPECT_EQ(build({f, s}).summary(), build({s, f}).summary());
}

TEST(CriticalPathByHand, GraphLaunchesOfWhichNothingWasRecordedAreBlind) {
  Recording r;
  const test::Id stack = r.writer().next_stack_id();
  r.call(api_call("hipGraphLaunch", 0, 4, {test::stream_argument(handle(1))}, stack));
  r.dispatch("g1", 10, 20, {.stream = 1}, stack);
  r.dispatch("g2", 21, 30, {.stream = 1}, stack);
  r.call(api_call("hipGraphLaunch", 5, 8, {test::stream_argument(handle(1))},
                  r.writer().next_stack_id()));
  r.call(stream_synchronize(9, 90, handle(1)));
  const Built b = build(r);
  EXPECT_EQ(b.path.report.graph_launches, 2U);
  EXPECT_EQ(b.path.report.blind_graph_launches, 1U);
  EXPECT_THAT(b.path.warnings, testing::Contains(HasSubstr("1 of 2 graph launches")));
  EXPECT_THAT(b.into("g1"), ElementsAre("hipGraphLaunch@0 launch"));
  EXPECT_THAT(b.into("g2"), ElementsAre("g1 stream_order", "hipGraphLaunch@0 launch"));
  // What happened between 30 and 90 nobody knows; the call that returned then waited.
  EXPECT_EQ(b.length(), 90);
}

TEST(CriticalPathByHand, WhatIfAnswersForAllChangesTogether) {
  Recording r;
  r.launch(kernel_call(0, 2), "a", 10, 30);
  r.launch(kernel_call(3, 5), "b", 30, 50);
  r.launch(kernel_call(6, 8), "c", 52, 66);
  r.call(device_synchronize(9, 70));
  CriticalPathOptions options;
  options.what_if = {parse_what_if("^b$=2x").value(), parse_what_if("^c$=+10us").value()};
  const auto file = r.write();
  const Built both = build({file}, options);
  ASSERT_TRUE(both.path.what_if);
  EXPECT_EQ(both.path.what_if->makespan, 70'000);  // 10 less, 10 more
  EXPECT_THAT(both.path.what_if->matched, ElementsAre(1U, 1U));
  // On one kernel, in their order: 10 more, then all of it twice as fast.
  options.what_if = {parse_what_if("^b$=+10us").value(), parse_what_if("^b$=2x").value()};
  EXPECT_EQ(build({file}, options).path.what_if->makespan, 65'000);
  options.what_if = {parse_what_if("a|b=0").value()};
  // Launches: b may begin at 13, c at 16; c then waits for its own launch.
  const Built none = build({file}, options);
  EXPECT_EQ(none.path.what_if->makespan, 70'000 - (52'000 - 16'000));
  // The host never waits: L@6 ends at 8, sync at 9; c still ends at 66.
  options.what_if = {parse_what_if("sync=drop").value()};
  const Built dropped = build({file}, options);
  EXPECT_EQ(dropped.path.what_if->makespan, 66'000);
  EXPECT_THAT(dropped.path.what_if->matched, ElementsAre(1U));
  options.what_if = {parse_what_if("nothing of that name=2x").value()};
  const trace::Trace& trace = dropped.trace;
  const Result<CriticalPath> failed = find_critical_path(trace, dropped.scope, options);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::usage);
  EXPECT_THAT(failed.error().message, HasSubstr("nothing of that name=2x"));
}

// The runtime copies with kernels of its own where no copy engine does. Others of its kernels fill.
TEST(CriticalPathByHand, KernelsThatCopyAreCopiesOfWhatIf) {
  Recording r;
  r.launch_copy(copy_call(0, 2), 5, 25);
  r.launch(copy_call(3, 4), "__amd_rocclr_copyBuffer", 25, 45);
  r.launch(kernel_call(5, 6), "__amd_rocclr_fillBufferAligned", 45, 55);
  r.launch(kernel_call(7, 8), "my__amd_rocclr_copy", 55, 65);
  r.launch(kernel_call(9, 10), "__amd_rocclr_copyBufferRectAligned", 65, 85);
  CriticalPathOptions options;
  options.what_if = {parse_what_if("copy=2x").value()};
  const auto file = r.write();
  const Built copies = build({file}, options);
  EXPECT_EQ(copies.length(), 85);
  EXPECT_THAT(copies.path.what_if->matched, ElementsAre(3U));
  EXPECT_EQ(copies.path.what_if->gain, 30'000);  // half of three times 20
  options.what_if = {parse_what_if("copy=0").value(), parse_what_if("copyBuffer$=+7us").value()};
  const Built both = build({file}, options);
  EXPECT_THAT(both.path.what_if->matched, ElementsAre(3U, 1U));
  // The copy ends at 5, the kernels behind it wait for their launches, 3 after these returned:
  // 7-14, 14-24, 24-34, 34.
  EXPECT_EQ(both.path.what_if->makespan, 34'000);
  // As kernels they are what they are called; the copy is no kernel.
  options.what_if = {parse_what_if("rocclr_copy=2x").value()};
  const Built kernels = build({file}, options);
  EXPECT_THAT(kernels.path.what_if->matched, ElementsAre(3U));  // "my__..." too
  EXPECT_EQ(kernels.path.what_if->gain, 25'000);
}

}  // namespace
}  // namespace perflab::analyze
