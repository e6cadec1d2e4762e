// What a kernel asks for according to its code object: registers, memory, launch bounds, and the
// occupancy that follows. Facts: docs/facts/code_object.md "Metadata", "Kernel descriptor";
// docs/facts/hardware.md "LLVM's occupancy".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/missing.h"
#include "code/instructions/instruction_mix.h"
#include "code/object/code_object.h"
#include "hal/occupancy.h"

namespace perflab::analyze {

/// How the kernel would be launched, where its code object does not say.
struct StaticLaunch {
  std::optional<std::int64_t> workgroup_size;  ///< work-items; none: the most it allows
  std::int64_t dynamic_lds = 0;                ///< bytes per work-group
  hal::RecordedLimits recorded = {};           ///< what the device says of itself, of a trace
};

/// One kernel of a code object. What it does not know is nullopt with an entry in `missing`.
struct StaticKernel {
  std::size_t object = 0;     ///< index of its code object in the Inspection
  std::string name;           ///< demangled
  code::KernelMetadata code;  ///< as the code object has it
  /// Registers of a wave as the compiler counts them. vgprs is what decides occupancy: on unified
  /// files architected (rounded up to the accumulation offset) and accumulation together, on
  /// gfx908 the larger of the two.
  std::optional<std::int64_t> vgprs, arch_vgprs, accum_vgprs;
  std::optional<std::int64_t> allocated_vgprs;  ///< vgprs in whole allocation granules
  std::optional<bool> wgp_mode;                 ///< none: no such choice, or not recorded
  std::int64_t workgroup_size = 0;              ///< that occupancy was computed for; 0: not known
  std::int64_t dynamic_lds = 0;
  hal::RecordedLimits recorded;
  std::optional<hal::Occupancy> occupancy;
  std::optional<hal::Step> next_step;  ///< the cheapest change for more waves, resident model
  std::optional<code::InstructionMix> mix;
  std::vector<Missing> missing;  ///< fields relative to the kernel
  std::vector<std::string> assumptions;
};

/// The kernel's name for people: demangled, or as it is when it is not a mangled name.
std::string demangled(const std::string& name);

/// Registers, launch and occupancy of one kernel for `target`'s processor. The instruction mix is
/// not filled.
StaticKernel describe_static_kernel(const code::TargetId& target, code::KernelMetadata kernel,
                                    const StaticLaunch& launch);

/// Work-items of a work-group; nullopt when an axis is negative or they do not fit 63 bits.
template <class T>
std::optional<std::int64_t> workgroup_size(const std::array<T, 3>& axes) {
  std::int64_t product = 1;
  for (const std::int64_t axis : axes)
    if (axis < 0 || __builtin_mul_overflow(product, axis, &product)) return std::nullopt;
  return product;
}

/// Assumptions about occupancy, a sentence each: recorded limits that were not used, and figures
/// of the tables that have no source.
std::vector<std::string> unusable_limit_texts(const hal::Arch& arch,
                                              const hal::RecordedLimits& recorded);
std::vector<std::string> unconfirmed_texts(const hal::Arch& arch,
                                           const hal::RecordedLimits& recorded);

/// What occupancy is computed from.
hal::OccupancyInput occupancy_input(const StaticKernel& kernel);

}  // namespace perflab::analyze
