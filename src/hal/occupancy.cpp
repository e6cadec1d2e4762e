// Limits from the tables, inputs from a trace, and the words for what cannot be launched.
#include "hal/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace perflab::hal {
namespace {

/// Registers of NVIDIA's GPUs, which have one kind.
std::string cuda_register_sentence(LaunchProblem problem, const Arch& arch,
                                   const OccupancyLimits& limits, const KernelResources& kernel) {
  const std::int64_t registers = detail::vgpr_demand(limits, kernel);
  if (problem == LaunchProblem::sgprs_out_of_range)
    return fmt::format("{} has no scalar registers", arch.gfx);
  if (problem == LaunchProblem::registers_exhausted)
    return fmt::format(
        "a block of {} threads with {} registers per thread does not fit the registers of {}: at "
        "most {} threads do",
        kernel.workgroup_size, registers, arch.gfx,
        detail::waves_by_vgprs(limits, registers) * limits.simds * limits.wave_size);
  if (kernel.agprs > 0) return fmt::format("{} has no accumulation registers", arch.gfx);
  return fmt::format("{} registers per thread is not possible on {} (at most {})", registers,
                     arch.gfx, limits.addressable_vgprs);
}

bool is_about_registers(LaunchProblem problem) {
  return problem == LaunchProblem::vgprs_out_of_range ||
         problem == LaunchProblem::sgprs_out_of_range ||
         problem == LaunchProblem::registers_exhausted;
}

std::string launch_sentence(LaunchProblem problem, const Arch& arch, const OccupancyLimits& limits,
                            const KernelResources& kernel) {
  const Terms& t = terms(arch.platform);
  if (arch.platform == Platform::nvidia && is_about_registers(problem))
    return cuda_register_sentence(problem, arch, limits, kernel);
  switch (problem) {
    case LaunchProblem::workgroup_empty:
      return fmt::format("{} of {} {} cannot be launched", t.a_workgroup, kernel.workgroup_size,
                         t.work_items);
    case LaunchProblem::workgroup_too_large:
      return fmt::format("{} of {} {} is more than the {} of {}", t.a_workgroup,
                         kernel.workgroup_size, t.work_items, limits.max_workgroup_size, arch.gfx);
    case LaunchProblem::workgroup_range:
      return fmt::format("a kernel cannot have {} of {} to {} {}", t.workgroups,
                         kernel.workgroup_size_min.value_or(0), kernel.workgroup_size,
                         t.work_items);
    case LaunchProblem::lds_out_of_range:
      return fmt::format(
          "{} bytes static and {} bytes dynamic {} do not fit the {} bytes that {} may have on {}",
          kernel.static_lds, kernel.dynamic_lds, t.lds, limits.lds_max_per_workgroup, t.a_workgroup,
          arch.gfx);
    case LaunchProblem::vgprs_out_of_range:
      if (kernel.allocated_vgprs)
        return fmt::format("{} allocated VGPRs per wave is not possible on {}",
                           *kernel.allocated_vgprs, arch.gfx);
      return fmt::format(
          "{} VGPRs and {} AGPRs per wave are not possible on {} (at most {} and {})", kernel.vgprs,
          kernel.agprs, arch.gfx, limits.addressable_vgprs, limits.addressable_agprs);
    case LaunchProblem::sgprs_out_of_range:
      return fmt::format("{} SGPRs per wave is not possible on {} (at most {}, allocated as {})",
                         kernel.sgprs.value_or(0), arch.gfx, limits.max_sgprs,
                         detail::align_up(limits.max_sgprs, limits.sgpr_granule));
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
    case OccupancyModel::cuda:
      return models.cuda;
    case OccupancyModel::resident:
      break;
  }
  return models.resident;
}

/// The limits, when the kernel can be launched.
Result<ModelLimits> limits_for(const Arch& arch, const OccupancyInput& input) {
  PERFLAB_TRY(ModelLimits limits, limits_of_models(arch, input));
  if (const auto problem = check_launch(limits.hardware(), input.kernel))
    return fail(ErrorCode::bad_input,
                launch_sentence(*problem, arch, limits.hardware(), input.kernel));
  return limits;
}

/// Devices of one architecture differ by little: what is beyond this is damage, not a device.
constexpr std::int64_t kMostTimes = 4;

/// The recorded figure when it can be.
std::optional<std::int64_t> usable(const std::optional<std::int64_t>& recorded,
                                   std::int64_t table) {
  if (!recorded || *recorded < 1 || *recorded > kMostTimes * table ||
      *recorded < table / kMostTimes)
    return std::nullopt;
  return recorded;
}

/// A recorded figure and where the tables have theirs.
struct Counterpart {
  std::string_view field;  ///< of RecordedLimits
  std::optional<std::int64_t> recorded;
  std::int64_t table = 0;
  std::string_view table_field;  ///< as Provenance has it
};

std::array<Counterpart, 3> counterparts(const Arch& arch, const RecordedLimits& recorded) {
  return {
      {{"max_waves_per_simd", recorded.max_waves_per_simd, arch.max_waves_per_simd_hardware,
        "compute_unit.max_waves_per_simd.hardware"},
       {"simds_per_cu", recorded.simds_per_cu, arch.simds_per_cu, "compute_unit.simds_per_cu"},
       {"lds_bytes_per_cu", recorded.lds_bytes_per_cu, arch.lds_bytes_per_cu, "lds.bytes_per_cu"}}};
}

/// Puts the device's LDS in place of the tables'; a WGP has as many times that as in the tables.
void take_lds(std::int64_t bytes, OccupancyLimits& limits) {
  limits.lds_bytes = limits.lds_bytes / limits.lds_bytes_per_cu * bytes;
  limits.lds_bytes_per_cu = bytes;
  limits.lds_max_per_workgroup =
      std::min(limits.lds_max_per_workgroup,
               bytes / limits.lds_granule * limits.lds_granule - limits.lds_reserved);
}

}  // namespace

