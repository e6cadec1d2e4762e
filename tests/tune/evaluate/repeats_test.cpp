// Warm-up, clock ramps and adaptive repeats, without any process; the ramps also on recorded
// repeats.
#include "tune/evaluate/repeats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "support/prng.h"
#include "tune/records/recording.h"

namespace perflab::tune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// A uniform number in [low, high).
double draw(test::Prng& random, double low, double high) {
  return low + (high - low) * static_cast<double>(random.next() >> 11U) * 0x1p-53;
}

/// About normal, mean 0, deviation 1: the sum of twelve uniform numbers.
double bell(test::Prng& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += draw(random, 0, 1);
  return sum;
}

TEST(ClockRamp, CutsTheSlowStartAndNothingElse) {
  // The optimum of conv_W6600 (docs/facts/tuning.md "Noise"): 3.4x, 2.3x, 1.75x, the rest 0.85x.
  std::vector<double> samples = {3.4, 2.3, 1.75};
  for (int i = 0; i < 29; ++i) samples.push_back(0.85 + 0.02 * (i % 3));
  EXPECT_EQ(clock_ramp(samples, false), 3U);
  EXPECT_EQ(clock_ramp({5, 1, 1, 1, 1}, false), 1U);
  EXPECT_EQ(clock_ramp({5, 4, 1, 1, 1}, false), 2U);
  EXPECT_EQ(clock_ramp({5, 4, 3, 1, 1}, false), 0U)
      << "half of the samples stay, whatever they are";
  EXPECT_EQ(clock_ramp({1, 5, 1, 1, 1, 1}, false), 0U) << "a slow sample later is noise";
  EXPECT_EQ(clock_ramp({3, 4, 1, 1, 1, 1}, false), 1U) << "a ramp falls";
  EXPECT_EQ(clock_ramp({1, 2, 3, 4, 5, 6}, false), 0U);
  EXPECT_EQ(clock_ramp({5, 1, 1, 1}, false), 0U) << "too few to tell";
  EXPECT_EQ(clock_ramp({}, false), 0U);
  EXPECT_EQ(clock_ramp({5, 1, 1, 1, 0}, false), 0U);
  EXPECT_EQ(clock_ramp({-5, -1, -1, -1, -1}, false), 0U);
}

TEST(ClockRamp, OfARateIsALowStart) {
  EXPECT_EQ(clock_ramp({10, 20, 50, 50, 51, 50}, true), 2U);
  EXPECT_EQ(clock_ramp({10, 20, 50, 50, 51, 50}, false), 0U);
  EXPECT_EQ(clock_ramp({100, 50, 50, 50, 50}, true), 0U) << "a fast start is no ramp";
}

TEST(ClockRamp, StationaryNoiseLosesNothing) {
  test::Prng random(1);
  for (int round = 0; round < 5'000; ++round) {
    std::vector<double> even(5 + random.next() % 40), normal(even.size());
    for (double& sample : even) sample = draw(random, 0.91, 1.09);
    for (double& sample : normal) sample = 1 + 0.03 * bell(random);
    ASSERT_EQ(clock_ramp(even, false), 0U) << "round " << round;
    ASSERT_EQ(clock_ramp(even, true), 0U) << "round " << round;
    ASSERT_EQ(clock_ramp(normal, false), 0U) << "round " << round;
  }
}

TEST(ClockRamp, OfRecordedRepeats) {
  const std::filesystem::path folder =
      std::filesystem::path(PERFLAB_SHARED_DIR) / "data/autotune/amd";
  const auto ramps_of = [&](const char* name, std::vector<double>& best) {
    std::vector<std::size_t> counts(20);
    const Result<Recording> recording = read_recording(folder / name);
    EXPECT_TRUE(recording.has_value()) << describe(recording.error());
    if (!recording) return counts;
    double least = 1e300;
    for (const RecordedConfiguration& one : recording->configurations) {
      if (one.outcome != Outcome::correct || one.repeats.empty()) continue;
      ++counts.at(clock_ramp(one.repeats, false));
      if (*one.value >= least) continue;
      least = *one.value;
      best = one.repeats;
    }
    return counts;
  };
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "skipped: " << folder << " is not there";
  std::vector<double> best;
  const auto w6600 = ramps_of("convolution_milo__W6600.json.gz", best);
  EXPECT_EQ(clock_ramp(best, false), 3U);
  EXPECT_EQ(std::accumulate(w6600.begin(), w6600.end(), std::size_t{0}), 4362U);
  EXPECT_GT(w6600[1] + w6600[2] + w6600[3], 1500U);
  EXPECT_EQ(std::accumulate(w6600.begin() + 6, w6600.end(), std::size_t{0}), 0U);
  // A server GPU whose clock stands still: hardly any.
  const auto mi250x = ramps_of("convolution_milo__MI250X.json.gz", best);
  EXPECT_EQ(clock_ramp(best, false), 0U);
  EXPECT_GT(mi250x[0], 4350U);
}

