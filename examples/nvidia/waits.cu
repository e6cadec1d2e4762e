// Kernels of which it is known what their warps wait for, to be sampled: what stalls them must come
// out on top. Names say what that is in CUPTI's words.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <vector>

// A chain of loads that miss every cache: 256 MiB in strides that no prefetch follows.
extern "C" __global__ void waits_long_scoreboard(const uint32_t* next, float* out, int rounds) {
  uint32_t at = (blockIdx.x * blockDim.x + threadIdx.x) * 64;
  for (int i = 0; i < rounds; ++i) at = next[at];
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<float>(at);
}

// One warp of eight works, the others wait for it.
extern "C" __global__ void waits_barrier(float* out, int rounds) {
  float x = static_cast<float>(threadIdx.x);
  for (int i = 0; i < rounds; ++i) {
    if (threadIdx.x < 32)
      for (int j = 0; j < 64; ++j) x = x * 1.0001F + 0.5F;
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// Special functions alone: the unit takes one warp in eight cycles, behind the MIO's queue.
extern "C" __global__ void waits_mio_throttle(float* out, int rounds) {
  float x[8];
  for (int k = 0; k < 8; ++k) x[k] = static_cast<float>(threadIdx.x + k);
  for (int i = 0; i < rounds; ++i)
#pragma unroll
    for (int k = 0; k < 128; ++k) x[k % 8] = __sinf(x[k % 8]);
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += x[k];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Independent FP64 multiply-adds of many warps: their pipe is half as wide as a scheduler.
extern "C" __global__ void waits_math_pipe_throttle(float* out, int rounds) {
  double x[8];
  for (int k = 0; k < 8; ++k) x[k] = threadIdx.x + k;
  for (int i = 0; i < rounds; ++i)
#pragma unroll
    for (int k = 0; k < 128; ++k) x[k % 8] = fma(x[k % 8], 1.0001, 0.5);
  double sum = 0;
  for (int k = 0; k < 8; ++k) sum += x[k];
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<float>(sum);
}

int main() {
  constexpr std::size_t kWords = std::size_t{64} << 20;
  std::vector<uint32_t> chain(kWords);
  for (std::size_t i = 0; i < kWords; ++i)
    chain[i] = static_cast<uint32_t>((i * 1103515245ULL + 12345ULL * 64) % kWords);
  uint32_t* next = nullptr;
  float* out = nullptr;
  if (cudaMalloc(&next, kWords * 4) != cudaSuccess || cudaMalloc(&out, 4 << 20) != cudaSuccess)
    return 2;
  cudaMemcpy(next, chain.data(), kWords * 4, cudaMemcpyHostToDevice);
  for (int i = 0; i < 20; ++i) {
    waits_long_scoreboard<<<264, 256>>>(next, out, 400);
    waits_barrier<<<528, 256>>>(out, 2000);
    waits_mio_throttle<<<1056, 256>>>(out, 100);
    waits_math_pipe_throttle<<<1056, 256>>>(out, 100);
  }
  const cudaError_t ended = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(ended));
  return ended == cudaSuccess ? 0 : 1;
}
