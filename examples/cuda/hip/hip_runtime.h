// HIP on NVIDIA GPUs, as far as the programs of this folder need it: every hipX is CUDA's cudaX, as
// HIP's own CUDA platform maps it (https://rocm.docs.amd.com/projects/HIP, "CUDA platform"). What
// is not here does not compile.
//     nvcc -x cu -O2 -std=c++17 -arch=native -I examples/cuda vector_add.hip -o vector_add
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

using hipError_t = cudaError_t;
using hipStream_t = cudaStream_t;
using hipEvent_t = cudaEvent_t;
using hipMemcpyKind = cudaMemcpyKind;

constexpr hipError_t hipSuccess = cudaSuccess;
constexpr hipMemcpyKind hipMemcpyHostToDevice = cudaMemcpyHostToDevice;
constexpr hipMemcpyKind hipMemcpyDeviceToHost = cudaMemcpyDeviceToHost;
constexpr hipMemcpyKind hipMemcpyDeviceToDevice = cudaMemcpyDeviceToDevice;

inline const char* hipGetErrorString(hipError_t error) {
  return cudaGetErrorString(error);
}
inline hipError_t hipGetLastError() {
  return cudaGetLastError();
}
inline hipError_t hipDeviceSynchronize() {
  return cudaDeviceSynchronize();
}
inline hipError_t hipMalloc(void** memory, std::size_t bytes) {
  return cudaMalloc(memory, bytes);
}
template <class T>
hipError_t hipMalloc(T** memory, std::size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(memory), bytes);
}
inline hipError_t hipFree(void* memory) {
  return cudaFree(memory);
}
inline hipError_t hipMemcpy(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind) {
  return cudaMemcpy(to, from, bytes, kind);
}
inline hipError_t hipMemset(void* to, int value, std::size_t bytes) {
  return cudaMemset(to, value, bytes);
}
inline hipError_t hipEventCreate(hipEvent_t* event) {
  return cudaEventCreate(event);
}
inline hipError_t hipEventDestroy(hipEvent_t event) {
  return cudaEventDestroy(event);
}
inline hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return cudaEventRecord(event, stream);
}
inline hipError_t hipEventSynchronize(hipEvent_t event) {
  return cudaEventSynchronize(event);
}
inline hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t begin, hipEvent_t end) {
  return cudaEventElapsedTime(milliseconds, begin, end);
}

#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) \
  (kernel)<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__)

/// HIP's shuffle has no mask: all threads of the warp take part, as on AMD.
template <class T>
__device__ inline T __shfl_xor(T value, int lanes, int width = warpSize) {
  return __shfl_xor_sync(0xffffffffU, value, lanes, width);
}
