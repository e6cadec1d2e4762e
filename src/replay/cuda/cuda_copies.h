// Copies between this process and the GPU through two pinned buffers by turns, and within the GPU,
// all on one stream. What was written is there for whatever comes next on the stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"
#include "replay/cuda/cuda_runtime.h"
#include "replay/device.h"

namespace perflab::replay {

class CudaCopies {
 public:
  explicit CudaCopies(const CudaRuntime& runtime) : runtime_(runtime) {}
  CudaCopies(const CudaCopies&) = delete;
  CudaCopies(CudaCopies&&) = delete;
  CudaCopies& operator=(const CudaCopies&) = delete;
  CudaCopies& operator=(CudaCopies&&) = delete;
  ~CudaCopies();

  Result<void> open(cuda::Stream stream);
  Result<void> write(std::uint64_t address, std::span<const std::byte> bytes);
  Result<void> read(std::uint64_t address, std::span<std::byte> bytes);
  /// Within the GPU's memory.
  Result<void> copy(std::span<const CopyRun> runs);
  /// Until everything on the stream has ended. Errors: timed_out, kernel_fault's cousin
  /// cuda_call_failed.
  Result<void> wait();
  void abandon() { abandoned_ = true; }

 private:
  struct Staging {
    std::byte* bytes = nullptr;
    cuda::Event free = nullptr;  ///< when its last copy has ended
    bool busy = false;
  };
  Result<void> make_free(Staging& staging);
  Result<void> mark_busy(Staging& staging);
  /// Makes the table and the kernel, once; without them each run is a copy of the driver.
  void load_kernel();
  Result<void> copy_by_kernel(std::span<const CopyRun> runs);
  [[nodiscard]] Result<void> wait_for(cuda::Event event) const;

  const CudaRuntime& runtime_;
  cuda::Stream stream_ = nullptr;
  std::array<Staging, 2> staging_{};
  std::size_t turn_ = 0;
  cuda::Event all_ = nullptr;
  cuda::Function kernel_ = nullptr;  ///< null: there is none
  cuda::DevicePointer table_ = 0;
  bool tried_kernel_ = false;
  bool abandoned_ = false;
};

/// The name of the kernel that copies runs.
inline constexpr const char* kCopyKernel = "perflab_copy_runs";

}  // namespace perflab::replay
