// JSON of a kernel's parts; field names are those of schemas/.
#include "report/code/kernel_json.h"

#include "report/kit/document.h"

namespace perflab::report {
Json model_json(const hal::ModelOccupancy& model) {
  Json limiters = Json::array();
  for (const hal::Limiter limiter : model.limiters) limiters.push_back(hal::to_string(limiter));
  return {{"waves_per_simd", model.waves_per_simd},
          {"max_waves_per_simd", model.max_waves_per_simd},
          {"occupancy", model.occupancy},
          {"workgroups_per_cu", model.workgroups_per_cu},
          {"limiters", limiters}};
}

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

Json code_json(const analyze::Kernel& kernel, std::vector<Missing>& missing) {
  if (!kernel.code) return nullptr;
  const analyze::CodeOfKernel& code = *kernel.code;
  Json corrections = Json::array();
  for (const analyze::Correction& correction : code.corrections)
    corrections.push_back({{"field", "resources." + correction.field},
                           {"recorded", correction.recorded},
                           {"code_object", correction.code_object}});
  const auto spills = [&](const char* name, const std::optional<std::int64_t>& count) {
    if (!count)
      missing.push_back({.field = std::string("code_object.") + name,
                         .reason = "the code object's metadata does not hold it",
                         .remedy = ""});
    return or_null(count);
  };
  return {{"file", code.file},
          {"entry", or_null(code.entry)},
          {"target", code.target},
          {"vgpr_spills", spills("vgpr_spills", code.vgpr_spills)},
          {"sgpr_spills", spills("sgpr_spills", code.sgpr_spills)},
          {"corrections", std::move(corrections)}};
}

Json gpu_json(const analyze::Gpu& gpu) {
  if (gpu.architecture.empty() && gpu.product.empty()) return nullptr;
  Json differences = Json::array();
  for (const analyze::TableDifference& difference : gpu.differences)
    differences.push_back({{"field", difference.field},
                           {"recorded", difference.recorded},
                           {"table", difference.table},
                           {"confirmed", difference.confirmed}});
  return {{"architecture", or_null(gpu.architecture)},
          {"product", or_null(gpu.product)},
          {"agent_index", gpu.agent_index},
          {"compute_units", or_null(gpu.compute_units)},
          {"xcc_count", or_null(gpu.xcc_count)},
          {"wave_size", or_null(gpu.wave_size)},
          {"clock_mhz", or_null(gpu.clock_mhz)},
          {"facts_from", or_null(gpu.facts_from)},
          {"table_differences", differences}};
}

Json mode_json(const hal::Occupancy& occupancy) {
  if (occupancy.platform != hal::Platform::amd) return nullptr;
  return hal::to_string(occupancy.mode);
}

/// The answers of the platform's models; the others do not stand here.
Json models_json(const hal::Occupancy& occupancy) {
  Json models = Json::object();
  for (const hal::OccupancyModel model : hal::models_of(occupancy.platform))
    models[std::string(hal::to_string(model))] = model_json(occupancy.of(model));
  return models;
}

Json occupancy_json(const std::optional<hal::Occupancy>& occupancy) {
  if (!occupancy)
    return {{"theoretical", nullptr},
            {"model", "resident"},
            {"wave_size", nullptr},
            {"mode", nullptr},
            {"models", nullptr}};
  return {{"theoretical", occupancy->hardware().occupancy},
          {"model", hal::to_string(hal::hardware_model_of(occupancy->platform))},
          {"wave_size", occupancy->wave_size},
          {"mode", mode_json(*occupancy)},
          {"models", models_json(*occupancy)}};
}

Json step_json(const hal::Step& step) {
  Json changes = Json::array();
  for (const hal::Change& change : step.changes)
    changes.push_back({{"resource", hal::to_string(change.resource)},
                       {"from", change.from},
                       {"to", change.to},
                       {"decrease", change.from - change.to}});
  return {{"changes", changes},
          {"waves_per_simd", step.waves_per_simd},
          {"occupancy", step.occupancy},
          {"workgroups_per_cu", step.workgroups_per_cu}};
}

Json durations_json(const analyze::Durations& durations) {
  return {{"total_ns", durations.total},   {"mean_ns", durations.mean},
          {"median_ns", durations.median}, {"min_ns", durations.min},
          {"max_ns", durations.max},       {"cv", or_null(durations.cv)}};
}

}  // namespace perflab::report
