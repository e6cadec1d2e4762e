// Kernels of known work (docs/CALIBRATE.md): one loop each, whose body is what work.cpp says, and
// as little as possible around it. What must come out follows from what goes in without knowing how
// the GPU rounds, so that every kernel can be checked exactly.
#include "steps.h"

// ---- Bytes -------------------------------------------------------------------------------------
// Four accesses per round, each a whole launch behind the one before: neighbours touch neighbours.

#define COPY_KERNEL(name, Type)                                                        \
  CALIBRATE_KERNEL(name) {                                                             \
    const Type* __restrict__ in = reinterpret_cast<const Type*>(work.in);              \
    Type* __restrict__ out = reinterpret_cast<Type*>(work.out);                        \
    const u32 far = work.threads;                                                      \
    u32 i = CALIBRATE_INDEX, left = work.rounds;                                       \
    NO_UNROLL do {                                                                     \
      const Type a = in[i], b = in[i + far], c = in[i + 2 * far], d = in[i + 3 * far]; \
      out[i] = a, out[i + far] = b, out[i + 2 * far] = c, out[i + 3 * far] = d;        \
      i = opaque(i + 4 * far);                                                         \
    }                                                                                  \
    while (--left != 0);                                                               \
  }

COPY_KERNEL(calibrate_copy_16, Words4)
COPY_KERNEL(calibrate_copy_8, u64)
COPY_KERNEL(calibrate_copy_4, u32)

CALIBRATE_KERNEL(calibrate_write_16) {
  Words4* out = reinterpret_cast<Words4*>(work.out);
  const u32 far = work.threads;
  u32 i = CALIBRATE_INDEX, left = work.rounds;
  NO_UNROLL do {
    out[i] = Words4{i, i, i, i};
    out[i + far] = Words4{i, i, i, i};
    out[i + 2 * far] = Words4{i, i, i, i};
    out[i + 3 * far] = Words4{i, i, i, i};
    i = opaque(i + 4 * far);
  }
  while (--left != 0);
}

/// Exclusive or of what it reads. With a mask that covers the buffer every word is read once; with
/// a small one the same words again and again, from whichever cache holds them.
CALIBRATE_KERNEL(calibrate_read_16) {
  const Words4* in = reinterpret_cast<const Words4*>(work.in);
  const u32 index = CALIBRATE_INDEX, far = work.threads, mask = work.mask;
  u32 i = index, left = work.rounds;
  Words4 sum = {0, 0, 0, 0};
  NO_UNROLL do {
    const Words4 a = in[i & mask], b = in[(i + far) & mask], c = in[(i + 2 * far) & mask],
                 d = in[(i + 3 * far) & mask];
    sum.x ^= a.x ^ b.x ^ c.x ^ d.x;
    sum.y ^= a.y ^ b.y ^ c.y ^ d.y;
    sum.z ^= a.z ^ b.z ^ c.z ^ d.z;
    sum.w ^= a.w ^ b.w ^ c.w ^ d.w;
    i = opaque(i + 4 * far);
  }
  while (--left != 0);
  work.out[index] = sum.x ^ sum.y ^ sum.z ^ sum.w;
}

/// One word of every 32, 64 or 128 bytes.
#define STRIDE_KERNEL(name, words)                                                        \
  CALIBRATE_KERNEL(name) {                                                                \
    const u32 index = CALIBRATE_INDEX, far = work.threads * words;                        \
    u32 i = index * words, left = work.rounds, sum = 0;                                   \
    NO_UNROLL do {                                                                        \
      sum ^= work.in[i] ^ work.in[i + far] ^ work.in[i + 2 * far] ^ work.in[i + 3 * far]; \
      i = opaque(i + 4 * far);                                                            \
    }                                                                                     \
    while (--left != 0);                                                                  \
    work.out[index] = sum;                                                                \
  }

STRIDE_KERNEL(calibrate_stride_32, 8)
STRIDE_KERNEL(calibrate_stride_64, 16)
STRIDE_KERNEL(calibrate_stride_128, 32)

/// Every thread adds one to a word of its own, four words per round.
CALIBRATE_KERNEL(calibrate_atomic_add) {
  const u32 far = work.threads;
  u32 i = CALIBRATE_INDEX, left = work.rounds;
  NO_UNROLL do {
    atomic_increment(work.out + i);
    atomic_increment(work.out + i + far);
    atomic_increment(work.out + i + 2 * far);
    atomic_increment(work.out + i + 3 * far);
  }
  while (--left != 0);
}

// ---- Arithmetic --------------------------------------------------------------------------------
// Eight values per thread, each 8 times per round. One step maps x to 1-x or -x (a reciprocal
// square root 1 to 1): an even number of them gives back what came in. Bits are put together as
// whole numbers, which is no floating-point work.

#define CHAIN_LOAD(j) Value x##j = in[j];
#define CHAIN_SUM(j) bits += as_bits(x##j);

#define ARITHMETIC_KERNEL(name, Type, STEP)                                                     \
  CALIBRATE_KERNEL(name) {                                                                      \
    using Value = Type;                                                                         \
    const u32 index = CALIBRATE_INDEX;                                                          \
    const Value* in = reinterpret_cast<const Value*>(work.in) + (index & work.mask) * 8;        \
    const Value minus = from_bits<Value>(work.minus), one = from_bits<Value>(work.one);         \
    REPEAT_8(CHAIN_LOAD)                                                                        \
    u32 left = work.rounds;                                                                     \
    NO_UNROLL do {                                                                              \
      REPEAT_8(STEP)                                                                            \
      REPEAT_8(STEP) REPEAT_8(STEP) REPEAT_8(STEP) REPEAT_8(STEP) REPEAT_8(STEP) REPEAT_8(STEP) \
          REPEAT_8(STEP)                                                                        \
    }                                                                                           \
    while (--left != 0);                                                                        \
    u64 bits = 0;                                                                               \
    REPEAT_8(CHAIN_SUM)                                                                         \
    work.out[index] = static_cast<u32>(bits) + static_cast<u32>(bits >> 32);                    \
  }

