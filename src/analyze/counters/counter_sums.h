// Counter values of one kernel, added up over the dispatches that have the same counters: per
// launch geometry and pass. With rotated counters (several sets taking turns over the dispatches of
// one run) a pass has several such sets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/counters/counter_join.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// Dispatches of one launch geometry and pass with one set of counters.
struct CounterSet {
  std::vector<trace::Index> counters;  ///< counter_infos, ascending
  std::uint64_t dispatches = 0;
  std::vector<double> sums;  ///< by `counters`, over dispatches and instances

  /// Position of a counter in `counters`; nullopt: it is not in the set.
  [[nodiscard]] std::optional<std::size_t> find(trace::Index counter) const;
};

/// The sets of one kernel.
struct KernelSums {
  /// By JoinedKernel::shapes, then by pass.
  std::vector<std::vector<std::vector<CounterSet>>> sets;
  /// By shape: dispatches that the kernel's totals are of. Those in the timing scope; of a kernel
  /// that has none there, those of the pass with the most.
  std::vector<std::uint64_t> weights;
  std::uint64_t dispatches = 0;  ///< sum of the weights
};

KernelSums sum_counters(const trace::Trace& trace, const CounterIndex& index,
                        const JoinedKernel& kernel);

/// The counters of a trace that can stand for a name of a formula: "X_sum" is X added up over its
/// instances, which is how the Trace has X.
class CounterNames {
 public:
  explicit CounterNames(const trace::Trace& trace);

  /// counter_infos, best first; empty: nobody recorded it.
  [[nodiscard]] std::vector<trace::Index> candidates(std::string_view name) const;

 private:
  [[nodiscard]] trace::Index find(std::string_view name) const;

  std::vector<std::pair<std::string_view, trace::Index>> by_name_;  ///< sorted
};

}  // namespace perflab::analyze
