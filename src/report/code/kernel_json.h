// The parts of a kernel that several documents share: launch, resources, GPU, occupancy.
#pragma once

#include "analyze/analysis.h"
#include "base/text/json.h"
#include "hal/occupancy_sweep.h"

namespace perflab::report {

Json launch_json(const analyze::Kernel& kernel);

/// The code object that a kernel's registers were read from; null when they are as recorded.
/// `missing` gets an entry per spill count that is not known.
Json code_json(const analyze::Kernel& kernel, std::vector<Missing>& missing);

Json resources_json(const analyze::Resources& resources);
Json gpu_json(const analyze::Gpu& gpu);
/// "cu" or "wgp"; null where there are no such modes (NVIDIA).
Json mode_json(const hal::Occupancy& occupancy);
/// Null when the occupancy is missing. `theoretical` is what the platform's hardware holds (the
/// resident or the cuda model); all models stand beside it.
Json occupancy_json(const std::optional<hal::Occupancy>& occupancy);
/// What `make` gives for every model that answers on the platform, by name; null for the others.
template <class Make>
Json by_model(hal::Platform platform, Make make) {
  Json models = Json::object();
  for (const hal::OccupancyModel model : hal::kOccupancyModels)
    models[std::string(hal::to_string(model))] = nullptr;
  for (const hal::OccupancyModel model : hal::models_of(platform))
    models[std::string(hal::to_string(model))] = make(model);
  return models;
}

/// One model's answer (definition `model` of the schemas).
Json model_json(const hal::ModelOccupancy& model);
/// One change for more waves, as documents carry it (definition `step` of the schemas).
Json step_json(const hal::Step& step);
/// count, total, share and spread of a kernel's dispatches.
Json durations_json(const analyze::Durations& durations);

}  // namespace perflab::report
