// What a gain needs: the whole of its interval, not only its middle, has to reach what was asked.
#include <gtest/gtest.h>

#include "optimize/rounds/candidate.h"

namespace perflab::optimize {
namespace {

/// Twenty times of each side; those before are so many times those after, both spread by 4 %.
Measurement measured(double ratio, const JudgeOptions& options) {
  Measurement measurement;
  measurement.unit = "s";
  for (int i = 0; i < 20; ++i) {
    const double spread = 0.98 + 0.002 * (i * 7 % 20);
    measurement.after.push_back(spread);
    measurement.before.push_back(ratio * (0.98 + 0.002 * (i * 13 % 20)));
  }
  recompute(options, measurement);
  return measurement;
}

TEST(JudgeTimes, TheLowerEndOfTheIntervalHasToReachTheGain) {
  JudgeOptions options;
  options.min_gain = 0.05;
  const Measurement near = measured(1.06, options);
  const std::optional<SpeedUp> speed = speed_up(near);
  ASSERT_TRUE(speed);
  ASSERT_EQ(near.comparison.verdict, stats::SpeedVerdict::faster);
  ASSERT_GT(speed->value, 1.05);
  ASSERT_LT(speed->low, 1.05);
  EXPECT_EQ(judge_times(near, options).reason, Reason::undecided);
  EXPECT_EQ(judge_times(measured(1.2, options), options).outcome, Outcome::accepted);
}

}  // namespace
}  // namespace perflab::optimize
