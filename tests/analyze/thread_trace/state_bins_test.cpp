// States over time in bins, and the runs of single waves: no cycle is lost, whatever the order and
// however many there are.
#include "analyze/thread_trace/state_bins.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "support/prng.h"

namespace perflab::analyze {
namespace {

using att::StateRun;
using att::WaveState;

struct TimedRuns {
  std::int64_t begin = 0;
  std::vector<StateRun> runs;
};

StateBins bins_of(const std::vector<TimedRuns>& waves) {
  StateBins bins;
  for (const TimedRuns& wave : waves) bins.add(wave.begin, wave.runs);
  return bins;
}

/// Cycles of a state over all bins.
std::int64_t sum_of(const StateBins& bins, WaveState state) {
  std::int64_t sum = 0;
  for (const StateBins::Bin& bin : bins.bins()) sum += bin[static_cast<std::size_t>(state)];
  return sum;
}

TEST(ThreadTraceStateBins, AShortTraceHasABinForEachCycle) {
  const StateBins bins =
      bins_of({{.begin = 1000, .runs = {{WaveState::idle, 2}, {WaveState::exec, 3}}},
               {.begin = 1001, .runs = {{WaveState::exec, 1}}}});
  EXPECT_EQ(bins.begin(), 1000);
  EXPECT_EQ(bins.bin_cycles(), 1);
  const std::vector<StateBins::Bin> expected = {
      {0, 1, 0, 0, 0}, {0, 1, 1, 0, 0}, {0, 0, 1, 0, 0}, {0, 0, 1, 0, 0}, {0, 0, 1, 0, 0}};
  EXPECT_EQ(bins.bins(), expected);
}

TEST(ThreadTraceStateBins, ALongOneHasLongerBins) {
  // 1000 cycles from 500 on: bins of 4 cycles are 251 with the halves at both ends, of 2 too many.
  const StateBins bins = bins_of({{.begin = 501, .runs = {{WaveState::wait, 1000}}}});
  EXPECT_EQ(bins.bin_cycles(), 4);
  EXPECT_EQ(bins.begin(), 500);
  ASSERT_EQ(bins.bins().size(), 251U);
  EXPECT_EQ(bins.bins().front()[3], 3);
  EXPECT_EQ(bins.bins()[1][3], 4);
  EXPECT_EQ(bins.bins().back()[3], 1);
}

TEST(ThreadTraceStateBins, NothingAndNoTimeMakeNoBins) {
  EXPECT_TRUE(bins_of({}).bins().empty());
  EXPECT_TRUE(bins_of({{.begin = 7, .runs = {{WaveState::exec, 0}}}}).bins().empty());
  StateBins empty;
  empty.merge(StateBins());
  EXPECT_TRUE(empty.bins().empty());
}

/// Waves of very different lengths, far apart.
std::vector<TimedRuns> random_waves(test::Prng& random) {
  std::vector<TimedRuns> waves(static_cast<std::size_t>(1 + random.below(20)));
  const std::int64_t reach = std::int64_t{1} << random.below(40);
  for (TimedRuns& wave : waves) {
    wave.begin = random.below(reach + 1);
    const std::int64_t longest = std::int64_t{1} << random.below(20);
    for (std::int64_t runs = random.below(30); runs > 0; --runs)
      wave.runs.push_back({static_cast<WaveState>(random.below(5)), random.below(longest + 1)});
  }
  return waves;
}

TEST(ThreadTraceStateBins, KeepEveryCycleWhereItWasInAnyOrder) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    test::Prng random(seed);
    std::vector<TimedRuns> waves = random_waves(random);
    const StateBins bins = bins_of(waves);
    ASSERT_LE(bins.bins().size(), kMostStateBins);
    // By hand: bins of the same length, from zero on.
    std::map<std::pair<std::int64_t, std::size_t>, std::int64_t> expected;
    for (const TimedRuns& wave : waves) {
      std::int64_t time = wave.begin;
      for (const StateRun& run : wave.runs) {
        const std::int64_t end = time + run.duration;
        for (std::int64_t bin = time / bins.bin_cycles(); bin * bins.bin_cycles() < end; ++bin) {
          const std::int64_t part = std::min(end, (bin + 1) * bins.bin_cycles()) -
                                    std::max(time, bin * bins.bin_cycles());
          if (part > 0) expected[{bin, static_cast<std::size_t>(run.state)}] += part;
        }
        time = end;
      }
    }
    std::map<std::pair<std::int64_t, std::size_t>, std::int64_t> found;
    for (std::size_t i = 0; i < bins.bins().size(); ++i)
      for (std::size_t state = 0; state < att::kWaveStates; ++state)
        if (const std::int64_t cycles = bins.bins()[i][state]; cycles != 0)
          found[{bins.begin() / bins.bin_cycles() + static_cast<std::int64_t>(i), state}] = cycles;
    EXPECT_EQ(found, expected);

