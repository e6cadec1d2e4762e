// Sums over the waves of one traced dispatch, by kernel and by code row. Integers only, so that
// nothing depends on the order in which waves arrive.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/thread_trace/cycle_figures.h"
#include "analyze/thread_trace/row_table.h"
#include "analyze/thread_trace/state_bins.h"
#include "analyze/thread_trace/trace_kernels.h"
#include "analyze/thread_trace/wait_causes.h"
#include "att/thread_trace.h"

namespace perflab::analyze {

void add_sums(const CycleSums& from, CycleSums& into);

/// Sums of one code row over the waves of a kernel.
struct RowCycles {
  CycleSums sums;
  std::int64_t wait_caused = 0;
};

/// Sums of a wait and one of its causes.
struct PairCycles {
  std::int64_t cycles = 0;
  std::uint64_t times = 0;
};

/// From when to when traced waves lived on one SIMD.
struct SimdUse {
  std::int64_t begin = INT64_MAX, end = INT64_MIN;
};

/// Everything that is summed for one kernel of a folder.
struct KernelFold {
  std::unordered_map<att::RowIndex, RowCycles> rows;
  std::unordered_map<std::uint64_t, PairCycles> pairs;  ///< wait row in the upper half, cause row
  WaveTime time;
  std::array<std::int64_t, att::kWaveStates> states{};
  std::int64_t wave_cycles = 0;  ///< sum of lifetimes
  std::uint64_t waves = 0, instructions = 0, unattributed = 0;
  std::int64_t wait_unattributed = 0, wait_other = 0;
  std::uint64_t waits = 0, waits_by_rule = 0, links = 0, links_unused = 0;
  std::map<std::tuple<int, int, int>, SimdUse> simds;  ///< by engine, CU, SIMD
  std::set<std::pair<int, int>> cus;                   ///< engine, CU
  // Only where the states over time are kept.
  std::map<int, StateBins> state_bins;  ///< by engine
  KeptWaves kept;

  static std::uint64_t pair_key(att::RowIndex wait, att::RowIndex cause) {
    return std::uint64_t{wait} << 32 | cause;
  }
};

/// Folds waves; add() may be called from several threads.
class WaveFold {
 public:
  /// All three must outlive it. `keep_states`: also what the waves were doing over time.
  WaveFold(const RowTable& rows, const TraceKernels& kernels, const WaitRule& rule,
           bool keep_states = false)
      : rows_(rows),
        kernels_(kernels),
        rule_(rule),
        keep_states_(keep_states),
        folds_(kernels.all().size()) {}

  void add(const att::Wave& wave);

  /// By TraceKernels::all(); after the last add().
  [[nodiscard]] const std::vector<KernelFold>& folds() const { return folds_; }

 private:
  /// Sums of one wave: by row in a table as long as the code, with a list of the rows it has.
  struct Scratch {
    KernelFold fold;  ///< without `rows`
    std::vector<RowCycles> rows;
    std::vector<bool> has;
    std::vector<att::RowIndex> touched;
    WaitCauses causes;

    explicit Scratch(std::size_t code_rows) : rows(code_rows), has(code_rows) {}
    RowCycles& row(att::RowIndex index);
    void clear();
  };
  std::unique_ptr<Scratch> take_scratch();
  void add_instructions(const att::Wave& wave, Scratch& scratch) const;
  void add_waits(const att::Wave& wave, Scratch& scratch) const;

  const RowTable& rows_;
  const TraceKernels& kernels_;
  const WaitRule& rule_;
  bool keep_states_;
  std::mutex mutex_;
  std::vector<KernelFold> folds_;
  std::vector<std::unique_ptr<Scratch>> free_;
};

}  // namespace perflab::analyze
