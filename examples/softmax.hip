// Softmax of the rows of a matrix, one block per row, in one pass over the row for the maximum and
// the sum (they are corrected as the maximum grows) and a second one that writes.
// Knob: BLOCK_SIZE (threads of a block, a multiple of 64).
//     hipcc -O3 softmax.hip -o softmax && ./softmax
#include "block_reduce.h"
#include "example.h"

#ifndef BLOCK_SIZE
#define BLOCK_SIZE 256
#endif

__global__ __launch_bounds__(BLOCK_SIZE) void softmax(const float* __restrict__ input,
                                                      float* __restrict__ output, int columns) {
  const float* row = input + static_cast<std::size_t>(blockIdx.x) * columns;
  float* result = output + static_cast<std::size_t>(blockIdx.x) * columns;
  float largest = example::Largest::kNeutral;
  float sum = 0.0F;
  for (int i = threadIdx.x; i < columns; i += BLOCK_SIZE) {
    const float value = row[i];
    const float before = largest;
    largest = fmaxf(largest, value);
    sum = sum * expf(before - largest) + expf(value - largest);
  }
  const float of_row = example::block_reduce<BLOCK_SIZE>(largest, example::Largest{});
  sum = example::block_reduce<BLOCK_SIZE>(sum * expf(largest - of_row), example::Sum{});
  const float scale = 1.0F / sum;
  for (int i = threadIdx.x; i < columns; i += BLOCK_SIZE) result[i] = expf(row[i] - of_row) * scale;
}

void launch_softmax(const float* input, float* output, int rows, int columns) {
  softmax<<<dim3(rows), dim3(BLOCK_SIZE)>>>(input, output, columns);
}

#ifndef PART_OF_PIPELINE
int main() {
  constexpr int kRows = 2048;
  constexpr int kColumns = 3001;
  std::vector<float> input = example::numbers(static_cast<std::size_t>(kRows) * kColumns, 1);
  for (float& value : input) value *= 20.0F;
  const example::DeviceBuffer device_input(input);
  const example::DeviceBuffer device_output(input.size());
  const float time = example::milliseconds(
      20, [&] { launch_softmax(device_input.data(), device_output.data(), kRows, kColumns); });
  std::vector<double> want(input.size());
  for (int r = 0; r < kRows; ++r) {
    const float* row = input.data() + static_cast<std::size_t>(r) * kColumns;
    const double largest = *std::max_element(row, row + kColumns);
    double sum = 0;
    for (int c = 0; c < kColumns; ++c) sum += std::exp(row[c] - largest);
    for (int c = 0; c < kColumns; ++c)
      want[static_cast<std::size_t>(r) * kColumns + c] = std::exp(row[c] - largest) / sum;
  }
  return example::verdict("softmax", example::largest_difference(device_output.to_host(), want),
                          1e-5, time);
}
#endif
