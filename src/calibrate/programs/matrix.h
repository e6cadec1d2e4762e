// Matrix instructions of each platform: what multiplies one fragment, and the kernel around it.
// D = A*B + D, then D = (-A)*B + D: with small whole numbers both are exact, and every second step
// gives back what D was. Four D per lane, so that one does not wait for the other.
#pragma once

#include "steps.h"

template <class T>
struct WordsOf {
  u32 word[sizeof(T) / sizeof(u32)];
};
/// 0 where all numbers are; a zero may have a sign.
template <class T>
__device__ inline u32 or_of_words(const T& value) {
  const WordsOf<T> words = __builtin_bit_cast(WordsOf<T>, value);
  u32 bits = 0;
#pragma unroll
  for (u32 k = 0; k < sizeof(T) / sizeof(u32); ++k) bits |= words.word[k] << 1;
  return bits;
}

/// The negative of a fragment: `flip` turns the sign of each of its numbers over.
template <class A>
__device__ inline A negative(const A& a, u64 flip) {
  WordsOf<A> words = __builtin_bit_cast(WordsOf<A>, a);
#pragma unroll
  for (u32 k = 0; k < sizeof(A) / sizeof(u32); ++k)
    words.word[k] ^= static_cast<u32>(k % 2 == 0 ? flip : flip >> 32);
  return __builtin_bit_cast(A, words);
}

/// `in` has 64 bytes per lane, A at their begin and B in their middle; D begins as zero. One is
/// added to what comes out, because memory that nobody wrote may be zero.
template <class Multiply>
__device__ inline void matrix_work(const Work& work) {
  using A = typename Multiply::A;
  using B = typename Multiply::B;
  const u32 index = CALIBRATE_INDEX;
  const u32* in = work.in + (index & work.mask) * 16;
  const A a = *reinterpret_cast<const A*>(in);
  const A minus_a = negative(a, work.minus);
  const B b = *reinterpret_cast<const B*>(in + 8);
  typename Multiply::D d0 = {}, d1 = {}, d2 = {}, d3 = {};
  u32 left = work.rounds;
  NO_UNROLL do {
    Multiply::step(d0, a, b), Multiply::step(d1, a, b);
    Multiply::step(d2, a, b), Multiply::step(d3, a, b);
    Multiply::step(d0, minus_a, b), Multiply::step(d1, minus_a, b);
    Multiply::step(d2, minus_a, b), Multiply::step(d3, minus_a, b);
    Multiply::step(d0, a, b), Multiply::step(d1, a, b);
    Multiply::step(d2, a, b), Multiply::step(d3, a, b);
    Multiply::step(d0, minus_a, b), Multiply::step(d1, minus_a, b);
    Multiply::step(d2, minus_a, b), Multiply::step(d3, minus_a, b);
  }
  while (--left != 0);
  work.out[index] = (or_of_words(d0) | or_of_words(d1) | or_of_words(d2) | or_of_words(d3)) + 1;
}

#define MATRIX_KERNEL(name, Multiply) \
  CALIBRATE_KERNEL(name) {            \
    matrix_work<Multiply>(work);      \
  }

#if defined(CALIBRATE_AMD)

template <class T, int kCount>
using Vector = T __attribute__((ext_vector_type(kCount)));

using Bfloat8 = Vector<__bf16, 8>;
using Double4 = Vector<double, 4>;
using Float2 = Vector<float, 2>;
using Half16 = Vector<_Float16, 16>;
using Half4 = Vector<_Float16, 4>;
using Half8 = Vector<_Float16, 8>;
using Int16 = Vector<int, 16>;
using Int2 = Vector<int, 2>;
using Int4 = Vector<int, 4>;
using Int8 = Vector<int, 8>;
using Short16 = Vector<short, 16>;
using Short4 = Vector<short, 4>;
using Short8 = Vector<short, 8>;

/// A matrix instruction by its builtin, whose arguments behind A, B and D are given.
#define MULTIPLY(name, AType, DType, call)                      \
  struct name {                                                 \
    using A = AType;                                            \
    using B = AType;                                            \
    using D = DType;                                            \
    __device__ static void step(D& d, const A& a, const B& b) { \
      d = call;                                                 \
    }                                                           \
  };

