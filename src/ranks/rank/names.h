// What names of communication say: functions of RCCL, NCCL and torch.distributed, data types; of
// kernels base/communication_kernels.h has the list. The only such tables. Facts:
// docs/facts/ranks.md "What is recorded", "Kernel names".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ranks/values/collective.h"

namespace perflab::ranks {

/// What a call is to the ranks.
enum class CallRole : std::uint8_t {
  communicates,
  group_start,
  group_end,
  other,  ///< of the library, but nothing runs for it: CommCount, GetVersion
};

struct FunctionFacts {
  CallRole role = CallRole::other;
  CollectiveKind kind = CollectiveKind::unknown;
};

/// Of a function as recordings write it: "ncclAllReduce", "ncclAlltoAll", "RCCL_AllReduce",
/// "allreduce", "_allgather_base", "c10d::broadcast_".
FunctionFacts function_facts(std::string_view name);

/// What a kernel is by its name alone.
enum class KernelRole : std::uint8_t {
  ordinary,
  communicates,
  helper,    ///< part of a collective when a call launched it, else work: shuffles of RCCL
  one_rank,  ///< RCCL's for communicators of one rank: waits for nobody
};

struct KernelFacts {
  KernelRole role = KernelRole::ordinary;
  CollectiveKind kind = CollectiveKind::unknown;  ///< where the name says it
};

/// Of a kernel's display name. AMD's generic kernels do not say the collective.
KernelFacts kernel_facts(std::string_view name);

/// Bytes of an element: "ncclFloat32", "7" (of the enumeration), "f32", "Float", "bfloat16";
/// missing: not known.
std::optional<std::int64_t> type_size(std::string_view name);

/// A kernel's name without return type, arguments, template parameters and clone suffix, at most
/// 512 bytes: the same on every rank.
std::string short_kernel_name(std::string_view name);

}  // namespace perflab::ranks