std::span<const OccupancyModel> models_of(Platform platform) {
  static constexpr std::array kAmd = {OccupancyModel::llvm, OccupancyModel::hip,
                                      OccupancyModel::resident};
  static constexpr std::array kNvidia = {OccupancyModel::cuda};
  if (platform == Platform::amd) return kAmd;
  return kNvidia;
}

const ModelOccupancy& Occupancy::hardware() const {
  return of(hardware_model_of(platform));
}

const OccupancyLimits& ModelLimits::hardware() const {
  return of(cuda.hardware_model);
}

const ModelOccupancy& Occupancy::of(OccupancyModel model) const {
  return member_of(*this, model);
}

const OccupancyLimits& ModelLimits::of(OccupancyModel model) const {
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
    return fail(ErrorCode::bad_input,
                fmt::format("{} has no {} of {}", arch.gfx, terms(arch.platform).waves, size));
  const bool wgp = mode.value_or(arch.default_mode) == WorkgroupMode::wgp;
  if (wgp && !arch.cus_per_wgp)
    return fail(ErrorCode::bad_input, fmt::format("{} has no WGP mode", arch.gfx));
  const int cus = wgp ? arch.cus_per_wgp.value_or(1) : 1;

  OccupancyLimits limits;
  limits.hardware_model = hardware_model_of(arch.platform);
  limits.wave_size = size;
  limits.simds = std::int64_t{arch.simds_per_cu} * cus;
  limits.max_waves_llvm = arch.max_waves_per_simd_llvm;
  limits.max_waves_hip = arch.max_waves_per_simd_hip;
  limits.max_waves_hardware = arch.max_waves_per_simd_hardware;
  limits.max_workgroup_size = arch.max_workgroup_size;
  limits.max_workgroups = arch.max_workgroups_per_cu;
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
  limits.sgpr_granule = std::max(arch.sgpr_alloc_granule, 1);
  limits.max_sgprs = arch.addressable_sgprs + arch.extra_sgprs;
  limits.llvm_sgpr_waves = arch.llvm_sgpr_waves;
  limits.lds_bytes_per_cu = arch.lds_bytes_per_cu;
  limits.lds_max_per_workgroup = arch.lds_max_per_workgroup;
  const bool amd = arch.platform == Platform::amd;
  limits.lds_granule = amd ? arch.lds_granule_rocclr : arch.lds_granule_hardware;
  limits.lds_reserved = arch.lds_reserved_per_workgroup;
  return limits;
}

Result<ModelLimits> limits_of_models(const Arch& arch, const OccupancyInput& input) {
  PERFLAB_TRY(const OccupancyLimits table, limits_of(arch, input.wave_size, input.mode));
  ModelLimits limits{.llvm = table, .hip = table, .resident = table, .cuda = {}};
  if (const auto lds = usable(input.recorded.lds_bytes_per_cu, arch.lds_bytes_per_cu)) {
    take_lds(*lds, limits.hip);
    take_lds(*lds, limits.resident);
  }
  if (const auto waves = usable(input.recorded.max_waves_per_simd, table.max_waves_hardware))
    limits.resident.max_waves_hardware = *waves;
  if (const auto simds = usable(input.recorded.simds_per_cu, arch.simds_per_cu))
    limits.resident.simds = table.simds / arch.simds_per_cu * *simds;
  limits.cuda = limits.resident;
  return limits;
}

