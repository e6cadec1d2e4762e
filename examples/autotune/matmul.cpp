// c = a x b in blocks, for a CPU: an example for `rocm-perf autotune` that needs no GPU. Knobs:
//   BM, BN, BK  rows, columns and depth of a block, which is to stay in a cache
//   MR, NR      rows and columns of a tile of c, which is to stay in registers
// The defaults are what one writes first: square blocks, one row at a time.
//     g++ -O2 matmul.cpp -o matmul && ./matmul
// Prints the time of each repeat ("time_ms: 3.25"), then PASS, or FAIL with exit code 1.
#include <cstdint>
#include <cstdio>
#include <ctime>

#ifndef BM
#define BM 16
#endif
#ifndef BN
#define BN 16
#endif
#ifndef BK
#define BK 16
#endif
#ifndef MR
#define MR 1
#endif
#ifndef NR
#define NR 4
#endif

namespace {

constexpr int kSize = 240;
constexpr int kLanes = 4;  // floats of a vector: every x86-64 and ARM machine has these
constexpr int kVectors = NR / kLanes;
constexpr int kRepeats = 9;
using Vector = float __attribute__((vector_size(kLanes * sizeof(float)), aligned(4), may_alias));

static_assert(kSize % BM == 0 && kSize % BN == 0 && kSize % BK == 0, "blocks fill the matrix");
static_assert(BM % MR == 0 && BN % NR == 0 && NR % kLanes == 0, "tiles fill a block");

float a[kSize * kSize], b[kSize * kSize], c[kSize * kSize];

/// One tile of c: MR x NR sums in registers over BK products each.
inline void tile(const float* a_rows, const float* b_columns, float* c_tile) {
  Vector sums[MR][kVectors];
#pragma GCC unroll 16
  for (int row = 0; row < MR; ++row)
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v)
      sums[row][v] = *reinterpret_cast<const Vector*>(c_tile + row * kSize + v * kLanes);
  for (int k = 0; k < BK; ++k) {
#pragma GCC unroll 16
    for (int row = 0; row < MR; ++row)
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v)
        sums[row][v] += a_rows[row * kSize + k] *
                        *reinterpret_cast<const Vector*>(b_columns + k * kSize + v * kLanes);
  }
#pragma GCC unroll 16
  for (int row = 0; row < MR; ++row)
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v)
      *reinterpret_cast<Vector*>(c_tile + row * kSize + v * kLanes) = sums[row][v];
}

void multiply() {
  for (int k = 0; k < kSize; k += BK)
    for (int row = 0; row < kSize; row += BM)
      for (int column = 0; column < kSize; column += BN)
        for (int i = row; i < row + BM; i += MR)
          for (int j = column; j < column + BN; j += NR)
            tile(a + i * kSize + k, b + k * kSize + j, c + i * kSize + j);
}

/// Numbers between -0.5 and 0.5, the same ones every time.
void fill(float* matrix, std::uint32_t seed) {
  for (int i = 0; i < kSize * kSize; ++i) {
    seed = seed * 1664525U + 1013904223U;
    matrix[i] = static_cast<float>(seed >> 8U) / 16777216.0F - 0.5F;
  }
}

/// Largest difference to plain sums in double precision.
double largest_error() {
  double largest = 0;
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j < kSize; j += 7) {  // a seventh of them: every tile has some
      double difference = -c[i * kSize + j];
      for (int k = 0; k < kSize; ++k)
        difference += static_cast<double>(a[i * kSize + k]) * b[k * kSize + j];
      if (difference < 0) difference = -difference;
      if (difference > largest || difference != difference) largest = difference;
    }
  return largest;
}

}  // namespace

int main() {
  fill(a, 1);
  fill(b, 2);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (float& sum : c) sum = 0;
    const std::clock_t start = std::clock();  // processor time: a busy machine counts less
    multiply();
    const std::clock_t end = std::clock();
    std::printf("time_ms: %.3f\n", 1e3 * static_cast<double>(end - start) / CLOCKS_PER_SEC);
  }
  const double error = largest_error();
  const bool pass = error < 1e-4;
  std::printf("%s (largest error %.2g)\n", pass ? "PASS" : "FAIL", error);
  return pass ? 0 : 1;
}