ARITHMETIC_KERNEL(calibrate_fma_fp32, float, STEP_FMA_F32)
ARITHMETIC_KERNEL(calibrate_add_fp32, float, STEP_ADD_F32)
ARITHMETIC_KERNEL(calibrate_mul_fp32, float, STEP_MUL_F32)
ARITHMETIC_KERNEL(calibrate_trans_fp32, float, STEP_TRANS_F32)
ARITHMETIC_KERNEL(calibrate_fma_fp64, double, STEP_FMA_F64)
ARITHMETIC_KERNEL(calibrate_add_fp64, double, STEP_ADD_F64)
ARITHMETIC_KERNEL(calibrate_mul_fp64, double, STEP_MUL_F64)
ARITHMETIC_KERNEL(calibrate_int32, u32, STEP_INT32)
ARITHMETIC_KERNEL(calibrate_packed_fma_fp16, u32, STEP_PK_FMA_F16)
#if defined(CALIBRATE_AMD)
ARITHMETIC_KERNEL(calibrate_fma_fp16, u32, STEP_FMA_F16)
#endif
#if defined(CALIBRATE_MFMA)
ARITHMETIC_KERNEL(calibrate_packed_fma_fp32, u64, STEP_PK_FMA_F32)
#endif

// ---- Matrix instructions -----------------------------------------------------------------------

#if !defined(CALIBRATE_WITHOUT_MATRIX)
#include "matrix.h"

#if defined(CALIBRATE_MFMA) || defined(CALIBRATE_WMMA_11) || defined(CALIBRATE_WMMA_12) || \
    (defined(CALIBRATE_CUDA) && __CUDA_ARCH__ >= 800)
MATRIX_KERNEL(calibrate_matrix_fp16, MultiplyFp16)
MATRIX_KERNEL(calibrate_matrix_bf16, MultiplyBf16)
MATRIX_KERNEL(calibrate_matrix_int8, MultiplyInt8)
#endif
#if defined(CALIBRATE_MFMA)
MATRIX_KERNEL(calibrate_matrix_fp32, MultiplyFp32)
#endif
#if defined(CALIBRATE_MFMA) || (defined(CALIBRATE_CUDA) && __CUDA_ARCH__ >= 800)
MATRIX_KERNEL(calibrate_matrix_fp64, MultiplyFp64)
#endif
#if defined(CALIBRATE_MFMA_TF32) || (defined(CALIBRATE_CUDA) && __CUDA_ARCH__ >= 800)
MATRIX_KERNEL(calibrate_matrix_tf32, MultiplyTf32)
#endif
#if defined(CALIBRATE_MFMA_FP8) || defined(CALIBRATE_WMMA_12) || \
    (defined(CALIBRATE_CUDA) && __CUDA_ARCH__ >= 890)
MATRIX_KERNEL(calibrate_matrix_fp8, MultiplyFp8)
#endif
#if defined(CALIBRATE_MFMA_F8F6F4)
MATRIX_KERNEL(calibrate_matrix_f8f6f4, MultiplyF8f6f4)
#endif
#endif  // CALIBRATE_WITHOUT_MATRIX

// ---- Shared memory, scalar units ---------------------------------------------------------------

/// Eight reads per round of one word per thread, `step` words behind that of the thread before: the
/// step decides how many threads meet in one bank. Every round reads the same.
#define LDS_KERNEL(name, step)                                    \
  CALIBRATE_KERNEL(name) {                                        \
    __shared__ u32 words[256 * step];                             \
    const u32 index = CALIBRATE_INDEX, thread = CALIBRATE_THREAD; \
    words[thread * step] = work.in[index & work.mask];            \
    CALIBRATE_BARRIER();                                          \
    const u32 address = lds_address(words + thread * step);       \
    u32 left = work.rounds, bits = 0;                             \
    NO_UNROLL do {                                                \
      bits += read_lds_8(address);                                \
    }                                                             \
    while (--left != 0);                                          \
    work.out[index] = bits;                                       \
  }

LDS_KERNEL(calibrate_lds_read, 1)
LDS_KERNEL(calibrate_lds_conflict_2, 2)
LDS_KERNEL(calibrate_lds_conflict_8, 8)

#if defined(CALIBRATE_AMD)
/// Scalar arithmetic: the same for all lanes.
CALIBRATE_KERNEL(calibrate_salu) {
  u32 x0 = work.block, x1 = x0, x2 = x0, x3 = x0, x4 = x0, x5 = x0, x6 = x0, x7 = x0;
  u32 left = work.rounds;
  NO_UNROLL do {
    REPEAT_8(STEP_SCALAR_XOR)
    REPEAT_8(STEP_SCALAR_XOR) REPEAT_8(STEP_SCALAR_XOR) REPEAT_8(STEP_SCALAR_XOR)
        REPEAT_8(STEP_SCALAR_XOR) REPEAT_8(STEP_SCALAR_XOR) REPEAT_8(STEP_SCALAR_XOR)
            REPEAT_8(STEP_SCALAR_XOR)
  }
  while (--left != 0);
  work.out[CALIBRATE_INDEX] = x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7;
}

/// Eight scalar loads of one word per round.
CALIBRATE_KERNEL(calibrate_smem) {
  u32 left = work.rounds, sum = 0;
  NO_UNROLL do {
    sum += read_scalar_8(work.in);
  }
  while (--left != 0);
  work.out[CALIBRATE_INDEX] = sum;
}
#endif
