// Sum of an array: every block adds a part, a second launch adds the blocks. The order of additions
// depends on nothing but the sizes, so the result is the same every time.
// Knobs: BLOCK_SIZE (threads of a block, a multiple of 64), BLOCKS.
//     hipcc -O3 reduction.hip -o reduction && ./reduction
#include "block_reduce.h"
#include "example.h"

#ifndef BLOCK_SIZE
#define BLOCK_SIZE 256
#endif
#ifndef BLOCKS
#define BLOCKS 1024
#endif

__global__ __launch_bounds__(BLOCK_SIZE) void reduction(const float* __restrict__ values,
                                                        float* __restrict__ sums, int count) {
  float sum = 0.0F;
  const int stride = gridDim.x * BLOCK_SIZE;
  for (int i = blockIdx.x * BLOCK_SIZE + threadIdx.x; i < count; i += stride) sum += values[i];
  sum = example::block_reduce<BLOCK_SIZE>(sum, example::Sum{});
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

int main() {
  constexpr int kCount = (1 << 24) + 5;
  const std::vector<float> values = example::numbers(kCount, 1);
  const example::DeviceBuffer device_values(values);
  const example::DeviceBuffer sums(BLOCKS);
  const example::DeviceBuffer total(1);
  const float time = example::milliseconds(20, [&] {
    reduction<<<dim3(BLOCKS), dim3(BLOCK_SIZE)>>>(device_values.data(), sums.data(), kCount);
    reduction<<<dim3(1), dim3(BLOCK_SIZE)>>>(sums.data(), total.data(), BLOCKS);
  });
  double want = 0;
  for (const float value : values) want += static_cast<double>(value);
  // Each thread adds kCount / (BLOCKS * BLOCK_SIZE) numbers below 1, then the sums are added.
  return example::verdict("reduction", example::largest_difference(total.to_host(), {want}), 0.5,
                          time);
}
