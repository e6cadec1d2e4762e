// What a CU can hold of a kernel: docs/models/occupancy.md.
#include "analyze/kernels/cu_room.h"

#include <algorithm>

#include "hal/arch.h"
#include "hal/occupancy.h"

namespace perflab::analyze {

std::uint64_t workgroup_items(const trace::LaunchConfig& launch) {
  return std::uint64_t{launch.workgroup[0]} * launch.workgroup[1] * launch.workgroup[2];
}

std::uint64_t wave_size_of(const Kernel& kernel) {
  const std::int64_t size =
      kernel.occupancy ? kernel.occupancy->wave_size : kernel.gpu.wave_size.value_or(0);
  return static_cast<std::uint64_t>(std::max<std::int64_t>(size, 0));
}

std::uint64_t waves_per_workgroup(const Kernel& kernel) {
  const std::uint64_t lanes = wave_size_of(kernel);
  return lanes == 0 ? 0 : (workgroup_items(kernel.launch) + lanes - 1) / lanes;
}

CuRoom room_of(std::string_view architecture) {
  CuRoom room;
  if (const hal::Arch* const arch = hal::find_arch(architecture))
    room.wave_slots = arch->max_waves_per_cu;
  return room;
}

CuRoom room_of(const Kernel& kernel) {
  CuRoom room = room_of(kernel.gpu.architecture);
  if (kernel.occupancy) {
    const hal::Occupancy& occupancy = *kernel.occupancy;
    // Of the unit of the hardware's model: in WGP mode that is two CUs.
    const double cus = occupancy.mode == hal::WorkgroupMode::wgp ? 2 : 1;
    room.resident_waves = occupancy.hardware().waves_per_simd * occupancy.simds / cus;
    room.wave_slots = occupancy.hardware().max_waves_per_simd * occupancy.simds / cus;
  }
  return room;
}

}  // namespace perflab::analyze
