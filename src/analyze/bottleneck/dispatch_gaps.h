// How long a GPU had nothing to run before each dispatch: what launch-bound kernels are known by.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "analyze/scope/timing_scope.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// Idle times of one kernel's dispatches.
struct KernelGaps {
  std::uint64_t dispatches = 0;  ///< with a dispatch before them on their GPU
  double median_idle = 0;        ///< ns; 0 for a dispatch that overlaps an earlier one
  double median_duration = 0;    ///< ns, of the same dispatches
};

/// Of all kernels of a trace, 8 bytes per dispatch while they are found. Idle: to the start from
/// the latest of: the end of any earlier dispatch on the same agent, whatever its queue; the end of
/// any earlier copy to or from it; the begin of the call that launched it, where that is linked
/// (before it nobody had asked for the dispatch: the host was busy with something else). The first
/// dispatch of an agent has no time before it and is left out.
class DispatchGaps {
 public:
  DispatchGaps(const trace::Trace& trace, const TimingScope& scope);

  /// By the kernel's name (index into strings); nullopt: none of its dispatches has one before it.
  [[nodiscard]] std::optional<KernelGaps> of(trace::Index name) const;

 private:
  std::unordered_map<trace::Index, KernelGaps> by_name_;
};

}  // namespace perflab::analyze
