// Limits from the tables, inputs from a trace, and the words for what cannot be launched.
#include "hal/occupancy.h"

#include <fmt/format.h>

#include <algorithm>

namespace perflab::hal {
namespace {

std::string launch_sentence(LaunchProblem problem, const Arch& arch, const OccupancyLimits& limits,
                            const KernelResources& kernel) {
  switch (problem) {
    case LaunchProblem::workgroup_empty:
      return fmt::format("a work-group of {} work-items cannot be launched", kernel.workgroup_size);
    case LaunchProblem::workgroup_too_large:
      return fmt::format("a work-group of {} work-items is more than the {} of {}",
                         kernel.workgroup_size, limits.max_workgroup_size, arch.gfx);
    case LaunchProblem::workgroup_range:
      return fmt::format("a kernel cannot have work-groups of {} to {} work-items",
                         kernel.workgroup_size_min.value_or(0), kernel.workgroup_size);
    case LaunchProblem::lds_out_of_range:
      return fmt::format(
          "{} bytes static and {} bytes dynamic LDS do not fit the {} bytes that a "
          "work-group may have on {}",
          kernel.static_lds, kernel.dynamic_lds, limits.lds_max_per_workgroup, arch.gfx);
    case LaunchProblem::vgprs_out_of_range:
      if (kernel.allocated_vgprs)
        return fmt::format("{} allocated VGPRs per wave is not possible on {}",
                           *kernel.allocated_vgprs, arch.gfx);
      return fmt::format(
          "{} VGPRs and {} AGPRs per wave are not possible on {} (at most {} and {})", kernel.vgprs,
          kernel.agprs, arch.gfx, limits.addressable_vgprs, limits.addressable_agprs);
    case LaunchProblem::sgprs_out_of_range:
      return fmt::format("{} SGPRs per wave is not possible on {} (at most {})",
                         kernel.sgprs.value_or(0), arch.gfx, limits.max_sgprs);
    case LaunchProblem::registers_exhausted:
      return fmt::format(
          "a work-group of {} work-items with {} registers per wave does not fit the "
          "register files of {}",
          kernel.workgroup_size, detail::vgpr_demand(limits, kernel), arch.gfx);
  }
  return "the work-group cannot be launched";
}

/// The member of that model; `Models` has one of each name.
template <class Models>
const auto& member_of(const Models& models, OccupancyModel model) {
  switch (model) {
    case OccupancyModel::llvm:
      return models.llvm;
    case OccupancyModel::hip:
      return models.hip;
    case OccupancyModel::resident:
      break;
  }
  return models.resident;
}

/// The limits, when the kernel can be launched.
Result<OccupancyLimits> limits_for(const Arch& arch, const OccupancyInput& input) {
  PERFLAB_TRY(OccupancyLimits limits, limits_of(arch, input.wave_size, input.mode));
  if (const auto problem = check_launch(limits, input.kernel))
    return fail(ErrorCode::bad_input, launch_sentence(*problem, arch, limits, input.kernel));
  return limits;
}

}  // namespace

const ModelOccupancy& Occupancy::of(OccupancyModel model) const {
  return member_of(*this, model);
}

const ModelAdvice& OccupancyAdvice::of(OccupancyModel model) const {
  return member_of(*this, model);
}

Result<OccupancyLimits> limits_of(const Arch& arch, std::optional<int> wave_size,
                                  std::optional<WorkgroupMode> mode) {
  const int size = wave_size.value_or(arch.default_wave_size);
  const WaveSizeLimits* wave = arch.wave_limits(size);
  if (wave == nullptr)
    return fail(ErrorCode::bad_input, fmt::format("{} has no waves of {}", arch.gfx, size));
  const bool wgp = mode.value_or(arch.default_mode) == WorkgroupMode::wgp;
  if (wgp && !arch.cus_per_wgp)
    return fail(ErrorCode::bad_input, fmt::format("{} has no WGP mode", arch.gfx));
  const int cus = wgp ? arch.cus_per_wgp.value_or(1) : 1;

  OccupancyLimits limits;
  limits.wave_size = size;
  limits.simds = std::int64_t{arch.simds_per_cu} * cus;
  limits.max_waves_llvm = arch.max_waves_per_simd_llvm;
  limits.max_waves_hip = arch.max_waves_per_simd_hip;
  limits.max_waves_hardware = arch.max_waves_per_simd_hardware;
  limits.max_workgroup_size = arch.max_workgroup_size;
  limits.barrier_workgroups = arch.barrier_workgroups_per_cu;
  limits.lds_bytes = arch.lds_bytes_per_cu;
  if (wgp) {
    limits.barrier_workgroups = arch.barrier_workgroups_per_wgp.value_or(0);
    limits.lds_bytes = arch.lds_bytes_per_wgp.value_or(0);
  }
  limits.vgprs_per_simd = wave->vgprs_per_simd;
  limits.vgpr_granule = wave->vgpr_alloc_granule;
  limits.addressable_vgprs = arch.addressable_vgprs;
  limits.addressable_agprs = arch.addressable_agprs;
  limits.agpr_rule = arch.agpr_rule;
  limits.accum_offset_granule = arch.accum_offset_granule.value_or(1);
  limits.sgprs_per_simd = arch.sgprs_per_simd;
  limits.sgpr_granule = arch.sgpr_alloc_granule;
  limits.max_sgprs = arch.addressable_sgprs + arch.extra_sgprs;
  limits.llvm_sgpr_waves = arch.llvm_sgpr_waves;
  limits.lds_bytes_per_cu = arch.lds_bytes_per_cu;
  limits.lds_max_per_workgroup = arch.lds_max_per_workgroup;
  limits.lds_granule = arch.lds_granule_rocclr;
  return limits;
}

Result<Occupancy> compute_occupancy(const Arch& arch, const OccupancyInput& input) {
  PERFLAB_TRY(const OccupancyLimits limits, limits_for(arch, input));
  Occupancy result;
  result.wave_size = static_cast<int>(limits.wave_size);
  result.mode = input.mode.value_or(arch.default_mode);
  result.simds = static_cast<int>(limits.simds);
  result.sgprs_unknown = limits.sgprs_per_simd.has_value() && !input.kernel.sgprs;
  result.llvm = llvm_occupancy(limits, input.kernel);
  result.hip = hip_occupancy(limits, input.kernel);
  result.resident = resident_occupancy(limits, input.kernel);
  return result;
}

Result<OccupancyAdvice> advise_occupancy(const Arch& arch, const OccupancyInput& input) {
  PERFLAB_TRY(const OccupancyLimits limits, limits_for(arch, input));
  return OccupancyAdvice{.llvm = advise(limits, input.kernel, OccupancyModel::llvm),
                         .hip = advise(limits, input.kernel, OccupancyModel::hip),
                         .resident = advise(limits, input.kernel, OccupancyModel::resident)};
}

std::int64_t allocated_vgprs_in_trace(const Arch& arch, std::int64_t arch_vgprs,
                                      std::int64_t accum_vgprs) {
  const auto [smaller, larger] = std::minmax(arch_vgprs, accum_vgprs);
  // What no wave can have is handed on as it is, for check_launch() to refuse.
  if (smaller < 0) return smaller;
  const std::int64_t most = arch.addressable_vgprs + arch.addressable_agprs;
  if (arch.agpr_rule != AgprRule::unified || larger > most) return larger;
  return larger + smaller;
}

OccupancyInput input_from_trace(const Arch& arch, const TracedKernel& kernel) {
  OccupancyInput input;
  input.wave_size = kernel.wave_size;
  input.kernel.workgroup_size = kernel.workgroup_size;
  // The dispatch knows the whole; a symbol that says more than it is not believed.
  input.kernel.static_lds = std::min(kernel.static_lds, kernel.dispatch_lds);
  if (input.kernel.static_lds >= 0)
    input.kernel.dynamic_lds = kernel.dispatch_lds - input.kernel.static_lds;
  input.kernel.allocated_vgprs =
      allocated_vgprs_in_trace(arch, kernel.arch_vgprs, kernel.accum_vgprs);
  input.kernel.sgprs = kernel.sgprs;
  return input;
}

}  // namespace perflab::hal
