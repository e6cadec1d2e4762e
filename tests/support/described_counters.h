// Counter passes of a trace description: the application run again once per set of counters of
// gfx942 (hal/counter_catalogue.h), with one kernel at a time. What a dispatch does (FLOPs, bytes,
// instructions) stands in the description; what the hardware counts while it does so follows here,
// in the proportions that docs/facts/counters.md has from a recorded MI300X. Synthetic throughout.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "support/trace_description.h"

namespace perflab::test {

/// Counters of one dispatch: totals over the GPU; a counter of the profiler's own (VmemLatency) has
/// its value.
using DescribedCounters = std::map<std::string, double>;

/// What one dispatch of a kernel of that length (ns) on an MI300X counts. Error (bad_input): the
/// kernel has no counts, or cannot do what they say in that time.
Result<DescribedCounters> count_dispatch(const DescribedKernel& kernel,
                                         const DescribedCounting& counting, std::int64_t duration);

/// Writes `folder`/pass_N/<process id>_results.db, one per set of counters: every dispatch of the
/// program, with other times. GRBM_GUI_ACTIVE has a row per die; other counters have one row with
/// their total, to keep the files small. Same description, same bytes. Error (bad_input): a kernel
/// that is launched has no counts, the description does not say how counting goes, or a file cannot
/// be written.
Result<std::vector<std::filesystem::path>> write_described_counters(
    const TraceDescription& description, const std::filesystem::path& folder);

}  // namespace perflab::test
