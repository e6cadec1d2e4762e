// Architectures by name, and everything about a kernel in one call: the last part of the installed
// header perflab/occupancy.h, which make_occupancy_header.cpp puts together from this,
// hal/occupancy_model.h and hal/occupancy_next_step.h, with table() written from archs/*.json.
// C++20 standard library only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hal/occupancy_model.h"
#include "hal/occupancy_next_step.h"

namespace perflab::hal {

/// The limits of one architecture at one wave size and work-group mode.
struct KnownUnit {
  std::string_view gfx;  ///< "gfx942", "sm_90"
  WorkgroupMode mode = WorkgroupMode::cu;
  bool is_default = false;  ///< what a compiler takes unless it is told
  OccupancyLimits limits;
  std::vector<std::string_view> unconfirmed;  ///< numbers among them without a source
};

/// Every unit of every architecture that is known, ordered by gfx name. Defined at the end of the
/// installed header; in this project hal/occupancy.h answers from the tables themselves.
inline const std::vector<KnownUnit>& table();

/// One model's answer.
struct ModelReport {
  ModelOccupancy occupancy;
  NextStep next_step;
  Headroom headroom;
};

/// Everything about one kernel, or why there is nothing.
struct Report {
  std::string error;  ///< one sentence; empty: the figures below hold
  std::int64_t wave_size = 0;
  WorkgroupMode mode = WorkgroupMode::cu;
  bool sgprs_unknown = false;  ///< SGPRs could limit here, but no count was given
  ModelReport llvm;
  ModelReport hip;
  ModelReport resident;
  ModelReport cuda;                           ///< the only one on NVIDIA's GPUs, empty on AMD's
  std::vector<OccupancyModel> models;         ///< those that have an answer here
  std::vector<std::string_view> unconfirmed;  ///< numbers that were used and have no source

  explicit operator bool() const { return error.empty(); }

  [[nodiscard]] const ModelReport& of(OccupancyModel model) const {
    if (model == OccupancyModel::llvm) return llvm;
    if (model == OccupancyModel::cuda) return cuda;
    return model == OccupancyModel::hip ? hip : resident;
  }
};

/// What a launch problem means, in words.
constexpr std::string_view to_string(LaunchProblem problem) {
  switch (problem) {
    case LaunchProblem::workgroup_empty:
      return "a work-group needs work-items";
    case LaunchProblem::workgroup_too_large:
      return "the work-group is larger than the architecture takes";
    case LaunchProblem::workgroup_range:
      return "the smallest work-group size is below 1 or above the largest";
    case LaunchProblem::lds_out_of_range:
      return "the LDS is negative or more than a work-group may have";
    case LaunchProblem::vgprs_out_of_range:
      return "the vector registers are negative or more than a wave can address";
    case LaunchProblem::sgprs_out_of_range:
      return "the scalar registers are negative or more than a wave can have";
    case LaunchProblem::registers_exhausted:
      return "the registers of the work-group's waves do not fit at the same time";
  }
  return "";
}

/// The unit of a gfx name or target id ("gfx942:sramecc+": features are ignored; "sm_90a" is
/// sm_90); what is not given is the architecture's default (at another wave size or mode than the
/// default, the default of the other stays). nullptr: not known, or it has no such wave size or
/// mode.
inline const KnownUnit* find_unit(std::string_view target_id,
                                  std::optional<std::int64_t> wave_size = std::nullopt,
                                  std::optional<WorkgroupMode> mode = std::nullopt) {
  const std::string_view gfx = architecture_of_target(target_id);
  const KnownUnit* usual = nullptr;
  for (const KnownUnit& unit : table())
    if (unit.gfx == gfx && unit.is_default) usual = &unit;
  if (usual == nullptr) return nullptr;
  for (const KnownUnit& unit : table())
    if (unit.gfx == gfx && unit.limits.wave_size == wave_size.value_or(usual->limits.wave_size) &&
        unit.mode == mode.value_or(usual->mode))
      return &unit;
  return nullptr;
}

/// Occupancy, next step and headroom of a kernel on an architecture, under every model of
/// its platform.
inline Report report(std::string_view target_id, const KernelResources& kernel,
                     std::optional<std::int64_t> wave_size = std::nullopt,
                     std::optional<WorkgroupMode> mode = std::nullopt) {
  Report result;
  const KnownUnit* unit = find_unit(target_id, wave_size, mode);
  if (unit == nullptr) {
    result.error = find_unit(target_id) == nullptr
                       ? "unknown architecture " + std::string(target_id)
                       : std::string(target_id) + " has no such wave size or work-group mode";
    return result;
  }
  if (const auto problem = check_launch(unit->limits, kernel)) {
    result.error = std::string(target_id) + ": " + std::string(to_string(*problem));
    return result;
  }
  const auto of = [&](OccupancyModel model) {
    return ModelReport{.occupancy = model_occupancy(unit->limits, kernel, model),
                       .next_step = next_step(unit->limits, kernel, model),
                       .headroom = headroom(unit->limits, kernel, model)};
  };
  result.wave_size = unit->limits.wave_size;
  result.mode = unit->mode;
  result.sgprs_unknown = unit->limits.sgprs_per_simd.has_value() && !kernel.sgprs;
  if (unit->limits.hardware_model == OccupancyModel::cuda) {
    result.models = {OccupancyModel::cuda};
    result.cuda = of(OccupancyModel::cuda);
  } else {
    result.models = {OccupancyModel::llvm, OccupancyModel::hip, OccupancyModel::resident};
    result.llvm = of(OccupancyModel::llvm);
    result.hip = of(OccupancyModel::hip);
    result.resident = of(OccupancyModel::resident);
  }
  result.unconfirmed = unit->unconfirmed;
  return result;
}

}  // namespace perflab::hal
