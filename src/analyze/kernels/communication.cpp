// The table of names. Origins: RCCL's and NCCL's generated kernels (ncclDevKernel_AllReduce_...;
// ncclKernel_... before 2.19), RCCL's MSCCL and MSCCL++ kernels, NVSHMEM's, vLLM's all-reduce.
#include "analyze/kernels/communication.h"

#include <algorithm>
#include <array>

namespace perflab::analyze {
namespace {

/// How the names proper begin.
constexpr std::array<std::string_view, 11> kBeginnings = {
    "ncclDevKernel", "ncclKernel", "ncclSymDevKernel",     "ncclSymkDevKernel",
    "mscclKernel",   "mscclpp",    "rcclGenericKernel",    "ddaAll",
    "ddaReduce",     "nvshmem",    "cross_device_reduce_",
};

/// Without "void ", the namespaces in front, arguments and template parameters.
std::string_view proper_name(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  name = name.substr(0, name.find_first_of("<("));
  if (const auto colons = name.rfind("::"); colons != std::string_view::npos)
    name.remove_prefix(colons + 2);
  return name;
}

}  // namespace

bool is_communication_kernel(std::string_view name) {
  const std::string_view proper = proper_name(name);
  return std::ranges::any_of(
      kBeginnings, [&](std::string_view beginning) { return proper.starts_with(beginning); });
}

}  // namespace perflab::analyze
