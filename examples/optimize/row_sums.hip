// Sums of the rows of a matrix, as one writes them first: each addition waits for the one before.
// An example for `rocm-perf optimize`, for a GPU or, without one, for this machine's CPU:
//     hipcc -O3 row_sums.hip -o row_sums && ./row_sums
//     g++ -O2 -x c++ -I ../host row_sums.hip -o row_sums && ./row_sums
// Options: the seed of the numbers (default 1), and a file for the sums. Prints the time of each of
// nine repeats ("time_ms: 1.25"), then PASS or FAIL with exit code 0 or 1.
#include <hip/hip_runtime.h>

#include "../example.h"

__global__ void row_sums(const float* matrix, float* sums, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0F;
  for (int column = 0; column < columns; ++column) sum += matrix[row * columns + column];
  sums[row] = sum;
}

namespace {

constexpr int kRows = 256;
constexpr int kColumns = 2051;  // not a multiple of anything
constexpr int kRepeats = 9;
constexpr int kBlock = 64;

std::vector<double> expected(const std::vector<float>& matrix) {
  std::vector<double> sums(kRows);
  for (int row = 0; row < kRows; ++row)
    for (int column = 0; column < kColumns; ++column)
      sums[row] += static_cast<double>(matrix[row * kColumns + column]);
  return sums;
}

}  // namespace

int main(int argc, char** argv) {
  const auto seed = argc > 1 ? static_cast<std::uint32_t>(std::atoi(argv[1])) : 1U;
  const std::vector<float> matrix = example::numbers(kRows * kColumns, seed);
  const example::DeviceBuffer device_matrix(matrix);
  const example::DeviceBuffer sums(std::vector<float>(kRows, -1.0F));
  float best = 0;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const float time = example::milliseconds(4, [&] {
      hipLaunchKernelGGL(row_sums, dim3((kRows + kBlock - 1) / kBlock), dim3(kBlock), 0, nullptr,
                         device_matrix.data(), sums.data(), kRows, kColumns);
    });
    std::printf("time_ms: %.6f\n", static_cast<double>(time));
    best = repeat == 0 || time < best ? time : best;
  }
  const std::vector<float> got = sums.to_host();
  if (argc > 2) {
    std::FILE* file = std::fopen(argv[2], "wb");
    if (file == nullptr || std::fwrite(got.data(), sizeof(float), got.size(), file) != got.size() ||
        std::fclose(file) != 0) {
      std::fprintf(stderr, "%s cannot be written\n", argv[2]);
      return 2;
    }
  }
  // Numbers below 1: each of 2051 additions rounds to within 2^-24 of a partial sum below 2051.
  return example::verdict("row_sums", example::largest_difference(got, expected(matrix)), 1e-3,
                          best);
}
