#!/usr/bin/python3
"""A proposer for `rocm-perf optimize --proposer exec:`: what somebody who knows GPUs would write for four kernels of these
folders, with launches as they are. The first idea for each is wrong or of no use, and has to be found out.

Each call gets one JSON object on stdin and answers with the whole source file on stdout; the last line on stderr says what the
idea is. No answer ends the search."""
import json
import sys

TRANSPOSE = """__global__ void transpose(const float* input, float* output, int rows, int columns) {
  __shared__ float tile[32][33];
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] =
      row < rows && column < columns ? input[row * columns + column] : 0.0F;
BARRIER  const int to_row = blockIdx.x * 32 + threadIdx.y;
  const int to_column = blockIdx.y * 32 + threadIdx.x;
  if (to_row < columns && to_column < rows)
    output[to_row * rows + to_column] = tile[threadIdx.x][threadIdx.y];
}"""

SOFTMAX = """__global__ __launch_bounds__(BLOCK_SIZE) void softmax(const float* __restrict__ input,
                                                      float* __restrict__ output, int columns) {
  constexpr int kKept = 4096 / BLOCK_SIZE;
  const float* row = input + static_cast<std::size_t>(blockIdx.x) * columns;
  float* result = output + static_cast<std::size_t>(blockIdx.x) * columns;
  float kept[kKept] = {};
  float largest = example::Largest::kNeutral;
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    const int i = threadIdx.x + k * BLOCK_SIZE;
    kept[k] = i < columns ? row[i] : example::Largest::kNeutral;
    largest = fmaxf(largest, kept[k]);
  }
  for (int i = threadIdx.x + kKept * BLOCK_SIZE; i < columns; i += BLOCK_SIZE)
    largest = fmaxf(largest, row[i]);
  const float of_row = example::block_reduce<BLOCK_SIZE>(largest, example::Largest{});
  float sum = 0.0F;
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    kept[k] = SHIFT;
    sum += kept[k];
  }
  for (int i = threadIdx.x + kKept * BLOCK_SIZE; i < columns; i += BLOCK_SIZE)
    sum += expf(row[i] - of_row);
  sum = example::block_reduce<BLOCK_SIZE>(sum, example::Sum{});
  const float scale = 1.0F / sum;
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    const int i = threadIdx.x + k * BLOCK_SIZE;
    if (i < columns) result[i] = kept[k] * scale;
  }
  for (int i = threadIdx.x + kKept * BLOCK_SIZE; i < columns; i += BLOCK_SIZE)
    result[i] = expf(row[i] - of_row) * scale;
}"""

LAYER_NORM = """__global__ void layer_norm(const float* input, const float* weight, const float* bias,
                           float* output, int columns, float epsilon) {
  __shared__ float parts[32];
  const float* const row = input + blockIdx.x * columns;
  const int warps = (blockDim.x + 31) / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += row[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (lane == 0) parts[warp] = sum;
  __syncthreads();
  float mean = 0.0f;
  for (int w = 0; w < warps; ++w) mean += parts[w];
  mean /= DIVISOR;
  __syncthreads();
  float squares = 0.0f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    squares += (row[i] - mean) * (row[i] - mean);
  for (int d = 16; d > 0; d /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, d);
  if (lane == 0) parts[warp] = squares;
  __syncthreads();
  float variance = 0.0f;
  for (int w = 0; w < warps; ++w) variance += parts[w];
  const float scale = rsqrtf(variance / columns + epsilon);
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    output[blockIdx.x * columns + i] = (row[i] - mean) * scale * weight[i] + bias[i];
}"""

SOFTMAX_ROWS = """__global__ void softmax_rows(const float* input, float* output, int rows, int columns) {
  constexpr int kKept = 34;
  const int lane = threadIdx.x % warpSize;
  const int warps = blockDim.x / warpSize;
  for (int local = threadIdx.x / warpSize; local < blockDim.x; local += warps) {
    const int row = blockIdx.x * blockDim.x + local;
    if (row >= rows) break;
    const float* const values = input + row * columns;
    float* const results = output + row * columns;
    float kept[kKept] = {};
    float largest = values[0];
#pragma unroll
    for (int k = 0; k < kKept; ++k) {
      const int i = lane + k * warpSize;
      kept[k] = i < columns ? values[i] : values[0];
      largest = fmaxf(largest, kept[k]);
    }
    for (int i = lane + kKept * warpSize; i < columns; i += warpSize)
      largest = fmaxf(largest, values[i]);
    for (int d = warpSize / 2; d > 0; d /= 2) largest = fmaxf(largest, __shfl_xor(largest, d));
    float sum = 0.0F;
#pragma unroll
    for (int k = 0; k < kKept; ++k) {
      kept[k] = lane + k * warpSize < columns ? expf(kept[k]SHIFT) : 0.0F;
      sum += kept[k];
    }
    for (int i = lane + kKept * warpSize; i < columns; i += warpSize) sum += expf(values[i]SHIFT);
    for (int d = warpSize / 2; d > 0; d /= 2) sum += __shfl_xor(sum, d);
#pragma unroll
    for (int k = 0; k < kKept; ++k) {
      const int i = lane + k * warpSize;
      if (i < columns) results[i] = kept[k] / sum;
    }
    for (int i = lane + kKept * warpSize; i < columns; i += warpSize)
      results[i] = expf(values[i]SHIFT) / sum;
  }
}"""

IDEAS = {
    "transpose": [
        ("through a tile, without the barrier", TRANSPOSE.replace("BARRIER", "")),
        ("through a tile of shared memory with a column of padding", TRANSPOSE.replace("BARRIER", "  __syncthreads();\n")),
    ],
    "softmax": [
        ("the row in registers; the largest number of the thread is enough", SOFTMAX.replace("SHIFT", "expf(kept[k] - largest)")),
        ("the row is read once and kept in registers", SOFTMAX.replace("SHIFT", "expf(kept[k] - of_row)")),
    ],
    "softmax_rows": [
        ("a warp per row, and exponentials as they are", SOFTMAX_ROWS.replace("SHIFT", "")),
        ("a warp per row, kept in registers", SOFTMAX_ROWS.replace("SHIFT", " - largest")),
    ],
    "layer_norm": [
        ("all threads add, by one column too few", LAYER_NORM.replace("DIVISOR", "columns - 1")),
        ("all threads add, and meet by shuffles and shared memory", LAYER_NORM.replace("DIVISOR", "columns")),
    ],
}

task = json.load(sys.stdin)
ideas = IDEAS[task["kernel"].split("::")[-1]]
if task["round"] <= len(ideas):
    summary, kernel = ideas[task["round"] - 1]
    print(summary, file=sys.stderr)
    sys.stdout.write(task["source"].replace(task["kernel_source"], kernel))
