// The timeline: on traces by hand, and on traces by chance whose sums are known (nothing is lost,
// whatever is merged).
#include "analyze/timeline/timeline.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>

#include "analyze/critical_path/critical_path.h"
#include "analyze/trace_builder.h"
#include "support/prng.h"

namespace perflab::analyze {
namespace {

void set_last(PackedColumn<trace::Index>& column, trace::Index value) {
  column.set(column.size() - 1, value);
}

using test::Prng;
using testing::ElementsAre;
using testing::SizeIs;
using trace::Index;
using trace::kNone;

TimingScope scope_of_all(const trace::Trace& trace) {
  return {.source_counts = std::vector<bool>(trace.sources.size(), true),
          .track_counts = std::vector<bool>(trace.tracks.size(), true)};
}

Timeline whole_timeline(const trace::Trace& trace, const TimelineLimits& limits = {}) {
  const TimingScope scope = scope_of_all(trace);
  return make_timeline(trace, scope, whole_window(trace, scope, 0), nullptr, limits);
}

/// "start+duration name*count/busy" of every slice.
std::vector<std::string> slices(const trace::Trace& trace, const Timeline& timeline,
                                std::size_t lane) {
  std::vector<std::string> out;
  for (const TimelineSlice& slice : timeline.lanes.at(lane).slices)
    out.push_back(fmt::format("{}+{} {}*{}/{}", slice.start, slice.duration,
                              trace.strings.view(timeline.names.at(slice.name).name), slice.count,
                              slice.busy));
  return out;
}

TEST(Timeline, CallsStandOnTheirThreadAndWorkOnItsQueue) {
  TraceBuilder builder;
  builder.source();
  builder.agent("gfx942");
  const Index queue = builder.queue(), kernel = builder.kernel("gemm");
  builder.region("HIP_RUNTIME_API", "hipLaunchKernel", 1000, 20);
  builder.dispatch(kernel, {.start = 1030, .duration = 100, .queue = queue});
  builder.copy("MEMORY_COPY_DEVICE_TO_HOST", 1140, 10, 64);
  const Timeline timeline = whole_timeline(builder.trace);
  EXPECT_EQ(timeline.begin, 1000);
  EXPECT_EQ(timeline.span, 150);
  EXPECT_EQ(timeline.resolution, 0);
  EXPECT_FALSE(timeline.path);
  ASSERT_THAT(timeline.lanes, SizeIs(3));
  EXPECT_EQ(timeline.lanes[0].kind, Place::host_thread);
  EXPECT_EQ(timeline.lanes[1].kind, Place::queue);
  EXPECT_EQ(timeline.lanes[2].kind, Place::nowhere);
  EXPECT_THAT(slices(builder.trace, timeline, 0), ElementsAre("0+20 hipLaunchKernel*1/20"));
  EXPECT_THAT(slices(builder.trace, timeline, 1), ElementsAre("30+100 gemm*1/100"));
  EXPECT_THAT(slices(builder.trace, timeline, 2),
              ElementsAre("140+10 MEMORY_COPY_DEVICE_TO_HOST*1/10"));
}

TEST(Timeline, CallsInsideCallsAreCountedAndRangesOfTheUserAreNone) {
  TraceBuilder builder;
  builder.source();
  builder.region("MARKER_CORE_RANGE_API", "step", 1000, 500);
  builder.region("HIP_RUNTIME_API", "hipMemcpy", 1010, 100);
  builder.region("HSA_CORE_API", "hsa_signal_create", 1020, 5);
  builder.region("HSA_CORE_API", "hsa_signal_wait", 1030, 80);
  builder.region("HIP_RUNTIME_API", "hipFree", 1110, 7);
  const Timeline timeline = whole_timeline(builder.trace);
  ASSERT_THAT(timeline.lanes, SizeIs(1));
  EXPECT_THAT(slices(builder.trace, timeline, 0),
              ElementsAre("0+100 hipMemcpy*3/100", "100+7 hipFree*1/7"));
  EXPECT_EQ(timeline.lanes[0].operations, 4U);
  EXPECT_EQ(timeline.lanes[0].busy, 107);
}

TEST(Timeline, ShortNeighboursAreMergedUnderTheNameWithTheMostTime) {
  TraceBuilder builder;
  builder.source();
  const Index a = builder.kernel("a"), b = builder.kernel("b"), c = builder.kernel("long");
  // Two rows of short ones with a long one between.
  std::int64_t at = 1000;
  for (int i = 0; i < 8; ++i, at += 10)
    builder.dispatch(i % 4 == 0 ? b : a, {.start = at, .duration = i % 4 == 0 ? 9 : 2});
  builder.dispatch(c, {.start = at, .duration = 4000});
  at += 4000;
  for (int i = 0; i < 8; ++i, at += 10) builder.dispatch(a, {.start = at, .duration = 2});
  const Timeline timeline = whole_timeline(builder.trace, {.slices = 4});
  ASSERT_THAT(timeline.lanes, SizeIs(1));
  EXPECT_GT(timeline.resolution, 40);
  EXPECT_LE(timeline.resolution, 4000);
  const auto& all = timeline.lanes[0].slices;
  ASSERT_LE(all.size(), 4U);
  const auto name = [&](const TimelineSlice& slice) {
    return builder.trace.strings.view(timeline.names[slice.name].name);
  };
  EXPECT_EQ(name(all.front()), "b");  // 18 ns of b, 12 of a
  EXPECT_EQ(all.front().count, 8U);
  EXPECT_EQ(all.front().busy, 30);
  EXPECT_EQ(all.front().duration, 72);
  EXPECT_EQ(name(all[1]), "long");
  EXPECT_EQ(all[1].count, 1U);
  EXPECT_EQ(all[1].duration, 4000);
}

TEST(Timeline, AWindowCutsWhatCrossesItAndCountsTheRest) {
  TraceBuilder builder;
  builder.source();
  const Index kernel = builder.kernel("k");
  for (const std::int64_t start : {1000, 1100, 1200, 1300, 1400})
    builder.dispatch(kernel, {.start = start, .duration = 100});
  const TimingScope scope = scope_of_all(builder.trace);
  const Timeline timeline =
      make_timeline(builder.trace, scope, {.node = 0, .begin = 1150, .span = 150}, nullptr);
  ASSERT_THAT(timeline.lanes, SizeIs(1));
  EXPECT_THAT(slices(builder.trace, timeline, 0), ElementsAre("0+50 k*1/50", "50+100 k*1/100"));
  EXPECT_EQ(timeline.outside.operations, 3U);
  EXPECT_EQ(timeline.outside.busy, 350);
}

TEST(Timeline, OfTooManyLanesTheBusiestStayAndHalfAreOfTheGpu) {
  TraceBuilder builder;
  builder.source();
  builder.agent("gfx942");
  const Index kernel = builder.kernel("k");
  std::vector<Index> queues;
  for (int i = 0; i < 10; ++i) queues.push_back(builder.queue());
  std::int64_t duration = 100;
  for (const Index queue : queues)
    builder.dispatch(kernel, {.start = 2000, .duration = duration++, .queue = queue});
  for (int i = 0; i < 30; ++i) {
    builder.trace.threads.push_back({.process = 0, .tid = 100 + i});
    builder.region("HIP_RUNTIME_API", "hipDeviceSynchronize", 1000, 5000 + i);
  }
  const Timeline timeline = whole_timeline(builder.trace, {.lanes = 8});
  ASSERT_THAT(timeline.lanes, SizeIs(8));
  EXPECT_EQ(std::ranges::count(timeline.lanes, Place::queue, &TimelineLane::kind), 4);
  std::vector<std::int64_t> busy;
  for (const TimelineLane& lane : timeline.lanes) busy.push_back(lane.busy);
  EXPECT_THAT(busy, ElementsAre(5026, 5027, 5028, 5029, 106, 107, 108, 109));
  EXPECT_EQ(timeline.left_out.lanes, 32U);
  EXPECT_EQ(timeline.left_out.operations, 32U);
  // Few threads leave their room to the GPU.
  EXPECT_EQ(std::ranges::count(whole_timeline(builder.trace, {.lanes = 39}).lanes, Place::queue,
                               &TimelineLane::kind),
            10);
}

TEST(Timeline, EveryGpuHasADefaultStreamOfItsOwn) {
  TraceBuilder builder;
  builder.source();
  const Index kernel = builder.kernel("k");
  builder.trace.streams.push_back({.source = 0, .id = 0, .name = {}});
  builder.trace.streams.push_back({.source = 0, .id = 7, .name = {}});
  const Index first = builder.agent("gfx942"), second = builder.agent("gfx942");
  const auto track = [&](Index agent, Index stream) {
    builder.trace.tracks.push_back(
        {.process = 0, .thread = 0, .agent = agent, .queue = kNone, .stream = stream});
  };
  track(first, 0);
  track(second, 0);
  track(first, 1);
  track(second, 1);
  for (Index i = 0; i < 4; ++i) {
    builder.dispatch(kernel, {.start = 1000 + i, .duration = 10});
    set_last(builder.trace.dispatches.track, i);
  }
  const Timeline timeline = whole_timeline(builder.trace);
  ASSERT_THAT(timeline.lanes, SizeIs(3));
  EXPECT_EQ(timeline.lanes[0].agent, first);
  EXPECT_EQ(timeline.lanes[1].agent, second);
  EXPECT_THAT(timeline.lanes[2].slices, SizeIs(2));
}

/// A trace by chance: two processes on one machine and one on another, three threads with calls in
/// calls, streams, queues, copies; times are few, so that equal ones and lengths of zero are
/// common.
class RandomRun {
 public:
  explicit RandomRun(std::uint64_t seed)
      : random_(seed), range_(20 + random_.below(30'000)), rows_(1 + random_.below(300)) {
    for (int i = 0; i < 3; ++i) {
      builder_.source();
      builder_.trace.processes.back().node = i == 2 ? 1U : 0U;
    }
    builder_.trace.nodes.emplace_back();
    builder_.agent("gfx942");
    builder_.agent("gfx942");
    for (const char* name : {"a", "b", "c"}) builder_.kernel(name);
    make_tracks();
    make_work();
    make_calls();
  }
  trace::Trace& trace() { return builder_.trace; }

 private:
  using Times = std::vector<std::pair<std::int64_t, std::int64_t>>;  ///< start, -end

  void make_tracks() {
    trace::Trace& trace = builder_.trace;
    for (Index process = 0; process < 3; ++process) {
      trace.queues.push_back({.source = process, .id = 1, .name = {}});
      for (int id = 0; id < 2; ++id)
        trace.streams.push_back({.source = process, .id = id, .name = {}});
      for (const Index stream : {kNone, process * 2, process * 2 + 1})
        for (const Index queue : {kNone, process})
          for (Index agent = 0; agent < 2; ++agent)
            trace.tracks.push_back({.process = process,
                                    .thread = process,
                                    .agent = agent,
                                    .queue = queue,
                                    .stream = stream});
    }
  }
  Times some_times() {
    Times times(static_cast<std::size_t>(rows_));
    for (auto& [start, end] : times) {
      start = 1 + random_.below(range_);
      end = -(start + (random_.below(5) == 0 ? range_ / 3 : random_.below(40)));
    }
    std::ranges::sort(times);
    return times;
  }
  Index below(std::size_t limit) {
    return static_cast<Index>(random_.below(static_cast<std::int64_t>(limit)));
  }
  void make_work() {
    trace::Trace& trace = builder_.trace;
    for (const auto& [start, end] : some_times()) {
      builder_.dispatch(below(3), {.start = start, .duration = -end - start});
      set_last(trace.dispatches.track, below(trace.tracks.size()));
    }
    for (const auto& [start, end] : some_times()) {
      builder_.copy(below(2) == 0 ? "TO_HOST" : "TO_DEVICE", start, -end - start, 8);
      set_last(trace.copies.track, below(trace.tracks.size()));
      set_last(trace.copies.source_agent, below(2));
    }
  }
  void make_calls() {
    for (const auto& [start, end] : some_times()) {
      builder_.region(
          below(6) == 0 ? "MARKER_CORE_API" : "HIP_RUNTIME_API",
          std::array{"hipLaunchKernel", "hipDeviceSynchronize", "hipGetDevice"}.at(below(3)), start,
          -end - start);
      set_last(builder_.trace.regions.thread, below(10) == 0 ? kNone : below(3));
    }
  }

  TraceBuilder builder_;
  Prng random_;
  std::int64_t range_, rows_;
};

struct Sums {
  std::uint64_t operations = 0;
  std::int64_t busy = 0;
  friend bool operator==(const Sums&, const Sums&) = default;
};

/// What is in the trace, by definition.
Sums sums_of(const trace::Trace& trace) {
  Sums out;
  const auto add = [&](std::int64_t start, std::int64_t end) {
    ++out.operations;
    out.busy += end - start;
  };
  for (std::size_t i = 0; i < trace.dispatches.size(); ++i)
    add(trace.dispatches.start[i], trace.dispatches.end[i]);
  for (std::size_t i = 0; i < trace.copies.size(); ++i)
    add(trace.copies.start[i], trace.copies.end[i]);
  std::map<Index, std::int64_t> open;
  const trace::RegionColumns& regions = trace.regions;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    if (regions.thread[i] == kNone || trace.strings.view(regions.category[i]).starts_with("MARKER"))
      continue;
    const auto last = open.find(regions.thread[i]);
    if (last != open.end() && regions.start[i] < last->second && regions.end[i] <= last->second) {
      ++out.operations;
      continue;
    }
    add(regions.start[i], regions.end[i]);
    open[regions.thread[i]] = regions.end[i];
  }
  return out;
}

Sums sums_of(const Timeline& timeline) {
  Sums out;
  for (const TimelineRest* rest : {&timeline.left_out, &timeline.elsewhere, &timeline.outside}) {
    out.operations += rest->operations;
    out.busy += rest->busy;
  }
  for (const TimelineLane& lane : timeline.lanes)
    for (const TimelineSlice& slice : lane.slices) {
      out.operations += slice.count;
      out.busy += slice.busy;
    }
  return out;
}

/// What holds for every timeline.
void check_slices(const Timeline& timeline, const TimelineLimits& limits) {
  std::size_t slices = 0;
  for (const TimelineLane& lane : timeline.lanes) {
    slices += lane.slices.size();
    EXPECT_TRUE(std::ranges::is_sorted(lane.slices, {}, &TimelineSlice::start));
    for (const TimelineSlice& slice : lane.slices) {
      EXPECT_GE(slice.count, 1U);
      EXPECT_GE(slice.start, 0);
      EXPECT_LE(slice.start + slice.duration, timeline.span);
      EXPECT_LT(slice.name, timeline.names.size());
      EXPECT_TRUE(timeline.resolution > 0 || slice.busy == slice.duration);
      EXPECT_TRUE(slice.busy <= slice.duration || slice.count > 1);
    }
  }
  EXPECT_LE(timeline.lanes.size(), limits.lanes);
  EXPECT_LE(slices, std::max(limits.slices, timeline.lanes.size()));
}

void check_path(const Timeline& timeline, const CriticalPath& path, const TimelineLimits& limits) {
  ASSERT_TRUE(timeline.path);
  std::int64_t at = 0, inside = timeline.left_out.path;
  SpentTimes spent{};
  for (const TimelineStretch& stretch : *timeline.path) {
    EXPECT_EQ(stretch.from, at);
    EXPECT_GT(stretch.to, stretch.from);
    EXPECT_GT(stretch.spent_time, 0);
    EXPECT_LE(stretch.spent_time, stretch.to - stretch.from);
    EXPECT_TRUE(stretch.lane == kNone || stretch.lane < timeline.lanes.size());
    spent.at(static_cast<std::size_t>(stretch.spent)) += stretch.spent_time;
    at = stretch.to;
  }
  EXPECT_EQ(at, timeline.span);
  EXPECT_LE(timeline.path->size(), std::max<std::size_t>(limits.stretches, 1));
  EXPECT_TRUE(timeline.path_resolution > 0 || spent == path.spent);
  for (const TimelineLane& lane : timeline.lanes)
    for (const TimelineSlice& slice : lane.slices) inside += slice.path;
  EXPECT_EQ(inside, path.spent[static_cast<std::size_t>(Spent::kernel)] +
                        path.spent[static_cast<std::size_t>(Spent::copy)] +
                        path.spent[static_cast<std::size_t>(Spent::host_call)] +
                        path.spent[static_cast<std::size_t>(Spent::sync_return)]);
}

TEST(Timeline, LosesNothingWhateverIsMerged) {
  std::size_t merged = 0, merged_paths = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    RandomRun run(seed);
    const trace::Trace& trace = run.trace();
    const TimingScope scope = scope_of_all(trace);
    const Sums expected = sums_of(trace);
    int seen = 0;
    CriticalPathOptions options;
    options.keep_nodes = true;
    std::function<Timeline(const Graph*)> finish;
    options.see_extent = [&](const CriticalPath& path) {
      finish = begin_timeline(trace, scope,
                              {.node = path.node, .begin = path.begin, .span = path.length});
    };
    options.see_graph = [&](const Graph& graph) {
      EXPECT_EQ(sums_of(finish(&graph)), expected) << seed;
      ++seen;
    };
    const auto path = find_critical_path(trace, scope, options);
    ASSERT_TRUE(path.has_value());
    EXPECT_EQ(seen, 1);
    for (const TimelineLimits& limits :
         {TimelineLimits{}, TimelineLimits{.slices = 60, .stretches = 12, .lanes = 64},
          TimelineLimits{.slices = 7, .stretches = 3, .lanes = 3},
          TimelineLimits{.slices = 1, .stretches = 1, .lanes = 1}}) {
      SCOPED_TRACE(fmt::format("seed {}, {} slices", seed, limits.slices));
      const Timeline timeline = make_timeline(
          trace, scope, {.node = path->node, .begin = path->begin, .span = path->length},
          path->graph.get(), limits);
      EXPECT_EQ(sums_of(timeline), expected);
      check_slices(timeline, limits);
      check_path(timeline, *path, limits);
      merged += timeline.resolution > 0 ? 1 : 0;
      merged_paths += timeline.path_resolution > 0 ? 1 : 0;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(merged, 100U);
  EXPECT_GT(merged_paths, 50U);
}

TEST(Timeline, OfAWindowAndTheRestIsTheWhole) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    RandomRun run(seed);
    const TimingScope scope = scope_of_all(run.trace());
    const TimelineWindow whole = whole_window(run.trace(), scope, 0);
    for (const std::int64_t part : {1, 2, 3}) {
      const TimelineWindow window{
          .node = 0, .begin = whole.begin + whole.span * part / 5, .span = whole.span / 4};
      const TimelineLimits limits{.slices = 40};
      const Timeline timeline = make_timeline(run.trace(), scope, window, nullptr, limits);
      EXPECT_EQ(sums_of(timeline), sums_of(run.trace())) << seed;
      check_slices(timeline, limits);
    }
  }
}

TEST(Timeline, OfNothingIsEmpty) {
  TraceBuilder builder;
  builder.source();
  const Timeline timeline = whole_timeline(builder.trace);
  EXPECT_EQ(timeline.span, 0);
  EXPECT_THAT(timeline.lanes, SizeIs(0));
  EXPECT_THAT(timeline.names, SizeIs(0));
}

}  // namespace
}  // namespace perflab::analyze
