// Segments of the bundled sample, as read from its database, and of recorded databases: with and
// without its user ranges, whatever the order of the files and the origin of the clock.
#include <gtest/gtest.h>

#include <algorithm>

#include "analyze/segments/segments.h"
#include "support/big_trace.h"
#include "support/test_database.h"
#include "support/trace_description.h"
#include "trace/read/read_trace.h"

namespace perflab::analyze {
namespace {

namespace fs = std::filesystem;
using trace::Index;
using trace::kNone;

trace::Trace read(std::vector<fs::path> files) {
  Result<trace::Trace> trace = trace::read(files, {.threads = 1});
  EXPECT_TRUE(trace) << (trace ? "" : describe(trace.error()));
  return trace ? std::move(*trace) : trace::Trace{};
}

FoundSegments find(const trace::Trace& trace) {
  return find_segments(trace, find_timing_scope(trace, find_passes(trace)));
}

class SampleSegments : public testing::Test {
 protected:
  void SetUp() override {
    path_ = test::test_folder() / "sample.db";
    ASSERT_TRUE(test::write_sample(path_));
  }

  /// What any way to find them has to say.
  static void check(const FoundSegments& found) {
    ASSERT_TRUE(found.segments) << found.missing.reason;
    const Segments& s = *found.segments;
    ASSERT_EQ(s.segments.size(), 4U);
    EXPECT_EQ(s.regularity, 1);
    EXPECT_EQ(s.dispatches_outside, 0U);
    for (std::size_t i = 0; i < 4; ++i) {
      const Segment& segment = s.segments[i];
      EXPECT_EQ(segment.dispatches, 326U);
      EXPECT_GT(segment.busy, 0);
      EXPECT_LE(segment.busy, segment.end - segment.start);
      EXPECT_LE(segment.end, segment.start + segment.period);
      EXPECT_EQ(std::ranges::count(s.of_copy, i), 3);
    }
  }

