// c = a + b: bound by memory bandwidth. Knobs: BLOCK_SIZE (threads of a block), ITEMS_PER_THREAD.
//     hipcc -O3 vector_add.hip -o vector_add && ./vector_add
#include "example.h"

#ifndef BLOCK_SIZE
#define BLOCK_SIZE 256
#endif
#ifndef ITEMS_PER_THREAD
#define ITEMS_PER_THREAD 4
#endif

/// Each block adds BLOCK_SIZE * ITEMS_PER_THREAD neighbours; a thread's items lie BLOCK_SIZE apart,
/// so that every access of a wave is contiguous.
__global__ __launch_bounds__(BLOCK_SIZE) void vector_add(const float* __restrict__ a,
                                                         const float* __restrict__ b,
                                                         float* __restrict__ c, int count) {
  const int first = blockIdx.x * (BLOCK_SIZE * ITEMS_PER_THREAD) + threadIdx.x;
#pragma unroll
  for (int item = 0; item < ITEMS_PER_THREAD; ++item) {
    const int i = first + item * BLOCK_SIZE;
    if (i < count) c[i] = a[i] + b[i];
  }
}

int main() {
  constexpr int kCount = (1 << 24) + 3;  // not a multiple of anything
  constexpr int kPerBlock = BLOCK_SIZE * ITEMS_PER_THREAD;
  const std::vector<float> a = example::numbers(kCount, 1);
  const std::vector<float> b = example::numbers(kCount, 2);
  const example::DeviceBuffer device_a(a);
  const example::DeviceBuffer device_b(b);
  const example::DeviceBuffer device_c(kCount);
  const float time = example::milliseconds(20, [&] {
    vector_add<<<dim3((kCount + kPerBlock - 1) / kPerBlock), dim3(BLOCK_SIZE)>>>(
        device_a.data(), device_b.data(), device_c.data(), kCount);
  });
  std::vector<double> want(kCount);
  for (int i = 0; i < kCount; ++i) want[i] = static_cast<double>(a[i]) + b[i];
  return example::verdict("vector_add", example::largest_difference(device_c.to_host(), want), 1e-6,
                          time);
}
