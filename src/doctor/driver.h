// The GPUs and permissions as the kernel's amdgpu driver gives them: /dev/kfd, /dev/dri and
// /sys/class/kfd/kfd/topology (Linux, drivers/gpu/drm/amd/amdkfd/kfd_topology.c). No runtime is
// needed for that.
#pragma once

#include <vector>

#include "doctor/examination.h"

namespace perflab::doctor {

/// The GPUs of the topology, by node; nodes without SIMDs are CPUs. Nothing when there is none.
std::vector<Gpu> driver_gpus(const Places& places);

/// Whether the driver is there and may be used by this user.
Part driver_part(const Places& places, const std::vector<Gpu>& gpus);

}  // namespace perflab::doctor
