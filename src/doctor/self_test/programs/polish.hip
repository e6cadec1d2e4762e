// A kernel that does everything four times: what candidates, profiles and comparisons are made of.
// polish [SEED [FILE]]: prints the time of each of nine launches, in ms; FILE gets the numbers. It
// also builds for the CPU, with examples/host.
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void polish(const float* in, float* out, int n, int repeats) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float value = in[i];
  float best = 0.0F;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    float y = value + 0.0F * best;
    for (int k = 0; k < 200; ++k) y = 0.999F * y + 0.002F * value;
    best = y > best ? y : best;
  }
  out[i] = best;
}

namespace {

constexpr int kCount = 256, kLaunches = 9;

void check(hipError_t status) {
  if (status == hipSuccess) return;
  std::fprintf(stderr, "failed: %s\n", hipGetErrorString(status));
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  unsigned state = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1U;
  std::vector<float> in(kCount), got(kCount);
  for (float& value : in) {
    state = 1664525U * state + 1013904223U;
    value = 0.5F + static_cast<float>(state >> 8U) / 16777216.0F;
  }
  float *x = nullptr, *y = nullptr;
  check(hipMalloc(reinterpret_cast<void**>(&x), kCount * sizeof(float)));
  check(hipMalloc(reinterpret_cast<void**>(&y), kCount * sizeof(float)));
  check(hipMemcpy(x, in.data(), kCount * sizeof(float), hipMemcpyHostToDevice));
  hipEvent_t begin = nullptr, end = nullptr;
  check(hipEventCreate(&begin));
  check(hipEventCreate(&end));
  for (int launch = 0; launch < kLaunches; ++launch) {
    float time = 0.0F;
    check(hipMemset(y, 0, kCount * sizeof(float)));
    check(hipEventRecord(begin, nullptr));
    hipLaunchKernelGGL(polish, dim3(kCount / 64), dim3(64), 0, nullptr, x, y, kCount, 4);
    check(hipEventRecord(end, nullptr));
    check(hipEventSynchronize(end));
    check(hipEventElapsedTime(&time, begin, end));
    std::printf("%.6f\n", static_cast<double>(time));
  }
  check(hipMemcpy(got.data(), y, kCount * sizeof(float), hipMemcpyDeviceToHost));
  for (int i = 0; i < kCount; ++i) {
    double expected = in[i];
    for (int k = 0; k < 200; ++k) expected = 0.999 * expected + 0.002 * in[i];
    if (!(std::fabs(got[i] - expected) < 1e-3)) {
      std::fprintf(stderr, "failed: wrong result %d\n", i);
      return 1;
    }
  }
  if (argc < 3) return 0;
  std::FILE* const file = std::fopen(argv[2], "wb");
  if (file == nullptr) return 1;
  const bool whole = std::fwrite(got.data(), sizeof(float), kCount, file) == kCount;
  return std::fclose(file) == 0 && whole ? 0 : 1;
}
