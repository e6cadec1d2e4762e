// stats/comparison.h: known verdicts, invariances that hold exactly, how often a difference is seen
// where there is none (also with the stopping rule), and whether the number of samples that is said
// to decide does.
#include "stats/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/prng.h"

namespace perflab::stats {
namespace {

using test::Prng;

/// Around `centre`, skewed to the right, spread by about +-10 % x `spread`.
std::vector<double> noisy_times(Prng& prng, std::size_t count, double centre, double spread = 1) {
  std::vector<double> samples;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = static_cast<double>(prng.below(1'000'001)) / 1e6;
    samples.push_back(centre *
                      (1 + spread * (0.2 * (share - 0.5) + 0.4 * (share * share * share - 0.125))));
  }
  return samples;
}

TEST(Comparison, KnownVerdicts) {
  Prng prng(3);
  const auto base = noisy_times(prng, 30, 100, 0.1), near = noisy_times(prng, 30, 100.2, 0.1),
             slow = noisy_times(prng, 30, 110, 0.1), unclear = noisy_times(prng, 8, 101, 1);
  EXPECT_EQ(compare(base, near).verdict, SpeedVerdict::same);
  EXPECT_EQ(compare(base, slow).verdict, SpeedVerdict::slower);
  EXPECT_EQ(compare(slow, base).verdict, SpeedVerdict::faster);
  EXPECT_EQ(compare(base, unclear).verdict, SpeedVerdict::undecided);
  const Comparison found = compare(base, slow);
  EXPECT_NEAR(*found.ratio, 1.1, 0.01);
  EXPECT_LT(found.interval->low, *found.ratio);
  EXPECT_GT(found.interval->high, *found.ratio);
  EXPECT_EQ(*found.effect, 1);
  EXPECT_FALSE(found.samples_to_decide);
  EXPECT_EQ(found.samples_a, 30U);
  // A rate is better when it is larger; a wider margin takes 10 % for the same.
  EXPECT_EQ(compare(base, slow, {.larger_is_better = true}).verdict, SpeedVerdict::faster);
  EXPECT_EQ(compare(slow, base, {.larger_is_better = true}).verdict, SpeedVerdict::slower);
  EXPECT_EQ(compare(base, slow, {.margin = 0.2}).verdict, SpeedVerdict::same);
  EXPECT_EQ(to_string(SpeedVerdict::same), "SAME");
  EXPECT_EQ(to_string(SpeedVerdict::undecided), "UNDECIDED");
}

TEST(Comparison, ExchangingTheSidesMirrorsEverything) {
  Prng prng(8);
  for (int trial = 0; trial < 60; ++trial) {
    const auto size = [&] { return static_cast<std::size_t>(3 + prng.below(20)); };
    const auto a = noisy_times(prng, size(), 100, 0.3);
    const auto b = noisy_times(prng, size(), 96 + static_cast<double>(prng.below(9)), 0.3);
    const Comparison there = compare(a, b), back = compare(b, a);
    ASSERT_TRUE(there.interval && back.interval);
    EXPECT_NEAR(*there.ratio * *back.ratio, 1, 1e-12);
    EXPECT_NEAR(there.interval->low * back.interval->high, 1, 1e-12);
    EXPECT_NEAR(there.interval->high * back.interval->low, 1, 1e-12);
    EXPECT_NEAR(*there.effect, -*back.effect, 1e-12);
    EXPECT_EQ(there.samples_to_decide, back.samples_to_decide);
    const auto mirrored = [](SpeedVerdict verdict) {
      return verdict == SpeedVerdict::faster   ? SpeedVerdict::slower
             : verdict == SpeedVerdict::slower ? SpeedVerdict::faster
                                               : verdict;
    };
    EXPECT_EQ(there.verdict, mirrored(back.verdict));
    // The unit does not matter (a power of two is exact), nor the order.
    auto scaled_a = a, scaled_b = b;
    for (double& sample : scaled_a) sample *= 4096;
    for (double& sample : scaled_b) sample *= 4096;
    std::ranges::reverse(scaled_b);
    const Comparison scaled = compare(scaled_a, scaled_b);
    EXPECT_EQ(scaled.interval->low, there.interval->low);
    EXPECT_EQ(scaled.ratio, there.ratio);
    EXPECT_EQ(scaled.verdict, there.verdict);
    EXPECT_EQ(scaled.health_a.drift, there.health_a.drift);
  }
}

TEST(Comparison, TiesSpeakForNeitherSide) {
  using Samples = std::vector<double>;
  EXPECT_EQ(compare(Samples{5, 5, 5}, Samples{5, 5, 5}).effect, 0);
  EXPECT_EQ(compare(Samples{1, 2}, Samples{2, 3}).effect,
            0.75);  // three pairs of four are above, one is equal
}

TEST(Comparison, WhatIsMissing) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> few = {1, 2}, zeros(9, 0.0), fine = {5, 5.1, 5.2, 5.3, 5, 5.1},
                            holes = {5, kNan, 5.1, std::numeric_limits<double>::infinity(), 5.2};
  EXPECT_FALSE(compare({}, fine).ratio);
  EXPECT_EQ(compare({}, {}).verdict, SpeedVerdict::undecided);
  EXPECT_EQ(*compare(few, fine).ratio, 5.1 / 1.5);
  EXPECT_FALSE(compare(few, fine).interval);
  EXPECT_FALSE(compare(few, fine).samples_to_decide);
  EXPECT_FALSE(compare(zeros, fine).ratio);
  EXPECT_EQ(*compare(zeros, fine).effect, 1);
  EXPECT_FALSE(compare(fine, zeros).ratio);
  EXPECT_FALSE(compare(fine, fine, {.confidence = 1}).interval);
  const Comparison found = compare(holes, fine);
  EXPECT_EQ(found.rejected, 2U);
  EXPECT_EQ(found.samples_a, 3U);
  EXPECT_TRUE(found.interval);
}

