// JSON of a kernel's parts; field names are those of schemas/.
#include "report/kernel_json.h"

#include "report/document.h"

namespace perflab::report {
namespace {

Json model_json(const hal::ModelOccupancy& model) {
  Json limiters = Json::array();
  for (const hal::Limiter limiter : model.limiters) limiters.push_back(hal::to_string(limiter));
  return {{"waves_per_simd", model.waves_per_simd},
          {"max_waves_per_simd", model.max_waves_per_simd},
          {"occupancy", model.occupancy},
          {"workgroups_per_cu", model.workgroups_per_cu},
          {"limiters", limiters}};
}

}  // namespace

Json launch_json(const analyze::Kernel& kernel) {
  return {{"workgroup_size", kernel.launch.workgroup},
          {"grid_size", kernel.launch.grid},
          {"workgroups", or_null(kernel.workgroups)}};
}

Json resources_json(const analyze::Resources& resources) {
  return {{"vgpr_per_thread", or_null(resources.vgprs)},
          {"arch_vgpr", or_null(resources.arch_vgprs)},
          {"accum_vgpr", or_null(resources.accum_vgprs)},
          {"sgpr_per_wave", or_null(resources.sgprs)},
          {"lds_bytes_per_workgroup", or_null(resources.lds_bytes)},
          {"static_lds_bytes", or_null(resources.static_lds_bytes)},
          {"dynamic_lds_bytes", or_null(resources.dynamic_lds_bytes)},
          {"scratch_bytes_per_thread", or_null(resources.scratch_bytes)},
          {"kernarg_bytes", or_null(resources.kernarg_bytes)}};
}

Json gpu_json(const analyze::Gpu& gpu) {
  if (gpu.architecture.empty() && gpu.product.empty()) return nullptr;
  return {{"architecture", or_null(gpu.architecture)},
          {"product", or_null(gpu.product)},
          {"agent_index", gpu.agent_index},
          {"compute_units", or_null(gpu.compute_units)},
          {"xcc_count", or_null(gpu.xcc_count)},
          {"wave_size", or_null(gpu.wave_size)},
          {"clock_mhz", or_null(gpu.clock_mhz)},
          {"facts_from", or_null(gpu.facts_from)}};
}

Json occupancy_json(const std::optional<hal::Occupancy>& occupancy) {
  if (!occupancy)
    return {{"theoretical", nullptr},
            {"model", "resident"},
            {"wave_size", nullptr},
            {"mode", nullptr},
            {"models", nullptr}};
  return {{"theoretical", occupancy->resident.occupancy},
          {"model", "resident"},
          {"wave_size", occupancy->wave_size},
          {"mode", hal::to_string(occupancy->mode)},
          {"models",
           {{"llvm", model_json(occupancy->llvm)},
            {"hip", model_json(occupancy->hip)},
            {"resident", model_json(occupancy->resident)}}}};
}

Json durations_json(const analyze::Durations& durations) {
  return {{"total_ns", durations.total},   {"mean_ns", durations.mean},
          {"median_ns", durations.median}, {"min_ns", durations.min},
          {"max_ns", durations.max},       {"cv", or_null(durations.cv)}};
}

}  // namespace perflab::report
