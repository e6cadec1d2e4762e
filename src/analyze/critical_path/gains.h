// What faster kernels, and the changes of --what-if, would give for the whole run.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/critical_path/path_figures.h"
#include "analyze/critical_path/what_if.h"
#include "base/error.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// Gains of the first kernels of `result` (its order), each alone; kernels without time on the path
/// gain nothing and get none. `part`: only its dispatches are faster, and its length shrinks by
/// what the run gains.
void add_gains(const trace::Trace& trace, const Graph& graph, const Simulator& simulator,
               const CriticalPathOptions& options, const PathPart* part, CriticalPath& result);

/// All changes of options.what_if together. Error (usage): a change that applies to nothing, a bad
/// pattern, sync=drop for a part of a run.
Result<WhatIfAnswer> answer_what_if(const trace::Trace& trace, const Graph& graph,
                                    const Simulator& simulator, const CriticalPathOptions& options,
                                    const PathPart* part, const CriticalPath& result);

/// Scenarios for a Simulator or a contraction: each of the changes alone, one after the other.
struct WhatIfScenarios {
  std::vector<std::uint16_t> node_class;  ///< by node
  std::vector<Scenario> scenarios;        ///< by change
  std::vector<std::uint64_t> matched;     ///< by change: nodes (edges, for syncs) that it is about
};

/// Error (usage): a bad pattern, or more distinct changes than there are classes.
Result<WhatIfScenarios> scenarios_of(const trace::Trace& trace, const Graph& graph,
                                     const std::vector<WhatIf>& changes);

}  // namespace perflab::analyze
