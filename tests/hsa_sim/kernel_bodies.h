// Kernels as functions of this process, for the stand-ins of both platforms: chosen by name, with
// the arguments of kernel_arguments.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

namespace perflab::test {

/// One run of a kernel.
struct Invocation {
  const void* arguments;  ///< as they lie in the kernarg segment or parameter buffer
  std::uint64_t work_items = 0, group = 1;
  std::uint32_t compute_units = 1;          ///< SMs; group g runs on number g % compute_units
  std::uint32_t group_segment_bytes = 0;    ///< LDS, shared memory
  std::uint32_t private_segment_bytes = 0;  ///< scratch of a work-item, local memory of a thread
  /// A variable of the code object that has at least so many bytes; null: there is none.
  std::function<void*(std::string_view name, std::uint64_t bytes)> variable;
  const std::atomic<bool>& stop;  ///< a slow kernel ends early then
};

/// Runs the body of that name; false: there is none.
bool run_body(std::string_view name, const Invocation& run);

}  // namespace perflab::test
