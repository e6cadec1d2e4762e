// finish() puts tables in order: rows that stand behind their place, runs that overlap, and tables
// of which nothing is in order.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "trace/load_state.h"

namespace perflab::trace {
namespace {

constexpr std::size_t kRows = 50'000;

/// Copies that start at these times; their bytes number them.
std::vector<std::int64_t> order_of(const std::vector<std::int64_t>& starts, unsigned threads) {
  Trace trace;
  LoadState state(trace);
  for (std::size_t row = 0; row < starts.size(); ++row) {
    trace.copies.start.push_back(starts[row]);
    trace.copies.end.push_back(starts[row] + 10);
    trace.copies.bytes.push_back(static_cast<std::int64_t>(row));
    trace.copies.kind.push_back(0);
    trace.copies.source_agent.push_back(0);
    trace.copies.track.push_back(0);
    trace.copies.launch.push_back(0);
  }
  finish(state, threads);
  EXPECT_TRUE(std::ranges::is_sorted(trace.copies.start));
  for (std::size_t row = 0; row < starts.size(); ++row)
    EXPECT_EQ(trace.copies.start[row], starts[static_cast<std::size_t>(trace.copies.bytes[row])]);
  return {trace.copies.bytes.begin(), trace.copies.bytes.end()};
}

void expect_stable_order(const std::vector<std::int64_t>& starts) {
  std::vector<std::int64_t> expected(starts.size());
  std::iota(expected.begin(), expected.end(), std::int64_t{0});
  std::ranges::stable_sort(expected, {},
                           [&](std::int64_t row) { return starts[static_cast<std::size_t>(row)]; });
  // Not EXPECT_EQ: it would print megabytes.
  EXPECT_TRUE(order_of(starts, 1) == expected);
  EXPECT_TRUE(order_of(starts, 4) == expected);
}

TEST(Finish, PutsRowsIntoTheirPlaces) {
  SplitMix64 random(1);
  std::vector<std::int64_t> starts;  // many alike, and some up to 200 rows late
  for (std::size_t row = 0; row < kRows; ++row)
    starts.push_back(static_cast<std::int64_t>(
        row / 3 - (random.next() % 4 == 0 ? std::min(row / 3, random.next() % 66) : 0)));
  expect_stable_order(starts);
}

TEST(Finish, MergesRuns) {
  SplitMix64 random(2);
  std::vector<std::int64_t> starts;  // of three processes, one after the other
  for (std::size_t row = 0; row < kRows; ++row)
    starts.push_back(static_cast<std::int64_t>(row % 17'000 + random.next() % 5));
  expect_stable_order(starts);
}

TEST(Finish, SortsWhatIsInNoOrder) {
  SplitMix64 random(3);
  std::vector<std::int64_t> starts;
  for (std::size_t row = 0; row < kRows; ++row)
    starts.push_back(static_cast<std::int64_t>(random.next() % 50'000));
  expect_stable_order(starts);
  std::ranges::sort(starts, std::greater());
  expect_stable_order(starts);
  std::ranges::reverse(starts);
  expect_stable_order(starts);
}

TEST(Finish, MergesRunsOfDifferentPace) {
  std::vector<std::int64_t> starts;
  for (std::size_t row = 0; row < kRows; ++row)
    starts.push_back(static_cast<std::int64_t>(row < kRows / 3 ? 2 * row : row));
  expect_stable_order(starts);
}

}  // namespace
}  // namespace perflab::trace
