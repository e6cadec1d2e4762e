// Medians by selection beside those of sorted values.
#include "stats/median.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace perflab::stats {
namespace {

TEST(Median, IsAMiddleValue) {
  SplitMix64 random(1);
  for (std::size_t count = 1; count < 60; ++count) {
    std::vector<std::int64_t> values;
    for (std::size_t i = 0; i < count; ++i)
      values.push_back(static_cast<std::int64_t>(random.next() % 40) - 20);
    std::vector<std::int64_t> sorted = values;
    std::ranges::sort(sorted);
    const std::int64_t low = sorted[(count - 1) / 2], high = sorted[count / 2];
    EXPECT_EQ(lower_median(values), low);
    EXPECT_EQ(upper_median(values), high);
    const std::int64_t middle = middle_of(values);
    EXPECT_EQ(middle, low + (high - low) / 2);
    for (std::size_t rank = 0; rank < count; ++rank)
      EXPECT_EQ(value_of_rank(values, rank), sorted[rank]);
    std::ranges::sort(values);
    EXPECT_EQ(values, sorted) << "a value was lost";
  }
}

}  // namespace
}  // namespace perflab::stats
