// The compiler's occupancy vectors of ../shared as inputs of the models.
#pragma once

#include <filesystem>

#include "base/text/json.h"
#include "hal/occupancy.h"

namespace perflab::hal {

inline const std::filesystem::path kVectors =
    std::filesystem::path(PERFLAB_SHARED_DIR) / "data/hal/occupancy_vectors.json";

/// One vector, with its largest work-group size.
inline OccupancyInput input_of(const Json& vector) {
  OccupancyInput input;
  input.wave_size = vector.at("wave").get<int>();
  if (!vector.at("cu_mode").is_null())
    input.mode = vector.at("cu_mode").get<bool>() ? WorkgroupMode::cu : WorkgroupMode::wgp;
  input.kernel.workgroup_size = vector.at("wg_max").get<int>();
  input.kernel.static_lds = vector.at("lds").get<int>();
  input.kernel.vgprs = vector.at("vgpr").get<int>();
  input.kernel.agprs = vector.at("agpr").get<int>();
  input.kernel.sgprs = vector.at("sgpr").get<int>();
  if (const Json& bounds = vector.at("waves_per_eu"); !bounds.is_null())
    input.kernel.waves_per_eu =
        WavesPerEu{.lo = bounds.at(0).get<int>(), .hi = bounds.at(1).get<int>()};
  return input;
}

}  // namespace perflab::hal
