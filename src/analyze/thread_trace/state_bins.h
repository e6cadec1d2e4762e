// What waves were doing over time: cycles by state in bins of equal length, and the runs of single
// waves, both of bounded size however long a trace is. From the timelines of the waves
// (docs/facts/thread_trace.md "Wave files"). Integers only: the sums over bins and runs are those
// of the timelines.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "att/thread_trace.h"

namespace perflab::analyze {

/// Bins of an engine: at most so many, and at least half as many where there are cycles enough.
inline constexpr std::size_t kMostStateBins = 320;

/// Cycles of waves by state over the clock of one shader engine. Bins are as long as the smallest
/// power of two with which they are not too many; so the order of the waves does not matter.
class StateBins {
 public:
  using Bin = std::array<std::int64_t, att::kWaveStates>;

  /// Adds a wave's timeline from `begin` (cycles, not negative) on.
  void add(std::int64_t begin, std::span<const att::StateRun> timeline);
  /// Adds those of another.
  void merge(const StateBins& other);

  /// From begin() on, each bin_cycles() long; empty: nothing was added.
  [[nodiscard]] const std::vector<Bin>& bins() const { return bins_; }
  [[nodiscard]] std::int64_t begin() const { return first_ << shift_; }
  [[nodiscard]] std::int64_t bin_cycles() const { return std::int64_t{1} << shift_; }

 private:
  void cover(std::int64_t first_cycle, std::int64_t last_cycle);
  void coarsen();

  int shift_ = 0;           ///< bins are 2^shift_ cycles long
  std::int64_t first_ = 0;  ///< number of the first bin: its begin over its length
  std::vector<Bin> bins_;
};

/// Runs of a wave that are kept, and stretches that are put together where it has more: a stretch
/// has at most one run for each state.
inline constexpr std::size_t kMostRuns = 128;
inline constexpr std::int64_t kRunStretches = 25;
static_assert(kRunStretches * std::int64_t{att::kWaveStates} <= std::int64_t{kMostRuns});

/// A wave with what it was doing.
struct WaveStates {
  att::WavePlace place;
  std::int64_t begin = 0, end = 0;
  std::uint64_t instructions = 0;   ///< executed
  bool exact = true;                ///< false: neighbouring runs were put together
  std::vector<att::StateRun> runs;  ///< from `begin` on
};

/// The wave's states. With more than kMostRuns changes, the cycles of each state within a stretch
/// of at least 1/kRunStretches of them become one run, in the order in which they first came.
WaveStates wave_states(const att::Wave& wave);

/// Kept of one kernel.
inline constexpr std::size_t kMostKeptWaves = 200;

/// The waves of a kernel that are kept: by slot, engine, SIMD and id the first, so that whole slots
/// of all SIMDs are there, whatever the order in which they are added.
class KeptWaves {
 public:
  void add(WaveStates wave);
  void merge(const KeptWaves& other);
  [[nodiscard]] const std::vector<WaveStates>& waves() const { return waves_; }

 private:
  std::vector<WaveStates> waves_;  ///< sorted
};

}  // namespace perflab::analyze
