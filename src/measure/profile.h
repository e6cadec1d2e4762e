// Profiling a command: collect its runs with rocprofv3, analyse what they left; with counters,
// plan passes for the GPU that was seen, collect them and analyse again; with a thread trace,
// choose a dispatch from the analysis, trace it and add it to the analysis. What a failed or
// stopped run left is used and called partial.
#pragma once

#include "base/error.h"
#include "collect/collect_plan.h"
#include "measure/profile_contents.h"

namespace perflab::measure {

/// Collects and analyses. Counters are collected once, whatever the number of runs, for the
/// architecture of the selected kernel, and only after runs that all ended well; so is the thread
/// trace, after them.
/// Errors, with nothing to salvage: those of collect::collect; before anything is run, usage
/// (counters or a thread trace without rocprofv3, a counter that no architecture has, a bad regex)
/// and those of hal::read_measured_roofs.
Result<Profile> profile(const collect::CollectPlan& wanted, const ProfileOptions& options = {});

}  // namespace perflab::measure
