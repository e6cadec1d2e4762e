// Segments of hand-made traces: what belongs to each, their figures, ranges before repetitions, and
// the rows of one.
#include "analyze/segments/segments.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analyze/segments/segment_parts.h"
#include "analyze/trace_builder.h"
#include "support/prng.h"

namespace perflab::analyze {
namespace {

using trace::Index;
using trace::kNone;

TEST(RangeText, WithoutNumbers) {
  EXPECT_EQ(without_numbers("step 12"), "step #");
  EXPECT_EQ(without_numbers("iter=3 loss=0.1"), "iter=# loss=#");
  EXPECT_EQ(without_numbers("loss=-1.5e-05, at 0x7f3aB"), "loss=#, at #");
  EXPECT_EQ(without_numbers("step-3"), "step-#");
  EXPECT_EQ(without_numbers("-3"), "#");
  EXPECT_EQ(without_numbers("layer1.block2 12:30:01"), "layer#.block# #");
  EXPECT_EQ(without_numbers("1e x"), "#e x");
  EXPECT_EQ(without_numbers("forward"), "forward");
  EXPECT_EQ(without_numbers(""), "");
}

class SegmentsOf : public testing::Test {
 protected:
  SegmentsOf() {
    b_.source();
    b_.agent("gfx942");
    queue_ = b_.queue();
    for (const char* name : {"a", "b", "c", "d"}) kernels_.push_back(b_.kernel(name));
  }

  /// A dispatch at the clock, launched `ahead` ns before it begins (0: launch not recorded).
  Index run(std::size_t kernel, std::int64_t duration, std::int64_t ahead = 0) {
    const Index dispatch =
        b_.dispatch(kernels_[kernel], {.start = clock_, .duration = duration, .queue = queue_});
    if (ahead > 0) {
      b_.trace.dispatches.launch.set(dispatch, static_cast<Index>(b_.trace.regions.size()));
      b_.region("HIP", "hipLaunchKernel", clock_ - ahead, 1);
    }
    clock_ += duration + 10;
    return dispatch;
  }
  /// A step of three kernels and a pause after it.
  void step(std::int64_t pause = 500, std::int64_t b = 200) {
    run(0, 100);
    run(1, b);
    run(2, 50);
    clock_ += pause;
  }
  /// A user range of the last thread. Ranges are rows of regions, which are ordered by start.
  void range(std::string_view text, std::int64_t start, std::int64_t end) {
    b_.region("MARKER_CORE_RANGE_API", "roctxRangePushA", start, end - start);
    b_.trace.ranges.region.push_back(static_cast<Index>(b_.trace.regions.size() - 1));
    b_.trace.ranges.message.push_back(b_.trace.strings.intern(text));
  }
  [[nodiscard]] TimingScope scope() const {
    return find_timing_scope(b_.trace, find_passes(b_.trace));
  }
  [[nodiscard]] FoundSegments find() const { return find_segments(b_.trace, scope()); }
  /// The segments; stops the test when there are none.
  [[nodiscard]] Segments found() const {
    FoundSegments result = find();
    EXPECT_TRUE(result.segments) << result.missing.reason;
    return result.segments.value_or(Segments{});
  }
  [[nodiscard]] trace::Selection rows(const Segments& segments, std::size_t index) const {
    const Result<trace::Selection> rows = rows_of_segment(b_.trace, scope(), segments, index);
    EXPECT_TRUE(rows);
    return rows.value_or(trace::Selection{});
  }
  static std::vector<std::size_t> chosen(const std::vector<bool>& rows) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (rows[i]) out.push_back(i);
    return out;
  }
  using List = std::vector<std::size_t>;

