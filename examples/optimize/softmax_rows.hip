// Softmax of the rows of a matrix, as one writes it first: step by step, one work-item per row.
// The example of docs/TUTORIAL.md, for a GPU or, without one, for this machine's CPU:
//     hipcc -O3 softmax_rows.hip -o softmax_rows && ./softmax_rows
//     g++ -O2 -x c++ -I ../host softmax_rows.hip -o softmax_rows && ./softmax_rows
// Options: the seed of the numbers (default 1), and a file for the result. Prints the time of each
// of nine repeats ("time_ms: 1.25"), then PASS or FAIL with exit code 0 or 1.
#include <hip/hip_runtime.h>

#include "../example.h"

__global__ void softmax_rows(const float* input, float* output, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float largest = input[row * columns];
  for (int i = 1; i < columns; ++i)
    largest = input[row * columns + i] > largest ? input[row * columns + i] : largest;
  for (int i = 0; i < columns; ++i)
    output[row * columns + i] = expf(input[row * columns + i] - largest);
  float sum = 0.0F;
  for (int i = 0; i < columns; ++i) sum += output[row * columns + i];
  for (int i = 0; i < columns; ++i) output[row * columns + i] = output[row * columns + i] / sum;
}

namespace {

constexpr int kRows = 128;
constexpr int kColumns = 1027;  // not a multiple of anything
constexpr int kRepeats = 9;
constexpr int kBlock = 64;
// From 20 to 100: exponentials of numbers that are not shifted by the largest one overflow.
constexpr float kMiddle = 60.0F;
constexpr float kRange = 40.0F;

std::vector<double> expected(const std::vector<float>& input) {
  std::vector<double> result(input.size());
  for (int row = 0; row < kRows; ++row) {
    const float* const values = input.data() + row * kColumns;
    const double largest = *std::max_element(values, values + kColumns);
    double sum = 0;
    for (int i = 0; i < kColumns; ++i) sum += std::exp(values[i] - largest);
    for (int i = 0; i < kColumns; ++i)
      result[row * kColumns + i] = std::exp(values[i] - largest) / sum;
  }
  return result;
}

/// Whether the numbers are in the file.
bool write(const char* path, const std::vector<float>& numbers) {
  std::FILE* const file = std::fopen(path, "wb");
  if (file == nullptr) return false;
  const bool all = std::fwrite(numbers.data(), sizeof(float), numbers.size(), file) == numbers.size();
  return std::fclose(file) == 0 && all;
}

}  // namespace

int main(int argc, char** argv) {
  const auto seed = argc > 1 ? static_cast<std::uint32_t>(std::atoi(argv[1])) : 1U;
  std::vector<float> input = example::numbers(kRows * kColumns, seed);
  for (float& value : input) value = kMiddle + kRange * value;
  const example::DeviceBuffer device_input(input);
  const example::DeviceBuffer output(std::vector<float>(input.size(), -1.0F));
  float best = 0;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const float time = example::milliseconds(4, [&] {
      hipLaunchKernelGGL(softmax_rows, dim3((kRows + kBlock - 1) / kBlock), dim3(kBlock), 0,
                         nullptr, device_input.data(), output.data(), kRows, kColumns);
    });
    std::printf("time_ms: %.6f\n", static_cast<double>(time));
    best = repeat == 0 || time < best ? time : best;
  }
  const std::vector<float> got = output.to_host();
  if (argc > 2 && !write(argv[2], got)) {
    std::fprintf(stderr, "%s cannot be written\n", argv[2]);
    return 2;
  }
  return example::verdict("softmax_rows", example::largest_difference(got, expected(input)), 1e-5,
                          best);
}
