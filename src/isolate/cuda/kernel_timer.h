// The GPU's own time of the captured launch, from CUPTI's kernel records: events are 3 to 7 us off
// (docs/facts/cuda_cupti.md "Capture").
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cuda/api.h"

namespace perflab::isolate {

/// One per process; never destroyed, as CUPTI keeps its functions. Records are on from start() to
/// stop(): what other launches leave is dropped.
class KernelTimer {
 public:
  /// Asks CUPTI for records. False: it gives none, and time_of() will know nothing.
  static bool start(const cuda::Cupti& cupti);
  /// By the thread that holds the program and is about to let the captured launch go: the next
  /// kernel of this name is that launch. The symbol must outlive take().
  static void expect(const cuda::Cupti& cupti, const std::string& symbol);
  /// Nanoseconds of that launch, which has ended; missing: no record of it came.
  static std::optional<std::uint64_t> take(const cuda::Cupti& cupti,
                                           std::chrono::milliseconds patience);
  /// No more records.
  static void stop(const cuda::Cupti& cupti);
};

}  // namespace perflab::isolate