TEST(Comparison, FewSamplesDecideNothingHoweverClear) {
  const auto at = [](std::size_t count, double value) { return std::vector(count, value); };
  EXPECT_EQ(compare(at(4, 1), at(4, 2)).verdict, SpeedVerdict::undecided);
  EXPECT_EQ(compare(at(4, 1), at(4, 2)).samples_to_decide, 5U);
  EXPECT_EQ(compare(at(5, 1), at(5, 2)).verdict, SpeedVerdict::slower);
  EXPECT_EQ(compare(at(5, 1), at(5, 1)).verdict, SpeedVerdict::same);
  EXPECT_EQ(compare(at(4, 1), at(4, 2), {.confidence = 0.995}).samples_to_decide, 6U);
  EXPECT_EQ(compare(at(6, 1), at(6, 2), {.confidence = 0.995}).verdict, SpeedVerdict::slower);
  EXPECT_EQ(compare(at(3, 1), at(20, 2)).verdict, SpeedVerdict::slower);  // 2 / 1771
}

/// Shares of FASTER or SLOWER among `trials` comparisons of one distribution with itself.
template <class Decide>
double false_alarms(int trials, const Decide& decide) {
  int alarms = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const SpeedVerdict verdict = decide(static_cast<std::uint64_t>(trial));
    alarms += verdict == SpeedVerdict::faster || verdict == SpeedVerdict::slower ? 1 : 0;
  }
  return static_cast<double>(alarms) / trials;
}

TEST(Comparison, SeesNoDifferenceWhereThereIsNone) {
  // No margin: nothing is the same, every wrong interval counts. 400 trials: three standard
  // deviations of 5 % are 3.3 %.
  for (const std::size_t size : {5U, 7U, 12U, 40U}) {
    const double share = false_alarms(400, [&](std::uint64_t seed) {
      Prng prng(1000 * size + seed);
      const auto a = noisy_times(prng, size, 10), b = noisy_times(prng, size, 10);
      return compare(a, b, {.margin = 0, .seed = seed, .resamples = 400}).verdict;
    });
    EXPECT_LE(share, 0.083) << size;
  }
}

/// Adds samples to both sides until the verdict is clear or the rule is at its end; the number.
SpeedVerdict grown(const StoppingRule& rule, Prng& prng, double centre_b,
                   const ComparisonOptions& options, std::size_t* samples = nullptr) {
  std::vector<double> a, b;
  Comparison found;
  for (std::size_t count = 1; count <= rule.most; ++count) {
    a.push_back(noisy_times(prng, 1, 10).front());
    b.push_back(noisy_times(prng, 1, centre_b).front());
    if (samples != nullptr) *samples = count;
    if (!is_look(rule, count)) continue;
    ComparisonOptions of_look = options;
    of_look.confidence = confidence_of_look(rule, options.confidence);
    found = compare(a, b, of_look);
    if (found.verdict != SpeedVerdict::undecided) break;
  }
  return found.verdict;
}

TEST(Comparison, SequentialLooksSeeNoDifferenceEither) {
  const StoppingRule rule{.fewest = 7, .most = 30, .looks = 5};
  const double share = false_alarms(400, [&](std::uint64_t seed) {
    Prng prng(77 + 1000 * seed);
    return grown(rule, prng, 10, {.margin = 0, .seed = seed, .resamples = 400});
  });
  EXPECT_LE(share, 0.083);
}

TEST(Comparison, SequentialLooksEndEarlyWhenTheDifferenceIsLarge) {
  const StoppingRule rule;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Prng prng(seed);
    std::size_t samples = 0;
    EXPECT_EQ(grown(rule, prng, 20, {}, &samples), SpeedVerdict::slower);
    EXPECT_EQ(samples, rule.fewest);
  }
}

