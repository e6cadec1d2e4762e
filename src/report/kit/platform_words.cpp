// The platform by the architectures of the kernels; of counters alone, by those of the roofline.
#include "report/kit/platform_words.h"

#include <algorithm>

namespace perflab::report {

hal::Platform platform_of(const analyze::Analysis& analysis) {
  const auto nvidia = [](std::string_view architecture) {
    return hal::platform_of(architecture) == hal::Platform::nvidia;
  };
  if (!analysis.kernels.empty())
    return std::ranges::all_of(analysis.kernels,
                               [&](const auto& one) { return nvidia(one.gpu.architecture); })
               ? hal::Platform::nvidia
               : hal::Platform::amd;
  if (analysis.roofline && !analysis.roofline->kernels.empty() &&
      std::ranges::all_of(analysis.roofline->kernels,
                          [&](const auto& one) { return nvidia(one.architecture); }))
    return hal::Platform::nvidia;
  return hal::Platform::amd;
}

}  // namespace perflab::report
