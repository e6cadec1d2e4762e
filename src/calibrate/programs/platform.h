// What the calibration's kernels need of HIP on AMD and of CUDA on NVIDIA, without a header of
// either: the same text compiles with clang alone. Instructions that a claim counts stand as
// volatile assembly, which a compiler neither removes nor repeats nor puts together.
#pragma once

// A platform of somebody else's: tests run the kernels on the CPU.
#if defined(CALIBRATE_PLATFORM)
#include CALIBRATE_PLATFORM
#elif defined(__HIP__)
#define CALIBRATE_AMD 1
#ifndef __global__
#define __global__ __attribute__((global))
#endif
#ifndef __device__
#define __device__ __attribute__((device))
#endif
#ifndef __shared__
#define __shared__ __attribute__((shared))
#endif
#define CALIBRATE_THREAD __builtin_amdgcn_workitem_id_x()
#define CALIBRATE_BLOCK __builtin_amdgcn_workgroup_id_x()
#define CALIBRATE_BARRIER() __builtin_amdgcn_s_barrier()
// Two waves per SIMD leave 256 registers: then LLVM keeps sums of MFMA where they are, and does not
// move them to accumulation registers and back in every round.
#define CALIBRATE_ATTRIBUTES \
  __attribute__((amdgpu_flat_work_group_size(1, 256), amdgpu_waves_per_eu(2)))
#if defined(__GFX9__)
#define CALIBRATE_GFX9 1
#endif
// Generations by what they can: packed FP32 and MFMA came with gfx90a, WMMA with gfx11.
#if defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || \
    defined(__gfx950__)
#define CALIBRATE_MFMA 1
#endif
#if defined(__gfx942__) || defined(__gfx950__) || defined(__gfx940__) || defined(__gfx941__)
#define CALIBRATE_MFMA_FP8 1
// gfx950 has no TF32, and reaches its peak of FP8 only by its instructions for 8, 6 and 4 bits.
#if defined(__gfx950__)
#define CALIBRATE_MFMA_F8F6F4 1
#else
#define CALIBRATE_MFMA_TF32 1
#endif
#endif
#if defined(__GFX11__)
#define CALIBRATE_WMMA_11 1
#endif
#if defined(__GFX12__)
#define CALIBRATE_WMMA_12 1
#endif
#else
#define CALIBRATE_CUDA 1
#define CALIBRATE_THREAD threadIdx.x
#define CALIBRATE_BLOCK blockIdx.x
#define CALIBRATE_BARRIER() __syncthreads()
#define CALIBRATE_ATTRIBUTES __launch_bounds__(256)
#endif

typedef unsigned int u32;
typedef unsigned long long u64;

/// Four words, which one instruction moves.
#if defined(CALIBRATE_CUDA)
typedef uint4 Words4;
#elif defined(__HIP__)
typedef u32 Words4 __attribute__((ext_vector_type(4)));  // a struct would go through memory
#else
struct Words4 {
  u32 x, y, z, w;
};
#endif

/// Arguments of every kernel. The host fills `in`, and knows what `out` has to be.
struct Work {
  const u32* in;
  u32* out;
  u32 rounds;   ///< of the loop, at least 1
  u32 block;    ///< threads of a block
  u32 threads;  ///< of the launch
  u32 mask;     ///< of what a thread reads again and again: elements less 1
  /// -1 and 1 of the kernel's type, as bits: a compiler that knew them would leave work out.
  u64 minus, one;
};

#define CALIBRATE_KERNEL(name) extern "C" __global__ void CALIBRATE_ATTRIBUTES name(Work work)
#define CALIBRATE_INDEX (CALIBRATE_BLOCK * work.block + CALIBRATE_THREAD)

#define REPEAT_8(step) step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7)

#if defined(CALIBRATE_CUDA)
#define NO_UNROLL _Pragma("unroll 1")
#elif defined(__HIP__)
#define NO_UNROLL _Pragma("nounroll")
#else
#define NO_UNROLL
#endif
