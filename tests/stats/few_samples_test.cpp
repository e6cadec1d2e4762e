// The fewest samples that can decide: by the table of the rank test (2 / (a + b over a)).
#include "stats/few_samples.h"

#include <gtest/gtest.h>

namespace perflab::stats {
namespace {

TEST(FewSamples, TakesMoreOfThemForMoreConfidence) {
  EXPECT_EQ(fewest_to_decide(0.95), 5U);    // 2 / 252 is below 0.025, 2 / 70 is not
  EXPECT_EQ(fewest_to_decide(0.995), 6U);   // 2 / 924 is below 0.0025, 2 / 252 is not
  EXPECT_EQ(fewest_to_decide(0.9992), 8U);  // 2 / 12870 is below 0.0004, 2 / 3432 is not
}

TEST(FewSamples, ManyOfOneSideHelpFewOfTheOther) {
  EXPECT_FALSE(can_decide(4, 4, 0.95));
  EXPECT_TRUE(can_decide(4, 6, 0.95));  // 2 / 210
  EXPECT_TRUE(can_decide(6, 4, 0.95));
  EXPECT_FALSE(can_decide(1, 78, 0.95));
  EXPECT_TRUE(can_decide(1, 79, 0.95));  // 2 / 80
  EXPECT_FALSE(can_decide(0, 100, 0.95));
}

}  // namespace
}  // namespace perflab::stats
