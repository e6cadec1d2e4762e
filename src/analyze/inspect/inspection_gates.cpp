// Limits and comparison over the figures of static kernels.
#include "analyze/inspect/inspection_gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>

namespace perflab::analyze {
namespace {

using MaybeNumber = std::optional<double>;

MaybeNumber figure(const std::optional<std::int64_t>& value) {
  return value ? MaybeNumber(static_cast<double>(*value)) : std::nullopt;
}

MaybeNumber figure(std::int64_t value) {
  return static_cast<double>(value);
}

/// The reason that the document gives for a missing figure.
std::string reason_for(const StaticKernel& kernel, std::string_view field) {
  const auto it = std::ranges::find(kernel.missing, field, &Missing::field);
  return it == kernel.missing.end() ? "not known" : it->reason;
}

std::size_t unreadable(const Inspection& inspection) {
  return static_cast<std::size_t>(
      std::ranges::count(inspection.objects, false, &InspectedObject::readable));
}

std::string left_out_sentence(std::size_t left_out, const std::filesystem::path& path) {
  return fmt::format("{} of {} could not be read: nothing is known about {} kernels",
                     left_out == 1 ? "a code object" : fmt::format("{} code objects", left_out),
                     path.string(), left_out == 1 ? "its" : "their");
}

Gate check(const Inspection& inspection, std::string name, MaybeNumber limit,
           const std::function<std::optional<GateFailure>(const StaticKernel&)>& fails) {
  Gate gate{.name = std::move(name),
            .limit = limit,
            .checked = inspection.kernels.size(),
            .failures = {},
            .problem = {}};
  for (std::size_t i = 0; i < inspection.kernels.size(); ++i) {
    if (auto failure = fails(inspection.kernels[i])) {
      failure->kernel = i;
      gate.failures.push_back(std::move(*failure));
    }
  }
  if (inspection.kernels.empty()) gate.problem = "there is no kernel to check";
  if (const std::size_t left_out = unreadable(inspection); left_out > 0)
    gate.problem = left_out_sentence(left_out, inspection.path);
  return gate;
}

std::optional<GateFailure> too_many_vgprs(const StaticKernel& kernel, std::int64_t limit) {
  if (!kernel.vgprs) return GateFailure{.value = {}, .why = reason_for(kernel, "resources.vgpr")};
  if (*kernel.vgprs <= limit) return std::nullopt;
  return GateFailure{.value = figure(kernel.vgprs),
                     .why = fmt::format("{} VGPRs are more than {}", *kernel.vgprs, limit)};
}

std::optional<GateFailure> too_few_waves(const StaticKernel& kernel, double limit) {
  if (!kernel.occupancy)
    return GateFailure{.value = {}, .why = reason_for(kernel, "occupancy.theoretical")};
  const double occupancy = kernel.occupancy->resident.occupancy;
  if (occupancy >= limit) return std::nullopt;
  return GateFailure{
      .value = occupancy,
      .why = fmt::format("occupancy {:.4g} (resident model) is below {:.4g}", occupancy, limit)};
}

std::optional<GateFailure> spills(const StaticKernel& kernel) {
  const code::KernelMetadata& code = kernel.code;
  if (!code.sgpr_spills || !code.vgpr_spills)
    return GateFailure{.value = {},
                       .why = reason_for(kernel, code.vgpr_spills ? "resources.sgpr_spills"
                                                                  : "resources.vgpr_spills")};
  const std::int64_t spilled = *code.sgpr_spills + *code.vgpr_spills;
  if (spilled == 0 && code.scratch_bytes == 0 && !code.dynamic_stack) return std::nullopt;
  return GateFailure{.value = figure(spilled),
                     .why = fmt::format("{} VGPRs and {} SGPRs spilled, {} bytes of scratch{}",
                                        *code.vgpr_spills, *code.sgpr_spills, code.scratch_bytes,
                                        code.dynamic_stack ? ", dynamic stack" : "")};
}

/// Which way a figure may not go.
enum class Worse { never, up, down };

struct Compared {
  const char* field;
  Worse worse;
  MaybeNumber (*value)(const StaticKernel&);
};

MaybeNumber waves(const StaticKernel& kernel, hal::OccupancyModel model) {
  return kernel.occupancy ? MaybeNumber(kernel.occupancy->of(model).waves_per_simd) : std::nullopt;
}

/// Everything that is compared, in the order of the table.
constexpr std::array kCompared = {
    Compared{"resources.vgpr", Worse::never, [](const auto& k) { return figure(k.vgprs); }},
    Compared{"resources.arch_vgpr", Worse::never,
             [](const auto& k) { return figure(k.arch_vgprs); }},
    Compared{"resources.accum_vgpr", Worse::never,
             [](const auto& k) { return figure(k.accum_vgprs); }},
    Compared{"resources.allocated_vgpr", Worse::never,
             [](const auto& k) { return figure(k.allocated_vgprs); }},
    Compared{"resources.sgpr", Worse::never,
             [](const auto& k) { return figure(k.code.sgpr_count); }},
    Compared{"resources.vgpr_spills", Worse::up,
             [](const auto& k) { return figure(k.code.vgpr_spills); }},
    Compared{"resources.sgpr_spills", Worse::up,
             [](const auto& k) { return figure(k.code.sgpr_spills); }},
    Compared{"resources.scratch_bytes", Worse::up,
             [](const auto& k) { return figure(k.code.scratch_bytes); }},
    Compared{"resources.lds_bytes", Worse::never,
             [](const auto& k) { return figure(k.code.lds_bytes); }},
    Compared{"kernarg.bytes", Worse::never,
             [](const auto& k) { return figure(k.code.kernarg_bytes); }},
    Compared{"launch.max_workgroup_size", Worse::never,
             [](const auto& k) { return figure(k.code.max_workgroup_size); }},
    Compared{"occupancy.models.llvm.waves_per_simd", Worse::never,
             [](const auto& k) { return waves(k, hal::OccupancyModel::llvm); }},
    Compared{"occupancy.models.hip.waves_per_simd", Worse::never,
             [](const auto& k) { return waves(k, hal::OccupancyModel::hip); }},
    Compared{"occupancy.models.resident.waves_per_simd", Worse::down,
             [](const auto& k) { return waves(k, hal::OccupancyModel::resident); }},
    Compared{"code_bytes", Worse::never,
             [](const auto& k) {
               return k.code.code_bytes > 0 ? figure(static_cast<std::int64_t>(k.code.code_bytes))
                                            : std::nullopt;
             }},
    Compared{"instruction_mix.instructions", Worse::never,
             [](const auto& k) { return k.mix ? figure(k.mix->instructions) : std::nullopt; }},
};

std::vector<FigureChange> changes_of(const StaticKernel& before, const StaticKernel& after) {
  std::vector<FigureChange> changes;
  for (const Compared& compared : kCompared) {
    const MaybeNumber old_value = compared.value(before);
    const MaybeNumber new_value = compared.value(after);
    if (old_value == new_value) continue;
    // What became unknown may hide a loss; what became known cannot be one.
    const bool worse = compared.worse != Worse::never && old_value &&
                       (!new_value || (compared.worse == Worse::up ? *new_value > *old_value
                                                                   : *new_value < *old_value));
    changes.push_back(
        {.figure = compared.field, .before = old_value, .after = new_value, .worse = worse});
  }
  return changes;
}

/// A kernel's identity across builds: the same name can be in several code objects of one file.
using Identity = std::tuple<std::string, std::string, std::size_t>;

std::map<Identity, std::size_t> identities(const Inspection& inspection) {
  std::map<std::pair<std::string, std::string>, std::size_t> seen;
  std::map<Identity, std::size_t> result;
  for (std::size_t i = 0; i < inspection.kernels.size(); ++i) {
    const StaticKernel& kernel = inspection.kernels[i];
    const std::string target = code::to_string(inspection.objects[kernel.object].target);
    const std::size_t nth = seen[{kernel.code.name, target}]++;
    result[{kernel.code.name, target, nth}] = i;
  }
  return result;
}

std::string label(const Identity& identity) {
  return fmt::format("{} ({})", demangled(std::get<0>(identity)), std::get<1>(identity));
}

}  // namespace

std::vector<Gate> check_gates(const Inspection& inspection, const GateLimits& limits) {
  std::vector<Gate> gates;
  if (limits.max_vgprs)
    gates.push_back(check(inspection, "max_vgpr", figure(limits.max_vgprs),
                          [&](const auto& k) { return too_many_vgprs(k, *limits.max_vgprs); }));
  if (limits.min_occupancy)
    gates.push_back(check(inspection, "min_occupancy", limits.min_occupancy,
                          [&](const auto& k) { return too_few_waves(k, *limits.min_occupancy); }));
  if (limits.no_spills) gates.push_back(check(inspection, "no_spills", std::nullopt, spills));
  return gates;
}

InspectionDiff compare_inspections(const Inspection& before, const Inspection& after) {
  InspectionDiff comparison;
  comparison.path = before.path;
  comparison.file_hash = before.file_hash;
  for (const Inspection* inspection : {&before, &after})
    if (const std::size_t left_out = unreadable(*inspection); left_out > 0)
      comparison.problem = left_out_sentence(left_out, inspection->path);
  const auto old_kernels = identities(before);
  const auto new_kernels = identities(after);
  for (const auto& [identity, index] : old_kernels)
    if (!new_kernels.contains(identity)) comparison.only_old.push_back(label(identity));
  for (const auto& [identity, index] : new_kernels) {
    const auto old = old_kernels.find(identity);
    if (old == old_kernels.end()) {
      comparison.only_new.push_back(label(identity));
      continue;
    }
    ++comparison.compared;
    auto figures = changes_of(before.kernels[old->second], after.kernels[index]);
    if (!figures.empty())
      comparison.changes.push_back({.kernel = index, .figures = std::move(figures)});
  }
  std::ranges::sort(comparison.changes, {}, &KernelChange::kernel);
  return comparison;
}

Gate comparison_gate(const InspectionDiff& comparison) {
  Gate gate{.name = "against",
            .limit = {},
            .checked = comparison.compared,
            .failures = {},
            .problem = {}};
  for (const KernelChange& change : comparison.changes)
    for (const FigureChange& figure : change.figures)
      if (figure.worse)
        gate.failures.push_back(
            {.kernel = change.kernel,
             .value = figure.after,
             .why = figure.after ? fmt::format("{} went from {:.15g} to {:.15g}", figure.figure,
                                               *figure.before, *figure.after)
                                 : fmt::format("{} was {:.15g} and is not known any more",
                                               figure.figure, *figure.before)});
  gate.problem = comparison.problem;
  if (comparison.compared == 0)
    gate.problem = fmt::format("no kernel is in both files: nothing to compare with {}",
                               comparison.path.string());
  return gate;
}

}  // namespace perflab::analyze
