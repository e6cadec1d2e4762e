// Occupancy of a kernel under named models: how many waves of it fit on one SIMD. On AMD's GPUs
// there are three, on NVIDIA's one:
//   llvm      what clang prints in its resource remark (LLVM, AMDGPUSubtarget.cpp and
//             Utils/AMDGPUBaseInfo.cpp): no whole work-groups, LDS not rounded, static LDS only.
//             Two rules: that of LLVM 19 and that of LLVM 20 and later
//   hip       what hipOccupancyMaxActiveBlocksPerMultiprocessor returns (CLR, hip_platform.cpp)
//   resident  what the hardware can hold: whole work-groups, barriers, LDS in allocation granules
//   cuda      what cudaOccupancyMaxActiveBlocksPerMultiprocessor returns, which is what the hardware
//             holds. A wave is a warp there, a work-group a block, a CU an SM, a SIMD a sub-partition
// Needs the C++20 standard library only. Every number of an architecture comes in OccupancyLimits.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace perflab::hal {

/// The rule that an occupancy figure is from. Print it wherever the figure is printed.
enum class OccupancyModel { llvm, hip, resident, cuda };

/// Which compiler's rule the llvm model follows. They differ for a range of work-group sizes only.
enum class LlvmRule {
  v19,  ///< LLVM up to 19: the largest size of the range counts (getOccupancyWithLocalMemSize)
  v20,  ///< LLVM 20 and later: the best size of the range (getOccupancyWithWorkGroupSizes)
};

/// What keeps more waves from being resident.
enum class Limiter {
  waves,            ///< every wave slot of the SIMD is taken: the hardware maximum
  workgroup_slots,  ///< the slots left over cannot hold one more whole work-group
  vgpr,             ///< vector registers
  sgpr,             ///< scalar registers
  lds,              ///< local data share
  barriers,         ///< barrier resources: work-groups of two waves or more take one each
  waves_per_eu,     ///< the upper bound of the source's amdgpu_waves_per_eu attribute
  workgroups,       ///< as many work-groups as a CU takes, whatever their size (cuda model)
};

/// How a CU and its neighbour share a work-group.
enum class WorkgroupMode {
  cu,   ///< a work-group stays on one CU (always so on gfx9)
  wgp,  ///< a work-group spreads over the two CUs of a WGP (gfx10 and later, the default there)
};

/// How accumulation registers (AGPRs) count.
enum class AgprRule {
  none,      ///< there are none
  separate,  ///< a file of their own: the larger count decides
  unified,   ///< one file: architected registers, rounded up, then AGPRs
};

/// Stable names for documents: "llvm", "workgroup_slots", "wgp", "unified", ...
constexpr std::string_view to_string(OccupancyModel model) {
  switch (model) {
    case OccupancyModel::llvm:
      return "llvm";
    case OccupancyModel::hip:
      return "hip";
    case OccupancyModel::resident:
      return "resident";
    case OccupancyModel::cuda:
      return "cuda";
  }
  return "";
}

constexpr std::string_view to_string(LlvmRule rule) {
  return rule == LlvmRule::v19 ? "19" : "20";
}

constexpr std::string_view to_string(Limiter limiter) {
  switch (limiter) {
    case Limiter::waves:
      return "waves";
    case Limiter::workgroup_slots:
      return "workgroup_slots";
    case Limiter::vgpr:
      return "vgpr";
    case Limiter::sgpr:
      return "sgpr";
    case Limiter::lds:
      return "lds";
    case Limiter::barriers:
      return "barriers";
    case Limiter::waves_per_eu:
      return "waves_per_eu";
    case Limiter::workgroups:
      return "workgroups";
  }
  return "";
}

constexpr std::string_view to_string(WorkgroupMode mode) {
  return mode == WorkgroupMode::cu ? "cu" : "wgp";
}

constexpr std::string_view to_string(AgprRule rule) {
  switch (rule) {
    case AgprRule::none:
      return "none";
    case AgprRule::separate:
      return "separate";
    case AgprRule::unified:
      return "unified";
  }
  return "";
}

