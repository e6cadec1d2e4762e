// The GPU's own time of the captured launch, from CUPTI's kernel records: events are 3 to 7 us off
// (docs/facts/cuda_cupti.md "Capture").
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "cuda/api.h"

namespace perflab::isolate {

/// One per process; never destroyed, as CUPTI keeps its functions. Records are on from start() to
/// stop(): what other launches leave is dropped.
class KernelTimer {
 public:
  /// Asks CUPTI for records. False: it gives none, and time_of() will know nothing.
  static bool start(const cuda::Cupti& cupti);
  /// By the thread that holds the captured launch, before it is launched.
  static void expect(std::uint32_t correlation);
  /// Nanoseconds of the expected launch, which has ended; missing: no record of it came.
  static std::optional<std::uint64_t> take(const cuda::Cupti& cupti,
                                           std::chrono::milliseconds patience);
  /// No more records.
  static void stop(const cuda::Cupti& cupti);
};

}  // namespace perflab::isolate
