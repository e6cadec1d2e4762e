// stats/summary.h: literal figures, what is missing and when, and the properties that any summary
// must have (order does not matter, scaling scales, the two variants agree).
#include "stats/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace perflab::stats {
namespace {

using ::testing::Optional;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kMin64 = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax64 = std::numeric_limits<std::int64_t>::max();

DurationSummary durations(std::vector<std::int64_t> values) {
  return summarize_durations(values);
}

/// Random samples of every size from 1 to 40, log-normal like kernel times.
std::vector<std::vector<std::int64_t>> samples_of_many_sizes() {
  std::mt19937_64 random(20240601);
  std::lognormal_distribution<double> time(9.0, 1.5);
  std::vector<std::vector<std::int64_t>> all(40);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t n = 0; n <= i; ++n) all[i].push_back(static_cast<std::int64_t>(time(random)));
  return all;
}

void expect_same(const Summary& a, const Summary& b) {
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.rejected, b.rejected);
  EXPECT_EQ(a.sum, b.sum);
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.median, b.median);
  EXPECT_EQ(a.min, b.min);
  EXPECT_EQ(a.max, b.max);
  EXPECT_EQ(a.stddev, b.stddev);
  EXPECT_EQ(a.cv, b.cv);
  EXPECT_EQ(a.mad, b.mad);
}

void expect_same(const DurationSummary& a, const DurationSummary& b) {
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.sum, b.sum);
  EXPECT_EQ(a.min, b.min);
  EXPECT_EQ(a.max, b.max);
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.median, b.median);
  EXPECT_EQ(a.stddev, b.stddev);
  EXPECT_EQ(a.cv, b.cv);
  EXPECT_EQ(a.mad, b.mad);
}

