// Kernels as functions of this process.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "sim.h"

namespace perflab::hsa::sim {

/// Runs the packet's kernel. The body is chosen by the kernel's symbol: "vadd" unless the object
/// symbol `hsa_sim_body` of its code object, text of the form "symbol=body;symbol=body", names
/// another. False: no kernel lies at the packet's kernel object, or it asks for more LDS than there
/// is. A code object with the object symbol `hsa_sim_library` carries a host library, whose
/// function hsa_sim_call_KERNEL (host_kernel.h) is called instead. A slow kernel ends early when
/// `stop` becomes true. `work_ns`: set for kernels that count their own work.
bool run_kernel(const KernelDispatchPacket& packet, const std::atomic<bool>& stop,
                std::optional<std::uint64_t>& work_ns);

/// Whether a kernel is one that replay runs before each launch: not counted as a dispatch.
bool is_trap(std::uint64_t kernel_object);

}  // namespace perflab::hsa::sim