  TraceBuilder b_;
  std::vector<Index> kernels_;
  Index queue_ = kNone;
  std::int64_t clock_ = 10'000;
};

TEST_F(SegmentsOf, StepsHaveFigures) {
  run(3, 70);
  step();
  step();
  step(800, 400);
  step();
  step();
  const Segments s = found();
  EXPECT_EQ(s.source, Segments::Source::dispatches);
  EXPECT_EQ(s.pattern, "a");
  EXPECT_EQ(s.regularity, 1);
  EXPECT_EQ(s.dispatches_outside, 1U);
  ASSERT_EQ(s.segments.size(), 5U);
  const Segment& first = s.segments[0];
  EXPECT_EQ(first.start, 10'080);
  EXPECT_EQ(first.end, 10'080 + 370);
  EXPECT_EQ(first.period, 880);
  EXPECT_EQ(first.dispatches, 3U);
  EXPECT_EQ(first.kernel_time, 350);
  EXPECT_EQ(first.busy, 350);
  EXPECT_EQ(s.segments[2].period, 1380);
  EXPECT_EQ(s.segments[4].period, 370);  // its length
  EXPECT_EQ(s.warm_up, 0U);
  EXPECT_EQ(s.spread.count, 4U);
  EXPECT_EQ(s.spread.min, 880);
  EXPECT_EQ(s.spread.max, 1380);
  EXPECT_EQ(s.spread.median, 880);
  EXPECT_EQ(s.spread.mean, 1005);
  ASSERT_TRUE(s.slowest);
  EXPECT_EQ(*s.slowest, 2U);
  ASSERT_EQ(s.differences.size(), 2U);
  EXPECT_EQ(s.differences[0].kernel, kNone);  // idle: 300 more
  EXPECT_EQ(s.differences[0].time, 830);
  EXPECT_EQ(s.differences[0].usual_time, 530);
  EXPECT_EQ(b_.trace.strings.view(s.differences[1].kernel), "b");
  EXPECT_EQ(s.differences[1].time, 400);
  EXPECT_EQ(s.differences[1].usual_time, 200);
  EXPECT_EQ(s.differences[1].count, 1U);
  EXPECT_EQ(s.differences[1].usual_count, 1);
}

TEST_F(SegmentsOf, SlowLeadingStepsAreWarmUp) {
  step(9000);
  step(2000);
  for (int i = 0; i < 8; ++i) step(500 + i % 3);
  const Segments s = found();
  EXPECT_EQ(s.warm_up, 2U);
  EXPECT_TRUE(s.segments[0].warm_up && s.segments[1].warm_up);
  EXPECT_FALSE(s.segments[2].warm_up);
  EXPECT_EQ(s.spread.count, 7U);  // and not the last
  EXPECT_LE(s.spread.max, 882);
  EXPECT_EQ(*s.slowest, 4U) << "counted from the begin of the run, warm-up included";
}

TEST_F(SegmentsOf, TheLastStepCountsWhenItIsTheSlowestAnyway) {
  for (int i = 0; i < 5; ++i) step();
  step(0, 5000);
  const Segments s = found();
  EXPECT_EQ(*s.slowest, 5U);
  EXPECT_EQ(s.spread.max, 5170);
  EXPECT_EQ(s.spread.count, 6U);
}

TEST_F(SegmentsOf, TheLastStepIsNotTheSlowestWhenStepsOverlap) {
  // Steps are launched every 1000 ns and take longer: the last kernel runs in the next step.
  const Index other = b_.queue();
  struct Row {
    std::int64_t start, duration;
    std::size_t kernel;
    Index queue;
    Index launch;
  };
  std::vector<Row> rows;
  for (std::int64_t i = 0; i < 8; ++i) {
    const std::int64_t base = 100'000 + i * 1000 + (i > 5 ? 200 : 0);
    const auto launch = static_cast<Index>(b_.trace.regions.size());
    for (std::int64_t k = 0; k < 3; ++k) b_.region("HIP", "hipLaunchKernel", base + 10 * k, 5);
    rows.push_back({base + 100, 50, 0, queue_, launch});
    rows.push_back({base + 200, 50, 1, queue_, launch + 1});
    rows.push_back({base + 1240, 660, 2, other, launch + 2});
  }
  std::ranges::sort(rows, {}, &Row::start);
  for (const Row& row : rows)
    b_.trace.dispatches.launch.set(
        b_.dispatch(kernels_[row.kernel],
                    {.start = row.start, .duration = row.duration, .queue = row.queue}),
        row.launch);
  const Segments s = found();
  ASSERT_EQ(s.segments.size(), 8U);
  EXPECT_EQ(s.segments[7].period, 1800);  // its length, which is no period
  EXPECT_EQ(s.spread.count, 7U);
  EXPECT_EQ(s.spread.min, 1000);
  EXPECT_EQ(s.spread.max, 1200);
  ASSERT_TRUE(s.slowest);
  EXPECT_EQ(*s.slowest, 5U);
}

TEST_F(SegmentsOf, KernelsThatOnlyTheSlowestRuns) {
  for (int i = 0; i < 10; ++i) {
    run(0, 100);
    run(1, 200);
    if (i == 6) run(3, 900);
    run(2, 50);
    clock_ += 500;
  }
  const Segments s = found();
  ASSERT_EQ(s.segments.size(), 10U);
  EXPECT_EQ(*s.slowest, 6U);
  EXPECT_DOUBLE_EQ(s.regularity, 0.9);
  EXPECT_EQ(b_.trace.strings.view(s.differences[0].kernel), "d");
  EXPECT_EQ(s.differences[0].time, 900);
  EXPECT_EQ(s.differences[0].usual_time, 0);
  EXPECT_EQ(s.differences[0].usual_count, 0);
}

TEST_F(SegmentsOf, OverlappingWorkIsBusyOnce) {
  for (int i = 0; i < 4; ++i) {
    b_.copy("HOST_TO_DEVICE", clock_ - 100, 50, 64);  // prepares the step
    step(2000);
    b_.copy("DEVICE_TO_HOST", clock_ - 2060, 100, 64);  // from within its last kernel
  }
  const Segments s = found();
  ASSERT_EQ(s.segments.size(), 4U);
  EXPECT_EQ(s.of_copy, (std::vector<Index>{0, 0, 1, 1, 2, 2, 3, 3}));
  for (const Segment& segment : s.segments) {
    EXPECT_EQ(segment.kernel_time, 350);
    EXPECT_EQ(segment.busy, 50 + 350 + 50);
  }
  EXPECT_EQ(s.segments[1].start, s.segments[0].start + 2380);
}

TEST_F(SegmentsOf, StreamsSideBySideStayInTheOrderOfTheirLaunches) {
  // The second queue is late: its kernels of a step run during the next step.
  const Index other = b_.queue();
  struct Row {
    std::int64_t start, launch;
    std::size_t kernel;
    Index queue;
  };
  std::vector<Row> rows;
  for (std::int64_t i = 0; i < 12; ++i) {
    const std::int64_t base = 100'000 + i * 1000;
    rows.push_back({base + 100, base, 0, queue_});
    rows.push_back({base + 200, base + 10, 1, queue_});
    rows.push_back({base + 1150 + (i % 3) * 100, base + 20, 2, other});
  }
  std::ranges::sort(rows, {}, &Row::launch);
  for (const Row& row : rows) b_.region("HIP", "hipLaunchKernel", row.launch, 5);
  std::vector<Index> launches(rows.size());
  for (Index i = 0; i < rows.size(); ++i) launches[i] = i;
  std::ranges::sort(launches, {}, [&](Index i) { return rows[i].start; });
  for (const Index i : launches) {
    const Index dispatch = b_.dispatch(
        kernels_[rows[i].kernel], {.start = rows[i].start, .duration = 50, .queue = rows[i].queue});
    b_.trace.dispatches.launch.set(dispatch, i);
  }
  const Segments s = found();
  ASSERT_EQ(s.segments.size(), 12U);
  EXPECT_EQ(s.regularity, 1);
  EXPECT_EQ(s.pattern, "a");
  for (std::size_t i = 0; i < b_.trace.dispatches.size(); ++i)
    EXPECT_EQ(s.of_dispatch[i], b_.trace.dispatches.launch[i] / 3);
  EXPECT_EQ(s.segments[3].host_start, 103'000);
  EXPECT_EQ(s.segments[3].host_end, 104'000);
}

TEST_F(SegmentsOf, RangesComeFirst) {
  for (int i = 0; i < 3; ++i) {
    const std::int64_t begin = clock_ - 50;
    range(fmt::format("epoch {}", i), begin, begin + 3000);
    for (int k = 0; k < 2; ++k) {
      const std::int64_t inner = clock_ - 40;
      range(fmt::format("step {} loss={}.5", i, k), inner, inner + 800);
      run(0, 100, 20);
      run(1, 200, 20);
      run(2, 50, 20);
      clock_ += 500;
    }
    run(3, 30, 20);  // in the epoch alone
    clock_ += 5000;
  }
  run(3, 30, 20);
  const Segments s = found();
  EXPECT_EQ(s.source, Segments::Source::ranges);
  EXPECT_EQ(s.pattern, "epoch #");
  ASSERT_EQ(s.segments.size(), 3U);
  EXPECT_EQ(s.segments[1].label, "epoch 1");
  EXPECT_EQ(s.segments[1].dispatches, 7U);
  EXPECT_EQ(s.segments[1].host_end - s.segments[1].host_start, 3000);
  EXPECT_EQ(s.dispatches_outside, 1U);
}

TEST_F(SegmentsOf, RangesThatHoldLittleGiveWayToRepetitions) {
  for (int i = 0; i < 6; ++i) {
    if (i % 3 == 0) range("log", clock_ - 30, clock_ + 10);
    run(0, 100, 20);
    run(1, 200, 20);
    run(2, 50, 20);
    clock_ += 400;
  }
  const Segments s = found();
  EXPECT_EQ(s.source, Segments::Source::dispatches);
  EXPECT_EQ(s.segments.size(), 6U);
}

TEST_F(SegmentsOf, RangesWithoutDispatchesOrOnceAreNone) {
  range("run", 1, 1'000'000);  // once
  range("host 1", 2, 100);     // nothing in them
  range("host 2", 200, 300);
  run(0, 100);
  run(1, 100);
  const FoundSegments result = find();
  EXPECT_FALSE(result.segments);
  EXPECT_EQ(result.missing.field, "segments");
  EXPECT_EQ(result.missing.reason, "the sequence of 2 dispatches is too short for a repetition");
}

TEST_F(SegmentsOf, NothingIsMissingWithAReason) {
  EXPECT_EQ(find().missing.reason, "there are no dispatches");
  run(0, 10);
  b_.trace.sources[0].times_known = false;
  EXPECT_EQ(find().missing.reason, "the recordings have lost the digits of their times");
}

TEST_F(SegmentsOf, TooManyAreNotKept) {
  for (std::size_t i = 0; i <= kMostSegments; ++i) run(0, 10);
  EXPECT_EQ(find().missing.reason,
            "the dispatches repeat 100001 times: more than the 100000 segments that are kept");
}

TEST_F(SegmentsOf, OneKernelAgainAndAgain) {
  for (int i = 0; i < 7; ++i) run(0, 10 + i % 2);
  EXPECT_EQ(found().segments.size(), 7U);
}

TEST_F(SegmentsOf, OfProcessesAreThoseOfTheBusiest) {
  // Rank 0 takes steps of three kernels, rank 1 runs one kernel in the middle of each.
  struct Row {
    std::int64_t start;
    Index kernel;
  };
  b_.source();
  const Index lone = b_.kernel("lone");
  const Index second = b_.dispatch(lone, {.start = 1, .duration = 1});
  const Index track = b_.trace.dispatches.track[second];
  for (int i = 0; i < 4; ++i) {
    const std::int64_t at = clock_;
    step();
    for (std::size_t k = b_.trace.dispatches.size() - 3; k < b_.trace.dispatches.size(); ++k)
      b_.trace.dispatches.track.set(k, 1 - track);
    clock_ = at + 400;
    b_.dispatch(lone, {.start = clock_, .duration = 5});
    clock_ = at + 880;
  }
  // The builder makes tracks of the last process only.
  b_.trace.tracks.push_back(b_.trace.tracks[track]);
  b_.trace.tracks.back().process = 0;
  const auto last = static_cast<Index>(b_.trace.tracks.size() - 1);
  b_.trace.dispatches.track.transform(
      [&](Index of, std::size_t) { return of == track ? of : last; });
  const Segments s = found();
  EXPECT_EQ(s.process, 0U);
  ASSERT_EQ(s.segments.size(), 4U);
  EXPECT_EQ(s.segments[1].dispatches, 3U);
  EXPECT_EQ(s.dispatches_outside, 0U);
  // The rows of a segment have what the other did meanwhile.
  EXPECT_EQ(chosen(rows(s, 1).dispatches), (List{5, 6, 7, 8}));
}

TEST_F(SegmentsOf, RowsAreWorkCallsAndAllocations) {
  for (int i = 0; i < 4; ++i) {
    run(0, 100, 30);
    run(1, 100, 30);
    b_.region("HIP", "hipDeviceSynchronize", clock_, 20);
    clock_ += 600;
  }
  b_.allocation("ALLOC", "REAL", 64);  // before all of them
  const Segments s = found();
  ASSERT_EQ(s.segments.size(), 4U);
  const trace::Selection second = rows(s, 1);
  EXPECT_EQ(chosen(second.dispatches), (List{2, 3}));
  EXPECT_EQ(chosen(second.regions), (List{3, 4, 5}));
  EXPECT_EQ(chosen(second.allocations), List{});
  EXPECT_EQ(second.copies.size(), 0U);
  const Result<trace::Selection> none = rows_of_segment(b_.trace, scope(), s, 4);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::usage);
  EXPECT_EQ(none.error().message, "there is no segment 4: the 4 segments are numbered from 0 to 3");
}

TEST_F(SegmentsOf, RowsOfCounterPassesHaveTheSameOrdinals) {
  for (int i = 0; i < 4; ++i) step();
  b_.source(1);
  const Index pass_a = b_.kernel("a");
  const Index pass_b = b_.kernel("b");
  const Index waves = b_.counter("SQ_WAVES");
  clock_ += 1'000'000;
  for (int i = 0; i < 4; ++i)
    for (const Index kernel : {pass_b, pass_a}) {  // another order, another time
      b_.value(b_.dispatch(kernel, {.start = clock_, .duration = 100}), waves, 1 + i);
      clock_ += 200;
    }
  const Segments s = found();
  ASSERT_EQ(s.segments.size(), 4U);
  EXPECT_EQ(chosen(rows(s, 2).dispatches), (List{6, 7, 8, 12 + 4, 12 + 5}));
}

}  // namespace
}  // namespace perflab::analyze