    std::ranges::reverse(waves);
    const StateBins backwards = bins_of(waves);
    EXPECT_EQ(backwards.bins(), bins.bins());
    EXPECT_EQ(backwards.begin(), bins.begin());
    StateBins merged;
    for (const TimedRuns& wave : waves) merged.merge(bins_of({wave}));
    EXPECT_EQ(merged.bins(), bins.bins());
    EXPECT_EQ(merged.bin_cycles(), bins.bin_cycles());
  }
}

/// A wave with these runs, from 100 on.
att::Wave wave_with(std::vector<StateRun> runs) {
  att::Wave wave;
  wave.begin = wave.end = 100;
  for (const StateRun& run : runs) wave.end += run.duration;
  wave.timeline = std::move(runs);
  return wave;
}

TEST(ThreadTraceWaveStates, FewRunsStayAsTheyAre) {
  const WaveStates wave = wave_states(wave_with(
      {{WaveState::idle, 5}, {WaveState::exec, 0}, {WaveState::idle, 1}, {WaveState::wait, 7}}));
  EXPECT_TRUE(wave.exact);
  EXPECT_EQ(wave.begin, 100);
  EXPECT_EQ(wave.end, 113);
  ASSERT_EQ(wave.runs.size(), 2U);  // neighbours of one state are one run
  EXPECT_EQ(wave.runs[0].duration, 6);
  EXPECT_EQ(wave.runs[1].state, WaveState::wait);
}

TEST(ThreadTraceWaveStates, ManyRunsKeepTheirCyclesByState) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    test::Prng random(seed);
    std::vector<StateRun> runs;
    std::map<WaveState, std::int64_t> expected, found;
    for (int i = 0; i < 1000; ++i) {
      runs.push_back({static_cast<WaveState>(i % 5), 1 + random.below(i % 97 == 0 ? 9000 : 50)});
      expected[runs.back().state] += runs.back().duration;
    }
    const WaveStates wave = wave_states(wave_with(runs));
    EXPECT_FALSE(wave.exact);
    EXPECT_LE(wave.runs.size(), kMostRuns);
    EXPECT_GE(wave.runs.size(), 20U);
    for (const StateRun& run : wave.runs) found[run.state] += run.duration;
    EXPECT_EQ(found, expected);
  }
}

TEST(ThreadTraceKeptWaves, AreThoseOfTheLowestSlotsInAnyOrder) {
  std::vector<WaveStates> all;
  for (int slot = 0; slot < 8; ++slot)
    for (int simd = 0; simd < 4; ++simd)
      for (int id = 0; id < 20; ++id) {
        WaveStates wave;
        wave.place = {.shader_engine = 0, .cu = 1, .simd = simd, .slot = slot, .id = id};
        all.push_back(wave);
      }
  ASSERT_GT(all.size(), kMostKeptWaves);
  KeptWaves forward, backwards;
  for (const WaveStates& wave : all) forward.add(wave);
  for (std::size_t i = all.size(); i > 0; --i) {
    KeptWaves one;
    one.add(all[i - 1]);
    backwards.merge(one);
  }
  ASSERT_EQ(forward.waves().size(), kMostKeptWaves);
  ASSERT_EQ(backwards.waves().size(), kMostKeptWaves);
  for (std::size_t i = 0; i < kMostKeptWaves; ++i) {
    EXPECT_EQ(forward.waves()[i].place, all[i].place) << i;
    EXPECT_EQ(backwards.waves()[i].place, all[i].place) << i;
  }
}

TEST(ThreadTraceStateBins, SumsAreThoseOfTheTimelines) {
  const StateBins bins = bins_of({{.begin = 0, .runs = {{WaveState::stall, 100000}}},
                                  {.begin = 5, .runs = {{WaveState::stall, 11}}}});
  EXPECT_EQ(sum_of(bins, WaveState::stall), 100011);
  EXPECT_EQ(sum_of(bins, WaveState::exec), 0);
}

}  // namespace
}  // namespace perflab::analyze