/// The architecture's name of a compiler's target: "gfx942" of "gfx942:sramecc+:xnack-", "sm_90" of
/// "sm_90a" and "sm_90f" (architecture- and family-specific code for the same hardware).
constexpr std::string_view architecture_of_target(std::string_view target_id) {
  if (!target_id.starts_with("sm_")) return target_id.substr(0, target_id.find(':'));
  if (target_id.ends_with('a') || target_id.ends_with('f')) target_id.remove_suffix(1);
  return target_id;
}

/// One line of LLVM's table from SGPR count to waves.
struct SgprStep {
  std::optional<std::int64_t> max_sgprs = std::nullopt;  ///< up to this count; none = the rest
  std::int64_t waves = 0;
};

/// The limits of one architecture at one wave size and work-group mode. "Unit" is the CU, or the
/// WGP in WGP mode: what one work-group cannot leave.
struct OccupancyLimits {
  /// The model that says what the hardware holds; it also decides what can be launched.
  OccupancyModel hardware_model = OccupancyModel::resident;
  std::int64_t wave_size = 0;           ///< work-items of a wave
  std::int64_t simds = 0;               ///< SIMDs of the unit
  std::int64_t max_waves_llvm = 0;      ///< per SIMD, as LLVM counts
  std::int64_t max_waves_hip = 0;       ///< per SIMD, as the HIP runtime counts
  std::int64_t max_waves_hardware = 0;  ///< per SIMD
  std::int64_t max_workgroup_size = 0;  ///< work-items
  std::int64_t barrier_workgroups = 0;  ///< multi-wave work-groups of the unit
  std::int64_t max_workgroups = 0;      ///< work-groups of the unit (cuda model)
  std::int64_t vgprs_per_simd = 0;      ///< registers of one lane
  std::int64_t vgpr_granule = 0;        ///< of the allocation
  std::int64_t addressable_vgprs = 0;   ///< architected registers of one wave
  std::int64_t addressable_agprs = 0;   ///< 0 without AGPRs
  AgprRule agpr_rule = AgprRule::none;
  std::int64_t accum_offset_granule = 1;  ///< rounding of the architected part (unified only)
  std::optional<std::int64_t> sgprs_per_simd = std::nullopt;  ///< none: SGPRs never limit
  std::int64_t sgpr_granule = 1;                              ///< of the allocation
  std::int64_t max_sgprs = 0;             ///< of one wave, VCC and the like included
  std::vector<SgprStep> llvm_sgpr_waves;  ///< ascending; empty: SGPRs never limit
  std::int64_t lds_bytes = 0;             ///< of the unit
  std::int64_t lds_bytes_per_cu = 0;
  std::int64_t lds_max_per_workgroup = 0;  ///< bytes
  std::int64_t lds_granule = 1;            ///< bytes, of the allocation
  std::int64_t lds_reserved = 0;           ///< bytes of each work-group that the driver takes (cuda)
};

/// The attribute amdgpu_waves_per_eu(lo[, hi]).
struct WavesPerEu {
  std::int64_t lo = 1;
  std::optional<std::int64_t> hi = std::nullopt;  ///< none: up to the architecture's maximum
};

/// What one work-item, wave and work-group of a kernel ask for.
struct KernelResources {
  std::int64_t workgroup_size = 0;  ///< work-items
  std::int64_t static_lds = 0;      ///< bytes of a work-group known to the compiler
  std::int64_t dynamic_lds = 0;     ///< bytes of a work-group added at launch
  std::int64_t vgprs = 0;           ///< architected vector registers of a wave
  std::int64_t agprs = 0;           ///< accumulation registers of a wave
  /// Registers of a wave, architected and accumulation together, as a trace or a kernel descriptor
  /// gives them (already rounded to a granule). Takes the place of vgprs and agprs.
  std::optional<std::int64_t> allocated_vgprs = std::nullopt;
  /// Scalar registers with VCC, XNACK and FLAT_SCRATCH; none = not known, taken as no limit.
  std::optional<std::int64_t> sgprs = std::nullopt;
  std::optional<WavesPerEu> waves_per_eu = std::nullopt;  ///< read by the llvm model only
  /// Smallest work-group that the kernel may be launched with (the first number of
  /// amdgpu_flat_work_group_size; workgroup_size is the second); none = one size only.
  std::optional<std::int64_t> workgroup_size_min = std::nullopt;
  LlvmRule llvm_rule = LlvmRule::v19;  ///< read by the llvm model only
};

