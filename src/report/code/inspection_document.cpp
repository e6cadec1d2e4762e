// inspection.json: field names are those of schemas/inspection.schema.json. What does not apply is
// null by itself; what should be there and is not known is null with an entry in `missing`.
#include "report/code/inspection_document.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "report/code/kernel_json.h"
#include "report/kit/document.h"

namespace perflab::report {
namespace {

using analyze::StaticKernel;

/// A number that stands for "does not apply" when it is 0.
Json null_for_zero(int value) {
  return value == 0 ? Json(nullptr) : Json(value);
}

Json bundles_json(const analyze::Inspection& inspection) {
  Json out = Json::array();
  for (const analyze::InspectedBundle& bundle : inspection.bundles)
    out.push_back({{"offset", bundle.offset},
                   {"bytes", bundle.size},
                   {"compression", code::to_string(bundle.compression)},
                   {"compressed_version", null_for_zero(bundle.compressed_version)}});
  return out;
}

Json object_json(const analyze::InspectedObject& object) {
  const bool readable = object.readable;
  return {{"readable", readable},
          {"target", readable ? Json(code::to_string(object.target)) : Json(nullptr)},
          {"version", null_for_zero(object.version)},
          {"generic_version", null_for_zero(object.generic_version)},
          {"entry", or_null(object.entry)},
          {"bundle", or_null(object.bundle)},
          {"file_offset", or_null(object.file_offset)},
          {"bytes", object.bytes},
          {"hash", object.hash},
          {"kernels", readable ? Json(object.kernels) : Json(nullptr)},
          {"problems", object.problems}};
}

Json argument_json(const code::KernelArgument& argument) {
  Json qualifiers = Json::array();
  if (argument.is_const) qualifiers.push_back("const");
  if (argument.is_restrict) qualifiers.push_back("restrict");
  if (argument.is_volatile) qualifiers.push_back("volatile");
  return {{"offset", argument.offset},
          {"size", argument.size},
          {"kind", argument.value_kind},
          {"hidden", argument.hidden()},
          {"name", or_null(argument.name)},
          {"type", or_null(argument.type_name)},
          {"address_space", or_null(argument.address_space)},
          {"access", or_null(argument.access)},
          {"qualifiers", std::move(qualifiers)}};
}

Json kernarg_json(const code::KernelMetadata& kernel) {
  Json arguments = Json::array();
  std::int64_t explicit_end = 0;
  for (const code::KernelArgument& argument : kernel.arguments) {
    if (!argument.hidden())
      explicit_end = std::max(explicit_end, add_saturating(argument.offset, argument.size));
    arguments.push_back(argument_json(argument));
  }
  return {{"bytes", kernel.kernarg_bytes},
          {"align", kernel.kernarg_align},
          {"explicit_bytes", explicit_end},
          {"arguments", std::move(arguments)}};
}

Json static_resources_json(const StaticKernel& kernel) {
  return {{"vgpr", or_null(kernel.vgprs)},
          {"arch_vgpr", or_null(kernel.arch_vgprs)},
          {"accum_vgpr", or_null(kernel.accum_vgprs)},
          {"allocated_vgpr", or_null(kernel.allocated_vgprs)},
          {"sgpr", or_null(kernel.code.sgpr_count)},
          {"vgpr_spills", or_null(kernel.code.vgpr_spills)},
          {"sgpr_spills", or_null(kernel.code.sgpr_spills)},
          {"scratch_bytes", kernel.code.scratch_bytes},
          {"dynamic_stack", kernel.code.dynamic_stack},
          {"lds_bytes", kernel.code.lds_bytes}};
}

Json static_occupancy_json(const StaticKernel& kernel, std::vector<Missing>& missing) {
  Json out = occupancy_json(kernel.occupancy);
  out.erase("wave_size");
  if (kernel.workgroup_size > 0) {
    out["workgroup_size"] = kernel.workgroup_size;
  } else {
    out["workgroup_size"] = nullptr;
    missing.push_back({.field = "occupancy.workgroup_size",
                       .reason = "the code object does not bound the work-group size",
                       .remedy = "say which with --block N"});
  }
  out["dynamic_lds_bytes"] = kernel.dynamic_lds;
  out["next_step"] = kernel.next_step ? step_json(*kernel.next_step) : Json(nullptr);
  return out;
}

template <class Map, class Name>
Json counts_json(const Map& counts, Name name) {
  Json out = Json::object();
  for (const auto& [key, count] : counts)
    if (count > 0) out[std::string(name(key))] = count;
  return out;
}

Json mix_json(const std::optional<code::InstructionMix>& mix) {
  if (!mix) return nullptr;
  const auto same = [](const std::string& key) { return key; };
  return {{"instructions", mix->instructions},
          {"code_bytes", mix->code_bytes},
          {"by_class",
           counts_json(mix->by_class, [](code::InstructionClass c) { return code::to_string(c); })},
          {"valu_by_precision", counts_json(mix->valu_by_precision, same)},
          {"matrix_by_precision", counts_json(mix->matrix_by_precision, same)},
          {"packed", mix->packed},
          {"dual_issue", mix->dual_issue},
          {"transcendental", mix->transcendental},
          {"calls", mix->calls},
          {"backward_branches", mix->backward_branches},
          {"unknown", mix->unknown},
          {"once_through",
           {{"vector_flops", mix->vector_flops},
            {"matrix_flops", mix->matrix_flops},
            {"global_bytes", mix->global_bytes},
            {"scalar_bytes", mix->scalar_bytes},
            {"scratch_bytes", mix->scratch_bytes},
            {"lds_bytes", mix->lds_bytes}}}};
}

Json intensity_json(const std::optional<code::InstructionMix>& mix) {
  const auto intensity = mix ? mix->static_intensity() : std::nullopt;
  if (!intensity) return nullptr;
  return {{"flops_per_byte", *intensity}, {"estimate", true}};
}

Json kernel_json(const analyze::Inspection& inspection, const StaticKernel& kernel) {
  std::vector<Missing> missing = kernel.missing;
  const analyze::InspectedObject& object = inspection.objects[kernel.object];
  Json out = {{"name", kernel.name},
              {"mangled_name", kernel.code.name},
              {"code_object", kernel.object},
              {"architecture", object.target.processor},
              {"target", code::to_string(object.target)}};
  const bool special = kernel.code.kind == "init" || kernel.code.kind == "fini";
  out["kind"] = special ? Json(kernel.code.kind) : Json(nullptr);
  out["wave_size"] = kernel.code.wave_size;
  out["resources"] = static_resources_json(kernel);
  out["launch"] = {{"max_workgroup_size", or_null(kernel.code.max_workgroup_size)},
                   {"required_workgroup_size", or_null(kernel.code.required_workgroup_size)}};
  out["kernarg"] = kernarg_json(kernel.code);
  out["code_bytes"] = nullptr;
  if (kernel.code.code_bytes > 0)
    out["code_bytes"] = kernel.code.code_bytes;
  else
    missing.push_back({.field = "code_bytes",
                       .reason = "the code object has no function symbol with a size for it",
                       .remedy = ""});
  out["occupancy"] = static_occupancy_json(kernel, missing);
  out["instruction_mix"] = mix_json(kernel.mix);
  out["static_intensity"] = intensity_json(kernel.mix);
  out["assumptions"] = kernel.assumptions;
  out["missing"] = missing_json(missing);
  return out;
}

/// The fields by which a gate or a comparison names a kernel.
Json named(const analyze::Inspection& inspection, std::size_t index) {
  const StaticKernel& kernel = inspection.kernels[index];
  return {{"kernel", index},
          {"name", kernel.name},
          {"target", code::to_string(inspection.objects[kernel.object].target)}};
}

Json gates_json(const analyze::Inspection& inspection, const std::vector<analyze::Gate>& gates) {
  Json out = Json::array();
  for (const analyze::Gate& gate : gates) {
    Json failures = Json::array();
    for (const analyze::GateFailure& failure : gate.failures) {
      Json one = named(inspection, failure.kernel);
      one["value"] = or_null(failure.value);
      one["why"] = failure.why;
      failures.push_back(std::move(one));
    }
    Json item = {{"name", gate.name},
                 {"limit", or_null(gate.limit)},
                 {"passed", gate.passed()},
                 {"checked", gate.checked},
                 {"problem", or_null(gate.problem)}};
    item["failures"] = std::move(failures);
    out.push_back(std::move(item));
  }
  return out;
}

Json against_json(const analyze::Inspection& inspection, const analyze::InspectionDiff& comparison,
                  std::vector<Missing>& missing) {
  Json changes = Json::array();
  for (const analyze::KernelChange& change : comparison.changes) {
    Json item = named(inspection, change.kernel);
    Json figures = Json::array();
    for (const analyze::FigureChange& figure : change.figures) {
      const auto unknown = [&](const char* side, const char* file) {
        missing.push_back({.field = fmt::format("against.changes[{}].figures[{}].{}",
                                                changes.size(), figures.size(), side),
                           .reason = fmt::format("the {} file does not say", file),
                           .remedy = ""});
      };
      if (!figure.before) unknown("before", "old");
      if (!figure.after) unknown("after", "new");
      figures.push_back({{"figure", figure.figure},
                         {"before", or_null(figure.before)},
                         {"after", or_null(figure.after)},
                         {"worse", figure.worse}});
    }
    item["figures"] = std::move(figures);
    changes.push_back(std::move(item));
  }
  return {{"file", {{"name", comparison.path.filename().string()}, {"hash", comparison.file_hash}}},
          {"compared", comparison.compared},
          {"changes", std::move(changes)},
          {"only_old", comparison.only_old},
          {"only_new", comparison.only_new}};
}

Json commands_json(const analyze::Inspection& inspection) {
  Json out = Json::array();
  for (const analyze::InspectedObject& object : inspection.objects)
    if (!object.command.empty()) out.push_back(object.command);
  return out;
}

}  // namespace

Json inspection_document(const analyze::Inspection& inspection,
                         const std::vector<analyze::Gate>& gates,
                         const std::optional<analyze::InspectionDiff>& against) {
  std::vector<Missing> missing;
  Json document = {{"schema_version", "1.0.0"},
                   {"document", "inspection"},
                   {"generator", generator_json()},
                   {"file",
                    {{"name", inspection.path.filename().string()},
                     {"kind", inspection.kind},
                     {"bytes", inspection.file_bytes},
                     {"hash", inspection.file_hash}}}};
  document["compiler"] = or_null(inspection.compiler);
  document["disassembler"] = or_null(inspection.disassembler);
  document["bundles"] = bundles_json(inspection);
  document["code_objects"] = Json::array();
  for (const analyze::InspectedObject& object : inspection.objects)
    document["code_objects"].push_back(object_json(object));
  document["kernels"] = Json::array();
  for (const StaticKernel& kernel : inspection.kernels)
    document["kernels"].push_back(kernel_json(inspection, kernel));
  document["gates"] = gates_json(inspection, gates);
  document["against"] = against ? against_json(inspection, *against, missing) : Json(nullptr);
  document["warnings"] = inspection.warnings;
  document["missing"] = missing_json(missing);
  document["environment"] = {{"file", inspection.path.string()},
                             {"against", against ? Json(against->path.string()) : Json(nullptr)},
                             {"commands", commands_json(inspection)}};
  return document;
}

}  // namespace perflab::report
