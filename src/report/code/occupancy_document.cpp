// JSON of an occupancy answer. Every null has an entry in `missing`, but for what was not asked
// for (input.waves_per_eu and sweep), and for models of the other platform.
#include "report/code/occupancy_document.h"

#include <fmt/format.h>

#include "base/enum_names.h"
#include "report/code/kernel_json.h"
#include "report/kit/document.h"
#include "report/kit/text_parts.h"

namespace perflab::report {
namespace {

bool of_amd(const OccupancyData& data) {
  return data.arch->platform == hal::Platform::amd;
}

/// The entry for a field of which the architecture has no such thing.
Missing not_there(const OccupancyData& data, std::string field, std::string_view things) {
  return {.field = std::move(field),
          .reason = fmt::format("{} has no {}", data.arch->gfx, things),
          .remedy = ""};
}

Missing sgprs_missing(const OccupancyData& data, std::string field) {
  if (!of_amd(data)) return not_there(data, std::move(field), "scalar registers");
  return {.field = std::move(field),
          .reason = "no count of SGPRs was given",
          .remedy = "give it with --sgpr"};
}

Json headroom_json(const OccupancyData& data, const hal::Headroom& room, const std::string& field,
                   std::vector<Missing>& missing) {
  if (!room.agprs)
    missing.push_back(
        not_there(data, field + ".agpr", of_amd(data) ? "AGPRs" : "accumulation registers"));
  if (!room.sgprs) missing.push_back(sgprs_missing(data, field + ".sgpr"));
  return {{"vgpr", room.vgprs},
          {"agpr", or_null(room.agprs)},
          {"sgpr", or_null(room.sgprs)},
          {"lds_bytes", room.lds},
          {"block", room.block}};
}

Json advised_model_json(const OccupancyData& data, hal::OccupancyModel model,
                        std::vector<Missing>& missing) {
  const hal::ModelOccupancy& m = data.occupancy.of(model);
  const hal::NextStep& next = data.advice.of(model).next_step;
  const std::string field = fmt::format("models.{}", hal::to_string(model));
  if (!next.best)
    missing.push_back({.field = field + ".next_step",
                       .reason = no_next_step_reason(m, data.arch->platform),
                       .remedy = ""});
  Json singles = Json::object();
  for (const hal::Resource resource : hal::kResources) {
    const hal::SingleStep& single = next.of(resource);
    const std::string name(hal::to_string(resource));
    singles[name] = single.step ? step_json(*single.step) : Json(nullptr);
    if (!single.step && resource == hal::Resource::sgpr && !of_amd(data))
      missing.push_back(sgprs_missing(data, fmt::format("{}.single_steps.{}", field, name)));
    else if (!single.step)
      missing.push_back(
          {.field = fmt::format("{}.single_steps.{}", field, name),
           .reason = no_step_reason(single, resource, data.arch->platform),
           .remedy = single.reason == hal::NoStep::not_known ? "give it with --sgpr" : ""});
  }
  Json out = model_json(m);
  out["waves_per_simd_floor"] = m.waves_per_simd_floor;
  out["waves_per_simd_ceil"] = m.waves_per_simd_ceil;
  out["next_step"] = next.best ? step_json(*next.best) : Json(nullptr);
  out["single_steps"] = std::move(singles);
  out["headroom"] =
      headroom_json(data, data.advice.of(model).headroom, field + ".headroom", missing);
  return out;
}

Json input_json(const OccupancyData& data, std::vector<Missing>& missing) {
  const hal::KernelResources& k = data.input.kernel;
  Json input = {{"wave_size", data.occupancy.wave_size},
                {"mode", mode_json(data.occupancy)},
                {"workgroup_size", k.workgroup_size},
                {"workgroup_size_min", k.workgroup_size_min.value_or(k.workgroup_size)},
                {"static_lds_bytes", k.static_lds},
                {"dynamic_lds_bytes", k.dynamic_lds},
                {"vgpr", k.vgprs},
                {"agpr", k.agprs},
                {"sgpr", or_null(k.sgprs)},
                {"llvm_rule", hal::to_string(k.llvm_rule)}};
  if (!k.sgprs) missing.push_back(sgprs_missing(data, "input.sgpr"));
  if (!of_amd(data)) {
    input["agpr"] = nullptr;
    input["llvm_rule"] = nullptr;
    missing.push_back(not_there(data, "input.mode", "work-group modes"));
    missing.push_back(not_there(data, "input.agpr", "accumulation registers"));
    missing.push_back({.field = "input.llvm_rule",
                       .reason = "the cuda model follows no rule of LLVM",
                       .remedy = ""});
  }
  input["waves_per_eu"] = nullptr;
  if (k.waves_per_eu)
    input["waves_per_eu"] = {
        {"lo", k.waves_per_eu->lo},
        {"hi", k.waves_per_eu->hi.value_or(data.occupancy.llvm.max_waves_per_simd)}};
  return input;
}

std::string_view sweep_name(hal::Sweep sweep) {
  using enum hal::Sweep;
  static constexpr auto kNames =
      enum_names<hal::Sweep>({{vgpr, "vgpr"}, {lds, "lds"}, {block, "block"}});
  return kNames[sweep];
}

Json sweep_json(const hal::OccupancySweep& sweep, hal::Platform platform,
                std::vector<Missing>& missing) {
  Json steps = Json::array();
  for (const hal::SweepStep& step : sweep.steps) {
    Json models = nullptr;
    if (step.refusal.empty()) {
      models = by_model(platform, [&](hal::OccupancyModel model) {
        return Json{{"waves_per_simd", step.of(model).waves_per_simd},
                    {"occupancy", step.of(model).occupancy}};
      });
    } else {
      missing.push_back({.field = fmt::format("sweep[{}].models", steps.size()),
                         .reason = step.refusal,
                         .remedy = ""});
    }
    steps.push_back({{"resource", sweep_name(sweep.of)},
                     {"from", step.from},
                     {"to", step.to},
                     {"current", step.from <= sweep.current && sweep.current <= step.to},
                     {"models", models}});
  }
  return steps;
}

/// A count that was given is a kernel's own: granules (which only recordings have) do not excuse
/// it.
Result<void> check_exact_sgprs(const hal::Arch& arch, const hal::KernelResources& kernel) {
  const std::int64_t most = arch.addressable_sgprs + arch.extra_sgprs;
  if (arch.platform == hal::Platform::amd && kernel.sgprs && *kernel.sgprs > most)
    return fail(ErrorCode::bad_input,
                fmt::format("{} SGPRs per wave is not possible on {} (at most {})", *kernel.sgprs,
                            arch.gfx, most));
  return {};
}

}  // namespace

Result<OccupancyData> occupancy_data(const hal::Arch& arch, const hal::OccupancyInput& input,
                                     std::optional<hal::Sweep> sweep) {
  OccupancyData data{.arch = &arch, .input = input, .occupancy = {}, .advice = {}, .sweep = {}};
  PERFLAB_TRY_VOID(check_exact_sgprs(arch, input.kernel));
  PERFLAB_TRY(data.occupancy, hal::compute_occupancy(arch, input));
  PERFLAB_TRY(data.advice, hal::advise_occupancy(arch, input));
  if (sweep) {
    PERFLAB_TRY(data.sweep, hal::sweep_occupancy(arch, input, *sweep));
  }
  return data;
}

std::vector<std::string> occupancy_assumptions(const OccupancyData& data) {
  std::vector<std::string> assumptions;
  const std::int64_t lds = data.input.kernel.static_lds + data.input.kernel.dynamic_lds;
  if (!of_amd(data) && lds > data.arch->lds_without_opt_in)
    assumptions.push_back(
        fmt::format("the kernel's limit of dynamic shared memory is raised: above {} bytes",
                    data.arch->lds_without_opt_in));
  if (!data.input.wave_size && data.arch->wave_sizes.size() > 1)
    assumptions.push_back(
        fmt::format("waves of {}, the default of {}", data.occupancy.wave_size, data.arch->gfx));
  if (!data.input.mode && data.arch->cus_per_wgp)
    assumptions.push_back(fmt::format("{} mode, the default of {}",
                                      data.occupancy.mode == hal::WorkgroupMode::wgp ? "WGP" : "CU",
                                      data.arch->gfx));
  if (data.occupancy.sgprs_unknown)
    assumptions.emplace_back("SGPRs do not limit: no count was given");
  if (const auto why = hal::dropped_attribute(*data.arch, data.input))
    assumptions.push_back(
        fmt::format("LLVM ignores amdgpu_waves_per_eu({}): {}", attribute_bounds(data), *why));
  if (data.input.kernel.llvm_rule == hal::LlvmRule::v20 && !data.input.kernel.workgroup_size_min)
    assumptions.emplace_back(
        "one work-group size only: LLVM 20's rule for a range of sizes does not apply");
  return assumptions;
}

std::string attribute_bounds(const OccupancyData& data) {
  const hal::WavesPerEu& bounds = *data.input.kernel.waves_per_eu;
  return bounds.hi ? fmt::format("{}, {}", bounds.lo, *bounds.hi) : fmt::format("{}", bounds.lo);
}

std::string no_step_reason(const hal::SingleStep& single, hal::Resource resource,
                           hal::Platform platform) {
  const hal::Terms& t = hal::terms(platform);
  const std::string limits = limiter_names(single.limited_by, platform);
  switch (single.reason) {
    case hal::NoStep::at_maximum:
      return fmt::format("already the maximum of {}", t.waves);
    case hal::NoStep::not_known:
      return "no count was given";
    case hal::NoStep::nothing:
      if (resource != hal::Resource::block) return "the kernel uses none";
      return fmt::format("the {} is the smallest possible already", t.workgroup);
    case hal::NoStep::others:
      break;
  }
  if (resource == hal::Resource::block)
    return fmt::format("no smaller {} alone gains {}; limited by {}", t.workgroup, t.waves, limits);
  return fmt::format("no decrease alone gains {}; limited by {}", t.waves, limits);
}

std::string no_next_step_reason(const hal::ModelOccupancy& model, hal::Platform platform) {
  const hal::Terms& t = hal::terms(platform);
  if (model.waves_per_simd >= model.max_waves_per_simd)
    return fmt::format("already the maximum of {}", t.waves);
  return fmt::format("no decrease of registers, {} or {} size gains {}; limited by {}", t.lds,
                     t.workgroup, t.waves, limiter_names(model.limiters, platform));
}

Json occupancy_document(const OccupancyData& data) {
  std::vector<Missing> missing;
  Json document = {{"schema_version", "1.0.0"},
                   {"document", "occupancy"},
                   {"generator", generator_json()},
                   {"architecture", data.arch->gfx},
                   {"family", data.arch->family},
                   {"platform", hal::to_string(data.arch->platform)},
                   {"input", input_json(data, missing)},
                   {"assumptions", occupancy_assumptions(data)},
                   {"unconfirmed", data.arch->unconfirmed_of_occupancy()}};
  document["models"] = by_model(data.arch->platform, [&](hal::OccupancyModel model) {
    return advised_model_json(data, model, missing);
  });
  document["sweep"] =
      data.sweep ? sweep_json(*data.sweep, data.arch->platform, missing) : Json(nullptr);
  document["missing"] = missing_json(missing);
  return document;
}

}  // namespace perflab::report
