// The split of an occupancy gap: cases computed by hand from the formulas of
// docs/models/occupancy_gap.md, and what has to hold for any figures.
#include "analyze/kernels/occupancy_gap.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "support/prng.h"

namespace perflab::analyze {
namespace {

using enum GapCause;

/// Ten CUs that hold two work-groups each.
LaunchRounds rounds_of(double workgroups) {
  return {.workgroups = workgroups, .cus = 10, .workgroups_per_cu = 2};
}

OccupancyGap split(const GapInput& input) {
  Result<OccupancyGap> gap = split_occupancy_gap(input);
  EXPECT_TRUE(gap) << gap.error().message;
  return gap ? *gap : OccupancyGap{};
}

void expect_share(const OccupancyGap& gap, GapCause cause, double share) {
  ASSERT_TRUE(gap[cause].share) << to_string(cause) << ": " << gap[cause].reason;
  EXPECT_NEAR(*gap[cause].share, share, 1e-12) << to_string(cause);
}

GapInput input_of(double theoretical, double achieved) {
  GapInput input;
  input.theoretical = theoretical;
  input.achieved = achieved;
  input.no_cus = "no counter of CUs";
  input.no_engines = "no counter of engines";
  input.no_wait = "no counter of waits";
  input.no_rounds = "launches differ";
  return input;
}

TEST(OccupancyGap, TwoAndAHalfRounds) {
  GapInput input = input_of(1, 0.5);
  input.cus_busy = 0.9;
  input.engines_busy = 0.95;
  input.resource_wait = 0.5;
  input.rounds = rounds_of(50);
  const OccupancyGap gap = split(input);
  EXPECT_DOUBLE_EQ(gap.gap, 0.5);
  EXPECT_NEAR(*gap.idle_cus, 0.1, 1e-12);      // 1 - 0.9
  EXPECT_NEAR(*gap.unfilled_cus, 0.4, 1e-12);  // the rest
  EXPECT_DOUBLE_EQ(*gap.rounds, 2.5);
  expect_share(gap, launch, 0.05);  // 1 - 0.95
  expect_share(gap, few_workgroups, 0);
  // A wave lives 0.5 / 2.5 of the dispatch; half of the last round is empty, on CUs that have some.
  expect_share(gap, tail, 0.1);
  expect_share(gap, imbalance, 0.05);  // idle CUs that no launch explains
  expect_share(gap, limiter, 0.15);    // half of 0.4 - 0.1
  expect_share(gap, launch_rate, 0.15);
  EXPECT_NEAR(gap.not_attributed, 0, 1e-12);
}

TEST(OccupancyGap, AQuarterOfARound) {
  GapInput input = input_of(0.5, 0.1);
  input.cus_busy = 0.4;
  input.engines_busy = 0.9;
  input.rounds = rounds_of(5);
  const OccupancyGap gap = split(input);
  EXPECT_NEAR(*gap.idle_cus, 0.3, 1e-12);  // 0.5 * (1 - 0.4)
  expect_share(gap, launch, 0.05);
  // A wave lives 0.1 / 0.25 of the dispatch, in which five CUs of ten have nothing (0.4 * 0.5), and
  // a quarter of the room is used in all (0.4 * 0.75).
  expect_share(gap, few_workgroups, 0.3);
  expect_share(gap, tail, 0);
  expect_share(gap, imbalance, 0.05);
  EXPECT_FALSE(gap[limiter].share);
  EXPECT_EQ(gap[limiter].reason, "no counter of waits");
  EXPECT_FALSE(gap[launch_rate].share);
  EXPECT_NEAR(gap.not_attributed, 0, 1e-12);
}

TEST(OccupancyGap, ATailOfOneWorkgroupLeavesCusIdle) {
  GapInput input = input_of(1, 0.4);
  input.cus_busy = 0.7;
  input.engines_busy = 1;
  input.resource_wait = 0;
  input.rounds = rounds_of(21);
  const OccupancyGap gap = split(input);
  // Lifetime 0.4 / 1.05; the second round fills one CU of ten to its half: 95 % of it is empty,
  // 90 % on idle CUs, of which only 0.3 were measured.
  const double alive = 0.4 / 1.05;
  expect_share(gap, launch, 0);
  expect_share(gap, tail, 0.3 + alive * 0.05);
  expect_share(gap, imbalance, 0);
  expect_share(gap, limiter, 0);
  expect_share(gap, launch_rate, 0.3 - alive * 0.05);
}

TEST(OccupancyGap, WithoutCountersOfCusOnlyTheLastRoundIsKnown) {
  GapInput input = input_of(1, 0.5);
  input.rounds = rounds_of(50);
  const OccupancyGap gap = split(input);
  EXPECT_FALSE(gap.idle_cus);
  expect_share(gap, tail, 0.1);
  for (const GapCause cause : {launch, imbalance, limiter, launch_rate}) {
    EXPECT_FALSE(gap[cause].share);
    EXPECT_EQ(gap[cause].reason, "no counter of CUs");
  }
  EXPECT_NEAR(gap.not_attributed, 0.4, 1e-12);
}

TEST(OccupancyGap, LaunchesThatDifferLeaveOnlyTheLaunchKnown) {
  GapInput input = input_of(1, 0.5);
  input.cus_busy = 0.7;
  input.engines_busy = 0.8;
  input.resource_wait = 0.5;
  const OccupancyGap gap = split(input);
  expect_share(gap, launch, 0.2);
  for (const GapCause cause : {few_workgroups, tail, imbalance, limiter, launch_rate})
    EXPECT_EQ(gap[cause].reason, "launches differ");
  EXPECT_NEAR(gap.not_attributed, 0.3, 1e-12);
}

TEST(OccupancyGap, AchievedAboveTheoretical) {
  const OccupancyGap rounded = split(input_of(0.5, 0.51));
  EXPECT_DOUBLE_EQ(rounded.gap, 0);
  EXPECT_DOUBLE_EQ(rounded.not_attributed, 0);
  EXPECT_FALSE(split_occupancy_gap(input_of(0.5, 0.6)));
  EXPECT_FALSE(split_occupancy_gap(input_of(0, 0)));
  EXPECT_FALSE(split_occupancy_gap(input_of(0.5, -0.1)));
  GapInput empty = input_of(1, 0.5);
  empty.rounds = rounds_of(0);
  EXPECT_FALSE(split_occupancy_gap(empty));
}

TEST(OccupancyGap, SharesAlwaysAddUp) {
  test::Prng random(16);
  const auto unit = [&] { return static_cast<double>(random.below(1'000'001)) / 1e6; };
  for (int i = 0; i < 20'000; ++i) {
    GapInput input = input_of(0.01 + 0.99 * unit(), 0);
    input.achieved = input.theoretical * 1.04 * unit();
    if (input.achieved > 1) input.achieved = 1;
    if (unit() < 0.8) input.cus_busy = unit();
    if (unit() < 0.8) input.engines_busy = unit();
    if (unit() < 0.8) input.resource_wait = unit();
    if (unit() < 0.8)
      input.rounds = {.workgroups = 1 + 10'000 * unit(),
                      .cus = 1 + 300 * unit(),
                      .workgroups_per_cu = 0.5 + 16 * unit()};
    const OccupancyGap gap = split(input);
    double sum = gap.not_attributed;
    for (const GapShare& part : gap.causes) {
      if (!part.share) {
        ASSERT_FALSE(part.reason.empty());
        continue;
      }
      ASSERT_GE(*part.share, 0);
      ASSERT_LE(*part.share, 1);
      sum += *part.share;
    }
    ASSERT_NEAR(sum, gap.gap, 1e-9);
    ASSERT_GE(gap.not_attributed, 0);
    if (gap.idle_cus) {
      ASSERT_NEAR(*gap.idle_cus + *gap.unfilled_cus, gap.gap, 1e-12);
    }
  }
}

}  // namespace
}  // namespace perflab::analyze