/// One model's answer. Fields named per_cu are per WGP in WGP mode.
struct ModelOccupancy {
  double waves_per_simd = 0;      ///< mean over the SIMDs; a whole number in the llvm model
  int waves_per_simd_floor = 0;   ///< of the SIMD with the fewest, spread evenly
  int waves_per_simd_ceil = 0;    ///< of the SIMD with the most, spread evenly
  int max_waves_per_simd = 0;     ///< what this model takes as the maximum
  double occupancy = 0;           ///< waves_per_simd / max_waves_per_simd
  int workgroups_per_cu = 0;      ///< whole work-groups among those waves
  std::vector<Limiter> limiters;  ///< each that attains the minimum, in the order of the enum
};

/// Why a work-group cannot be launched at all.
enum class LaunchProblem {
  workgroup_empty,      ///< no work-items, or fewer
  workgroup_too_large,  ///< more work-items than the architecture takes
  workgroup_range,      ///< the smallest size is below 1 or above the largest
  lds_out_of_range,     ///< negative, or static + dynamic more than a work-group may have
  vgprs_out_of_range,   ///< negative, or more than a wave can address
  sgprs_out_of_range,   ///< negative, or more than a wave can have
  registers_exhausted,  ///< the registers of all its waves do not fit at the same time
};

/// Why LLVM drops amdgpu_waves_per_eu whole, as if it were not there.
enum class AttributeProblem {
  bounds,            ///< the lower bound is below 1 or above the upper one
  above_maximum,     ///< a bound is more than the waves of the architecture, as LLVM counts them
  below_workgroups,  ///< the lower bound is less than the waves that the work-group size implies
};

namespace detail {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

constexpr std::int64_t align_up(std::int64_t value, std::int64_t granule) {
  return ceil_div(value, granule) * granule;
}

/// An upper bound and what sets it.
struct Cap {
  Limiter by = Limiter::waves;
  std::int64_t value = 0;
};

/// The bounds of one model, at most one of each limiter.
class Caps {
 public:
  constexpr void add(Limiter by, std::int64_t value) { caps_[count_++] = {by, value}; }
  [[nodiscard]] constexpr const Cap* begin() const { return caps_.data(); }
  [[nodiscard]] constexpr const Cap* end() const { return caps_.data() + count_; }

