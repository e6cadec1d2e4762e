// The code object's counts are the compiler's own; the profiler's are granules that it decodes
// wrongly in known cases (docs/facts/rocpd.md "Registers").
#include "analyze/kernels/code_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "analyze/inspect/static_kernel.h"
#include "hal/arch.h"

namespace perflab::analyze {
namespace {

/// Registers that a descriptor counts as one; 1 where the tables do not know.
std::int64_t granule_of(const JoinedObject& object, const code::KernelMetadata& code) {
  const hal::Arch* arch = hal::find_arch(object.target.processor);
  if (arch == nullptr) return 1;
  const hal::WaveSizeLimits* wave = arch->wave_limits(code.wave_size);
  return wave == nullptr ? 1 : wave->vgpr_encoding_granule;
}

/// Takes a figure from the code object. A recorded one that differs becomes a correction, unless
/// it is the same count in whole granules of `granule`.
void take(const char* field, const std::optional<std::int64_t>& from_code, std::int64_t granule,
          std::optional<std::int64_t>& figure, Kernel& kernel) {
  if (!from_code) return;
  const bool rounded =
      figure && *from_code > 0 && *figure >= *from_code && *figure - *from_code < granule;
  if (figure && *figure != *from_code && !rounded)
    kernel.code->corrections.push_back(
        {.field = field, .recorded = *figure, .code_object = *from_code});
  figure = from_code;
  std::erase_if(kernel.missing, [&](const Missing& missing) {
    return missing.field == std::string("resources.") + field;
  });
}

std::optional<StaticLaunch> launch_of(const Kernel& kernel, const code::KernelMetadata& code) {
  const auto workgroup = workgroup_size(kernel.launch.workgroup);
  if (!workgroup) return std::nullopt;
  return StaticLaunch{
      .workgroup_size = *workgroup,
      .dynamic_lds = std::max<std::int64_t>(kernel.launch.lds_bytes - code.lds_bytes, 0),
      .recorded = kernel.gpu.recorded_limits};
}

/// Occupancy under the code object's counts, or its reasons why there is none.
void take_occupancy(const StaticKernel& from_code, Kernel& kernel) {
  kernel.occupancy = from_code.occupancy;
  // What was assumed about registers, wave size and mode is known now.
  kernel.assumptions = from_code.assumptions;
  const auto of_occupancy = [](const Missing& missing) {
    return missing.field.starts_with("occupancy.") && missing.field != "occupancy.next_step";
  };
  std::erase_if(kernel.missing, of_occupancy);
  if (kernel.occupancy) return;
  std::ranges::copy_if(from_code.missing, std::back_inserter(kernel.missing), of_occupancy);
  kernel.missing.push_back({.field = "occupancy.wave_size",
                            .reason = kernel.missing.back().reason,
                            .remedy = kernel.missing.back().remedy});
}

}  // namespace

void apply_code(const JoinedObject& object, const code::KernelMetadata& code, Kernel& kernel) {
  const auto launch = launch_of(kernel, code);
  if (!launch) return;
  const StaticKernel from_code = describe_static_kernel(object.target, code, *launch);
  kernel.code = CodeOfKernel{.file = object.file.filename().string(),
                             .entry = object.entry,
                             .target = code::to_string(object.target),
                             .vgpr_spills = code.vgpr_spills,
                             .sgpr_spills = code.sgpr_spills,
                             .corrections = {}};
  const std::int64_t granule = granule_of(object, code);
  take("vgpr_per_thread", from_code.allocated_vgprs, 1, kernel.resources.vgprs, kernel);
  take("arch_vgpr", from_code.arch_vgprs, granule, kernel.resources.arch_vgprs, kernel);
  take("accum_vgpr", from_code.accum_vgprs, granule, kernel.resources.accum_vgprs, kernel);
  take_occupancy(from_code, kernel);
}

}  // namespace perflab::analyze
