// The database with every quirk at once: what was written against what is read, and that the
// process environment stays where it is.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/quirks_trace.h"
#include "support/test_database.h"
#include "trace/trace_checks.h"

namespace perflab::trace {
namespace {

class Quirks : public testing::Test {
 protected:
  void SetUp() override {
    path_ = test::test_folder() / "quirks.db";
    const Result<test::QuirkCounts> counts = test::write_quirks(path_);
    ASSERT_TRUE(counts) << describe(counts.error());
    counts_ = *counts;
    trace_ = read_ok({path_}, 2);
  }
  static std::size_t number(std::int64_t count) { return static_cast<std::size_t>(count); }
  std::filesystem::path path_;
  test::QuirkCounts counts_;
  Trace trace_;
};

/// Dropped rows of a table, all reasons but these.
std::uint64_t dropped_of(const Trace& trace, const std::string& table) {
  std::uint64_t rows = 0;
  for (const auto& [key, many] : trace.report.dropped)
    if (key.first == table) rows += many;
  return rows;
}

TEST_F(Quirks, EveryProcessIsASource) {
  EXPECT_EQ(trace_.sources.size(), number(counts_.processes));
  EXPECT_EQ(trace_.processes.size(), number(counts_.processes));
}

TEST_F(Quirks, EveryDispatchIsReadOrCounted) {
  EXPECT_EQ(trace_.dispatches.size() + dropped_of(trace_, "kernel_dispatch"),
            number(counts_.dispatches));
  EXPECT_EQ(dropped(trace_, "kernel_dispatch", kUnfinished), number(counts_.unfinished_dispatches));
  EXPECT_EQ(odd(trace_, "kernel_dispatch", "zero length"), number(counts_.zero_length_dispatches));
  EXPECT_EQ(odd(trace_, "kernel_dispatch", kNoSymbol), number(counts_.dispatches_without_symbol));
  EXPECT_EQ(odd(trace_, "kernel_dispatch", kNoEvent), number(counts_.without_event));
}

TEST_F(Quirks, EveryLaunchIsLinked) {
  const auto linked =
      std::ranges::count_if(trace_.dispatches.launch, [](Index launch) { return launch != kNone; });
  EXPECT_EQ(linked, counts_.launched);
}

TEST_F(Quirks, EveryOtherRowIsReadOrCounted) {
  EXPECT_EQ(trace_.regions.size() + dropped_of(trace_, "region"), number(counts_.regions));
  EXPECT_EQ(dropped(trace_, "region", kUnfinished), number(counts_.unfinished_regions));
  EXPECT_EQ(trace_.copies.size() + dropped_of(trace_, "memory_copy"), number(counts_.copies));
  EXPECT_EQ(trace_.allocations.size() + dropped_of(trace_, "memory_allocate"),
            number(counts_.allocations));
  std::uint64_t instances = 0;
  for (const std::uint32_t many : trace_.counters.instances) instances += many;
  EXPECT_EQ(instances + dropped_of(trace_, "pmc_event"), number(counts_.counter_values));
  EXPECT_EQ(dropped(trace_, "pmc_event", "not of a kernel dispatch (device telemetry)"),
            number(counts_.stray_counter_values));
}

TEST_F(Quirks, EnvironmentOfTheProcessIsNowhereInTheTrace) {
  ASSERT_NE(test::file_bytes(path_).find(test::kSecret), std::string::npos);
  EXPECT_EQ(dump(trace_).find(test::kSecret), std::string::npos);
  for (std::uint32_t i = 0; i < trace_.strings.size(); ++i)
    EXPECT_EQ(trace_.strings.view(i).find(test::kSecret), std::string_view::npos);
}

TEST_F(Quirks, NamesAreKeptAsTheyAre) {
  const auto names = kernel_names(trace_);
  for (const char* name : {"quote ' \" ` back\\slash <b>&amp;</b> \t\n\x1b[31m; DROP TABLE",
                           "not utf-8 \xff\xfe\x80", "hip_anything_goes", "\x01\x02"})
    EXPECT_EQ(std::ranges::count(names, name), 1) << name;
}

}  // namespace
}  // namespace perflab::trace
