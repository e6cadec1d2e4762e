// Finds the critical path of a run, with everything that figures.h has of it.
#pragma once

#include "analyze/critical_path/path_figures.h"
#include "analyze/scope/timing_scope.h"
#include "base/error.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// The critical path of the recordings in the scope. Error (usage): a --what-if that matches
/// nothing, or a bad pattern, or sync=drop for a part. `part`: only of it; nullptr: of the whole
/// run.
Result<CriticalPath> find_critical_path(const trace::Trace& trace, const TimingScope& scope,
                                        const CriticalPathOptions& options = {},
                                        const PathPart* part = nullptr);

/// The machine that a critical path is of: the one with the longest span.
trace::Index longest_machine(const trace::Trace& trace, const TimingScope& scope);

}  // namespace perflab::analyze
