// Kernels of communication libraries (RCCL, NCCL, MSCCL, NVSHMEM), by their names: how long one
// runs is decided by when the other ranks come, so nothing of it says what limits it.
#pragma once

#include <string_view>

namespace perflab::analyze {

/// Whether the kernel, named as the recording has it, waits for other ranks. By
/// the names of their sources.
bool is_communication_kernel(std::string_view name);

/// Why such a kernel has no verdict.
inline constexpr std::string_view kCommunicationReason =
    "a communication kernel: its time is other ranks' too; `rocm-perf ranks` says whose";

}  // namespace perflab::analyze
