// HIP for this machine's CPU, as far as small kernels without barriers need it: the same source
// builds with hipcc for a GPU and with g++ for the host, so that the optimiser can be tried, and
// tested, without a GPU. Work-items run one after the other. What is not here does not compile.
//     g++ -O2 -x c++ -I examples/host row_sums.hip -o row_sums
#pragma once

#include <time.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

// libclang, which reads sources for rocm-perf, finds kernels by this annotation.
#ifdef __clang__
#define __global__ __attribute__((annotate("rocm_perf_kernel")))
#else
#define __global__
#endif
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)

struct dim3 {
  std::uint32_t x, y, z;
  constexpr dim3(std::uint32_t x_ = 1, std::uint32_t y_ = 1, std::uint32_t z_ = 1)
      : x(x_), y(y_), z(z_) {}
};

namespace hip_host {

/// The work-item that runs now.
struct Item {
  dim3 thread, block, block_dim, grid_dim;
};
inline thread_local Item item;

/// Calls `body` for every work-item of the grid.
template <class Body>
void for_each_item(dim3 grid, dim3 block, Body body) {
  item.grid_dim = grid;
  item.block_dim = block;
  dim3 &b = item.block, &t = item.thread;
  for (b.z = 0; b.z < grid.z; ++b.z)
    for (b.y = 0; b.y < grid.y; ++b.y)
      for (b.x = 0; b.x < grid.x; ++b.x)
        for (t.z = 0; t.z < block.z; ++t.z)
          for (t.y = 0; t.y < block.y; ++t.y)
            for (t.x = 0; t.x < block.x; ++t.x) body();
}

}  // namespace hip_host

#define threadIdx (::hip_host::item.thread)
#define blockIdx (::hip_host::item.block)
#define blockDim (::hip_host::item.block_dim)
#define gridDim (::hip_host::item.grid_dim)

#define hipLaunchKernelGGL(kernel, grid, block, lds, stream, ...) \
  ::hip_host::for_each_item(grid, block, [&] { (kernel)(__VA_ARGS__); })

// The host interface: device memory is host memory, and nothing is asynchronous.
enum hipError_t { hipSuccess = 0, hipErrorOutOfMemory = 2 };
enum hipMemcpyKind { hipMemcpyHostToDevice = 1, hipMemcpyDeviceToHost = 2 };
using hipStream_t = void*;
struct HipHostEvent {
  timespec time;  // of this thread's CPU, which is the device: other programs do not count
};
using hipEvent_t = HipHostEvent*;

inline const char* hipGetErrorString(hipError_t error) {
  return error == hipSuccess ? "no error" : "out of memory";
}
inline hipError_t hipGetLastError() {
  return hipSuccess;
}
inline hipError_t hipDeviceSynchronize() {
  return hipSuccess;
}
inline hipError_t hipMalloc(void** memory, std::size_t bytes) {
  *memory = std::malloc(bytes);
  return *memory != nullptr ? hipSuccess : hipErrorOutOfMemory;
}
inline hipError_t hipFree(void* memory) {
  std::free(memory);
  return hipSuccess;
}
inline hipError_t hipMemcpy(void* to, const void* from, std::size_t bytes, hipMemcpyKind) {
  std::memcpy(to, from, bytes);
  return hipSuccess;
}
inline hipError_t hipMemset(void* to, int value, std::size_t bytes) {
  std::memset(to, value, bytes);
  return hipSuccess;
}
inline hipError_t hipEventCreate(hipEvent_t* event) {
  *event = new HipHostEvent;
  return hipSuccess;
}
inline hipError_t hipEventDestroy(hipEvent_t event) {
  delete event;
  return hipSuccess;
}
inline hipError_t hipEventRecord(hipEvent_t event, hipStream_t) {
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &event->time);
  return hipSuccess;
}
inline hipError_t hipEventSynchronize(hipEvent_t) {
  return hipSuccess;
}
inline hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t begin, hipEvent_t end) {
  const double seconds = static_cast<double>(end->time.tv_sec - begin->time.tv_sec);
  const double rest = static_cast<double>(end->time.tv_nsec - begin->time.tv_nsec);
  *milliseconds = static_cast<float>(1e3 * seconds + 1e-6 * rest);
  return hipSuccess;
}
