// The interval of samples, which no file of rocprofv3 states.
#pragma once

#include <cstdint>
#include <optional>

#include "pc_sampling/model.h"

namespace perflab::analyze {

/// In the unit of the method: cycles of stochastic samples, microseconds of host traps.
pc_sampling::Interval interval_of(pc_sampling::Method method, std::uint64_t value);

/// What rocprof-compute's profiling_config.yaml beside the samples, or in the folder above, says
/// (pc_sampling_interval, where pc_sampling_method is that of the samples). Missing: no such file
/// or line, or files of several intervals.
std::optional<pc_sampling::Interval> configured_interval(const pc_sampling::PcSamples& samples);

}  // namespace perflab::analyze
