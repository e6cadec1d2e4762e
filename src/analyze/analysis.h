// The Analysis: everything that rocm-perf concludes from one Trace, before any of it becomes text.
// report/ turns it into documents. Times are ns of the trace clock; a figure that cannot be
// computed is nullopt and has an entry in `missing`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/activity/activity.h"
#include "analyze/bottleneck/bottleneck.h"
#include "analyze/bottleneck/measurements.h"
#include "analyze/segments/segments.h"
#include "analyze/timeline/timeline.h"

namespace perflab::analyze {

struct Analysis : Measurements {
  Activity activity;
  std::vector<ApiCall> api_calls;  ///< most time first
  std::vector<CopyKind> copies;
  std::vector<AllocationKind> allocations;
  std::vector<Counter> counters;
  std::optional<Timeline> timeline;  ///< only when asked for, and where times are known
  Bottlenecks bottlenecks;
  FoundSegments segments;              ///< of the whole run, also when one of them is analysed
  std::optional<std::size_t> segment;  ///< what all of this is of; nullopt: the whole run
  std::uint64_t other_pass_dispatches =
      0;  ///< of further counter passes: the same work run again, never added up
  std::vector<std::string> warnings;
};

}  // namespace perflab::analyze
