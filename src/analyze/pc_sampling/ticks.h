// Ticks: the moments at which all CUs of an XCC were sampled at once. Samples of a tick are not
// independent, so ticks are what intervals resample. Facts: docs/facts/pc_sampling.md "Ticks".
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/pc_sampling/pc_figures.h"
#include "pc_sampling/model.h"

namespace perflab::analyze {

/// Distance of two ticks.
struct TickLength {
  std::optional<double> ns;  ///< nullopt: not known
  PcIntervalSource source = PcIntervalSource::none;
};

/// From the samples' interval (cycles by the GPU's highest clock), else the median distance of two
/// samples of one CU in one dispatch, where there are ten. `source`: where the interval is from.
TickLength tick_length(const pc_sampling::PcSamples& samples, PcIntervalSource source);

/// The tick of each sample.
struct Ticks {
  std::vector<std::uint32_t> of_row;  ///< numbered by time, then by GPU and XCC
  std::uint32_t count = 0;            ///< 0: nothing tells ticks (CUPTI)
};

/// With the place of samples (JSON): per GPU and XCC in order of time, a gap of more than half of
/// the length begins a tick, and so does a second sample of one CU later than a quarter of it.
/// Without (CSV): stretches of that length in each dispatch; without a length, whole dispatches.
Ticks find_ticks(const pc_sampling::PcSamples& samples, std::optional<double> tick_ns);

}  // namespace perflab::analyze
