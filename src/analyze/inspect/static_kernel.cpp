// From metadata and descriptor to registers and occupancy. The metadata counts what the compiler
// uses, the descriptor what the hardware allocates, in granules: where they contradict each other,
// the larger count decides.
#include "analyze/inspect/static_kernel.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <utility>

#include "hal/arch.h"

namespace perflab::analyze {
namespace {

/// A name that is longer is shown as it is: the demangler's time and memory grow with it.
constexpr std::size_t kLongestDemangled = 16384;

void miss(StaticKernel& kernel, std::string field, std::string reason, std::string remedy = {}) {
  kernel.missing.push_back(
      {.field = std::move(field), .reason = std::move(reason), .remedy = std::move(remedy)});
}

void miss_all(StaticKernel& kernel, std::initializer_list<const char*> fields,
              const std::string& reason, const std::string& remedy = {}) {
  for (const char* field : fields) miss(kernel, field, reason, remedy);
}

/// The architected part of a unified count: all of it without AGPRs, else what the AGPRs leave.
void split_unified(const hal::Arch& arch, StaticKernel& kernel) {
  const code::KernelMetadata& code = kernel.code;
  kernel.vgprs = code.vgpr_count;
  std::optional<std::int64_t> accum = code.agpr_count;
  if (!accum && code.descriptor) {
    // Older compilers write no count: what lies behind the accumulation offset are AGPRs.
    const std::int64_t offset = (std::int64_t{code.descriptor->accum_offset_field()} + 1) *
                                arch.accum_offset_granule.value_or(1);
    accum = std::max<std::int64_t>(*code.vgpr_count - offset, 0);
    kernel.assumptions.emplace_back(
        "the code object has no AGPR count: the split follows the descriptor's ACCUM_OFFSET");
  }
  if (!accum || *accum > *code.vgpr_count)
    return miss_all(kernel, {"resources.arch_vgpr", "resources.accum_vgpr"},
                    accum ? "the code object counts more AGPRs than registers in all"
                          : "the code object has neither an AGPR count nor a descriptor");
  kernel.accum_vgprs = accum;
  kernel.arch_vgprs = *code.vgpr_count - *accum;
}

void describe_registers(const hal::Arch* arch, StaticKernel& kernel) {
  const code::KernelMetadata& code = kernel.code;
  if (!code.vgpr_count)
    return miss_all(kernel, {"resources.vgpr", "resources.arch_vgpr", "resources.accum_vgpr"},
                    "the code object's metadata has no VGPR count for this kernel");
  if (arch == nullptr) {
    kernel.vgprs = code.vgpr_count;
    return miss_all(kernel, {"resources.arch_vgpr", "resources.accum_vgpr"},
                    "how this architecture shares its registers is not in the tables");
  }
  switch (arch->agpr_rule) {
    case hal::AgprRule::unified:
      return split_unified(*arch, kernel);
    case hal::AgprRule::separate:
      kernel.arch_vgprs = code.vgpr_count;
      kernel.accum_vgprs = code.agpr_count;
      kernel.vgprs = std::max(*code.vgpr_count, code.agpr_count.value_or(0));
      if (!code.agpr_count) {
        kernel.assumptions.emplace_back("the code object has no AGPR count: none are assumed");
        miss(kernel, "resources.accum_vgpr", "the code object has no AGPR count");
      }
      return;
    case hal::AgprRule::none:
      kernel.vgprs = kernel.arch_vgprs = code.vgpr_count;
      kernel.accum_vgprs = 0;
      return;
  }
}

/// The descriptor is what the hardware obeys. When it gives a wave more registers than the metadata
/// counts, it decides, and how they are split is not known.
void obey_register_granules(const hal::Arch* arch, StaticKernel& kernel) {
  const code::KernelMetadata& code = kernel.code;
  if (arch == nullptr || !code.descriptor) return;
  const hal::WaveSizeLimits* wave = arch->wave_limits(code.wave_size);
  if (wave == nullptr) return;
  const std::int64_t granule = wave->vgpr_encoding_granule;
  const std::int64_t given = code.descriptor->vgpr_granules() * granule;
  if (kernel.vgprs && *kernel.vgprs < 0) return;
  if (kernel.vgprs && given - granule < *kernel.vgprs) return;
  if (kernel.vgprs && *kernel.vgprs <= granule && given == granule) return;
  kernel.assumptions.push_back(
      kernel.vgprs ? fmt::format("the kernel descriptor gives a wave {} VGPRs where the metadata "
                                 "counts {}: the hardware obeys the descriptor",
                                 given, *kernel.vgprs)
                   : fmt::format("the metadata has no VGPR count: the {} are the descriptor's, in "
                                 "granules of {}",
                                 given, granule));
  std::erase_if(kernel.missing, [](const Missing& missing) {
    return missing.field == "resources.vgpr" || missing.field == "resources.arch_vgpr" ||
           missing.field == "resources.accum_vgpr";
  });
  kernel.vgprs = given;
  kernel.arch_vgprs.reset();
  kernel.accum_vgprs.reset();
  miss_all(kernel, {"resources.arch_vgpr", "resources.accum_vgpr"},
           "the kernel descriptor counts both together");
}

/// Other things that metadata and descriptor both say: the metadata is shown, a difference said.
void compare_with_descriptor(const hal::Arch* arch, StaticKernel& kernel) {
  const code::KernelMetadata& code = kernel.code;
  const code::KernelDescriptor& descriptor = *code.descriptor;
  const auto differs = [&](const char* what, std::int64_t metadata, std::int64_t in_descriptor) {
    if (metadata != in_descriptor)
      kernel.assumptions.push_back(
          fmt::format("metadata and kernel descriptor differ in {}: {} and {}; the metadata is "
                      "shown",
                      what, metadata, in_descriptor));
  };
  differs("LDS bytes", code.lds_bytes, descriptor.group_segment_bytes);
  differs("scratch bytes", code.scratch_bytes, descriptor.private_segment_bytes);
  if (descriptor.kernarg_bytes != 0)
    differs("kernarg bytes", code.kernarg_bytes, descriptor.kernarg_bytes);
  // Before gfx10 there are waves of 64 only, and the bit means nothing.
  if (arch == nullptr || !arch->cus_per_wgp) return;
  differs("wave size", code.wave_size, descriptor.wave32() ? 32 : 64);
  if (code.wgp_mode)
    differs("work-group processor mode", static_cast<int>(*code.wgp_mode),
            static_cast<int>(descriptor.wgp_mode()));
}

/// Metadata of older versions does not say the mode; the descriptor's bit always does.
void choose_mode(const hal::Arch* arch, StaticKernel& kernel) {
  kernel.wgp_mode = kernel.code.wgp_mode;
  if (!kernel.wgp_mode && kernel.code.descriptor && arch != nullptr && arch->cus_per_wgp)
    kernel.wgp_mode = kernel.code.descriptor->wgp_mode();
}

/// The work-group size that stands for a launch nobody has seen yet.
void choose_workgroup_size(const StaticLaunch& launch, StaticKernel& kernel) {
  const code::KernelMetadata& code = kernel.code;
  if (launch.workgroup_size) {
    kernel.workgroup_size = *launch.workgroup_size;
    if (code.max_workgroup_size && kernel.workgroup_size > *code.max_workgroup_size)
      kernel.assumptions.push_back(
          fmt::format("work-groups of {} work-items are more than the {} that the kernel's launch "
                      "bounds allow",
                      kernel.workgroup_size, *code.max_workgroup_size));
    return;
  }
  if (const auto& required = code.required_workgroup_size) {
    kernel.workgroup_size = workgroup_size(*required).value_or(0);
    return;
  }
  if (!code.max_workgroup_size) return;
  kernel.workgroup_size = *code.max_workgroup_size;
  kernel.assumptions.push_back(
      fmt::format("occupancy is for work-groups of {} work-items, the most that the kernel's "
                  "launch bounds allow (--block N for another size)",
                  kernel.workgroup_size));
}

void no_occupancy(StaticKernel& kernel, const std::string& reason, const std::string& remedy = {}) {
  miss_all(kernel,
           {"occupancy.theoretical", "occupancy.mode", "occupancy.models", "occupancy.next_step"},
           reason, remedy);
}

void describe_next_step(const hal::OccupancyLimits& resident_limits,
                        const hal::OccupancyInput& input, StaticKernel& kernel) {
  kernel.next_step =
      hal::advise(resident_limits, input.kernel, hal::OccupancyModel::resident).next_step.best;
  if (kernel.next_step) return;
  const hal::ModelOccupancy& resident = kernel.occupancy->resident;
  miss(kernel, "occupancy.next_step",
       resident.waves_per_simd >= resident.max_waves_per_simd
           ? "already the maximum of waves"
           : "no decrease of registers, LDS or work-group size gains waves");
}

/// Occupancy and the granules that it counts in, or the reasons why they are not known.
void describe_occupancy(const hal::Arch* arch, const code::TargetId& target, StaticKernel& kernel) {
  const auto cannot = [&](const std::string& reason, const std::string& remedy = {}) {
    miss(kernel, "resources.allocated_vgpr", reason, remedy);
    no_occupancy(kernel, reason, remedy);
  };
  if (arch == nullptr) {
    const Error unknown = hal::unknown_architecture(target.processor);
    return cannot(unknown.message, unknown.remedy);
  }
  if (!kernel.vgprs) return cannot("the VGPR count is missing");
  const hal::OccupancyInput input = occupancy_input(kernel);
  const auto limits = hal::limits_of_models(*arch, input);
  if (!limits) return cannot(limits.error().message);
  if (*kernel.vgprs < 0 || *kernel.vgprs > INT32_MAX)
    return cannot("the VGPR count is out of range");
  const std::int64_t granule = limits->resident.vgpr_granule;
  kernel.allocated_vgprs =
      std::max<std::int64_t>((*kernel.vgprs + granule - 1) / granule, 1) * granule;
  if (kernel.workgroup_size == 0)
    return no_occupancy(kernel, "the code object does not bound the work-group size",
                        "say which with --block N");
  auto occupancy = hal::compute_occupancy(*arch, input);
  if (!occupancy) return no_occupancy(kernel, occupancy.error().message);
  kernel.occupancy = std::move(*occupancy);
  describe_next_step(limits->resident, input, kernel);
  for (std::string& text : unusable_limit_texts(*arch, input.recorded))
    kernel.assumptions.push_back(std::move(text));
  for (std::string& text : unconfirmed_texts(*arch, input.recorded))
    kernel.assumptions.push_back(std::move(text));
}

void explain_counts(const hal::Arch* arch, StaticKernel& kernel) {
  const code::KernelMetadata& code = kernel.code;
  const std::array<std::pair<const char*, bool>, 4> fields = {
      {{"resources.sgpr", code.sgpr_count.has_value()},
       {"resources.sgpr_spills", code.sgpr_spills.has_value()},
       {"resources.vgpr_spills", code.vgpr_spills.has_value()},
       {"launch.max_workgroup_size", code.max_workgroup_size.has_value()}}};
  for (const auto& [field, there] : fields)
    if (!there) miss(kernel, field, "the code object's metadata does not hold it");
  if (code.descriptor)
    compare_with_descriptor(arch, kernel);
  else
    kernel.assumptions.emplace_back(
        "the code object has no readable descriptor for this kernel: metadata only");
}

}  // namespace

std::vector<std::string> unusable_limit_texts(const hal::Arch& arch,
                                              const hal::RecordedLimits& recorded) {
  std::vector<std::string> texts;
  for (const auto& [field, said, table] : hal::unusable_limits(arch, recorded))
    texts.push_back(
        fmt::format("occupancy: the agent records {} {}, which cannot be: the {} of {} is taken",
                    field, said, table, arch.gfx));
  return texts;
}

std::vector<std::string> unconfirmed_texts(const hal::Arch& arch,
                                           const hal::RecordedLimits& recorded) {
  std::vector<std::string> texts;
  for (const std::string& field : hal::unconfirmed_of_occupancy(arch, recorded))
    texts.push_back(
        fmt::format("occupancy: the tables have no source for {} of {}", field, arch.gfx));
  return texts;
}

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z") || name.size() > kLongestDemangled) return name;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

hal::OccupancyInput occupancy_input(const StaticKernel& kernel) {
  hal::OccupancyInput input;
  const std::int64_t wave_size = kernel.code.wave_size;
  input.wave_size = std::in_range<int>(wave_size) ? static_cast<int>(wave_size) : 0;
  if (kernel.wgp_mode)
    input.mode = *kernel.wgp_mode ? hal::WorkgroupMode::wgp : hal::WorkgroupMode::cu;
  input.kernel.workgroup_size = kernel.workgroup_size;
  input.kernel.static_lds = kernel.code.lds_bytes;
  input.kernel.dynamic_lds = kernel.dynamic_lds;
  if (kernel.arch_vgprs) {
    input.kernel.vgprs = *kernel.arch_vgprs;
    input.kernel.agprs = kernel.accum_vgprs.value_or(0);
  } else {
    input.kernel.allocated_vgprs = kernel.vgprs;
  }
  input.kernel.sgprs = kernel.code.sgpr_count;
  input.recorded = kernel.recorded;
  return input;
}

StaticKernel describe_static_kernel(const code::TargetId& target, code::KernelMetadata kernel,
                                    const StaticLaunch& launch) {
  StaticKernel result;
  result.name = demangled(kernel.name);
  result.code = std::move(kernel);
  result.dynamic_lds = launch.dynamic_lds;
  result.recorded = launch.recorded;
  const hal::Arch* arch = hal::find_arch(target.processor);
  describe_registers(arch, result);
  obey_register_granules(arch, result);
  choose_mode(arch, result);
  choose_workgroup_size(launch, result);
  describe_occupancy(arch, target, result);
  explain_counts(arch, result);
  return result;
}

}  // namespace perflab::analyze
