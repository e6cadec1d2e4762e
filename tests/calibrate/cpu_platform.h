// The CPU as a platform of src/calibrate/programs: one thread after the other, each step as plain
// arithmetic. Matrix instructions are not there.
#pragma once

#define CALIBRATE_AMD 1   // with the rows that only AMD has
#define CALIBRATE_MFMA 1  // and packed FP32
#define CALIBRATE_WITHOUT_MATRIX 1
#define __global__
#define __device__
#define __shared__ static
#define CALIBRATE_ATTRIBUTES
#define CALIBRATE_THREAD cpu_thread
#define CALIBRATE_BLOCK cpu_block
#define CALIBRATE_BARRIER()

inline unsigned cpu_thread = 0, cpu_block = 0;
inline const unsigned* cpu_lds = nullptr;

template <class T>
T opaque(T x) {
  return x;
}

/// 1 - x and so on, of packed numbers one by one.
template <class Number, class Bits>
Bits each_fma(Bits x, Bits minus, Bits one, int numbers) {
  Number values[3][2];
  __builtin_memcpy(values[0], &x, sizeof(Number) * numbers);
  __builtin_memcpy(values[1], &minus, sizeof(Number) * numbers);
  __builtin_memcpy(values[2], &one, sizeof(Number) * numbers);
  for (int i = 0; i < numbers; ++i)
    values[0][i] = static_cast<Number>(values[1][i] * values[0][i] + values[2][i]);
  __builtin_memcpy(&x, values[0], sizeof(Number) * numbers);
  return x;
}

#define STEP_FMA_F32(j) x##j = minus * x##j + one;
#define STEP_ADD_F32(j) x##j = one - x##j;
#define STEP_MUL_F32(j) x##j = minus * x##j;
#define STEP_TRANS_F32(j) x##j = 1 / __builtin_sqrtf(x##j);
#define STEP_FMA_F64(j) STEP_FMA_F32(j)
#define STEP_ADD_F64(j) STEP_ADD_F32(j)
#define STEP_MUL_F64(j) STEP_MUL_F32(j)
#define STEP_FMA_F16(j) x##j = each_fma<_Float16>(x##j, minus, one, 1);
#define STEP_PK_FMA_F16(j) x##j = each_fma<_Float16>(x##j, minus, one, 2);
#define STEP_PK_FMA_F32(j) x##j = each_fma<float>(x##j, minus, one, 2);
#define STEP_INT32(j) x##j = one - x##j;
#define STEP_SCALAR_XOR(j) x##j ^= 0x55;

inline void atomic_increment(unsigned* word) {
  ++*word;
}
inline unsigned lds_address(const unsigned* word) {
  cpu_lds = word;
  return 0;
}
inline unsigned read_lds_8(unsigned) {
  return 8 * *cpu_lds;
}
inline unsigned read_scalar_8(const unsigned* word) {
  return 8 * *word;
}
