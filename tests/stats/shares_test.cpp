// Intervals of shares: known values, coverage of samples that come in ticks, and what is missing.
#include "stats/shares.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "base/random.h"

namespace perflab::stats {
namespace {

TEST(Wilson, KnownValues) {
  struct Case {
    double hits, samples, low, high;  // percent
  };
  // docs/facts: 71 of 97 and so on, to one digit.
  for (const Case& one :
       {Case{71, 97, 63.6, 81.0}, Case{71, 77, 84.0, 96.4}, Case{20, 97, 13.8, 29.7},
        Case{1, 1, 20.7, 100}, Case{7536, 11376, 65.4, 67.1}, Case{0, 100, 0, 3.7}}) {
    const auto interval = wilson(one.hits, one.samples);
    ASSERT_TRUE(interval);
    EXPECT_NEAR(100 * interval->low, one.low, 0.05) << one.hits;
    EXPECT_NEAR(100 * interval->high, one.high, 0.05) << one.hits;
  }
  EXPECT_EQ(wilson(0, 7)->low, 0);
  EXPECT_EQ(wilson(7, 7)->high, 1);
  EXPECT_FALSE(wilson(0, 0));
  EXPECT_FALSE(wilson(2, 1));
  EXPECT_FALSE(wilson(-1, 1));
  EXPECT_FALSE(wilson(1, 2, 1));
}

TEST(Wilson, QuantilesAreThoseOfTables) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959964, 1e-6);
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-12);
  EXPECT_NEAR(student_quantile(0.975, 1), 12.7062, 1e-4);
  EXPECT_NEAR(student_quantile(0.975, 2), 4.30265, 1e-5);
  EXPECT_NEAR(student_quantile(0.975, 9), 2.26216, 1e-5);
  EXPECT_NEAR(student_quantile(0.95, 30), 1.69726, 1e-5);
  EXPECT_NEAR(student_quantile(0.025, 255), -1.96931, 1e-4);
}

/// Samples of one recording by tick.
struct Ticks {
  std::vector<double> hits, samples;
};

/// Every tick has 4 to 12 samples that are all alike: all of the instruction with that chance.
Ticks whole_ticks(std::size_t ticks, double share, SplitMix64& random) {
  Ticks out;
  for (std::size_t i = 0; i < ticks; ++i) {
    const double samples = static_cast<double>(4 + random.next() % 9);
    const bool hit = static_cast<double>(random.next() >> 11U) < share * 0x1p53;
    out.samples.push_back(samples);
    out.hits.push_back(hit ? samples : 0);
  }
  return out;
}

double total(const std::vector<double>& values) {
  double out = 0;
  for (const double value : values) out += value;
  return out;
}

TEST(ClusterBootstrap, CoversTheTruthWhereWholeTicksAreEqual) {
  constexpr int kRecordings = 1000;
  constexpr double kTruth = 0.4;
  SplitMix64 random(7);
  const ClusterBootstrap bootstrap(60, {.resamples = 300});
  int covered = 0, naive = 0, by_design = 0;
  const auto holds = [](const std::optional<Interval>& interval) {
    return interval && interval->low <= kTruth && kTruth <= interval->high;
  };
  for (int i = 0; i < kRecordings; ++i) {
    const Ticks ticks = whole_ticks(60, kTruth, random);
    const double hits = total(ticks.hits), samples = total(ticks.samples);
    covered += holds(bootstrap.ratio({ticks.hits, ticks.samples})) ? 1 : 0;
    naive += holds(wilson(hits, samples)) ? 1 : 0;
    const double effect = design_effect(ticks.hits, ticks.samples).value();
    by_design += holds(wilson(hits / effect, samples / effect)) ? 1 : 0;
  }
  EXPECT_GE(covered, 930);
  EXPECT_LE(covered, 970);
  EXPECT_GE(by_design, 930);
  EXPECT_LE(by_design, 970);
  EXPECT_LT(naive, 700);
}

