// One instruction of arithmetic as volatile assembly, for each platform. `x##j` is a value of a
// thread's eight; minus and one are -1 and 1, which the compiler does not know.
#pragma once

#include "platform.h"

#if defined(CALIBRATE_PLATFORM)
// They are that platform's.
#elif defined(CALIBRATE_AMD)

#define OPAQUE(Type)                      \
  __device__ inline Type opaque(Type x) { \
    asm volatile("" : "+v"(x));           \
    return x;                             \
  }
OPAQUE(u32)
OPAQUE(u64)
OPAQUE(float)
OPAQUE(double)

#define STEP_2(text, j) asm volatile(text : "+v"(x##j) : "v"(minus), "v"(one));
#define STEP_FMA_F32(j) STEP_2("v_fma_f32 %0, %1, %0, %2", j)
#define STEP_ADD_F32(j) STEP_2("v_sub_f32 %0, %2, %0", j)
#define STEP_MUL_F32(j) STEP_2("v_mul_f32 %0, %1, %0", j)
#define STEP_TRANS_F32(j) STEP_2("v_rsq_f32 %0, %0", j)
#define STEP_FMA_F64(j) STEP_2("v_fma_f64 %0, %1, %0, %2", j)
#define STEP_ADD_F64(j) STEP_2("v_add_f64 %0, %2, -%0", j)
#define STEP_MUL_F64(j) STEP_2("v_mul_f64 %0, %1, %0", j)
#define STEP_FMA_F16(j) STEP_2("v_fma_f16 %0, %1, %0, %2", j)
#define STEP_PK_FMA_F16(j) STEP_2("v_pk_fma_f16 %0, %1, %0, %2", j)
#define STEP_PK_FMA_F32(j) STEP_2("v_pk_fma_f32 %0, %1, %0, %2", j)
#if defined(CALIBRATE_GFX9)
#define STEP_INT32(j) STEP_2("v_sub_u32 %0, %2, %0", j)
#else
#define STEP_INT32(j) STEP_2("v_sub_nc_u32 %0, %2, %0", j)
#endif

__device__ inline void atomic_increment(u32* word) {
  __scoped_atomic_fetch_add(word, 1U, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

#define STEP_SCALAR_XOR(j) asm volatile("s_xor_b32 %0, %0, 0x55" : "+s"(x##j) : : "scc");

/// gfx12 waits for each kind of memory by a name of its own.
#if defined(CALIBRATE_WMMA_12)
#define WAIT_FOR_LDS "s_wait_dscnt 0x0"
#define WAIT_FOR_SCALAR "s_wait_kmcnt 0x0"
#else
#define WAIT_FOR_LDS "s_waitcnt lgkmcnt(0)"
#define WAIT_FOR_SCALAR "s_waitcnt lgkmcnt(0)"
#endif
#if defined(CALIBRATE_WMMA_11) || defined(CALIBRATE_WMMA_12)
#define LDS_READ "ds_load_b32 "
#define SCALAR_READ "s_load_b32 "
#else
#define LDS_READ "ds_read_b32 "
#define SCALAR_READ "s_load_dword "
#endif

__device__ inline u32 lds_address(const u32* word) {
  return static_cast<u32>(reinterpret_cast<u64>(
      (const __attribute__((address_space(3))) u32*)word));  // NOLINT: no cast of C++ does it
}

/// The sum of the word at that address of LDS, read eight times.
__device__ inline u32 read_lds_8(u32 address) {
  u32 a, b, c, d, e, f, g, h;
  asm volatile(LDS_READ "%0, %8\n" LDS_READ "%1, %8\n" LDS_READ "%2, %8\n" LDS_READ
                        "%3, %8\n" LDS_READ "%4, %8\n" LDS_READ "%5, %8\n" LDS_READ
                        "%6, %8\n" LDS_READ "%7, %8\n" WAIT_FOR_LDS
               : "=&v"(a), "=&v"(b), "=&v"(c), "=&v"(d), "=&v"(e), "=&v"(f), "=&v"(g), "=&v"(h)
               : "v"(address)
               : "memory");
  return a + b + c + d + e + f + g + h;
}

/// The sum of one word of memory, read eight times by the scalar unit.
__device__ inline u32 read_scalar_8(const u32* word) {
  u32 a, b, c, d, e, f, g, h;
  asm volatile(SCALAR_READ "%0, %8, 0x0\n" SCALAR_READ "%1, %8, 0x0\n" SCALAR_READ
                           "%2, %8, 0x0\n" SCALAR_READ "%3, %8, 0x0\n" SCALAR_READ
                           "%4, %8, 0x0\n" SCALAR_READ "%5, %8, 0x0\n" SCALAR_READ
                           "%6, %8, 0x0\n" SCALAR_READ "%7, %8, 0x0\n" WAIT_FOR_SCALAR
               : "=&s"(a), "=&s"(b), "=&s"(c), "=&s"(d), "=&s"(e), "=&s"(f), "=&s"(g), "=&s"(h)
               : "s"(word)
               : "memory");
  return a + b + c + d + e + f + g + h;
}

#else

__device__ inline u32 lds_address(const u32* word) {
  return static_cast<u32>(__cvta_generic_to_shared(word));
}

/// The sum of the word at that address of shared memory, read eight times.
__device__ inline u32 read_lds_8(u32 address) {
  u32 sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    u32 word;
    asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
    sum += word;
  }
  return sum;
}

#define OPAQUE(Type, letter)              \
  __device__ inline Type opaque(Type x) { \
    asm volatile("" : "+" letter(x));     \
    return x;                             \
  }
OPAQUE(u32, "r")
OPAQUE(u64, "l")
OPAQUE(float, "f")
OPAQUE(double, "d")

#define STEP_2(text, letter, j) asm volatile(text : "+" letter(x##j) : letter(minus), letter(one));
#define STEP_FMA_F32(j) STEP_2("fma.rn.f32 %0, %1, %0, %2;", "f", j)
#define STEP_ADD_F32(j) STEP_2("sub.rn.f32 %0, %2, %0;", "f", j)
#define STEP_MUL_F32(j) STEP_2("mul.rn.f32 %0, %1, %0;", "f", j)
#define STEP_TRANS_F32(j) STEP_2("rsqrt.approx.ftz.f32 %0, %0;", "f", j)
#define STEP_FMA_F64(j) STEP_2("fma.rn.f64 %0, %1, %0, %2;", "d", j)
#define STEP_ADD_F64(j) STEP_2("sub.rn.f64 %0, %2, %0;", "d", j)
#define STEP_MUL_F64(j) STEP_2("mul.rn.f64 %0, %1, %0;", "d", j)
#define STEP_PK_FMA_F16(j) STEP_2("fma.rn.f16x2 %0, %1, %0, %2;", "r", j)
#define STEP_INT32(j) STEP_2("mad.lo.u32 %0, %1, %0, %2;", "r", j)

__device__ inline void atomic_increment(u32* word) {
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(word) : "memory");
}

#endif

__device__ inline u64 as_bits(u32 x) {
  return x;
}
__device__ inline u64 as_bits(u64 x) {
  return x;
}
__device__ inline u64 as_bits(float x) {
  return __builtin_bit_cast(u32, x);
}
__device__ inline u64 as_bits(double x) {
  return __builtin_bit_cast(u64, x);
}

template <class T>
__device__ inline T from_bits(u64 bits) {
  if constexpr (sizeof(T) == sizeof(u32))
    return __builtin_bit_cast(T, static_cast<u32>(bits));
  else
    return __builtin_bit_cast(T, bits);
}
