// What the driver's calls that launch work, load modules and give memory out or take it back are
// given, as a callback sees it; cudaSetDevice. Of some structures only the beginning. Compared with
// the toolkit's headers in tests/cuda. Facts: docs/facts/cuda_cupti.md "Callbacks".
#pragma once

#include <cstddef>
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
  void**
      parameters{};  ///< a pointer to each argument; null: they are in `extra`, or there are none
  void** extra{};    ///< see launch_parameter; a cooperative launch has no such field
};

/// The first parameter of cuLaunchKernelEx.
using LaunchConfig = LaunchConfiguration;

/// Of cuLaunchKernelEx.
struct LaunchKernelExParameters {
  const LaunchConfig* config;
  Function function;  ///< or a Kernel, as in LaunchKernelParameters
  void** parameters{};
  void** extra{};
};

/// Of cuGraphLaunch.
struct GraphLaunchParameters {
  GraphExec executable;
  Stream stream;
};

/// Of cuGraphInstantiateWithFlags and cuGraphInstantiateWithParams.
struct GraphInstantiateParameters {
  GraphExec* executable;
  Graph graph;
};

/// The beginning of that of cuGraphExecUpdate and of the calls that change a node of an executable
/// graph or destroy it, which have a node, or nothing, where `graph` is.
struct GraphExecParameters {
  GraphExec executable;
  Graph graph;
};

/// The beginning of what every call that makes device memory or maps it at an address of its own
/// choice is given: cuMemAlloc_v2, cuMemAllocPitch_v2, cuMemAllocAsync, cuMemAllocFromPoolAsync,
/// cuMemAllocManaged, cuIpcOpenMemHandle_v2, cuMemPoolImportPointer and
/// cuExternalMemoryGetMappedBuffer.
struct AllocateParameters {
  DevicePointer* address;
};

/// Of cuMemHostAlloc and cuMemAllocHost_v2.
struct HostAllocateParameters {
  void** address;
  std::size_t bytes;
};

/// Of cuMemHostRegister_v2.
struct HostRegisterParameters {
  void* address;
  std::size_t bytes;
  std::uint32_t flags;
};

/// The beginning of what every call that takes memory away is given: cuMemFree_v2, cuMemFreeAsync,
/// cuMemFreeHost, cuMemHostUnregister, cuIpcCloseMemHandle.
struct FreeParameters {
  DevicePointer address;
};

/// Of cuMemMap.
struct MapParameters {
  DevicePointer address;
  std::size_t bytes;
  std::size_t offset;
  MemoryHandle handle;
  unsigned long long flags;
};

/// Of cuMemUnmap and cuMemAddressFree.
struct UnmapParameters {
  DevicePointer address;
  std::size_t bytes;
};

/// Of cuMemAddressReserve.
struct ReserveParameters {
  DevicePointer* address;
  std::size_t bytes;
  std::size_t alignment;
  DevicePointer wish;
  unsigned long long flags;
};

/// The beginning of that of cuMemImportFromShareableHandle.
struct ImportHandleParameters {
  MemoryHandle* handle;
};

/// Of cuMemRelease.
struct ReleaseHandleParameters {
  MemoryHandle handle;
};

/// The beginning of that of cuModuleLoad, cuModuleLoadData, cuModuleLoadDataEx and
/// cuModuleLoadFatBinary.
struct LoadModuleParameters {
  Module* module;
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
