// One critical path across ranks: the contracted graphs of all ranks, joined where collectives
// match, solved once; slack, hops and what-if. Model and assumptions: docs/models/ranks_path.md.
#pragma once

#include "base/error.h"
#include "ranks/path/job_path.h"

namespace perflab::ranks {

/// The path of the zone with the most ranks. Errors: those of load_graph; bad_input: a graph that
/// contradicts its rank's times, or a matching that orders operations in a circle; usage: a what-if
/// of a rank or a scenario that is not there.
Result<JobPath> find_job_path(const PathInput& input);

}  // namespace perflab::ranks
