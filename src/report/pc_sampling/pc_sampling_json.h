// `pc_sampling` of analysis.json.
#pragma once

#include "analyze/pc_sampling/pc_figures.h"
#include "base/text/json.h"

namespace perflab::report {

/// The sets and the sampled kernels, each with its list of what is missing.
Json pc_sampling_json(const analyze::PcSampling& sampling);

/// Instructions and lines of a kernel in the document.
inline constexpr std::size_t kMostHotSamples = 40, kMostSampledLines = 20;

}  // namespace perflab::report
