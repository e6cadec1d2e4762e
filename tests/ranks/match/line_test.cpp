// Lines between bounds, against all crossings of two bounds.
#include "ranks/match/line.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"

namespace perflab::ranks {
namespace {

double uniform(SplitMix64& random, double from, double to) {
  return from + (to - from) * static_cast<double>(random.next() >> 11U) * 0x1p-53;
}

// The least and most of a + b t over the corners of what the bounds allow.
std::pair<double, double> corners(const std::vector<Bound>& bounds, double t) {
  struct Half {
    double t, y;
  };
  std::vector<Half> lines;
  for (const Bound& of : bounds) {
    lines.push_back({of.t, of.low});
    lines.push_back({of.t, of.high});
  }
  double least = std::numeric_limits<double>::infinity(), most = -least;
  const auto take = [&](double a, double b) {
    if (std::abs(b) > kSteepest * (1 + 1e-9)) return;
    for (const Bound& of : bounds) {
      const double y = a + b * of.t;
      if (y < of.low - 1e-6 || y > of.high + 1e-6) return;
    }
    least = std::min(least, a + b * t);
    most = std::max(most, a + b * t);
  };
  for (const Half& one : lines) {
    for (const double b : {-kSteepest, kSteepest}) take(one.y - b * one.t, b);
    for (const Half& two : lines) {
      if (one.t == two.t) continue;
      const double b = (two.y - one.y) / (two.t - one.t);
      take(one.y - b * one.t, b);
    }
  }
  return {least, most};
}

TEST(RanksLine, EndsOfAllAllowedLinesAreThoseOfTheCorners) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SplitMix64 random(seed);
    const double a = uniform(random, -1e6, 1e6), b = uniform(random, -50e-6, 50e-6);
    std::vector<Bound> bounds;
    const std::size_t count = 2 + random.next() % 12;
    for (std::size_t i = 0; i < count; ++i) {
      const double t = uniform(random, 0, 1e9), y = a + b * t;
      bounds.push_back({t, y - uniform(random, 0, 2e4), y + uniform(random, 0, 2e4)});
    }
    const Strip strip(bounds);
    ASSERT_GE(strip.slack(), 0) << seed;
    EXPECT_LE(strip.least_slope(), b + 1e-12);
    EXPECT_GE(strip.most_slope(), b - 1e-12);
    for (const double t : {0.0, 3e8, 1e9, 2e9}) {
      const auto [least, most] = corners(bounds, t);
      EXPECT_NEAR(strip.low(t), least, 1e-2) << seed;
      EXPECT_NEAR(strip.high(t), most, 1e-2) << seed;
    }
  }
}

TEST(RanksLine, BoundsThatNoLineKeepsHaveNegativeSlack) {
  const std::vector<Bound> bounds = {{0, 0, 100}, {1e6, 400, 500}, {2e6, 0, 100}};
  // The best line is 150 too low in the middle and 150 too high at both ends, less the width.
  EXPECT_NEAR(Strip(bounds).slack(), -300, 1e-6);
  EXPECT_GT(Strip(std::span(bounds).first(2)).slack(), -300);
}

TEST(RanksLine, OneSideAloneHasNoOtherEnd) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const std::vector<Bound> bounds = {{0, -kNone, 100}, {1e6, -kNone, 90}};
  const Strip strip(bounds);
  EXPECT_EQ(strip.low(0), -kNone);
  EXPECT_EQ(strip.slack(), kNone);
  EXPECT_NEAR(strip.high(1e6), 90, 1e-3);
}

TEST(RanksLine, SlopeAndHeightSurviveOutliers) {
  std::vector<Seen> points;
  for (int i = 0; i < 100; ++i) {
    const double t = i * 1e7;
    points.push_back({t, 500 + 20e-6 * t + (i % 7 == 3 ? 1e6 : i % 2)});
  }
  const auto line = line_through(points);
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->b, 20e-6, 1e-8);
  EXPECT_NEAR(line->a, 500, 5);
  EXPECT_LT(line->spread, 2);
  EXPECT_FALSE(line_through({}));
}

}  // namespace
}  // namespace perflab::ranks
