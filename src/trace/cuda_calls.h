// What calls of the CUDA runtime and driver do, by name as CUPTI writes them. Part of api_calls.h,
// which is what others ask. Facts: docs/facts/cuda_calls.md.
#pragma once

#include <string_view>

#include "trace/call_kind.h"

namespace perflab::trace {

/// What the call of that name does, with any suffix ("cuMemcpyHtoD_v2_ptds"). Precondition:
/// is_cuda_call(name).
CallKind cuda_call_kind(std::string_view name);

/// Whether a name can be a call of CUDA: "cudaLaunchKernel", "cuLaunchKernel".
constexpr bool is_cuda_call(std::string_view name) {
  if (name.starts_with("cuda")) return name.size() > 4;
  return name.size() > 2 && name.starts_with("cu") && name[2] >= 'A' && name[2] <= 'Z';
}

}  // namespace perflab::trace
