// Which turns count: by clocks and throttling around them.
#include "sensors/turn.h"

#include <gmock/gmock.h>

namespace perflab::sensors {
namespace {

using ::testing::HasSubstr;

Reading at(double core_mhz, std::initializer_list<Throttle> throttled = {}) {
  Reading reading;
  reading.core_mhz = core_mhz;
  reading.memory_mhz = 2619;
  reading.throttled.emplace();
  for (const Throttle one : throttled) reading.throttled->add(one);
  return reading;
}

std::string disturbance(std::vector<Span> spans) {
  Throttles throttled;
  return disturbance_of(spans, TurnLimits{}.clock_change, throttled);
}

TEST(Turns, ChangedClocksAndThrottlingDisturb) {
  EXPECT_EQ(disturbance({{at(1980), at(1965)}}), "");
  EXPECT_EQ(disturbance({{at(1980), at(1410)}}), "the core clock went from 1980 to 1410 MHz");
  EXPECT_EQ(disturbance({{at(345), at(1980)}}), "the core clock went from 345 to 1980 MHz");
  // In the middle of a turn of two parts.
  EXPECT_EQ(disturbance({{at(1980), at(1700)}, {at(1980), at(1980)}}),
            "the core clock went from 1980 to 1700 MHz");
  EXPECT_EQ(disturbance({{at(1980), at(1980, {Throttle::temperature, Throttle::power})}}),
            "throttled: power, temperature");
  Span memory{at(1980), at(1980)};
  memory.after.memory_mhz = 1593;
  EXPECT_EQ(disturbance({memory}), "the memory clock went from 2619 to 1593 MHz");
  EXPECT_EQ(disturbance({Span{}}), "");  // nothing can be seen
}

TEST(Turns, ThrottlingBetweenReadingsIsSeenByWhatGrows) {
  Span span;
  span.before.throttled_for = {7, 0, 0, 0, 0};
  span.after.throttled_for = {7, 3, 0, 0, 0};
  EXPECT_EQ(disturbance({span}), "throttled: temperature");
  span.before = span.after;
  EXPECT_EQ(disturbance({span}), "");
}

TEST(Turns, ADisturbedTurnIsRepeatedUntilOneCounts) {
  TurnWatch watch({});
  const Span calm{at(1980), at(1980)}, ramp{at(345), at(1980)};
  EXPECT_FALSE(watch.take(std::array{ramp}));
  EXPECT_FALSE(watch.take(std::array{ramp}));
  EXPECT_TRUE(watch.take(std::array{calm}));
  EXPECT_TRUE(watch.take(std::array{calm}));
  const Conditions& conditions = watch.conditions();
  ASSERT_EQ(conditions.turns.size(), 2U);
  EXPECT_EQ(conditions.turns[0].repeats, 2U);
  EXPECT_EQ(conditions.turns[0].disturbed, "");
  EXPECT_EQ(conditions.turns[1].repeats, 0U);
  EXPECT_EQ(conditions.repeated, 2U);
  EXPECT_THAT(conditions.words(), HasSubstr("2 of the turns were repeated"));
}

TEST(Turns, EndlessThrottlingEndsAfterTheBoundAndIsSaid) {
  TurnWatch watch({.clock_change = 0.05, .most_repeats = 3});
  const Span hot{at(1980), at(1980, {Throttle::temperature})};
  int turns = 0;
  for (int counted = 0; counted < 5; ++turns) counted += watch.take(std::array{hot}) ? 1 : 0;
  EXPECT_EQ(turns, 8);
  const Conditions& conditions = watch.conditions();
  EXPECT_EQ(conditions.turns.size(), 5U);
  EXPECT_EQ(conditions.repeated, 3U);
  EXPECT_EQ(conditions.disturbed, 5U);
  EXPECT_EQ(conditions.turns[4].disturbed, "throttled: temperature");
  EXPECT_THAT(conditions.words(),
              HasSubstr("5 of 5 turns that count were disturbed all the same (the first: "
                        "throttled: temperature)"));
}

TEST(Turns, CalmOnesSayNothing) {
  TurnWatch watch({});
  EXPECT_TRUE(watch.take(std::array{Span{at(1980), at(1980)}}));
  EXPECT_EQ(watch.conditions().words(), "");
  EXPECT_TRUE(watch.take({}));  // nothing was read
  EXPECT_EQ(watch.conditions().turns.size(), 1U);
}

}  // namespace
}  // namespace perflab::sensors