  fs::path path_;
};

TEST_F(SampleSegments, AreItsDecodeStepsByDispatches) {
  trace::Trace trace = read({path_});
  trace.ranges = {};
  const FoundSegments found = find(trace);
  check(found);
  EXPECT_EQ(found.segments->source, Segments::Source::dispatches);
  EXPECT_EQ(found.segments->pattern, "__amd_rocclr_copyBuffer");
}

TEST_F(SampleSegments, AreItsDecodeStepsByRanges) {
  const trace::Trace trace = read({path_});
  ASSERT_EQ(trace.ranges.size(), 4U);
  const FoundSegments found = find(trace);
  check(found);
  EXPECT_EQ(found.segments->source, Segments::Source::ranges);
  EXPECT_EQ(found.segments->pattern, "decode step");
  EXPECT_EQ(found.segments->segments[2].label, "decode step");
}

TEST_F(SampleSegments, AreTheSameBothWays) {
  trace::Trace trace = read({path_});
  const FoundSegments ranges = find(trace);
  trace.ranges = {};
  const FoundSegments dispatches = find(trace);
  ASSERT_TRUE(ranges.segments && dispatches.segments);
  EXPECT_EQ(ranges.segments->of_dispatch, dispatches.segments->of_dispatch);
  EXPECT_EQ(ranges.segments->of_copy, dispatches.segments->of_copy);
}

TEST_F(SampleSegments, DoNotDependOnTheOriginOfTheClock) {
  trace::Trace trace = read({path_});
  trace.ranges = {};
  const FoundSegments before = find(trace);
  constexpr std::int64_t kShift = 123'456'789'012;
  for (PackedColumn<std::int64_t>* times :
       {&trace.dispatches.start, &trace.dispatches.end, &trace.copies.start, &trace.copies.end,
        &trace.regions.start, &trace.regions.end})
    times->transform([&](std::int64_t time, std::size_t) { return time + kShift; });
  const FoundSegments after = find(trace);
  ASSERT_TRUE(before.segments && after.segments);
  EXPECT_EQ(before.segments->of_dispatch, after.segments->of_dispatch);
  EXPECT_EQ(before.segments->of_copy, after.segments->of_copy);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(before.segments->segments[i].start + kShift, after.segments->segments[i].start);
    EXPECT_EQ(before.segments->segments[i].host_start + kShift,
              after.segments->segments[i].host_start);
    EXPECT_EQ(before.segments->segments[i].period, after.segments->segments[i].period);
  }
}

TEST_F(SampleSegments, DoNotDependOnTheOrderOfFilesNorOnAnotherProcess) {
  const fs::path other = path_.parent_path() / "other.db";
  test::BigTraceOptions options;
  options.dispatches = 300;
  ASSERT_TRUE(test::write_big_trace(other, options));
  trace::Trace one = read({path_, other});
  trace::Trace two = read({other, path_});
  const FoundSegments a = find(one);
  const FoundSegments b = find(two);
  ASSERT_TRUE(a.segments && b.segments);
  ASSERT_EQ(a.segments->segments.size(), 4U);
  ASSERT_EQ(b.segments->segments.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(a.segments->segments[i].start, b.segments->segments[i].start);
    EXPECT_EQ(a.segments->segments[i].dispatches, 326U);
  }
  EXPECT_EQ(one.processes[a.segments->process].pid, two.processes[b.segments->process].pid);
}

TEST_F(SampleSegments, RowsPartTheTrace) {
  const trace::Trace trace = read({path_});
  const TimingScope scope = find_timing_scope(trace, find_passes(trace));
  const FoundSegments found = find(trace);
  ASSERT_TRUE(found.segments);
  std::vector<int> dispatches(trace.dispatches.size());
  std::vector<int> copies(trace.copies.size());
  std::vector<int> calls(trace.regions.size());
  for (std::size_t i = 0; i < 4; ++i) {
    const Result<trace::Selection> rows = rows_of_segment(trace, scope, *found.segments, i);
    ASSERT_TRUE(rows);
    for (std::size_t k = 0; k < dispatches.size(); ++k) dispatches[k] += rows->dispatches[k];
    for (std::size_t k = 0; k < copies.size(); ++k) copies[k] += rows->copies[k];
    for (std::size_t k = 0; k < calls.size(); ++k) calls[k] += rows->regions[k];
    EXPECT_EQ(std::ranges::count(rows->allocations, true), 0);
    for (std::size_t k = 0; k < dispatches.size(); ++k)
      EXPECT_TRUE(!rows->dispatches[k] || rows->regions.at(trace.dispatches.launch[k]));
  }
  EXPECT_EQ(std::ranges::count(dispatches, 1), 4 * 326);
  EXPECT_EQ(std::ranges::count(copies, 1), 4 * 3);
  EXPECT_EQ(std::ranges::max(calls), 1);
}

// A recording of the real tool's structure: no claim on its times, which are an emulator's.
TEST(RecordedSegments, NameAProcessOrAReason) {
  const fs::path folder = fs::path(PERFLAB_SHARED_DIR) / "data/rocpd/emulated_mi300x";
  if (!fs::exists(folder))
    GTEST_SKIP() << "skipped: " << folder << " is not there (recorded data is kept outside the "
                 << "project)";
  for (const char* file : {"streams.db", "streams_sys.db", "graph.db", "multi.db", "single.db"}) {
    SCOPED_TRACE(file);
    const trace::Trace trace = read({folder / file});
    const FoundSegments found = find(trace);
    if (!found.segments) {
      EXPECT_FALSE(found.missing.reason.empty());
      continue;
    }
    const Segments& s = *found.segments;
    std::uint64_t dispatches = s.dispatches_outside;
    for (const Segment& segment : s.segments) {
      EXPECT_GT(segment.dispatches, 0U);
      EXPECT_LE(segment.busy, segment.end - segment.start);
      dispatches += segment.dispatches;
    }
    EXPECT_EQ(dispatches, trace.dispatches.size());
  }
}

}  // namespace
}  // namespace perflab::analyze
