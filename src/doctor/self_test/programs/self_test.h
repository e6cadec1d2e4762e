// What the programs of `rocm-perf doctor --self-test` share. They compile with HIP 5.2's headers
// and with those of ROCm 6 and 7, check their own results, and end with 0 (right), 77 (the runtime
// here does not do that; the line says what) or 1.
#pragma once
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace self_test {

[[noreturn]] inline void skip(const std::string& why) {
  std::printf("skip: %s\n", why.c_str());
  std::fflush(stdout);
  std::exit(77);
}

[[noreturn]] inline void stop(const std::string& what) {
  std::printf("failed: %s\n", what.c_str());
  std::fflush(stdout);
  std::exit(1);
}

inline void check(hipError_t status, const char* call) {
  if (status == hipSuccess) return;
  const std::string text = std::string(call) + ": " + hipGetErrorString(status);
  if (status == hipErrorNotSupported) skip(text);
  stop(text);
}

inline void expect(bool right, const char* what) {
  if (!right) stop(std::string("wrong result: ") + what);
}

}  // namespace self_test

#define CALL(call) ::self_test::check((call), #call)
#define EXPECT(condition) ::self_test::expect((condition), #condition)

namespace self_test {

/// 0.5, 0.75, ...: numbers whose sums and products with small ones are exact.
inline std::vector<float> numbers(std::size_t count) {
  std::vector<float> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = 0.5F + 0.25F * static_cast<float>(i % 64);
  return out;
}

template <class T>
T* on_device(const std::vector<T>& values) {
  T* memory = nullptr;
  CALL(hipMalloc(reinterpret_cast<void**>(&memory), values.size() * sizeof(T)));
  CALL(hipMemcpy(memory, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
  return memory;
}

template <class T>
std::vector<T> on_host(const T* memory, std::size_t count) {
  std::vector<T> values(count);
  CALL(hipMemcpy(values.data(), memory, count * sizeof(T), hipMemcpyDeviceToHost));
  return values;
}

/// Waits for the GPU, and for the error of a launch.
inline void finish() {
  CALL(hipGetLastError());
  CALL(hipDeviceSynchronize());
}

}  // namespace self_test