std::vector<UnusableLimit> unusable_limits(const Arch& arch, const RecordedLimits& recorded) {
  std::vector<UnusableLimit> found;
  for (const Counterpart& c : counterparts(arch, recorded))
    if (c.recorded && !usable(c.recorded, c.table))
      found.push_back({.field = c.field, .recorded = *c.recorded, .table = c.table});
  return found;
}

std::vector<std::string> unconfirmed_of_occupancy(const Arch& arch,
                                                  const RecordedLimits& recorded) {
  std::vector<std::string> fields = arch.unconfirmed_of_occupancy();
  for (const Counterpart& c : counterparts(arch, recorded))
    if (usable(c.recorded, c.table)) std::erase(fields, c.table_field);
  return fields;
}

std::optional<std::string> dropped_attribute(const Arch& arch, const OccupancyInput& input) {
  const auto limits = limits_of(arch, input.wave_size, input.mode);
  if (!limits || arch.platform != Platform::amd) return std::nullopt;
  const auto problem = detail::attribute_problem(*limits, input.kernel);
  if (!problem) return std::nullopt;
  switch (*problem) {
    case AttributeProblem::bounds:
      return "its bounds are not 1 <= LO <= HI";
    case AttributeProblem::above_maximum:
      return fmt::format("{} has at most {} waves per SIMD", arch.gfx, limits->max_waves_llvm);
    case AttributeProblem::below_workgroups:
      break;
  }
  return fmt::format("work-groups of {} work-items imply at least {} waves per SIMD",
                     input.kernel.workgroup_size, detail::implied_waves(*limits, input.kernel));
}

Result<Occupancy> compute_occupancy(const Arch& arch, const OccupancyInput& input) {
  PERFLAB_TRY(const ModelLimits limits, limits_for(arch, input));
  Occupancy result;
  result.platform = arch.platform;
  result.wave_size = static_cast<int>(limits.resident.wave_size);
  result.mode = input.mode.value_or(arch.default_mode);
  result.simds = static_cast<int>(limits.resident.simds);
  result.sgprs_unknown = limits.resident.sgprs_per_simd.has_value() && !input.kernel.sgprs;
  if (arch.platform == Platform::nvidia) {
    result.cuda = cuda_occupancy(limits.cuda, input.kernel);
    return result;
  }
  result.llvm = llvm_occupancy(limits.llvm, input.kernel);
  result.hip = hip_occupancy(limits.hip, input.kernel);
  result.resident = resident_occupancy(limits.resident, input.kernel);
  return result;
}

Result<OccupancyAdvice> advise_occupancy(const Arch& arch, const OccupancyInput& input) {
  PERFLAB_TRY(const ModelLimits limits, limits_for(arch, input));
  OccupancyAdvice advice;
  if (arch.platform == Platform::nvidia) {
    advice.cuda = advise(limits.cuda, input.kernel, OccupancyModel::cuda);
    return advice;
  }
  advice.llvm = advise(limits.llvm, input.kernel, OccupancyModel::llvm);
  advice.hip = advise(limits.hip, input.kernel, OccupancyModel::hip);
  advice.resident = advise(limits.resident, input.kernel, OccupancyModel::resident);
  return advice;
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
  input.recorded = kernel.recorded;
  return input;
}

std::optional<LlvmGranuleRange> llvm_range_of_granule(const Arch& arch,
                                                      const OccupancyInput& input) {
  const auto limits = limits_of(arch, input.wave_size, input.mode);
  const std::int64_t most = input.kernel.sgprs.value_or(0);
  if (!limits || most < 1 || arch.platform != Platform::amd) return std::nullopt;
  KernelResources fewest = input.kernel;
  fewest.sgprs = std::max<std::int64_t>(most - limits->sgpr_granule + 1, 1);
  const double waves = llvm_occupancy(*limits, fewest).waves_per_simd;
  if (waves <= llvm_occupancy(*limits, input.kernel).waves_per_simd) return std::nullopt;
  return LlvmGranuleRange{.fewest = *fewest.sgprs, .most = most, .waves_per_simd = waves};
}

}  // namespace perflab::hal
