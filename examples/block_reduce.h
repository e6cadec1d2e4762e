// Reduction over the threads of a block, for waves of 32 and of 64: shuffles within a wave, LDS
// between waves.
#pragma once

#include <hip/hip_runtime.h>

namespace example {

struct Sum {
  static constexpr float kNeutral = 0.0F;
  __device__ float operator()(float a, float b) const { return a + b; }
};

struct Largest {
  static constexpr float kNeutral = -3.402823466e38F;  // the lowest float
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

/// The value of the whole block, in every thread. BLOCK_THREADS threads take part, a multiple
/// of 64. Ends with a barrier: may be called again at once.
template <int BLOCK_THREADS, class Operation>
__device__ float block_reduce(float value, Operation operation) {
  static_assert(BLOCK_THREADS % 64 == 0, "whole waves only");
  __shared__ float of_wave[BLOCK_THREADS / 32];  // the smallest wave has 32 lanes
  const int waves = BLOCK_THREADS / warpSize;
  for (int distance = warpSize / 2; distance > 0; distance /= 2)
    value = operation(value, __shfl_xor(value, distance));
  if (threadIdx.x % warpSize == 0) of_wave[threadIdx.x / warpSize] = value;
  __syncthreads();
  value = of_wave[0];
  for (int wave = 1; wave < waves; ++wave) value = operation(value, of_wave[wave]);
  __syncthreads();
  return value;
}

}  // namespace example
