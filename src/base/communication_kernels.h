// Kernels of communication libraries, told by how their names begin (docs/facts/ranks.md "Kernel
// names"). The one list: which kernels wait for other ranks, and what collective a name says. A
// header alone: the library that records CUDA programs has it too.
//
// RCCL: src/device and its generator of rocm-systems 96b8d0f; MSCCL and MSCCL++ were in it until
// 2.28.3. NCCL: src/device/generate.py (ncclKernel_ before 2.19). NVSHMEM: its API reference.
// vLLM and AITER: csrc/custom_all_reduce.cuh.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace perflab {

enum class CommunicationRole : std::uint8_t {
  waits,     ///< for other ranks: its time is theirs too
  helper,    ///< part of a collective when a call of the library launched it, else work
  one_rank,  ///< the library's for communicators of one rank: waits for nobody
};

struct CommunicationKernel {
  std::string_view beginning;
  CommunicationRole role = CommunicationRole::waits;
  std::string_view collective = {};  ///< "AllReduce"; empty: not said by the beginning
  bool says = false;                 ///< what follows begins with the collective, or says "Generic"
};

/// Longer ones before those that they begin with.
inline constexpr auto kCommunicationKernels = std::to_array<CommunicationKernel>({
    {.beginning = "ncclDevKernelDebug", .says = true},
    {.beginning = "ncclDevKernel", .says = true},
    {.beginning = "ncclSymkDevKernel", .says = true},
    {.beginning = "ncclSymDevKernel", .says = true},
    {.beginning = "ncclKernel", .says = true},
    {.beginning = "rcclGenericKernel"},
    {.beginning = "mscclKernel"},
    {.beginning = "mscclpp"},
    {.beginning = "ddaAllReduce", .collective = "AllReduce"},
    {.beginning = "ddaAllGather", .collective = "AllGather"},
    {.beginning = "ddaAllToAll", .collective = "AllToAll"},
    {.beginning = "ddaReduceScatter", .collective = "ReduceScatter"},
    {.beginning = "hierarchicalAGShuffle", .role = CommunicationRole::helper},
    {.beginning = "oneRankReduce", .role = CommunicationRole::one_rank},
    {.beginning = "nvshmem"},
    {.beginning = "cross_device_reduce_", .collective = "AllReduce"},
});

/// A kernel as it is named for people. `collective` is what its name says after the beginning, at
/// its start: "AllReduce_Sum_f32_RING_LL", "Generic_4"; empty: nothing.
struct NamedCommunication {
  const CommunicationKernel* kernel = nullptr;  ///< null: it is none
  std::string_view collective = {};
};

/// Of a name as recordings have it: "void ", namespaces, arguments and template parameters do not
/// count.
constexpr NamedCommunication communication_kernel(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  name = name.substr(0, name.find_first_of("<("));
  if (const auto colons = name.rfind("::"); colons != std::string_view::npos)
    name.remove_prefix(colons + 2);
  for (const CommunicationKernel& known : kCommunicationKernels) {
    if (!name.starts_with(known.beginning)) continue;
    name.remove_prefix(known.beginning.size());
    while (name.starts_with('_')) name.remove_prefix(1);
    return {.kernel = &known, .collective = known.says ? name : known.collective};
  }
  return {};
}

/// Whether a kernel waits for other ranks, by its name as recordings have it.
constexpr bool waits_for_ranks(std::string_view name) {
  const CommunicationKernel* const kernel = communication_kernel(name).kernel;
  return kernel != nullptr && kernel->role == CommunicationRole::waits;
}

/// The same of a symbol, which may be mangled: a name stands behind its length, "_Z21ncclDev...".
constexpr bool symbol_waits_for_ranks(std::string_view symbol) {
  const auto begins_name = [&](std::size_t at) {
    return at == 0 || (symbol.starts_with("_Z") && symbol[at - 1] >= '0' && symbol[at - 1] <= '9');
  };
  return std::ranges::any_of(kCommunicationKernels, [&](const CommunicationKernel& known) {
    if (known.role != CommunicationRole::waits) return false;
    for (auto at = symbol.find(known.beginning); at != std::string_view::npos;
         at = symbol.find(known.beginning, at + 1))
      if (begins_name(at)) return true;
    return false;
  });
}

}  // namespace perflab
