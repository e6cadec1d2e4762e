// softmax(Q * K^T / sqrt(d)) * V of one head in FP32, without the score matrix: keys and values
// pass through LDS in tiles, and each row's maximum and sum are corrected as they go. A row of the
// result is shared by THREADS_PER_ROW neighbouring threads, each with its part of the head
// dimension. Knobs: BLOCK_Q (rows of a block), BLOCK_KV (keys of a tile), HEAD_DIM, THREADS_PER_ROW
// (a power of two up to 32).
//     hipcc -O3 attention.hip -o attention && ./attention
#include "example.h"

#ifndef BLOCK_Q
#define BLOCK_Q 64
#endif
#ifndef BLOCK_KV
#define BLOCK_KV 32
#endif
#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif
#ifndef THREADS_PER_ROW
#define THREADS_PER_ROW 4
#endif

constexpr int kThreads = BLOCK_Q * THREADS_PER_ROW;
constexpr int kPart = HEAD_DIM / THREADS_PER_ROW;  // of one thread
static_assert(HEAD_DIM % THREADS_PER_ROW == 0, "threads share a row evenly");
static_assert(THREADS_PER_ROW <= 32 && (THREADS_PER_ROW & (THREADS_PER_ROW - 1)) == 0,
              "the threads of a row are in one wave");
static_assert(kThreads <= 1024, "a block has at most 1024 threads");

/// Copies keys or values [first, first + BLOCK_KV) to LDS; what lies past the end is zero.
__device__ void load_rows(const float* __restrict__ rows, int first, int count, float* tile) {
  for (int i = threadIdx.x; i < BLOCK_KV * HEAD_DIM; i += kThreads)
    tile[i] =
        first + i / HEAD_DIM < count ? rows[static_cast<std::size_t>(first) * HEAD_DIM + i] : 0.0F;
}

/// Sum over the threads of one row.
__device__ float sum_of_row(float value) {
  for (int distance = THREADS_PER_ROW / 2; distance > 0; distance /= 2)
    value += __shfl_xor(value, distance);
  return value;
}

__global__ __launch_bounds__(kThreads) void attention(const float* __restrict__ queries,
                                                      const float* __restrict__ keys,
                                                      const float* __restrict__ values,
                                                      float* __restrict__ output, int length,
                                                      float scale) {
  __shared__ float tile_k[BLOCK_KV * HEAD_DIM];
  __shared__ float tile_v[BLOCK_KV * HEAD_DIM];
  const int row = blockIdx.x * BLOCK_Q + threadIdx.x / THREADS_PER_ROW;
  // Element i of a thread's part is i * THREADS_PER_ROW + lane of the row: neighbouring threads
  // read neighbouring words.
  const int lane = threadIdx.x % THREADS_PER_ROW;
  const std::size_t base = static_cast<std::size_t>(row) * HEAD_DIM + lane;
  float query[kPart];
  float sums[kPart];
#pragma unroll
  for (int i = 0; i < kPart; ++i) {
    query[i] = row < length ? queries[base + i * THREADS_PER_ROW] * scale : 0.0F;
    sums[i] = 0.0F;
  }
  float largest = -3.402823466e38F;  // the lowest float
  float total = 0.0F;

  for (int first = 0; first < length; first += BLOCK_KV) {
    load_rows(keys, first, length, tile_k);
    load_rows(values, first, length, tile_v);
    __syncthreads();
    const int here = length - first < BLOCK_KV ? length - first : BLOCK_KV;
    for (int j = 0; j < here; ++j) {
      float score = 0.0F;
#pragma unroll
      for (int i = 0; i < kPart; ++i)
        score = fmaf(query[i], tile_k[j * HEAD_DIM + i * THREADS_PER_ROW + lane], score);
      score = sum_of_row(score);
      const float before = largest;
      largest = fmaxf(largest, score);
      const float correction = expf(before - largest);
      const float weight = expf(score - largest);
      total = total * correction + weight;
#pragma unroll
      for (int i = 0; i < kPart; ++i)
        sums[i] =
            fmaf(weight, tile_v[j * HEAD_DIM + i * THREADS_PER_ROW + lane], sums[i] * correction);
    }
    __syncthreads();
  }
  if (row >= length) return;
  const float scale_row = 1.0F / total;
#pragma unroll
  for (int i = 0; i < kPart; ++i) output[base + i * THREADS_PER_ROW] = sums[i] * scale_row;
}

int main() {
  constexpr int kLength = 1000;  // not a multiple of the tiles
  const std::vector<float> q = example::numbers(kLength * HEAD_DIM, 1);
  const std::vector<float> k = example::numbers(kLength * HEAD_DIM, 2);
  const std::vector<float> v = example::numbers(kLength * HEAD_DIM, 3);
  const double scale = 1.0 / std::sqrt(static_cast<double>(HEAD_DIM));
  const example::DeviceBuffer device_q(q);
  const example::DeviceBuffer device_k(k);
  const example::DeviceBuffer device_v(v);
  const example::DeviceBuffer device_o(q.size());
  const float time = example::milliseconds(20, [&] {
    attention<<<dim3((kLength + BLOCK_Q - 1) / BLOCK_Q), dim3(kThreads)>>>(
        device_q.data(), device_k.data(), device_v.data(), device_o.data(), kLength,
        static_cast<float>(scale));
  });
  std::vector<double> want(q.size(), 0.0);
  std::vector<double> weights(kLength);
  for (int row = 0; row < kLength; ++row) {
    double largest = -1e300;
    double total = 0;
    for (int j = 0; j < kLength; ++j) {
      double score = 0;
      for (int i = 0; i < HEAD_DIM; ++i)
        score += static_cast<double>(q[row * HEAD_DIM + i]) * k[j * HEAD_DIM + i];
      weights[j] = score * scale;
      largest = std::max(largest, weights[j]);
    }
    for (double& weight : weights) total += weight = std::exp(weight - largest);
    for (int j = 0; j < kLength; ++j)
      for (int i = 0; i < HEAD_DIM; ++i)
        want[row * HEAD_DIM + i] += weights[j] / total * v[j * HEAD_DIM + i];
  }
  return example::verdict("attention", example::largest_difference(device_o.to_host(), want), 1e-5,
                          time);
}