 private:
  std::array<Cap, 8> caps_{};
  std::size_t count_ = 0;
};

constexpr std::int64_t smallest(const Caps& caps) {
  std::int64_t least = caps.begin()->value;
  for (const Cap& cap : caps) least = std::min(least, cap.value);
  return least;
}

inline std::vector<Limiter> attaining(const Caps& caps, std::int64_t value) {
  std::vector<Limiter> limiters;
  for (const Cap& cap : caps)
    if (cap.value == value) limiters.push_back(cap.by);
  std::ranges::sort(limiters);
  return limiters;
}

constexpr std::int64_t waves_per_workgroup(const OccupancyLimits& limits,
                                           const KernelResources& kernel) {
  return ceil_div(kernel.workgroup_size, limits.wave_size);
}

/// Registers that one wave asks for, before rounding to the allocation granule.
constexpr std::int64_t vgpr_demand(const OccupancyLimits& limits, const KernelResources& kernel) {
  if (kernel.allocated_vgprs) return *kernel.allocated_vgprs;
  if (limits.agpr_rule == AgprRule::unified && kernel.agprs > 0)
    return align_up(kernel.vgprs, limits.accum_offset_granule) + kernel.agprs;
  return std::max(kernel.vgprs, kernel.agprs);
}

/// Waves of one SIMD that the register file holds; not capped by the wave slots.
constexpr std::int64_t waves_by_vgprs(const OccupancyLimits& limits, std::int64_t vgprs) {
  const std::int64_t allocated = align_up(std::max<std::int64_t>(vgprs, 1), limits.vgpr_granule);
  return limits.vgprs_per_simd / allocated;
}

/// Registers that one wave can address in all.
constexpr std::int64_t addressable_registers(const OccupancyLimits& limits) {
  return limits.agpr_rule == AgprRule::unified ? limits.addressable_vgprs + limits.addressable_agprs
                                               : limits.addressable_vgprs;
}

/// The register count that LLVM assumes at least, so that about `waves` waves fit (its
/// getMinNumVGPRs); 0 when it assumes nothing. Granules can be too coarse to stop at `waves`: more
/// may fit.
constexpr std::int64_t min_vgprs_for_waves(const OccupancyLimits& limits, std::int64_t waves) {
  const auto most_for = [&](std::int64_t count) {
    return limits.vgprs_per_simd / count / limits.vgpr_granule * limits.vgpr_granule;
  };
  const std::int64_t addressable = addressable_registers(limits);
  waves = std::max({waves, waves_by_vgprs(limits, addressable), std::int64_t{1}});
  if (waves >= limits.max_waves_llvm) return 0;
  const std::int64_t most = most_for(waves);
  if (most == most_for(limits.max_waves_llvm)) return 0;
  return std::min(std::min(most - limits.vgpr_granule, most_for(waves + 1)) + 1, addressable);
}

/// Waves per SIMD that LLVM takes a work-group to need at least.
constexpr std::int64_t implied_waves(const OccupancyLimits& limits, const KernelResources& kernel) {
  return ceil_div(waves_per_workgroup(limits, kernel), limits.simds);
}

/// Why LLVM drops the attribute; nothing when there is none or it is honoured.
constexpr std::optional<AttributeProblem> attribute_problem(const OccupancyLimits& limits,
                                                            const KernelResources& kernel) {
  if (!kernel.waves_per_eu) return std::nullopt;
  const std::int64_t lo = kernel.waves_per_eu->lo;
  const std::int64_t hi = kernel.waves_per_eu->hi.value_or(std::max(lo, limits.max_waves_llvm));
  if (lo < 1 || lo > hi) return AttributeProblem::bounds;
  if (hi > limits.max_waves_llvm) return AttributeProblem::above_maximum;
  if (lo < implied_waves(limits, kernel)) return AttributeProblem::below_workgroups;
  return std::nullopt;
}

/// The attribute's upper bound when LLVM honours the attribute.
constexpr std::optional<std::int64_t> honoured_max_waves(const OccupancyLimits& limits,
                                                         const KernelResources& kernel) {
  if (!kernel.waves_per_eu || attribute_problem(limits, kernel)) return std::nullopt;
  return kernel.waves_per_eu->hi.value_or(limits.max_waves_llvm);
}

constexpr std::optional<std::int64_t> llvm_waves_by_sgprs(const OccupancyLimits& limits,
                                                          const KernelResources& kernel) {
  if (!kernel.sgprs) return std::nullopt;
  for (const SgprStep& step : limits.llvm_sgpr_waves)
    if (!step.max_sgprs || *kernel.sgprs <= *step.max_sgprs) return step.waves;
  return std::nullopt;
}

/// Waves of the smallest work-group that the kernel may be launched with.
constexpr std::int64_t fewest_waves_per_workgroup(const OccupancyLimits& limits,
                                                  const KernelResources& kernel) {
  return ceil_div(kernel.workgroup_size_min.value_or(kernel.workgroup_size), limits.wave_size);
}

/// Whether LLVM 20's rule for a range of work-group sizes applies; at one size both rules agree.
constexpr bool has_llvm_range(const OccupancyLimits& limits, const KernelResources& kernel) {
  return kernel.llvm_rule == LlvmRule::v20 &&
         fewest_waves_per_workgroup(limits, kernel) < waves_per_workgroup(limits, kernel);
}

/// Waves per SIMD that LLVM 20 prints for work-groups of `fewest` to `most` waves, of which
/// `barriers` (when of several waves) and `by_lds` fit: the smallest size, grown as long as the
/// number of work-groups stays, or the largest one.
constexpr std::int64_t llvm_range_waves(const OccupancyLimits& limits, std::int64_t fewest,
                                        std::int64_t most, std::int64_t barriers,
                                        std::int64_t by_lds) {
  const std::int64_t slots = limits.max_waves_llvm * limits.simds;
  const auto groups_of = [&](std::int64_t waves) {
    return std::min({slots / waves, waves > 1 ? barriers : slots, by_lds});
  };
  const std::int64_t groups = groups_of(fewest);
  if (groups < 1) return 1;
  std::int64_t best = groups * fewest;
  if (const std::int64_t largest = groups_of(most) * most; largest >= best)
    best = largest;
  else
    best += groups * std::min((slots - best) / groups, most - fewest);
  return std::clamp<std::int64_t>(ceil_div(best, limits.simds), 1, limits.max_waves_llvm);
}

/// The llvm model's bounds by work-group size and LDS when the size is a range: they act together,
/// so that one bound stands for them, named after the last that lowered it.
constexpr void add_llvm_range_cap(const OccupancyLimits& limits, const KernelResources& kernel,
                                  Caps& caps) {
  const std::int64_t slots = limits.max_waves_llvm * limits.simds;
  const auto waves = [&](std::int64_t barriers, std::int64_t by_lds) {
    return llvm_range_waves(limits, fewest_waves_per_workgroup(limits, kernel),
                            waves_per_workgroup(limits, kernel), barriers, by_lds);
  };
  const std::int64_t by_slots = waves(slots, slots);
  const std::int64_t by_barriers = waves(limits.barrier_workgroups, slots);
  const std::int64_t all = waves(limits.barrier_workgroups,
                                 limits.lds_bytes / std::max<std::int64_t>(kernel.static_lds, 1));
  if (all < by_barriers)
    caps.add(Limiter::lds, all);
  else if (all < limits.max_waves_llvm)
    caps.add(by_barriers < by_slots ? Limiter::barriers : Limiter::workgroup_slots, all);
}

/// The llvm model's bounds by work-group size and LDS, in waves per SIMD.
constexpr void add_llvm_workgroup_caps(const OccupancyLimits& limits, const KernelResources& kernel,
                                       Caps& caps) {
  const std::int64_t waves = waves_per_workgroup(limits, kernel);
  const auto per_simd = [&](std::int64_t groups) {
    return std::max<std::int64_t>(ceil_div(groups * waves, limits.simds), 1);
  };
  const std::int64_t by_slots = per_simd(limits.max_waves_llvm * limits.simds / waves);
  if (by_slots < limits.max_waves_llvm) caps.add(Limiter::workgroup_slots, by_slots);
  if (waves > 1) caps.add(Limiter::barriers, per_simd(limits.barrier_workgroups));
  if (kernel.static_lds > 0) caps.add(Limiter::lds, per_simd(limits.lds_bytes / kernel.static_lds));
}

/// The llvm model's bounds, in waves per SIMD.
constexpr Caps llvm_caps(const OccupancyLimits& limits, const KernelResources& kernel) {
  Caps caps;
  caps.add(Limiter::waves, limits.max_waves_llvm);
  if (has_llvm_range(limits, kernel))
    add_llvm_range_cap(limits, kernel, caps);
  else
    add_llvm_workgroup_caps(limits, kernel, caps);
  const std::int64_t by_vgprs = waves_by_vgprs(limits, vgpr_demand(limits, kernel));
  caps.add(Limiter::vgpr, std::max<std::int64_t>(by_vgprs, 1));
  // Rows of its table at or above the maximum are no bound.
  if (const auto by_sgprs = llvm_waves_by_sgprs(limits, kernel);
      by_sgprs && *by_sgprs < limits.max_waves_llvm)
    caps.add(Limiter::sgpr, *by_sgprs);
  if (const auto most = honoured_max_waves(limits, kernel)) {
    const std::int64_t floor = min_vgprs_for_waves(limits, *most);
    if (floor > 0)
      caps.add(Limiter::waves_per_eu, std::max<std::int64_t>(waves_by_vgprs(limits, floor), 1));
  }
  return caps;
}

/// The bounds, in work-groups, that the hip and the resident model share: slots and registers.
constexpr Caps workgroup_caps(const OccupancyLimits& limits, const KernelResources& kernel,
                              std::int64_t max_waves) {
  const std::int64_t waves = waves_per_workgroup(limits, kernel);
  const std::int64_t slots = max_waves * limits.simds;
  Caps caps;
  caps.add(slots % waves == 0 ? Limiter::waves : Limiter::workgroup_slots, slots / waves);
  const std::int64_t by_vgprs = waves_by_vgprs(limits, vgpr_demand(limits, kernel));
  caps.add(Limiter::vgpr, by_vgprs * limits.simds / waves);
  if (limits.sgprs_per_simd && kernel.sgprs && *kernel.sgprs > 0) {
    const std::int64_t by_sgprs =
        *limits.sgprs_per_simd / align_up(*kernel.sgprs, limits.sgpr_granule);
    caps.add(Limiter::sgpr, by_sgprs * limits.simds / waves);
  }
  return caps;
}

constexpr Caps hip_caps(const OccupancyLimits& limits, const KernelResources& kernel) {
  Caps caps = workgroup_caps(limits, kernel, limits.max_waves_hip);
  const std::int64_t lds = kernel.static_lds + kernel.dynamic_lds;
  if (lds > 0) caps.add(Limiter::lds, limits.lds_bytes_per_cu / lds);
  return caps;
}

constexpr Caps resident_caps(const OccupancyLimits& limits, const KernelResources& kernel) {
  Caps caps = workgroup_caps(limits, kernel, limits.max_waves_hardware);
  if (waves_per_workgroup(limits, kernel) > 1)
    caps.add(Limiter::barriers, limits.barrier_workgroups);
  const std::int64_t lds = kernel.static_lds + kernel.dynamic_lds;
  if (lds > 0) caps.add(Limiter::lds, limits.lds_bytes / align_up(lds, limits.lds_granule));
  return caps;
}

/// CUDA's bounds, in blocks. Registers are allocated to warps in each sub-partition, shared memory
/// to blocks with the driver's part on top (docs/facts/cuda_architectures.md "Occupancy").
constexpr Caps cuda_caps(const OccupancyLimits& limits, const KernelResources& kernel) {
  Caps caps = workgroup_caps(limits, kernel, limits.max_waves_hardware);
  caps.add(Limiter::workgroups, limits.max_workgroups);
  const std::int64_t lds = kernel.static_lds + kernel.dynamic_lds + limits.lds_reserved;
  if (lds > 0) caps.add(Limiter::lds, limits.lds_bytes / align_up(lds, limits.lds_granule));
  return caps;
}

/// The bounds of what the hardware holds, in work-groups.
constexpr Caps hardware_caps(const OccupancyLimits& limits, const KernelResources& kernel) {
  return limits.hardware_model == OccupancyModel::cuda ? cuda_caps(limits, kernel)
                                                       : resident_caps(limits, kernel);
}

/// Fills the figures of a model that counts whole work-groups.
inline ModelOccupancy from_workgroups(const OccupancyLimits& limits, const KernelResources& kernel,
                                      std::int64_t max_waves, const Caps& caps) {
  const std::int64_t groups = smallest(caps);
  const std::int64_t resident = groups * waves_per_workgroup(limits, kernel);
  ModelOccupancy result;
  result.waves_per_simd = static_cast<double>(resident) / static_cast<double>(limits.simds);
  result.waves_per_simd_floor = static_cast<int>(resident / limits.simds);
  result.waves_per_simd_ceil = static_cast<int>(ceil_div(resident, limits.simds));
  result.max_waves_per_simd = static_cast<int>(max_waves);
  result.occupancy = result.waves_per_simd / static_cast<double>(max_waves);
  result.workgroups_per_cu = static_cast<int>(groups);
  result.limiters = attaining(caps, groups);
  return result;
}

}  // namespace detail

