// C = A * B in FP32, row major, for tuning on a captured launch: tiles in LDS, a small tile of C
// per thread in registers. Knobs: BM, BN, BK (tile of a block), TM, TN (tile of a thread), UNROLL
// (of the loop over BK), VECTOR (floats of a load from memory). gemm_space.json has their values.
// Each element of C is summed in the same order whatever the knobs are, so that all results are
// equal bit by bit.
//     hipcc -O3 -I .. gemm.hip -o gemm && ./gemm
#include "example.h"

#ifndef BM
#define BM 64
#endif
#ifndef BN
#define BN 64
#endif
#ifndef BK
#define BK 16
#endif
#ifndef TM
#define TM 4
#endif
#ifndef TN
#define TN 4
#endif
#ifndef UNROLL
#define UNROLL 1
#endif
#ifndef VECTOR
#define VECTOR 1
#endif

constexpr int kThreadsN = BN / TN;
constexpr int kThreads = BM / TM * kThreadsN;
constexpr int kUnroll = UNROLL;
static_assert(BM % TM == 0 && BN % TN == 0, "thread tiles fill the block's");
static_assert(kThreads <= 1024, "a block has at most 1024 threads");
static_assert(BM * BK % (kThreads * VECTOR) == 0 && BK * BN % (kThreads * VECTOR) == 0,
              "every thread loads as much");
static_assert(BK % VECTOR == 0 && BN % VECTOR == 0, "loads do not cross rows");

struct alignas(4 * VECTOR) Floats {
  float of[VECTOR];
};

/// Copies ROWS x COLUMNS floats of a matrix to LDS. ROW is the row length there.
template <int ROWS, int COLUMNS, int ROW>
__device__ void load_tile(const float* __restrict__ matrix, int columns, float* tile) {
  constexpr int kPieces = COLUMNS / VECTOR;
#pragma unroll
  for (int piece = threadIdx.x; piece < ROWS * kPieces; piece += kThreads) {
    const int r = piece / kPieces;
    const int c = piece % kPieces * VECTOR;
    const Floats loaded =
        *reinterpret_cast<const Floats*>(matrix + static_cast<std::size_t>(r) * columns + c);
#pragma unroll
    for (int i = 0; i < VECTOR; ++i) tile[r * ROW + c + i] = loaded.of[i];
  }
}

/// m, n and k are multiples of the tiles.
__global__ __launch_bounds__(kThreads) void gemm(const float* __restrict__ a,
                                                 const float* __restrict__ b, float* __restrict__ c,
                                                 int n, int k) {
  constexpr int kRowA = BK + 1;  // one more: threads of a wave read different rows of A
  __shared__ float tile_a[BM * kRowA];
  __shared__ float tile_b[BK * BN];
  const int row = blockIdx.y * BM;
  const int column = blockIdx.x * BN;
  const int thread_row = threadIdx.x / kThreadsN * TM;
  const int thread_column = threadIdx.x % kThreadsN * TN;
  float sums[TM][TN] = {};
  for (int step = 0; step < k; step += BK) {
    load_tile<BM, BK, kRowA>(a + static_cast<std::size_t>(row) * k + step, k, tile_a);
    load_tile<BK, BN, BN>(b + static_cast<std::size_t>(step) * n + column, n, tile_b);
    __syncthreads();
#pragma unroll kUnroll
    for (int inner = 0; inner < BK; ++inner) {
      float left[TM];
      float right[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) left[i] = tile_a[(thread_row + i) * kRowA + inner];
#pragma unroll
      for (int j = 0; j < TN; ++j) right[j] = tile_b[inner * BN + thread_column + j];
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) sums[i][j] = fmaf(left[i], right[j], sums[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < TN; ++j)
      c[static_cast<std::size_t>(row + thread_row + i) * n + column + thread_column + j] =
          sums[i][j];
}

/// C = A * B of square matrices; their size is a multiple of the tiles.
void launch_gemm(const float* a, const float* b, float* c, int size) {
  gemm<<<dim3(size / BN, size / BM), dim3(kThreads)>>>(a, b, c, size, size);
}

#ifndef PART_OF_PIPELINE
int main() {
  constexpr int kSize = 1024;
  constexpr int kRowStep = 61;  // every 61st row is checked
  const std::vector<float> a = example::numbers(kSize * kSize, 1);
  const std::vector<float> b = example::numbers(kSize * kSize, 2);
  const example::DeviceBuffer device_a(a);
  const example::DeviceBuffer device_b(b);
  const example::DeviceBuffer device_c(kSize * kSize);
  const float time = example::milliseconds(
      20, [&] { launch_gemm(device_a.data(), device_b.data(), device_c.data(), kSize); });
  const std::vector<float> c = device_c.to_host();
  std::vector<float> got;
  std::vector<double> want;
  for (int i = 0; i < kSize; i += kRowStep) {
    std::vector<double> row(kSize, 0.0);
    for (int inner = 0; inner < kSize; ++inner)
      for (int j = 0; j < kSize; ++j)
        row[j] += static_cast<double>(a[i * kSize + inner]) * b[inner * kSize + j];
    want.insert(want.end(), row.begin(), row.end());
    got.insert(got.end(), c.begin() + i * kSize, c.begin() + (i + 1) * kSize);
  }
  // Rounding of a sum of kSize products of numbers below 1.
  return example::verdict("gemm", example::largest_difference(got, want), 1e-6 * kSize, time);
}
#endif
