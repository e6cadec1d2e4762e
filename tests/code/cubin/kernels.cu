// What tests/code/cubin/nvcc_test.cpp compiles: kernels whose needs differ.
#include <cuda_runtime.h>

__constant__ float weights[64];
__device__ int counter;
__device__ float initialised[3] = {7, 8, 9};

extern "C" __global__ void axpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void __launch_bounds__(256) tile(const float* in, float* out, char c, double d) {
  __shared__ float t[33 * 32];
  t[threadIdx.x] = in[threadIdx.x] * weights[threadIdx.x & 63];
  __syncthreads();
  out[threadIdx.x] = t[255 - threadIdx.x] + c + d + initialised[threadIdx.x % 3];
  if (threadIdx.x == 0) atomicAdd(&counter, 1);
}

/// Local memory without spills.
__global__ void indexed(const int* index, float* out) {
  float a[100];
  for (int i = 0; i < 100; i++) a[i] = index[i] * 2.0f;
  out[threadIdx.x] = a[index[threadIdx.x]];
  out[1] = a[index[2]];
}

/// More values than a thread may have registers.
__global__ void __launch_bounds__(1024) spilling(const double* __restrict__ x, double* y) {
  double a[64];
#pragma unroll
  for (int i = 0; i < 64; i++) a[i] = x[i * 1024 + threadIdx.x];
  for (int k = 0; k < 100; k++) {
#pragma unroll
    for (int i = 0; i < 64; i++) a[i] = a[i] * a[(i + 7) % 64] + y[k];
  }
  double s = 0;
#pragma unroll
  for (int i = 0; i < 64; i++) s += a[i] * i;
  y[threadIdx.x] = s;
}

struct Large {
  char bytes[3000];
};
__global__ void by_value(const Large large, char* p, int n) {
  extern __shared__ char dynamic[];
  dynamic[threadIdx.x] = large.bytes[n];
  __syncthreads();
  p[threadIdx.x] = dynamic[threadIdx.x ^ 1];
}
