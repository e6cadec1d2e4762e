// Transposition of a matrix, as one writes it first: a thread per element, which reads along a row
// and writes down a column, so that a wave writes to as many lines of memory as it has lanes.
// An example for `rocm-perf optimize --capture` (README.md), on AMD's and NVIDIA's GPUs:
//     hipcc -O3 transpose.hip -o transpose && ./transpose
//     nvcc -x cu -O3 -std=c++17 -arch=native -I ../cuda transpose.hip -o transpose && ./transpose
// Option: how often it is launched (default 50). Prints PASS or FAIL, exit code 0 or 1.
#include <hip/hip_runtime.h>

#include "../example.h"

__global__ void transpose(const float* input, float* output, int rows, int columns) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 32 + threadIdx.y;
  if (row < rows && column < columns) output[column * rows + row] = input[row * columns + column];
}

int main(int argc, char** argv) {
  constexpr int kRows = 4090;  // not multiples of a block
  constexpr int kColumns = 4099;
  const std::vector<float> input = example::numbers(std::size_t{kRows} * kColumns, 1);
  const example::DeviceBuffer device_input(input);
  const example::DeviceBuffer output(std::vector<float>(input.size(), -1.0F));
  const dim3 grid((kColumns + 31) / 32, (kRows + 31) / 32);
  const float time = example::milliseconds(argc > 1 ? std::atoi(argv[1]) : 50, [&] {
    hipLaunchKernelGGL(transpose, grid, dim3(32, 32), 0, nullptr, device_input.data(),
                       output.data(), kRows, kColumns);
  });
  std::vector<double> want(input.size());
  for (std::size_t row = 0; row < kRows; ++row)
    for (std::size_t column = 0; column < kColumns; ++column)
      want[column * kRows + row] = static_cast<double>(input[row * kColumns + column]);
  return example::verdict("transpose", example::largest_difference(output.to_host(), want), 0.0,
                          time);
}
