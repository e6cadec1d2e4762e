// GPU times of launches: from the driver's own kernel records through CUPTI, else from a pair of
// events, which measure 3 to 7 us too much (docs/facts/cuda_cupti.md "Times of launches").
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/units.h"
#include "replay/cuda/cuda_runtime.h"

namespace perflab::replay {

class CudaTimer {
 public:
  explicit CudaTimer(const CudaRuntime& runtime) : runtime_(runtime) {}
  CudaTimer(const CudaTimer&) = delete;
  CudaTimer(CudaTimer&&) = delete;
  CudaTimer& operator=(const CudaTimer&) = delete;
  CudaTimer& operator=(CudaTimer&&) = delete;
  ~CudaTimer();

  /// Opens CUPTI, enables kernel records and sees whether one comes of an empty kernel on this
  /// stream; makes the events. Error: cuda_call_failed.
  Result<void> open(cuda::Stream stream);
  /// Around a launch on this stream.
  Result<void> before(cuda::Stream stream);
  Result<void> behind(cuda::Stream stream);
  /// The time of the launch between the two, which has ended.
  Result<Nanos> time();

  /// Why times come from events, with how far off they are; empty: they do not.
  [[nodiscard]] const std::string& events_because() const { return events_because_; }
  void abandon() { abandoned_ = true; }

 private:
  std::string open_records();
  /// Launches an empty kernel: why no record of it came; empty: one came.
  std::string probe(cuda::Stream stream);
  Result<Nanos> time_of_events() const;

  const CudaRuntime& runtime_;
  bool records_ = false;
  std::string events_because_;
  cuda::Event first_ = nullptr, last_ = nullptr;
  bool abandoned_ = false;
};

}  // namespace perflab::replay
