// What a CU can hold of a kernel, and the size of its launch in waves.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analyze/kernels/kernel.h"

namespace perflab::analyze {

/// What a CU can hold of a kernel; nullopt: not known.
struct CuRoom {
  std::optional<double> resident_waves;  ///< of this kernel, resident model
  std::optional<double> wave_slots;
};

/// What the tables have; nothing for an architecture that they do not know.
CuRoom room_of(std::string_view architecture);
CuRoom room_of(const Kernel& kernel);

/// Work-items of a work-group; 0: the recording has none.
std::uint64_t workgroup_items(const trace::LaunchConfig& launch);

/// Work-items of a wave; 0: not known.
std::uint64_t wave_size_of(const Kernel& kernel);

/// Waves of a work-group of the kernel's launch; 0: not known.
std::uint64_t waves_per_workgroup(const Kernel& kernel);

}  // namespace perflab::analyze
