// C = A * B in FP32, row major, tiled through LDS with a small tile per thread in registers.
// Knobs: BLOCK_M, BLOCK_N, BLOCK_K (tile of a block), THREAD_M, THREAD_N (tile of a thread).
//     hipcc -O3 gemm_tiled.hip -o gemm_tiled && ./gemm_tiled
#include "example.h"

#ifndef BLOCK_M
#define BLOCK_M 64
#endif
#ifndef BLOCK_N
#define BLOCK_N 64
#endif
#ifndef BLOCK_K
#define BLOCK_K 16
#endif
#ifndef THREAD_M
#define THREAD_M 4
#endif
#ifndef THREAD_N
#define THREAD_N 4
#endif

constexpr int kThreadsN = BLOCK_N / THREAD_N;
constexpr int kThreads = (BLOCK_M / THREAD_M) * kThreadsN;
static_assert(BLOCK_M % THREAD_M == 0 && BLOCK_N % THREAD_N == 0, "thread tiles fill the block's");
static_assert(kThreads <= 1024, "a block has at most 1024 threads");

/// Copies rows [row, row + ROWS) and columns [column, column + COLUMNS) of a matrix to LDS; what
/// lies outside is zero. ROW is the row length in LDS.
template <int ROWS, int COLUMNS, int ROW>
__device__ void load_tile(const float* __restrict__ matrix, int rows, int columns, int row,
                          int column, float* tile) {
  for (int i = threadIdx.x; i < ROWS * COLUMNS; i += kThreads) {
    const int r = row + i / COLUMNS;
    const int c = column + i % COLUMNS;
    tile[(i / COLUMNS) * ROW + i % COLUMNS] =
        r < rows && c < columns ? matrix[static_cast<std::size_t>(r) * columns + c] : 0.0F;
  }
}

__global__ __launch_bounds__(kThreads) void gemm_tiled(const float* __restrict__ a,
                                                       const float* __restrict__ b,
                                                       float* __restrict__ c, int m, int n, int k) {
  constexpr int kRowA = BLOCK_K + 1;  // one more: threads of a wave read different rows of A
  __shared__ float tile_a[BLOCK_M * kRowA];
  __shared__ float tile_b[BLOCK_K * BLOCK_N];
  const int row = blockIdx.y * BLOCK_M;
  const int column = blockIdx.x * BLOCK_N;
  const int thread_row = threadIdx.x / kThreadsN * THREAD_M;
  const int thread_column = threadIdx.x % kThreadsN * THREAD_N;
  float sums[THREAD_M][THREAD_N] = {};

  for (int step = 0; step < k; step += BLOCK_K) {
    load_tile<BLOCK_M, BLOCK_K, kRowA>(a, m, k, row, step, tile_a);
    load_tile<BLOCK_K, BLOCK_N, BLOCK_N>(b, k, n, step, column, tile_b);
    __syncthreads();
#pragma unroll
    for (int inner = 0; inner < BLOCK_K; ++inner) {
      float left[THREAD_M];
      float right[THREAD_N];
#pragma unroll
      for (int i = 0; i < THREAD_M; ++i) left[i] = tile_a[(thread_row + i) * kRowA + inner];
#pragma unroll
      for (int j = 0; j < THREAD_N; ++j) right[j] = tile_b[inner * BLOCK_N + thread_column + j];
#pragma unroll
      for (int i = 0; i < THREAD_M; ++i)
#pragma unroll
        for (int j = 0; j < THREAD_N; ++j) sums[i][j] = fmaf(left[i], right[j], sums[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < THREAD_M; ++i)
    for (int j = 0; j < THREAD_N; ++j) {
      const int r = row + thread_row + i;
      const int col = column + thread_column + j;
      if (r < m && col < n) c[static_cast<std::size_t>(r) * n + col] = sums[i][j];
    }
}

int main() {
  constexpr int kM = 517;  // not multiples of the tiles
  constexpr int kN = 389;
  constexpr int kK = 451;
  const std::vector<float> a = example::numbers(kM * kK, 1);
  const std::vector<float> b = example::numbers(kK * kN, 2);
  const example::DeviceBuffer device_a(a);
  const example::DeviceBuffer device_b(b);
  const example::DeviceBuffer device_c(kM * kN);
  const dim3 grid((kN + BLOCK_N - 1) / BLOCK_N, (kM + BLOCK_M - 1) / BLOCK_M);
  const float time = example::milliseconds(20, [&] {
    gemm_tiled<<<grid, dim3(kThreads)>>>(device_a.data(), device_b.data(), device_c.data(), kM, kN,
                                         kK);
  });
  std::vector<double> want(kM * kN, 0.0);
  for (int i = 0; i < kM; ++i)
    for (int inner = 0; inner < kK; ++inner)
      for (int j = 0; j < kN; ++j)
        want[i * kN + j] += static_cast<double>(a[i * kK + inner]) * b[inner * kN + j];
  // Rounding of a sum of kK products of numbers below 1.
  const double tolerance = 1e-6 * kK;
  return example::verdict("gemm_tiled", example::largest_difference(device_c.to_host(), want),
                          tolerance, time);
}
