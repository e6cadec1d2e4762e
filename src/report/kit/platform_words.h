// Whose words a text about an analysis has (hal/terms.h).
#pragma once

#include "analyze/analysis.h"
#include "hal/terms.h"

namespace perflab::report {

/// NVIDIA's where all kernels ran on its GPUs, else AMD's.
hal::Platform platform_of(const analyze::Analysis& analysis);

/// The words of that platform.
inline const hal::Terms& terms_of(const analyze::Analysis& analysis) {
  return hal::terms(platform_of(analysis));
}

}  // namespace perflab::report
