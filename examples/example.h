// What the host side of every example needs: errors of HIP calls, device memory, reproducible
// input, timing with events, and the last line that says whether the result was right.
#pragma once

#include <hip/hip_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace example {

/// Ends the program with code 2 when a HIP call failed.
inline void check(hipError_t error, const char* what) {
  if (error == hipSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, hipGetErrorString(error));
  std::exit(2);
}

#define HIP_CHECK(call) ::example::check((call), #call)

/// Device memory that holds a copy of a vector.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t count) : count_(count) {
    HIP_CHECK(hipMalloc(reinterpret_cast<void**>(&data_), count * sizeof(float)));
  }
  explicit DeviceBuffer(const std::vector<float>& host) : DeviceBuffer(host.size()) {
    HIP_CHECK(hipMemcpy(data_, host.data(), count_ * sizeof(float), hipMemcpyHostToDevice));
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() { static_cast<void>(hipFree(data_)); }

  float* data() const { return data_; }

  std::vector<float> to_host() const {
    std::vector<float> host(count_);
    HIP_CHECK(hipMemcpy(host.data(), data_, count_ * sizeof(float), hipMemcpyDeviceToHost));
    return host;
  }

 private:
  float* data_ = nullptr;
  std::size_t count_ = 0;
};

/// Numbers in [-1, 1), the same on every machine.
inline std::vector<float> numbers(std::size_t count, std::uint32_t seed) {
  std::vector<float> values(count);
  std::uint32_t state = seed * 2654435761U + 1;
  for (float& value : values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(state >> 8U) / 8388608.0F - 1.0F;
  }
  return values;
}

/// Calls `launch` once to warm up and then `iterations` times; the mean time of one in
/// milliseconds.
template <class Launch>
float milliseconds(int iterations, Launch launch) {
  hipEvent_t begin = nullptr;
  hipEvent_t end = nullptr;
  HIP_CHECK(hipEventCreate(&begin));
  HIP_CHECK(hipEventCreate(&end));
  launch();
  HIP_CHECK(hipEventRecord(begin, nullptr));
  for (int i = 0; i < iterations; ++i) launch();
  HIP_CHECK(hipEventRecord(end, nullptr));
  HIP_CHECK(hipEventSynchronize(end));
  HIP_CHECK(hipGetLastError());
  float total = 0;
  HIP_CHECK(hipEventElapsedTime(&total, begin, end));
  HIP_CHECK(hipEventDestroy(begin));
  HIP_CHECK(hipEventDestroy(end));
  return total / static_cast<float>(iterations);
}

/// Prints PASS or FAIL with the time; the exit code of main.
inline int verdict(const char* name, double largest_error, double tolerance, float time_ms) {
  const bool pass = largest_error <= tolerance;  // false for NaN
  std::printf("%s %s %.4f ms (largest error %.3g, allowed %.3g)\n", pass ? "PASS" : "FAIL", name,
              static_cast<double>(time_ms), largest_error, tolerance);
  return pass ? 0 : 1;
}

/// The largest difference; NaN anywhere makes it NaN.
inline double largest_difference(const std::vector<float>& got, const std::vector<double>& want) {
  double largest = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double difference = std::fabs(static_cast<double>(got[i]) - want[i]);
    if (!(difference <= largest)) largest = difference;
    if (std::isnan(largest)) break;
  }
  return largest;
}

}  // namespace example