TEST(Summary, KnownFigures) {
  const Summary s = summarize(std::vector<double>{2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(s.count, 8U);
  EXPECT_EQ(s.rejected, 0U);
  EXPECT_THAT(s.sum, Optional(40.0));
  EXPECT_THAT(s.mean, Optional(5.0));
  EXPECT_THAT(s.median, Optional(4.5));
  EXPECT_THAT(s.min, Optional(2.0));
  EXPECT_THAT(s.max, Optional(9.0));
  EXPECT_DOUBLE_EQ(s.stddev.value(), std::sqrt(32.0 / 7.0));
  EXPECT_DOUBLE_EQ(s.cv.value(), std::sqrt(32.0 / 7.0) / 5.0);
  EXPECT_THAT(s.mad, Optional(0.5));
}

TEST(Summary, OddCountTakesTheMiddleSample) {
  const Summary s = summarize(std::vector<double>{9, 1, 5});
  EXPECT_THAT(s.median, Optional(5.0));
  EXPECT_THAT(s.mad, Optional(4.0));
}

TEST(Summary, NothingIsZeroWhenThereIsNothing) {
  expect_same(summarize({}), Summary{});
  EXPECT_FALSE(summarize({}).sum.has_value());
}

TEST(Summary, OneSampleHasNoSpread) {
  const Summary s = summarize(std::vector<double>{3.5});
  EXPECT_THAT(s.mean, Optional(3.5));
  EXPECT_THAT(s.median, Optional(3.5));
  EXPECT_FALSE(s.stddev.has_value());
  EXPECT_FALSE(s.cv.has_value());
  EXPECT_THAT(s.mad, Optional(0.0));
}

TEST(Summary, MeanZeroHasNoCv) {
  const Summary s = summarize(std::vector<double>{-1, 1});
  EXPECT_THAT(s.mean, Optional(0.0));
  EXPECT_THAT(s.stddev, Optional(std::sqrt(2.0)));
  EXPECT_FALSE(s.cv.has_value());
}

TEST(Summary, NegativeMeanHasAPositiveCv) {
  EXPECT_THAT(summarize(std::vector<double>{-3, -1}).cv, Optional(std::sqrt(2.0) / 2));
}

TEST(Summary, EqualSamplesHaveNoSpreadAtAll) {
  const Summary s = summarize(std::vector<double>(7, 0.1));
  EXPECT_THAT(s.mean, Optional(0.1));
  EXPECT_THAT(s.stddev, Optional(0.0));
  EXPECT_THAT(s.cv, Optional(0.0));
}

TEST(Summary, WhatIsNotFiniteIsLeftOutAndCounted) {
  const Summary s = summarize(std::vector<double>{1, kInf, 3, kNan, -kInf});
  EXPECT_EQ(s.count, 2U);
  EXPECT_EQ(s.rejected, 3U);
  EXPECT_THAT(s.mean, Optional(2.0));
  EXPECT_EQ(summarize(std::vector<double>{kNan}).rejected, 1U);
  EXPECT_FALSE(summarize(std::vector<double>{kNan}).mean.has_value());
}

TEST(Summary, SumTooLargeForADoubleIsMissingAndTheMeanIsNot) {
  const Summary s = summarize(std::vector<double>(4, 1.5e308));
  EXPECT_FALSE(s.sum.has_value());
  EXPECT_THAT(s.mean, Optional(1.5e308));
  EXPECT_THAT(s.median, Optional(1.5e308));
  EXPECT_THAT(s.stddev, Optional(0.0));
}

TEST(Summary, SquaresOfLargeAndTinyDeviationsStayInRange) {
  EXPECT_THAT(summarize(std::vector<double>{1e200, 3e200}).stddev,
              Optional(std::sqrt(2.0) * 1e200));
  const double tiny = summarize(std::vector<double>{1e-200, 3e-200}).stddev.value();
  EXPECT_NEAR(tiny / (std::sqrt(2.0) * 1e-200), 1.0, 1e-12);
}

TEST(Summary, SmallTermsAreNotLostInALargeSum) {
  std::vector<double> samples(1000, 1.0);
  samples.push_back(1e16);
  EXPECT_THAT(summarize(samples).sum, Optional(1e16 + 1000));
}

TEST(Durations, KnownFigures) {
  const DurationSummary s = durations({2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(s.count, 8U);
  EXPECT_THAT(s.sum, Optional(std::int64_t{40}));
  EXPECT_THAT(s.mean, Optional(5.0));
  EXPECT_THAT(s.median, Optional(4.5));
  EXPECT_THAT(s.min, Optional(std::int64_t{2}));
  EXPECT_THAT(s.max, Optional(std::int64_t{9}));
  EXPECT_DOUBLE_EQ(s.stddev.value(), std::sqrt(32.0 / 7.0));
  EXPECT_DOUBLE_EQ(s.cv.value(), std::sqrt(32.0 / 7.0) / 5.0);
  EXPECT_THAT(s.mad, Optional(0.5));
}

TEST(Durations, Degenerate) {
  expect_same(durations({}), DurationSummary{});
  const DurationSummary one = durations({10920});
  EXPECT_THAT(one.sum, Optional(std::int64_t{10920}));
  EXPECT_THAT(one.median, Optional(10920.0));
  EXPECT_FALSE(one.stddev.has_value());
  EXPECT_FALSE(one.cv.has_value());
  const DurationSummary zeros = durations({0, 0, 0});
  EXPECT_THAT(zeros.sum, Optional(std::int64_t{0}));
  EXPECT_THAT(zeros.stddev, Optional(0.0));
  EXPECT_FALSE(zeros.cv.has_value());
}

TEST(Durations, ExtremesDoNotOverflow) {
  const DurationSummary s = durations({kMax64, kMax64});
  EXPECT_FALSE(s.sum.has_value());
  EXPECT_THAT(s.mean, Optional(static_cast<double>(kMax64)));
  EXPECT_THAT(s.median, Optional(static_cast<double>(kMax64)));
  EXPECT_THAT(s.stddev, Optional(0.0));

  const DurationSummary wide = durations({kMin64, kMax64, kMin64, kMax64});
  EXPECT_THAT(wide.sum, Optional(std::int64_t{-2}));
  EXPECT_THAT(wide.mean, Optional(-0.5));
  EXPECT_DOUBLE_EQ(wide.stddev.value(), std::exp2(63) * std::sqrt(4.0 / 3.0));
  EXPECT_THAT(wide.mad, Optional(std::exp2(63)));
}

TEST(Durations, MedianOfAnEvenCountKeepsTheHalf) {
  EXPECT_THAT(durations({1, 2}).median, Optional(1.5));
  EXPECT_THAT(durations({-2, -1}).median, Optional(-1.5));
  EXPECT_THAT(durations({kMax64 - 1, kMax64}).median, Optional(static_cast<double>(kMax64)));
}

TEST(Durations, TheMedianAloneIsThatOfTheSummary) {
  const auto median = [](std::vector<std::int64_t> values) { return median_duration(values); };
  EXPECT_EQ(median({7}), 7.0);
  EXPECT_EQ(median({9, 1, 5}), 5.0);
  EXPECT_EQ(median({4, 1, 2, 9}), 3.0);
  EXPECT_EQ(median({2, 1}), 1.5);
  EXPECT_EQ(median({-1, -2}), -1.5);
  EXPECT_EQ(median({kMax64, kMax64 - 1}), static_cast<double>(kMax64));
  EXPECT_EQ(median({kMax64, kMin64}), 0.0);  // 2^64 - 1 apart, and -0.5 is lost in a double
  for (const std::vector<std::int64_t>& values : samples_of_many_sizes())
    EXPECT_THAT(durations(values).median, Optional(median(values)));
}

TEST(Durations, SpreadFarFromZeroIsExact) {
  // A day in nanoseconds: squares of the values themselves would have lost these ones.
  constexpr std::int64_t kDay = 86'400'000'000'000;
  EXPECT_THAT(durations({kDay, kDay + 1, kDay + 2}).stddev, Optional(1.0));
  std::vector<std::int64_t> mostly_equal(999'999, kDay);
  mostly_equal.push_back(kDay + 1);
  EXPECT_NEAR(summarize_durations(mostly_equal).stddev.value(), 1e-3, 1e-12);
}

TEST(Durations, OnlyReorders) {
  std::vector<std::int64_t> values{5, 3, 9, 3, 7, 1, 8, 2};
  const std::vector<std::int64_t> before = values;
  summarize_durations(values);
  EXPECT_THAT(values, ::testing::UnorderedElementsAreArray(before));
}

std::vector<double> scaled(const std::vector<std::int64_t>& values, double factor) {
  std::vector<double> result;
  for (const std::int64_t value : values) result.push_back(static_cast<double>(value) * factor);
  return result;
}

TEST(Property, OrderDoesNotMatter) {
  std::mt19937_64 random(7);
  for (std::vector<std::int64_t> values : samples_of_many_sizes()) {
    const Summary first = summarize(scaled(values, 0.1));
    const DurationSummary first_durations = durations(values);
    for (int round = 0; round < 5; ++round) {
      std::ranges::shuffle(values, random);
      expect_same(summarize(scaled(values, 0.1)), first);
      expect_same(durations(values), first_durations);
    }
  }
}

TEST(Property, ScalingScales) {
  for (const std::vector<std::int64_t>& values : samples_of_many_sizes()) {
    const Summary a = summarize(scaled(values, 1));
    const Summary b = summarize(scaled(values, 1024));
    EXPECT_EQ(a.sum.value() * 1024, b.sum.value());
    EXPECT_EQ(a.mean.value() * 1024, b.mean.value());
    EXPECT_EQ(a.median.value() * 1024, b.median.value());
    EXPECT_EQ(a.mad.value() * 1024, b.mad.value());
    EXPECT_EQ(a.cv, b.cv);
    if (values.size() > 1) {
      EXPECT_EQ(a.stddev.value() * 1024, b.stddev.value());
    }
  }
}

TEST(Property, BothVariantsAgree) {
  for (const std::vector<std::int64_t>& values : samples_of_many_sizes()) {
    const Summary a = summarize(scaled(values, 1));
    const DurationSummary b = durations(values);
    EXPECT_DOUBLE_EQ(a.sum.value(), static_cast<double>(b.sum.value()));
    EXPECT_DOUBLE_EQ(a.mean.value(), b.mean.value());
    EXPECT_EQ(a.median, b.median);
    EXPECT_EQ(a.mad, b.mad);
    EXPECT_EQ(a.stddev.has_value(), b.stddev.has_value());
    if (a.stddev && b.stddev) {
      EXPECT_NEAR(*a.stddev / *b.stddev, 1.0, 1e-12);
    }
  }
}

TEST(Property, FiguresAreInOrder) {
  for (const std::vector<std::int64_t>& values : samples_of_many_sizes()) {
    const Summary s = summarize(scaled(values, 0.1));
    EXPECT_LE(s.min.value(), s.median.value());
    EXPECT_LE(s.median.value(), s.max.value());
    EXPECT_LE(s.min.value(), s.mean.value());
    EXPECT_LE(s.mean.value(), s.max.value());
    EXPECT_LE(s.mad.value(), s.max.value() - s.min.value());
  }
}

TEST(Stability, BoundsBelongToTheBetterSide) {
  EXPECT_EQ(classify(0), Stability::stable);
  EXPECT_EQ(classify(0.05), Stability::stable);
  EXPECT_EQ(classify(std::nextafter(0.05, 1.0)), Stability::moderate);
  EXPECT_EQ(classify(0.10), Stability::moderate);
  EXPECT_EQ(classify(std::nextafter(0.10, 1.0)), Stability::unstable);
  EXPECT_EQ(classify(kInf), Stability::unstable);
  EXPECT_EQ(classify(kNan), Stability::unstable);
}

TEST(Stability, Names) {
  EXPECT_EQ(to_string(Stability::stable), "stable");
  EXPECT_EQ(to_string(Stability::moderate), "moderate");
  EXPECT_EQ(to_string(Stability::unstable), "unstable");
}

}  // namespace
}  // namespace perflab::stats