TEST(Comparison, TheSamplesThatDecideDo) {
  // 4 % slower, spread so wide that 10 samples say nothing. Half of the predictions are too small
  // by design (the interval then touches the border if the centre stays), a quarter of them rarely
  // is enough.
  int predicted = 0, decided = 0, decided_by_fewer = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    Prng prng(900 + seed);
    const ComparisonOptions options{.resamples = 400};
    // Drawn one by one: compilers differ in the order of arguments.
    const auto compared = [&](std::size_t count) {
      const auto slower = noisy_times(prng, count, 104, 0.8);
      const auto faster = noisy_times(prng, count, 100, 0.8);
      return compare(faster, slower, options);
    };
    const Comparison first = compared(12);
    // Where the first look is far from the truth, so is its prediction.
    if (!first.samples_to_decide || std::abs(*first.ratio - 1.04) > 0.015) continue;
    ++predicted;
    EXPECT_GT(*first.samples_to_decide, 12U);
    const auto again = [&](std::size_t count) {
      return compared(count).verdict != SpeedVerdict::undecided;
    };
    decided += again(*first.samples_to_decide) ? 1 : 0;
    decided_by_fewer += again(std::max<std::size_t>(*first.samples_to_decide / 4, 5)) ? 1 : 0;
  }
  ASSERT_GT(predicted, 15) << decided << " " << decided_by_fewer;
  EXPECT_GT(decided, 0.35 * predicted);
  EXPECT_GT(decided, 2 * decided_by_fewer);
  // At the border of the margin no number of samples decides what is the same.
  const std::vector<double> a = {99, 100, 101, 99.5, 100.5, 100, 100},
                            b = {101, 102, 103, 101.5, 102.5, 102, 102};
  const Comparison border = compare(a, b, {.margin = 0.02, .confidence = 0.99999});
  ASSERT_EQ(border.verdict, SpeedVerdict::undecided);
  EXPECT_TRUE(border.samples_to_decide);  // as SLOWER
}

TEST(Comparison, OutliersStayAndAreCounted) {
  std::vector<double> samples = {10, 10.1, 9.9, 10.2, 9.8, 10, 10.1, 9.9};
  EXPECT_EQ(compare(samples, samples).health_a.outliers, 0U);
  samples.push_back(30);
  const Comparison found = compare(samples, samples);
  EXPECT_EQ(found.health_a.outliers, 1U);
  EXPECT_EQ(found.samples_b, 9U);
  // A coarse clock: most samples are the same, one tick beside is no outlier.
  std::vector<double> coarse(20, 100.0);
  for (const std::size_t place : {3U, 9U, 11U, 15U}) coarse[place] = 101;
  EXPECT_EQ(compare(coarse, coarse).health_a.outliers, 0U);
  coarse[9] = 500;
  EXPECT_EQ(compare(coarse, coarse).health_a.outliers, 1U);
}

TEST(Comparison, DriftIsSeenAndLevelNoiseIsNot) {
  int noisy = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Prng prng(seed);
    const auto level = noisy_times(prng, 25, 100);
    noisy += compare(level, level).health_a.drifting ? 1 : 0;
  }
  EXPECT_LE(noisy, 4);  // 1 % is meant
  for (const std::size_t count : {8U, 60U, 5000U}) {
    Prng prng(count);
    auto rising = noisy_times(prng, count, 100, 0.05);
    for (std::size_t i = 0; i < count; ++i)
      rising[i] += 20 * static_cast<double>(i) / static_cast<double>(count);
    const SampleHealth health = compare(rising, rising).health_b;
    EXPECT_TRUE(health.drifting) << count;
    EXPECT_NEAR(*health.drift, 0.2 / 1.1, 0.03) << count;
    std::ranges::reverse(rising);
    EXPECT_NEAR(*compare(rising, rising).health_a.drift, -*health.drift, 0.005);
  }
  const std::vector<double> seven(7, 1.0), same(30, 1.0);
  EXPECT_FALSE(compare(seven, seven).health_a.drift);
  EXPECT_EQ(*compare(same, same).health_a.drift, 0);
  EXPECT_FALSE(compare(same, same).health_a.drifting);
}

TEST(Comparison, LooksOfARule) {
  const StoppingRule rule{.fewest = 7, .most = 60, .looks = 8};
  std::vector<std::size_t> looks;
  for (std::size_t count = 0; count < 100; ++count)
    if (is_look(rule, count)) looks.push_back(count);
  EXPECT_EQ(looks, (std::vector<std::size_t>{7, 10, 13, 18, 24, 32, 44, 60}));
  EXPECT_DOUBLE_EQ(confidence_of_look(rule, 0.95), 1 - 0.05 / 8);
  // Looks that fall together are one; a rule without room looks once, at its end.
  const StoppingRule narrow{.fewest = 3, .most = 5, .looks = 8};
  EXPECT_TRUE(is_look(narrow, 3) && is_look(narrow, 4) && is_look(narrow, 5));
  EXPECT_DOUBLE_EQ(confidence_of_look(narrow, 0.95), 1 - 0.05 / 3);
  const StoppingRule single{.fewest = 9, .most = 9, .looks = 4};
  EXPECT_TRUE(is_look(single, 9));
  EXPECT_FALSE(is_look(single, 8));
  EXPECT_DOUBLE_EQ(confidence_of_look(single, 0.9), 0.9);
}

}  // namespace
}  // namespace perflab::stats
