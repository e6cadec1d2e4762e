// stats/bootstrap.h: how often the interval covers the true ratio, invariances that hold exactly,
// known intervals, and what is missing.
#include "stats/bootstrap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/prng.h"

namespace perflab::stats {
namespace {

using test::Prng;

/// Around `centre`, skewed to the right as run times are.
std::vector<double> run_times(Prng& prng, std::size_t count, double centre) {
  std::vector<double> samples;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = static_cast<double>(prng.below(1'000'001)) / 1e6;
    samples.push_back(centre * (0.9 + 0.2 * share + 0.4 * share * share * share));
  }
  return samples;
}
constexpr double kMedianShare = 0.9 + 0.2 * 0.5 + 0.4 * 0.125;

TEST(Bootstrap, CoversTheTrueRatio) {
  Prng prng(11);
  for (const std::size_t size : {9U, 20U, 75U}) {
    int covered = 0;
    constexpr int kTrials = 400;
    for (int trial = 0; trial < kTrials; ++trial) {
      const auto a = run_times(prng, size, 3 / kMedianShare);
      const auto b = run_times(prng, size, 2 / kMedianShare);
      const auto interval = ratio_of_medians(a, b, 0.95, static_cast<std::uint64_t>(trial), 400);
      ASSERT_TRUE(interval.has_value());
      covered += interval->low <= 1.5 && 1.5 <= interval->high ? 1 : 0;
    }
    EXPECT_GT(covered, 0.88 * kTrials) << size;
    EXPECT_LT(covered, 0.99 * kTrials) << size;
  }
}

TEST(Bootstrap, ScalesAndDoesNotDependOnTheOrder) {
  Prng prng(5);
  auto a = run_times(prng, 12, 5), b = run_times(prng, 15, 4);
  const auto interval = ratio_of_medians(a, b);
  ASSERT_TRUE(interval.has_value());
  EXPECT_LT(interval->low, interval->high);
  std::ranges::reverse(a);
  std::ranges::rotate(b, b.begin() + 4);
  const auto reordered = ratio_of_medians(a, b);
  EXPECT_EQ(reordered->low, interval->low);
  EXPECT_EQ(reordered->high, interval->high);
  // Powers of two are exact.
  for (double& sample : a) sample *= 1024;
  for (double& sample : b) sample *= 256;
  const auto scaled = ratio_of_medians(a, b);
  EXPECT_EQ(scaled->low, 4 * interval->low);
  EXPECT_EQ(scaled->high, 4 * interval->high);
}

TEST(Bootstrap, SeedAndConfidence) {
  Prng prng(6);
  const auto a = run_times(prng, 10, 5), b = run_times(prng, 10, 5);
  const auto first = ratio_of_medians(a, b, 0.95, 1), again = ratio_of_medians(a, b, 0.95, 1);
  EXPECT_EQ(first->low, again->low);
  EXPECT_EQ(first->high, again->high);
  const auto narrow = ratio_of_medians(a, b, 0.5), wide = ratio_of_medians(a, b, 0.99);
  EXPECT_LT(wide->low, first->low);
  EXPECT_LT(first->low, narrow->low);
  EXPECT_LT(narrow->high, first->high);
  EXPECT_LT(first->high, wide->high);
}

TEST(Bootstrap, KnownIntervals) {
  const std::vector<double> sixes(4, 6.0), threes(7, 3.0);
  const auto constant = ratio_of_medians(sixes, threes);
  EXPECT_EQ(constant->low, 2.0);
  EXPECT_EQ(constant->high, 2.0);
  // Of {1, 2, 9} a resample's median is 1, 2, 9 with 7, 13, 7 of 27: both ends are reached.
  const std::vector<double> three = {9, 1, 2}, ones(3, 1.0);
  const auto extremes = ratio_of_medians(three, ones, 0.95);
  EXPECT_EQ(extremes->low, 1.0);
  EXPECT_EQ(extremes->high, 9.0);
  const auto middle = ratio_of_medians(three, ones, 0.4);
  EXPECT_EQ(middle->low, 2.0);
  EXPECT_EQ(middle->high, 2.0);
  // The middle two of an even count; their sum is beyond a double.
  const std::vector<double> large(4, 1e308);
  EXPECT_EQ(ratio_of_medians(large, large)->high, 1.0);
}

TEST(Bootstrap, OfManySamplesTheMedianSpreadsAsItShould) {
  // A resample's median of 1 to n stands at rank n x Beta(k, n + 1 - k), of an even n between two
  // such: mean n / 2, standard deviation sqrt(n) / 2. The other side does not move.
  const std::vector<double> ones(40, 1.0);
  for (const std::size_t size : {33U, 34U, 64U, 65U, 400U, 401U, 20'000U}) {
    std::vector<double> ranks(size);
    for (std::size_t i = 0; i < size; ++i) ranks[i] = static_cast<double>(i + 1);
    const auto interval = ratio_of_medians(ranks, ones, 0.95, 3, 4000);
    ASSERT_TRUE(interval.has_value());
    const auto n = static_cast<double>(size);
    EXPECT_NEAR((interval->low + interval->high) / 2, (n + 1) / 2, 0.08 * std::sqrt(n) + 0.3);
    const double width = 1.96 * std::sqrt(n);
    EXPECT_NEAR(interval->high - interval->low, width, 1.5 + 0.05 * width) << size;
  }
  std::vector<double> two_values(50, 1.0);
  two_values.insert(two_values.end(), 50, 3.0);
  // Of an even count split in two, the median is 1, 3, or with a chance of 8 % their mean.
  const auto split = ratio_of_medians(two_values, ones, 0.06, 5, 4000);
  EXPECT_EQ(split->low, 2.0);
  EXPECT_EQ(split->high, 2.0);
}

TEST(Bootstrap, WhatIsMissing) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> good = {1, 2, 3}, few = {1, 2}, none;
  EXPECT_TRUE(ratio_of_medians(good, good).has_value());
  for (const auto& bad : {few, none, {1, 2, kNan}, {1, kInf, 3}}) {
    EXPECT_FALSE(ratio_of_medians(bad, good).has_value());
    EXPECT_FALSE(ratio_of_medians(good, bad).has_value());
  }
  for (const auto& bad : std::vector<std::vector<double>>{{0, 0, 0}, {-1, -2, -3}, {0, 1, 2}})
    EXPECT_FALSE(ratio_of_medians(good, bad).has_value());
  EXPECT_TRUE(ratio_of_medians(std::vector<double>{-1, 0, 1}, good).has_value());
  EXPECT_FALSE(ratio_of_medians(std::vector<double>(3, 1e308), std::vector<double>(3, 1e-308)));
  for (const double confidence : {0.0, 1.0, -1.0, 2.0, kNan})
    EXPECT_FALSE(ratio_of_medians(good, good, confidence).has_value());
  EXPECT_FALSE(ratio_of_medians(good, good, 0.95, 1, 0).has_value());
}

}  // namespace
}  // namespace perflab::stats
