// A kernel of a HIP source as a function of a host library, for the stand-in: what sim_hipcc
// compiles together with the source, over examples/host/hip/hip_runtime.h. Arguments lie in the
// kernarg segment at their natural alignment, as in a real one. A kernel's time is its work, a
// nanosecond for each basic block that it enters: the same on a busy machine as on an idle one.
#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace hsa_sim_host {

static thread_local std::uint64_t entered_blocks = 0;

template <class Function>
struct Kernel;

template <class... Arguments>
struct Kernel<void (*)(Arguments...)> {
  using Values = std::tuple<std::remove_cv_t<Arguments>...>;

  /// "p:0:8 v:8:4": pointer or value, offset and size of each argument.
  static std::string describe() {
    std::string text;
    std::size_t at = 0;
    (describe_one<Arguments>(text, at), ...);
    return text;
  }

  static void call(void (*kernel)(Arguments...), const std::byte* kernarg,
                   const std::uint32_t* grid, const std::uint32_t* group) {
    Values values;
    std::size_t at = 0;
    std::apply([&](auto&... value) { (load(value, kernarg, at), ...); }, values);
    const auto blocks = [&](int axis) { return (grid[axis] + group[axis] - 1) / group[axis]; };
    ::hip_host::for_each_item(dim3(blocks(0), blocks(1), blocks(2)),
                              dim3(group[0], group[1], group[2]),
                              [&] { std::apply(kernel, values); });
  }

 private:
  template <class T>
  static void align(std::size_t& at) {
    at = (at + alignof(T) - 1) / alignof(T) * alignof(T);
  }
  template <class T>
  static void describe_one(std::string& text, std::size_t& at) {
    align<T>(at);
    text += std::is_pointer_v<T> ? "p:" : "v:";
    text += std::to_string(at) + ':' + std::to_string(sizeof(T)) + ' ';
    at += sizeof(T);
  }
  template <class T>
  static void load(T& value, const std::byte* kernarg, std::size_t& at) {
    align<T>(at);
    std::memcpy(&value, kernarg + at, sizeof value);
    at += sizeof value;
  }
};

}  // namespace hsa_sim_host

/// What -fsanitize-coverage=trace-pc, with which sim_hipcc compiles, calls from every basic block.
extern "C" __attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc() {
  ++hsa_sim_host::entered_blocks;
}
/// Nanoseconds of work that kernels of this library did on this thread.
extern "C" __attribute__((no_sanitize_coverage)) std::uint64_t hsa_sim_work() {
  return hsa_sim_host::entered_blocks;
}

// The two functions that the stand-in and sim_hipcc look for besides.
#define HSA_SIM_HOST_KERNEL(name)                                                          \
  extern "C" const char* hsa_sim_arguments_##name() {                                      \
    static const std::string text = ::hsa_sim_host::Kernel<decltype(&(name))>::describe(); \
    return text.c_str();                                                                   \
  }                                                                                        \
  extern "C" void hsa_sim_call_##name(const std::byte* kernarg, const std::uint32_t* grid, \
                                      const std::uint32_t* group) {                        \
    ::hsa_sim_host::Kernel<decltype(&(name))>::call(&(name), kernarg, grid, group);        \
  }
