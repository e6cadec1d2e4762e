// PC samples in a verdict: which of them stand for a kernel, and what they say against counters and
// thread trace. Docs: docs/models/bottleneck.md "PC samples".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyze/bottleneck/feature_table.h"
#include "analyze/bottleneck/measurements.h"

namespace perflab::analyze {

/// Two sources about the same thing.
struct CrossCheck {
  FeatureId feature{};  ///< of the samples; of several added up the first
  FeatureId other{};    ///< of counters or thread trace
  bool agrees = false;
  std::string text;  ///< a sentence
};

/// Waits by samples against those by other sources, where both are known.
std::vector<CrossCheck> cross_check(const FeatureSet& features);

/// By Analysis::kernels: the samples that say most of the kernel (indices into
/// PcSampling::kernels); those that nothing may be concluded from only where there are no others.
std::vector<std::optional<std::size_t>> samples_of_kernels(const Measurements& analysis);

/// Sampled kernels that are in no recording, in their order; of several sets one.
std::vector<std::size_t> samples_without_kernel(const PcSampling& sampling);

}  // namespace perflab::analyze