/// Occupancy as LLVM's remark prints it. Scratch and dynamic LDS are not part of this model. The
/// attribute's SGPR side is left out: its floor never binds before the VGPR floor does. LLVM 20
/// also drops the attribute when its lower bound is above what sizes and LDS allow; it would not
/// bind there. Work-groups are counted at the largest size. Precondition: check_launch() found
/// nothing.
inline ModelOccupancy llvm_occupancy(const OccupancyLimits& limits, const KernelResources& kernel) {
  const detail::Caps caps = detail::llvm_caps(limits, kernel);
  const std::int64_t occupied = detail::smallest(caps);
  const std::int64_t waves = detail::waves_per_workgroup(limits, kernel);
  const std::int64_t max_waves = limits.max_waves_llvm;
  std::int64_t groups = std::min(max_waves, occupied) * limits.simds / waves;
  if (waves > 1) groups = std::min(groups, limits.barrier_workgroups);
  if (kernel.static_lds > 0) groups = std::min(groups, limits.lds_bytes / kernel.static_lds);
  ModelOccupancy result;
  result.waves_per_simd = static_cast<double>(occupied);
  result.waves_per_simd_floor = static_cast<int>(occupied);
  result.waves_per_simd_ceil = static_cast<int>(occupied);
  result.max_waves_per_simd = static_cast<int>(max_waves);
  result.occupancy = static_cast<double>(occupied) / static_cast<double>(max_waves);
  result.workgroups_per_cu = static_cast<int>(groups);
  result.limiters = detail::attaining(caps, occupied);
  return result;
}

