// The document `occupancy`: one kernel's occupancy under each model, the next step, what may grow
// for free, and a sweep when one was asked for. Schema: schemas/occupancy.schema.json.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/text/json.h"
#include "hal/occupancy.h"
#include "hal/occupancy_sweep.h"

namespace perflab::report {

/// Everything that the document and the text are made from.
struct OccupancyData {
  const hal::Arch* arch = nullptr;
  hal::OccupancyInput input;
  hal::Occupancy occupancy;
  hal::OccupancyAdvice advice;
  std::optional<hal::OccupancySweep> sweep;
};

/// Computes all of it. Errors as hal::compute_occupancy() and hal::sweep_occupancy(), and more
/// SGPRs than a wave can address (bad_input): the count is exact here, never a recorded granule.
Result<OccupancyData> occupancy_data(const hal::Arch& arch, const hal::OccupancyInput& input,
                                     std::optional<hal::Sweep> sweep);

/// What was taken because it was not given, a sentence each.
std::vector<std::string> occupancy_assumptions(const OccupancyData& data);

/// Why lowering this resource alone gains nothing, as a clause in the platform's words.
std::string no_step_reason(const hal::SingleStep& single, hal::Resource resource,
                           hal::Platform platform = hal::Platform::amd);

/// Why there is no next step at all, as a clause in the platform's words.
std::string no_next_step_reason(const hal::ModelOccupancy& model,
                                hal::Platform platform = hal::Platform::amd);

/// The bounds of amdgpu_waves_per_eu as the source has them: "2" or "2, 4". Precondition: there is
/// one.
std::string attribute_bounds(const OccupancyData& data);

Json occupancy_document(const OccupancyData& data);

}  // namespace perflab::report
