// Why a process could not be counted: kinds that a caller tells apart, by the results of CUPTI, and
// what to do about each (docs/facts/cuda_counters.md "Permission").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cuda/range_profiler.h"

namespace perflab::record {

enum class CounterProblem : std::uint8_t {
  not_permitted,  ///< only an administrator may read counters of this GPU
  not_supported,  ///< this GPU, or the way it is given to the process, cannot count
  busy,           ///< another profiler counts on it
  old_library,    ///< CUPTI has no range profiler
  no_metric,      ///< none of the metrics exists on this chip
  mismatch,       ///< CUPTI counted other launches than were seen
  failed,         ///< a call failed for another reason
};

/// Stable name for the recording: "not_permitted", ...
std::string_view to_string(CounterProblem problem);

struct CounterFailure {
  CounterProblem problem = CounterProblem::failed;
  std::string reason;  ///< one sentence, with the call and its result
  std::string remedy;  ///< may be empty
};

/// What a failed call means.
CounterFailure failure_of(const cuda::ProfilerFailure& failure);
/// What a device lacks that cannot be counted on, by the fields of the answer.
CounterFailure failure_of(const cuda::DeviceSupported& support);

}  // namespace perflab::record
