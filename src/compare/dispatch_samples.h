// The durations of a trace's dispatches by kernel, in order: samples for comparisons.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "trace/trace.h"

namespace perflab::compare {

/// One kernel of one run.
struct DispatchSamples {
  std::string name, mangled_name;
  std::vector<std::int64_t> durations;        ///< ns, by start
  std::vector<trace::LaunchConfig> launches;  ///< the distinct ones, ascending
};

/// One run of a program.
struct RunSamples {
  std::vector<DispatchSamples> kernels;  ///< by name
  bool under_counters = false;           ///< counters were collected: one dispatch at a time
  bool only_runtime_helpers = false;     ///< there is no other kernel: these are the runtime's own
  std::string synthetic;                 ///< note of a made-up trace
};

/// The runs in a trace: one, or as many as there are recordings of one command, none beside
/// another. Only recordings that time counts of (timing_scope.h); the runtime's own kernels are
/// left out unless there is no other. Error (bad_input): no dispatches, or their times are not
/// known.
Result<std::vector<RunSamples>> dispatch_samples(const trace::Trace& trace);

}  // namespace perflab::compare
