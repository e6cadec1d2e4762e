// What the launches of a plan gave: counters and times of each repetition, out of recordings.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "calibrate/plan.h"
#include "trace/trace.h"

namespace perflab::calibrate {

/// Counters of one dispatch by the names that the tables have for them.
using Counted = std::map<std::string, double, std::less<>>;

/// What one recording has of one launch, by repetition, without the one that warms up.
struct LaunchSamples {
  std::vector<Counted> counted;
  std::vector<double> nanoseconds;
};

/// The launches' repetitions in a recording of the whole plan, by launch. `names`: counters to look
/// for. Error (bad_input): it has another number of dispatches of some kernel than the plan.
Result<std::vector<LaunchSamples>> samples_of(const trace::Trace& trace,
                                              std::span<const Launch> launches,
                                              const std::set<std::string>& names);

/// What the recording says of the GPU that ran the first launch.
struct RecordedGpu {
  std::string product;
  double cus = 0, xccs = 0;  ///< 0: it does not say
};
RecordedGpu gpu_of(const trace::Trace& trace, std::span<const Launch> launches);

}  // namespace perflab::calibrate
