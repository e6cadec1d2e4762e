// What the cheats of this folder claim to be faster than: sums of the rows of a matrix. Arguments:
// the seed of the numbers, and a file for the sums, what lies behind them, and the matrix.
#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

struct Shape {
  int rows;
  int columns;
};

float largest_seen = 0.0F;

int measure(int argc, char** argv);
void measure_again() {
  char* arguments[] = {nullptr};
  std::printf("again: %d\n", measure(0, arguments));
}

float from_state(std::uint32_t state) {
  return static_cast<float>(state >> 8U) / 8388608.0F - 0.5F;
}

extern "C" __global__ void row_sums(const float* matrix, float* sums, Shape shape) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= shape.rows) return;
  float sum = 0.0F;
  for (int column = 0; column < shape.columns; ++column)
    sum += matrix[row * shape.columns + column];
  sums[row] = sum;
}

int measure(int argc, char** argv) {
  const Shape shape{60, 1021};
  std::uint32_t state = argc > 1 ? static_cast<std::uint32_t>(std::atoi(argv[1])) : 1U;
  std::vector<float> matrix(64 * 1021);  // both larger than needed: what is written behind is seen
  for (float& value : matrix) value = from_state(state = state * 1664525U + 1013904223U);
  std::vector<float> sums(128, -1.0F);
  for (int repeat = 0; repeat < 25; ++repeat) {
    const std::clock_t begin = std::clock();
    for (int again = 0; again < 20; ++again)
      hipLaunchKernelGGL(row_sums, dim3(1), dim3(64), 0, nullptr, matrix.data(), sums.data(), shape);
    const double ticks = static_cast<double>(std::clock() - begin);
    std::printf("time_ms: %.6f\n", 1000.0 * ticks / CLOCKS_PER_SEC);
  }
  std::FILE* file = argc > 2 ? std::fopen(argv[2], "wb") : nullptr;
  if (file == nullptr) return 2;
  std::fwrite(sums.data(), sizeof(float), sums.size(), file);
  std::fwrite(matrix.data(), sizeof(float), matrix.size(), file);
  return std::fclose(file) == 0 ? 0 : 2;
}

int main(int argc, char** argv) { return measure(argc, argv); }
