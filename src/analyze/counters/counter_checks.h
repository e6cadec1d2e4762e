// Which counters of a kernel cannot be believed, and why: nothing was counted at all, waves without
// instructions, other waves than were launched, more or fewer cycles than any clock allows, one
// counter under two names with two values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "analyze/counters/counter_sums.h"
#include "analyze/kernels/kernel.h"
#include "hal/counter_catalogue.h"

namespace perflab::analyze {

/// What is wrong with counters of one kernel, by pass (index into Passes::passes).
class CounterDoubts {
 public:
  /// Why this counter is suspicious in this pass; empty: it is not.
  [[nodiscard]] const std::string& of(trace::Index pass, trace::Index counter) const;

  void doubt(trace::Index pass, trace::Index counter, std::string why);

 private:
  std::map<std::pair<trace::Index, trace::Index>, std::string> reasons_;
};

/// Lanes of the kernel's waves. Where waves of two sizes exist no recording says it, but the waves
/// that were counted do: nullopt when they fit both sizes or neither, or were not counted.
std::optional<int> wave_size_of(const trace::Trace& trace, const Passes& passes,
                                const JoinedKernel& kernel, const CounterIndex& index,
                                const CounterNames& names, const hal::CounterTable& table);

/// Looks at every pass of a kernel. `gpu`: the one it ran on.
CounterDoubts check_counters(const trace::Trace& trace, const Passes& passes,
                             const JoinedKernel& kernel, const CounterIndex& index,
                             const KernelSums& sums, const CounterNames& names,
                             const hal::CounterTable& table, const Gpu& gpu);

}  // namespace perflab::analyze
