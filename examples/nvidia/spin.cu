// Kernels that stay for a given time and say how long they were there: what makes a rank late in
// ranks.cu and ddp.py.
//     nvcc -O2 -std=c++17 -arch=native -shared -Xcompiler -fPIC spin.cu -o libspin.so   (ddp.py)
#include <cuda_runtime.h>

#include <cstdint>

namespace {

/// The GPU's own clock in ns (PTX: %globaltimer). Its zero is another one on each GPU.
__device__ std::uint64_t now() {
  std::uint64_t ns = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
  return ns;
}

__device__ void stay(std::uint64_t ns, std::uint64_t* begin, std::uint64_t* end) {
  const std::uint64_t first = now();
  while (now() - first < ns) {
  }
  if (begin != nullptr) *begin = first;
  *end = now();
}

}  // namespace

/// What every rank does.
__global__ void spin_step(std::uint64_t ns, std::uint64_t* stamps) {
  stay(ns, stamps, stamps + 1);
}

/// What the late rank does beside it, behind it on its stream.
__global__ void spin_extra(std::uint64_t ns, std::uint64_t* stamps) {
  stay(ns, nullptr, stamps + 1);
}

/// What every rank does last.
__global__ void spin_stamp(std::uint64_t ns, std::uint64_t* stamps) {
  stay(ns, nullptr, stamps + 1);
}

/// Launches the step (0), what is extra (1) or the stamp (2) for `ns`. `stamps` of the device: [0]
/// the first instruction of the step, [1] the last one of what came last. Returns cudaError_t.
extern "C" int launch_spin(int which, std::uint64_t ns, std::uint64_t* stamps, void* stream) {
  auto* const kernel = which == 0 ? spin_step : which == 1 ? spin_extra : spin_stamp;
  kernel<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(ns, stamps);
  return cudaGetLastError();
}
