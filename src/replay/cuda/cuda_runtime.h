// The CUDA driver of this machine, opened at run time: entry points, one GPU and its primary
// context, and the one way in which a call's answer becomes an error. Facts:
// docs/facts/cuda_cupti.md "Driver", "Addresses".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cuda/api.h"
#include "replay/device.h"

namespace perflab::replay {

/// The driver between cuInit and the end of the process, with one GPU's primary context.
class CudaRuntime {
 public:
  /// Opens libcuda.so.1 without initialising it: its entries are there. Error: no_runtime.
  static Result<CudaRuntime> open();
  CudaRuntime(CudaRuntime&& other) noexcept;
  CudaRuntime(const CudaRuntime&) = delete;
  CudaRuntime& operator=(const CudaRuntime&) = delete;
  CudaRuntime& operator=(CudaRuntime&&) = delete;
  ~CudaRuntime();

  /// cuInit and the GPU of that number. Errors: no_gpu, cuda_call_failed.
  Result<void> start(std::uint32_t gpu_index);
  /// Its primary context becomes this thread's.
  Result<void> make_context();

  [[nodiscard]] const cuda::Driver& driver() const { return driver_; }
  [[nodiscard]] cuda::Device device() const { return device_; }
  [[nodiscard]] const DeviceFacts& facts() const { return facts_; }

  /// cuda_call_failed unless the call succeeded: "cuMemMap(0x7f.., 0x200000) answered
  /// CUDA_ERROR_INVALID_VALUE (1)".
  [[nodiscard]] Result<void> check(cuda::DriverResult answer, std::string_view call) const;
  /// "CUDA_ERROR_ILLEGAL_ADDRESS (700)"; the number alone for one without a name.
  [[nodiscard]] std::string text_of(cuda::DriverResult answer) const;

  /// Gives nothing back: after a fault or a hang the driver cannot be trusted to come back.
  void abandon() { context_ = nullptr; }

 private:
  CudaRuntime() = default;
  Result<void> describe();
  [[nodiscard]] Result<int> attribute(cuda::DeviceAttribute which) const;

  cuda::Driver driver_{};
  cuda::Device device_ = 0;
  cuda::Context context_ = nullptr;
  DeviceFacts facts_;
};

}  // namespace perflab::replay