/// Work-groups as hipOccupancyMaxActiveBlocksPerMultiprocessor counts them: no barrier limit, no
/// LDS rounding, and the LDS of one CU even where WGP mode doubles the SIMDs. Zero work-groups is
/// an answer of this model. Precondition: check_launch() found nothing.
inline ModelOccupancy hip_occupancy(const OccupancyLimits& limits, const KernelResources& kernel) {
  return detail::from_workgroups(limits, kernel, limits.max_waves_hip,
                                 detail::hip_caps(limits, kernel));
}

/// Whole work-groups that the hardware holds at the same time: wave slots, registers, barriers and
/// LDS in allocation granules.
inline ModelOccupancy resident_occupancy(const OccupancyLimits& limits,
                                         const KernelResources& kernel) {
  return detail::from_workgroups(limits, kernel, limits.max_waves_hardware,
                                 detail::resident_caps(limits, kernel));
}

/// Blocks as cudaOccupancyMaxActiveBlocksPerMultiprocessor counts them, for a kernel whose limit of
/// dynamic shared memory was raised as far as it goes.
inline ModelOccupancy cuda_occupancy(const OccupancyLimits& limits, const KernelResources& kernel) {
  return detail::from_workgroups(limits, kernel, limits.max_waves_hardware,
                                 detail::cuda_caps(limits, kernel));
}

