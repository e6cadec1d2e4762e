// Which configurations a race runs again: the likely best ones, a doubted best, never what is
// clearly worse; against one run of each where the best is known.
#include "tune/search/racing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/prng.h"

namespace perflab::tune {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Racing three(bool maximize = false) {
  Racing racing(maximize, 4);
  racing.add(0, maximize ? 1 / 1.5 : 1.5);
  racing.add(1, 1.0);
  racing.add(2, maximize ? 1 / 1.001 : 1.001);
  return racing;
}

TEST(Racing, RunsTheBestAndWhatIsNearItAndNothingElse) {
  for (const bool maximize : {false, true}) {
    const Racing racing = three(maximize);
    EXPECT_THAT(racing.next(0, 9), ElementsAre(1, 2));
    EXPECT_THAT(racing.next(0, 1), SizeIs(1));
    EXPECT_THAT(racing.next(0.1, 9), IsEmpty()) << "a new configuration is worth more";
    EXPECT_FALSE(racing.spread().has_value());
  }
}

TEST(Racing, DoubtsABestThatRanOnceHoweverFarAhead) {
  Racing racing(false, 10);
  racing.add(4, 0.5);
  EXPECT_THAT(racing.next(0, 9), IsEmpty()) << "there is nothing to tell it from";
  racing.add(7, 1.0);
  EXPECT_THAT(racing.next(0.0005, 9), ElementsAre(4));
  racing.add(4, 0.5);
  EXPECT_THAT(racing.next(0.0005, 9), IsEmpty());
}

TEST(Racing, ALuckyBestFallsBack) {
  Racing racing(false, 10);
  racing.add(1, 0.9);
  racing.add(2, 1.0);
  racing.add(1, 1.2);
  racing.add(1, 1.2);
  EXPECT_EQ(racing.value(1), 1.2);
  EXPECT_EQ(racing.runs(1), 3U);
  EXPECT_THAT(racing.next(0, 9), Contains(2));
  EXPECT_NEAR(*racing.spread(), 0.118, 0.01);
}

TEST(Racing, EndsAtTheMostRunsAndWithWhatLeft) {
  Racing racing = three();
  racing.leave(2);
  EXPECT_THAT(racing.next(0, 9), ElementsAre(1));
  for (int i = 0; i < 3; ++i) racing.add(1, 1.0);
  EXPECT_THAT(racing.next(0, 9), IsEmpty());
}

TEST(Racing, IndifferentToWhatCannotMatter) {
  Racing racing(false, 1000);
  for (int i = 0; i < 60; ++i)
    for (const ConfigId id : {1U, 2U}) racing.add(id, i % 2 == 0 ? 1.01 : 0.99);
  EXPECT_THAT(racing.next(0, 9), IsEmpty());
}

TEST(Racing, OfValuesWithoutALogarithmThereIsNone) {
  Racing racing(false, 10);
  racing.add(0, 1);
  racing.add(1, 0);
  EXPECT_THAT(racing.next(0, 9), IsEmpty());
}

// Twenty configurations 2 % apart that scatter by 5 %: with fewer runs the race has chosen as good
// ones as equal shares, and the clearly worse half has run once.
TEST(Racing, ChoosesAsWellAsEqualSharesWithFewerRuns) {
  constexpr ConfigId kCount = 20;
  constexpr std::size_t kEach = 3;
  test::Prng random(5);
  const auto run = [&](ConfigId id) {
    double noise = -6;
    for (int i = 0; i < 12; ++i) noise += static_cast<double>(random.next() >> 11U) * 0x1p-53;
    return (1 + 0.02 * id) * std::exp(0.05 * noise);
  };
  const auto best = [&](const Racing& racing) {
    ConfigId found = 0;
    for (ConfigId id = 1; id < kCount; ++id)
      if (*racing.value(id) < *racing.value(found)) found = id;
    return static_cast<double>(found);
  };
  double raced = 0;
  double equal = 0;
  std::size_t runs_raced = 0;
  for (int trial = 0; trial < 200; ++trial) {
    Racing race(false, 20), shares(false, 20);
    for (ConfigId id = 0; id < kCount; ++id) {
      race.add(id, run(id));
      for (std::size_t i = 0; i < kEach; ++i) shares.add(id, run(id));
    }
    for (std::size_t runs = kCount; runs < kCount * kEach; ++runs) {
      const auto next = race.next(0, 1);
      if (next.empty()) break;
      race.add(next.front(), run(next.front()));
    }
    std::size_t late = 0;
    for (ConfigId id = kCount / 2 + 5; id < kCount; ++id) late = std::max(late, race.runs(id));
    EXPECT_EQ(late, 1U);
    for (ConfigId id = 0; id < kCount; ++id) runs_raced += race.runs(id);
    raced += best(race);
    equal += best(shares);
  }
  EXPECT_LT(raced, 1.1 * equal);
  EXPECT_LT(static_cast<double>(runs_raced), 0.75 * 200 * kCount * kEach);
}

}  // namespace
}  // namespace perflab::tune
