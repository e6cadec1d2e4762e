// What a rank's GPU did between its collectives: kernels and copies, clipped to each stretch.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "ranks/rank/find_collectives.h"
#include "ranks/values/rank_summary.h"
#include "trace/trace.h"

namespace perflab::ranks {

struct FoundWork {
  std::vector<Work> work;           ///< one per collective, and one to the end
  std::vector<KernelTime> kernels;  ///< of the whole run, not clipped; most time first
};

/// Of a process on an agent between begin and end (ns): its dispatches but those of collectives,
/// and the copies from or to the agent.
FoundWork find_work(const trace::Trace& trace, trace::Index process, trace::Index agent,
                    const FoundCollectives& collectives, std::int64_t begin, std::int64_t end,
                    KernelNames& kernel_names);

}  // namespace perflab::ranks