/// The answer of the model. Precondition: check_launch() found nothing, and the limits are of a
/// platform that the model is for.
inline ModelOccupancy model_occupancy(const OccupancyLimits& limits, const KernelResources& kernel,
                                      OccupancyModel model) {
  switch (model) {
    case OccupancyModel::llvm:
      return llvm_occupancy(limits, kernel);
    case OccupancyModel::hip:
      return hip_occupancy(limits, kernel);
    case OccupancyModel::cuda:
      return cuda_occupancy(limits, kernel);
    case OccupancyModel::resident:
      break;
  }
  return resident_occupancy(limits, kernel);
}

/// What keeps this work-group from being launched, or nothing.
constexpr std::optional<LaunchProblem> check_launch(const OccupancyLimits& limits,
                                                    const KernelResources& kernel) {
  if (kernel.workgroup_size < 1) return LaunchProblem::workgroup_empty;
  if (kernel.workgroup_size > limits.max_workgroup_size) return LaunchProblem::workgroup_too_large;
  if (kernel.workgroup_size_min &&
      (*kernel.workgroup_size_min < 1 || *kernel.workgroup_size_min > kernel.workgroup_size))
    return LaunchProblem::workgroup_range;
  const std::int64_t lds_max = limits.lds_max_per_workgroup;
  if (kernel.static_lds < 0 || kernel.dynamic_lds < 0 || kernel.static_lds > lds_max ||
      kernel.dynamic_lds > lds_max - kernel.static_lds)
    return LaunchProblem::lds_out_of_range;
  if (kernel.vgprs < 0 || kernel.vgprs > limits.addressable_vgprs || kernel.agprs < 0 ||
      kernel.agprs > limits.addressable_agprs)
    return LaunchProblem::vgprs_out_of_range;
  const std::int64_t most_allocated =
      detail::align_up(detail::addressable_registers(limits), limits.vgpr_granule);
  if (kernel.allocated_vgprs &&
      (*kernel.allocated_vgprs < 0 || *kernel.allocated_vgprs > most_allocated))
    return LaunchProblem::vgprs_out_of_range;
  if (kernel.sgprs && (*kernel.sgprs < 0 ||
                       *kernel.sgprs > detail::align_up(limits.max_sgprs, limits.sgpr_granule)))
    return LaunchProblem::sgprs_out_of_range;
  if (detail::smallest(detail::hardware_caps(limits, kernel)) < 1)
    return LaunchProblem::registers_exhausted;
  return std::nullopt;
}

}  // namespace perflab::hal
