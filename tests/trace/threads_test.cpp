// The Trace does not depend on the number of threads, also when every table is scanned in many
// ranges.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/big_trace.h"
#include "support/quirks_trace.h"
#include "support/test_database.h"
#include "trace/rocpd/scan.h"
#include "trace/trace_checks.h"

namespace perflab::trace {
namespace {

using test::test_folder;

void expect_same_on_any_threads(const Paths& files) {
  const std::string one = dump(read_ok(files, 1));
  ASSERT_FALSE(one.empty());
  // Not EXPECT_EQ: it would print megabytes.
  EXPECT_TRUE(dump(read_ok(files, 2)) == one);
  EXPECT_TRUE(dump(read_ok(files, 5)) == one);
  EXPECT_TRUE(dump(read_ok(files, 0)) == one);
}

TEST(Threads, GiveTheSameTraceOfALargeMergedFile) {
  const auto path = test_folder() / "big.db";
  const auto made =
      test::write_big_trace(path, {.dispatches = 70'000, .processes = 2, .copies_every = 5});
  ASSERT_TRUE(made) << describe(made.error());
  ASSERT_GT(made->dispatches / 2, rocpd::kRowsPerChunk) << "one range per process tests nothing";
  const Trace trace = read_ok({path}, 2);
  EXPECT_EQ(trace.dispatches.size(), 70'000U);
  EXPECT_EQ(static_cast<std::int64_t>(trace.regions.size()), made->regions);
  EXPECT_EQ(static_cast<std::int64_t>(trace.copies.size()), made->copies);
  EXPECT_EQ(std::ranges::count(trace.dispatches.launch, kNone), 0);
  expect_same_on_any_threads({path});
}

TEST(Threads, GiveTheSameCounters) {
  const auto path = test_folder() / "counters.db";
  const auto made = test::write_big_trace(
      path, {.dispatches = 9'000, .processes = 1, .launches = false, .counters = true});
  ASSERT_TRUE(made) << describe(made.error());
  ASSERT_GT(made->counter_values, 3 * rocpd::kRowsPerChunk);
  expect_same_on_any_threads({path});
}

TEST(Threads, GiveTheSameTraceOfSeveralFiles) {
  const auto made = test::write_big_trace(test_folder() / "part.db",
                                          {.dispatches = 3'000, .processes = 3, .one_file = false});
  ASSERT_TRUE(made) << describe(made.error());
  ASSERT_EQ(made->files.size(), 3U);
  expect_same_on_any_threads(made->files);
}

TEST(Threads, GiveTheSameTraceOfEveryQuirk) {
  const auto path = test_folder() / "quirks.db";
  ASSERT_TRUE(test::write_quirks(path));
  expect_same_on_any_threads({path});
}

}  // namespace
}  // namespace perflab::trace