#if defined(CALIBRATE_MFMA)
using D32 = Vector<float, 16>;
#if defined(__gfx950__)
MULTIPLY(MultiplyFp16, Half8, D32, __builtin_amdgcn_mfma_f32_32x32x16_f16(a, b, d, 0, 0, 0))
MULTIPLY(MultiplyBf16, Bfloat8, D32, __builtin_amdgcn_mfma_f32_32x32x16_bf16(a, b, d, 0, 0, 0))
MULTIPLY(MultiplyInt8, Int4, Int16, __builtin_amdgcn_mfma_i32_32x32x32_i8(a, b, d, 0, 0, 0))
// Both formats 0: FP8 (E4M3). Scales that are 0 make it the instruction without scales.
MULTIPLY(MultiplyF8f6f4, Int8, D32,
         __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(a, b, d, 0, 0, 0, 0, 0, 0))
#else
MULTIPLY(MultiplyFp16, Half4, D32, __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, d, 0, 0, 0))
MULTIPLY(MultiplyBf16, Short4, D32, __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(a, b, d, 0, 0, 0))
#if defined(CALIBRATE_MFMA_FP8)
MULTIPLY(MultiplyInt8, long, Int16, __builtin_amdgcn_mfma_i32_32x32x16_i8(a, b, d, 0, 0, 0))
#else
MULTIPLY(MultiplyInt8, int, Int16, __builtin_amdgcn_mfma_i32_32x32x8i8(a, b, d, 0, 0, 0))
#endif
#endif
MULTIPLY(MultiplyFp32, float, D32, __builtin_amdgcn_mfma_f32_32x32x2f32(a, b, d, 0, 0, 0))
#if defined(CALIBRATE_MFMA_TF32)
MULTIPLY(MultiplyTf32, Float2, D32, __builtin_amdgcn_mfma_f32_32x32x4_xf32(a, b, d, 0, 0, 0))
#endif
MULTIPLY(MultiplyFp64, double, Double4, __builtin_amdgcn_mfma_f64_16x16x4f64(a, b, d, 0, 0, 0))
#if defined(CALIBRATE_MFMA_FP8)
MULTIPLY(MultiplyFp8, long, D32, __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(a, b, d, 0, 0, 0))
#endif
#elif defined(CALIBRATE_WMMA_11)
using D8 = Vector<float, 8>;
MULTIPLY(MultiplyFp16, Half16, D8, __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, d))
MULTIPLY(MultiplyBf16, Short16, D8, __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(a, b, d))
MULTIPLY(MultiplyInt8, Int4, Int8,
         __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, a, true, b, d, false))
#elif defined(CALIBRATE_WMMA_12)
using D8 = Vector<float, 8>;
MULTIPLY(MultiplyFp16, Half8, D8, __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, d))
MULTIPLY(MultiplyBf16, Short8, D8, __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(a, b, d))
MULTIPLY(MultiplyInt8, Int2, Int8,
         __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(true, a, true, b, d, false))
MULTIPLY(MultiplyFp8, Int2, D8, __builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w32_gfx12(a, b, d))
#endif

#else  // CUDA

struct Two {
  u32 x, y;
};
struct alignas(16) Four {
  u32 x, y, z, w;
};
struct FourSums {
  float x, y, z, w;
};
struct FourCounts {
  int x, y, z, w;
};
struct TwoSums {
  double x, y;
};

#define MULTIPLY_4_2(name, Sums, letter, instruction)                                   \
  struct name {                                                                         \
    using A = Four;                                                                     \
    using B = Two;                                                                      \
    using D = Sums;                                                                     \
    __device__ static void step(D& d, const A& a, const B& b) {                         \
      asm volatile(instruction " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
                   : "+" letter(d.x), "+" letter(d.y), "+" letter(d.z), "+" letter(d.w) \
                   : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y));       \
    }                                                                                   \
  };
#if __CUDA_ARCH__ >= 800
MULTIPLY_4_2(MultiplyFp16, FourSums, "f", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
MULTIPLY_4_2(MultiplyBf16, FourSums, "f", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
MULTIPLY_4_2(MultiplyTf32, FourSums, "f", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32")
MULTIPLY_4_2(MultiplyInt8, FourCounts, "r", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32")
struct MultiplyFp64 {
  using A = double;
  using B = double;
  using D = TwoSums;
  __device__ static void step(D& d, const A& a, const B& b) {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(d.x), "+d"(d.y)
                 : "d"(a), "d"(b));
  }
};
#endif
#if __CUDA_ARCH__ >= 890
MULTIPLY_4_2(MultiplyFp8, FourSums, "f", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32")
#endif

#endif
