// Faults of the stand-in driver, chosen by CUDA_SIM_FAULT: README.md.
#pragma once

#include <cstdint>
#include <optional>

#include "cuda/driver_types.h"
#include "cuda_sim/calls.h"

namespace perflab::cuda_sim {

/// Counts the call; what it is to answer instead of doing anything.
std::optional<cuda::DriverResult> injected_answer(const CallName& call);
/// Whether the reservation under way is to be moved (cuMemAddressReserve@N=relocate).
bool relocation_is_injected();

enum class LaunchFault : std::uint8_t { none, hang, fault };
/// Counts a launch of a kernel with a body; what is to happen to it (launch@N=hang, =fault).
LaunchFault next_launch_fault();

}  // namespace perflab::cuda_sim
