// Convolution of an image with a 9 x 9 filter in FP32, for tuning on a captured launch. Knobs:
// BX, BY (threads of a block), TX, TY (pixels of a thread), USE_LDS (the block's part of the image
// is staged there), UNROLL (of the loop over a row of the filter). convolution_space.json has their
// values. Each pixel is summed in the same order whatever the knobs are, so that all results are
// equal bit by bit.
//     hipcc -O3 -I .. convolution.hip -o convolution && ./convolution
#include "example.h"

#ifndef BX
#define BX 16
#endif
#ifndef BY
#define BY 16
#endif
#ifndef TX
#define TX 1
#endif
#ifndef TY
#define TY 1
#endif
#ifndef USE_LDS
#define USE_LDS 0
#endif
#ifndef UNROLL
#define UNROLL 1
#endif

constexpr int kFilter = 9;
constexpr int kTileX = BX * TX;  // pixels of a block
constexpr int kTileY = BY * TY;
constexpr int kUnroll = UNROLL;
static_assert(BX * BY <= 1024, "a block has at most 1024 threads");

/// `image` is larger than `result` by kFilter - 1 in both directions; `columns`, of the result, is
/// a multiple of kTileX, as its rows are of kTileY. A thread's pixels are BX and BY apart:
/// neighbours read neighbours.
__global__ __launch_bounds__(BX * BY) void convolution(const float* __restrict__ image,
                                                       const float* __restrict__ filter,
                                                       float* __restrict__ result, int columns) {
  const int row = columns + kFilter - 1;
  const float* part = image + static_cast<std::size_t>(blockIdx.y) * kTileY * row +
                      static_cast<std::size_t>(blockIdx.x) * kTileX;
#if USE_LDS
  constexpr int kPartX = kTileX + kFilter - 1;
  constexpr int kPartY = kTileY + kFilter - 1;
  __shared__ float staged[kPartY][kPartX];
  for (int y = threadIdx.y; y < kPartY; y += BY)
    for (int x = threadIdx.x; x < kPartX; x += BX)
      staged[y][x] = part[static_cast<std::size_t>(y) * row + x];
  __syncthreads();
#endif
  float sums[TY][TX] = {};
  for (int fy = 0; fy < kFilter; ++fy) {
#pragma unroll kUnroll
    for (int fx = 0; fx < kFilter; ++fx) {
      const float weight = filter[fy * kFilter + fx];
#pragma unroll
      for (int j = 0; j < TY; ++j)
#pragma unroll
        for (int i = 0; i < TX; ++i) {
          const int y = threadIdx.y + j * BY + fy;
          const int x = threadIdx.x + i * BX + fx;
#if USE_LDS
          const float pixel = staged[y][x];
#else
          const float pixel = part[static_cast<std::size_t>(y) * row + x];
#endif
          sums[j][i] = fmaf(pixel, weight, sums[j][i]);
        }
    }
  }
  for (int j = 0; j < TY; ++j)
    for (int i = 0; i < TX; ++i)
      result[(static_cast<std::size_t>(blockIdx.y) * kTileY + threadIdx.y + j * BY) * columns +
             blockIdx.x * kTileX + threadIdx.x + i * BX] = sums[j][i];
}

/// The result has `size` rows and columns, a multiple of the tiles.
void launch_convolution(const float* image, const float* filter, float* result, int size) {
  convolution<<<dim3(size / kTileX, size / kTileY), dim3(BX, BY)>>>(image, filter, result, size);
}

#ifndef PART_OF_PIPELINE
int main() {
  constexpr int kSize = 1024;
  constexpr int kRow = kSize + kFilter - 1;
  constexpr int kRowStep = 61;  // every 61st row is checked
  const std::vector<float> image = example::numbers(static_cast<std::size_t>(kRow) * kRow, 1);
  const std::vector<float> filter = example::numbers(kFilter * kFilter, 2);
  const example::DeviceBuffer device_image(image);
  const example::DeviceBuffer device_filter(filter);
  const example::DeviceBuffer device_result(static_cast<std::size_t>(kSize) * kSize);
  const float time = example::milliseconds(20, [&] {
    launch_convolution(device_image.data(), device_filter.data(), device_result.data(), kSize);
  });
  const std::vector<float> result = device_result.to_host();
  std::vector<float> got;
  std::vector<double> want;
  for (int y = 0; y < kSize; y += kRowStep)
    for (int x = 0; x < kSize; ++x) {
      double sum = 0;
      for (int fy = 0; fy < kFilter; ++fy)
        for (int fx = 0; fx < kFilter; ++fx)
          sum += static_cast<double>(image[static_cast<std::size_t>(y + fy) * kRow + x + fx]) *
                 filter[fy * kFilter + fx];
      want.push_back(sum);
      got.push_back(result[static_cast<std::size_t>(y) * kSize + x]);
    }
  // Rounding of a sum of 81 products of numbers below 1.
  return example::verdict("convolution", example::largest_difference(got, want), 1e-4, time);
}
#endif
