// The parts of a kernel that several documents share: launch, resources, GPU, occupancy.
#pragma once

#include "analyze/analysis.h"
#include "base/text/json.h"

namespace perflab::report {

Json launch_json(const analyze::Kernel& kernel);

/// The code object that a kernel's registers were read from; null when they are as recorded.
/// `missing` gets an entry per spill count that is not known.
Json code_json(const analyze::Kernel& kernel, std::vector<Missing>& missing);

Json resources_json(const analyze::Resources& resources);
Json gpu_json(const analyze::Gpu& gpu);
/// Null when the occupancy is missing. `theoretical` is the resident model's; all three models
/// stand beside it.
Json occupancy_json(const std::optional<hal::Occupancy>& occupancy);
/// One model's answer (definition `model` of the schemas).
Json model_json(const hal::ModelOccupancy& model);
/// One change for more waves, as documents carry it (definition `step` of the schemas).
Json step_json(const hal::Step& step);
/// count, total, share and spread of a kernel's dispatches.
Json durations_json(const analyze::Durations& durations);

}  // namespace perflab::report