TEST(ClusterBootstrap, FewClustersAreWidened) {
  constexpr double kTruth = 0.5;
  SplitMix64 random(3);
  const ClusterBootstrap bootstrap(12, {.resamples = 400});
  int covered = 0;
  for (int i = 0; i < 400; ++i) {
    const Ticks ticks = whole_ticks(12, kTruth, random);
    const auto interval = bootstrap.ratio({ticks.hits, ticks.samples});
    covered += interval && interval->low <= kTruth && kTruth <= interval->high ? 1 : 0;
  }
  EXPECT_GE(covered, 368);  // 92 %
}

TEST(ClusterBootstrap, IsWiderThanWilsonOnEqualTicksAndAboutEqualOnIndependentOnes) {
  SplitMix64 random(11);
  const Ticks equal = whole_ticks(80, 0.3, random);
  Ticks independent = equal;
  for (std::size_t i = 0; i < equal.samples.size(); ++i) {
    independent.hits[i] = 0;
    for (int k = 0; k < static_cast<int>(equal.samples[i]); ++k)
      independent.hits[i] += random.next() % 10 < 3 ? 1 : 0;
  }
  const ClusterBootstrap bootstrap(80);
  const auto width = [](const std::optional<Interval>& one) { return one->high - one->low; };
  const auto wide = width(bootstrap.ratio({equal.hits, equal.samples}));
  EXPECT_GT(wide, 2 * width(wilson(total(equal.hits), total(equal.samples))));
  const auto plain = width(bootstrap.ratio({independent.hits, independent.samples}));
  EXPECT_NEAR(plain / width(wilson(total(independent.hits), total(independent.samples))), 1, 0.25);
  EXPECT_NEAR(*design_effect(equal.hits, equal.samples), 8.5, 2);
  EXPECT_NEAR(*design_effect(independent.hits, independent.samples), 1, 0.5);
}

TEST(ClusterBootstrap, TheSameSeedGivesTheSameBytes) {
  SplitMix64 random(5);
  const Ticks ticks = whole_ticks(40, 0.5, random);
  const auto once = ClusterBootstrap(40).ratio({ticks.hits, ticks.samples});
  EXPECT_EQ(once, ClusterBootstrap(40).ratio({ticks.hits, ticks.samples}));
  EXPECT_NE(once, ClusterBootstrap(40, {.seed = 2}).ratio({ticks.hits, ticks.samples}));
}

TEST(ClusterBootstrap, DifferenceOfSharesOfTheSameTicks) {
  // The second is what the first is not: the difference is 2 p - 1.
  SplitMix64 random(9);
  const Ticks ticks = whole_ticks(64, 0.7, random);
  Ticks other = ticks;
  for (std::size_t i = 0; i < ticks.hits.size(); ++i)
    other.hits[i] = ticks.samples[i] - ticks.hits[i];
  const ClusterBootstrap bootstrap(64);
  const auto share = bootstrap.ratio({ticks.hits, ticks.samples});
  const auto difference =
      bootstrap.difference({ticks.hits, ticks.samples}, {other.hits, other.samples});
  ASSERT_TRUE(share && difference);
  EXPECT_NEAR(difference->low, 2 * share->low - 1, 1e-12);
  EXPECT_NEAR(difference->high, 2 * share->high - 1, 1e-12);
  const auto same = bootstrap.difference({ticks.hits, ticks.samples}, {ticks.hits, ticks.samples});
  EXPECT_EQ(same, (Interval{0, 0}));
}

TEST(ClusterBootstrap, MissingWithoutClustersOrDenominators) {
  const std::array<double, 1> one = {1};
  EXPECT_FALSE(ClusterBootstrap(1).ratio({one, one}));
  EXPECT_FALSE(ClusterBootstrap(0).ratio({{}, {}}));
  const std::array<double, 3> mostly_empty = {1, 0, 0};
  EXPECT_FALSE(ClusterBootstrap(3).ratio({mostly_empty, mostly_empty}));
  EXPECT_FALSE(design_effect(one, one));
  const std::array<double, 3> all = {1, 2, 3}, none = {0, 0, 0};
  EXPECT_FALSE(design_effect(all, all));
  EXPECT_FALSE(design_effect(none, all));
}

}  // namespace
}  // namespace perflab::stats