/// Runs that give these samples, one run after the other, until it is enough.
struct Gone {
  Evaluation evaluation;
  std::size_t runs = 0;
};
Gone go(const Job& job, const std::vector<std::vector<double>>& runs) {
  Gone gone;
  Repeats repeats(job);
  while (!repeats.enough()) {
    if (gone.runs == runs.size()) {
      ADD_FAILURE() << "wants more than " << runs.size() << " runs";
      break;
    }
    repeats.add(runs[gone.runs++]);
  }
  repeats.finish(gone.evaluation);
  return gone;
}

TEST(Repeats, DropsTheWarmUpRunAndTakesTheMedian) {
  const Gone gone = go(Job{}, {{100}, {10}, {10.2}, {10.1}, {0}});
  EXPECT_EQ(gone.runs, 4U);
  EXPECT_THAT(gone.evaluation.warm_up, ElementsAre(100));
  EXPECT_THAT(gone.evaluation.samples, ElementsAre(10, 10.2, 10.1));
  EXPECT_EQ(gone.evaluation.value, 10.1);
  EXPECT_NEAR(gone.evaluation.cv.value_or(0), 0.0099, 0.0001);
  EXPECT_FALSE(gone.evaluation.unstable);
}

TEST(Repeats, GoOnWhileTheFiguresAreNotSteady) {
  const Gone gone = go(Job{}, {{1}, {10}, {13}, {10}, {10}, {10}, {10}, {10}, {10}, {10}, {10}});
  EXPECT_EQ(gone.runs, 11U) << "one warm-up, ten measured";
  EXPECT_FALSE(gone.evaluation.unstable) << *gone.evaluation.cv;
  const Gone calm = go(Job{}, {{1}, {10}, {11.2}, {10}, {10}, {10}, {10}, {10}, {10}, {10}, {10}});
  EXPECT_LT(calm.runs, 11U);
  EXPECT_GT(calm.runs, 4U);
  const Gone wild = go(Job{}, {{1}, {9}, {12}, {9}, {12}, {9}, {12}, {9}, {12}, {9}, {12}});
  EXPECT_EQ(wild.runs, 11U);
  EXPECT_TRUE(wild.evaluation.unstable);
  EXPECT_EQ(wild.evaluation.value, 10.5);
}

TEST(Repeats, CutARampOverRuns) {
  const Gone gone = go(Job{}, {{50}, {40}, {30}, {20}, {10}, {10}, {10}});
  EXPECT_EQ(gone.runs, 7U);
  EXPECT_THAT(gone.evaluation.warm_up, ElementsAre(50, 40, 30, 20));
  EXPECT_THAT(gone.evaluation.samples, ElementsAre(10, 10, 10));
}

TEST(Repeats, ManySamplesOfOneRunNeedNoWarmUpRun) {
  const Gone gone = go(Job{}, {{40, 20, 10, 10, 10, 10}});
  EXPECT_THAT(gone.evaluation.warm_up, ElementsAre(40, 20));
  EXPECT_THAT(gone.evaluation.samples, ElementsAre(10, 10, 10, 10));
  EXPECT_EQ(gone.evaluation.cv, 0.0);
}

TEST(Repeats, ExactlySoManyRunsWhenAsked) {
  Job job;
  job.exact_runs = 2;
  const Gone gone = go(job, {{30}, {10}});
  EXPECT_THAT(gone.evaluation.warm_up, IsEmpty());
  EXPECT_THAT(gone.evaluation.samples, ElementsAre(30, 10));
  EXPECT_TRUE(gone.evaluation.unstable);
  job.exact_runs = 1;
  const Gone one = go(job, {{7}});
  EXPECT_EQ(one.evaluation.value, 7);
  EXPECT_EQ(one.evaluation.cv, std::nullopt);
}

TEST(Repeats, ValuesWithoutAMeanAreSteadyWhenTheyAreEqual) {
  EXPECT_EQ(go(Job{}, {{0}, {0}, {0}, {0}}).runs, 4U);
  Job job;
  job.repeats.most_runs = 0;
  EXPECT_EQ(go(job, {{1}, {2}}).runs, 2U) << "one measured run at least";
}

}  // namespace
}  // namespace perflab::tune
