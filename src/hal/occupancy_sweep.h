// Occupancy as one amount of a kernel runs through its range: where it changes, and where a launch
// stops being possible.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "hal/arch.h"
#include "hal/occupancy.h"

namespace perflab::hal {

/// Every model of every platform, in the order that documents have them in; models_of() has those
/// that answer.
inline constexpr std::array kOccupancyModels = {OccupancyModel::llvm, OccupancyModel::hip,
                                                OccupancyModel::resident, OccupancyModel::cuda};

/// What may run: architected VGPRs (AGPRs held), static LDS (dynamic held), or the work-group size.
enum class Sweep { vgpr, lds, block };

/// Amounts from `from` to `to`, for which every model says the same.
struct SweepStep {
  struct Figure {
    double waves_per_simd = 0;
    double occupancy = 0;
  };

  std::int64_t from = 0;
  std::int64_t to = 0;
  std::string refusal;  ///< why no such work-group can be launched; empty: it can
  std::array<Figure, kOccupancyModels.size()> models;  ///< those of the platform, in the places of kOccupancyModels

  [[nodiscard]] const Figure& of(OccupancyModel model) const {
    return models[static_cast<std::size_t>(model)];
  }
};

/// A whole run: VGPRs from 1 to what a wave can address, LDS from 0 to what a work-group can have,
/// work-items from 1 (the smallest size, when the kernel has a range) to the largest possible.
struct OccupancySweep {
  Sweep of = Sweep::vgpr;
  std::int64_t current = 0;      ///< the kernel's own amount
  std::vector<SweepStep> steps;  ///< ascending, without gaps
};

/// Runs one amount through its range; the kernel's own must be launchable. Errors as
/// compute_occupancy(); also (bad_input) when only a trace's allocated_vgprs is known and VGPRs are
/// to run.
Result<OccupancySweep> sweep_occupancy(const Arch& arch, const OccupancyInput& input, Sweep of);

}  // namespace perflab::hal
