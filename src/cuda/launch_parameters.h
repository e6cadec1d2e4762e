// What the driver's launch calls and cudaSetDevice are given, as a callback sees it: the beginning
// of each structure. Compared with the toolkit's headers in tests/cuda. Facts:
// docs/facts/cuda_cupti.md "Callbacks".
#pragma once

#include <array>
#include <cstdint>

#include "cuda/cupti_types.h"

namespace perflab::cuda {

/// Of cuLaunchKernel and cuLaunchCooperativeKernel.
struct LaunchKernelParameters {
  Function function;
  std::uint32_t grid[3];   ///< blocks
  std::uint32_t block[3];  ///< threads
  std::uint32_t shared_bytes;
  Stream stream;
};

/// The first parameter of cuLaunchKernelEx.
struct LaunchConfig {
  std::uint32_t grid[3];
  std::uint32_t block[3];
  std::uint32_t shared_bytes;
  Stream stream;
};

/// Of cuLaunchKernelEx.
struct LaunchKernelExParameters {
  const LaunchConfig* config;
  Function function;
};

/// Of cudaSetDevice.
struct SetDeviceParameters {
  std::int32_t device;  ///< ordinal
};

/// The stream that null means in a call of a program with a default stream per thread.
inline Stream per_thread_stream() {
  return reinterpret_cast<Stream>(std::uintptr_t{2});  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace perflab::cuda
