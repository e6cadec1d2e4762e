// What the cheats of this folder claim to be faster than: sums of rows, with little around it, so
// that it builds at once. Arguments: the seed of the numbers, and a file for the sums.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define __global__ __attribute__((annotate("rocm_perf_kernel")))
#define PAUSE asm volatile("")

struct Shape {
  int rows, columns;
};
struct Pair {
  float a, b;
};
union Word {
  unsigned long number;
  const float* place;
};
float largest_seen = 0;
float twice(float x) {
  return x + x;
}
float slept(float x) {
  asm volatile("");
  return x;
}
float late(float x) {
  return time(nullptr) == 0 ? 0 : x;
}
float counted(float x) {
  static int calls;
  return ++calls == 0 ? 0 : x;
}
__global__ void nothing() {}

__global__ void row_sums(const float* matrix, float* sums, Shape shape) {
#ifdef NEVER
  sums[0] = 1;
#endif
  for (int row = 0; row < shape.rows; ++row) {
    float sum = 0;
    for (int column = 0; column < shape.columns; ++column)
      sum += matrix[row * shape.columns + column];
    sums[row] = sum;
  }
}

int main(int argc, char** argv) {
  const Shape shape{16, 64};
  unsigned state = argc > 1 ? (unsigned)atoi(argv[1]) : 1U;
  float matrix[16 * 64], sums[16];
  for (float& value : matrix)
    value = (float)((state = state * 1664525U + 1013904223U) >> 8U) / 8388608.0F - 0.5F;
  for (float& sum : sums) sum = -1;
  for (int launch = 0; launch < 3; ++launch) row_sums(matrix, sums, shape);
  printf("inputs %d\n", (int)(matrix[0] * 1000));
  FILE* file = argc > 2 ? fopen(argv[2], "wb") : nullptr;
  if (file == nullptr) return 2;
  fwrite(sums, sizeof(float), 16, file);
  return fclose(file) == 0 ? 0 : 2;
}
