// Collecting counters: one call of rocprofv3 with a job file, which starts the target once per job
// (counter pass) and leaves the databases of job N in counters/pass_N. Kernels run one after the
// other in these passes: they give counters, never times. Facts: docs/facts/counters.md "Input of
// rocprofv3" and rocprofiler-sdk's rocprofv3.py (July 2026).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/system/subprocess.h"
#include "collect/collect.h"
#include "collect/counter_collection.h"

namespace perflab::collect {

/// The text of rocprofv3's job file: one job per pass, one line per job.
std::string counter_job_file(const std::vector<std::vector<std::string>>& passes);

/// Collects the counters of each pass into the folder of `base`, which the plan gave. The plan's
/// timeout is for one pass: all of them together get it as many times. A regular file on our
/// standard input is read by the first pass only (a note says so). Errors, with nothing to salvage:
/// usage (the place cannot be written), missing_tool (rocprofv3 is gone, or does not know the job
/// file), interrupted (Ctrl-C before the start).
/// Preconditions: `base` is traced, there is at least one pass, none is empty.
Result<CounterCollection> collect_counters(const CollectPlan& plan, const Collection& base,
                                           const std::vector<std::vector<std::string>>& passes);

}  // namespace perflab::collect
