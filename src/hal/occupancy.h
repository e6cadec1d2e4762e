// Occupancy of a kernel on a known architecture: the tables (hal/arch.h) joined to the models
// (hal/occupancy_model.h), with errors in words. Facts and formulas: facts/hal_facts.md section 4.
#pragma once

#include <cstdint>
#include <optional>

#include "base/error.h"
#include "hal/arch.h"
#include "hal/occupancy_model.h"
#include "hal/occupancy_next_step.h"

namespace perflab::hal {

/// A kernel and how it is launched.
struct OccupancyInput {
  std::optional<int> wave_size = std::nullopt;       ///< none: the architecture's default
  std::optional<WorkgroupMode> mode = std::nullopt;  ///< none: likewise
  KernelResources kernel = {};
};

/// Every model's answer, and what was assumed for it.
struct Occupancy {
  int wave_size = 0;
  WorkgroupMode mode = WorkgroupMode::cu;
  int simds = 0;               ///< SIMDs of the unit that per_cu figures speak of: CU, or WGP
  bool sgprs_unknown = false;  ///< SGPRs could limit here, but no count was given
  ModelOccupancy llvm;
  ModelOccupancy hip;
  ModelOccupancy resident;

  [[nodiscard]] const ModelOccupancy& of(OccupancyModel model) const;
};

/// The limits that the models compute with. Error (bad_input): the architecture has no such wave
/// size or no WGP mode.
Result<OccupancyLimits> limits_of(const Arch& arch, std::optional<int> wave_size = std::nullopt,
                                  std::optional<WorkgroupMode> mode = std::nullopt);

/// Occupancy under all models. Error (bad_input): the work-group cannot be launched; the message
/// names the count and its limit.
Result<Occupancy> compute_occupancy(const Arch& arch, const OccupancyInput& input);

/// Next step and headroom under every model.
struct OccupancyAdvice {
  ModelAdvice llvm;
  ModelAdvice hip;
  ModelAdvice resident;

  [[nodiscard]] const ModelAdvice& of(OccupancyModel model) const;
};

/// What to lower for more waves, and what may grow for free (hal/occupancy_next_step.h). Errors as
/// compute_occupancy().
Result<OccupancyAdvice> advise_occupancy(const Arch& arch, const OccupancyInput& input);

/// The resources of one dispatch as rocpd has them (facts/rocpd.md section 3).
struct TracedKernel {
  std::optional<int> wave_size = std::nullopt;  ///< the agent's wave_front_size; none: the default
  std::int64_t workgroup_size = 0;              ///< work-items: x * y * z
  std::int64_t static_lds = 0;                  ///< bytes; kernel symbol, group_segment_size
  std::int64_t dispatch_lds = 0;  ///< bytes; dispatch, group_segment_size: static and dynamic
  std::int64_t arch_vgprs = 0;    ///< kernel symbol, arch_vgpr_count
  std::int64_t accum_vgprs = 0;   ///< kernel symbol, accum_vgpr_count
  std::optional<std::int64_t> sgprs = std::nullopt;
};

/// Registers that a wave holds, from the two counts of a trace. Profilers decode them from the
/// kernel descriptor: both are granules, and on unified register files only their sum is to be
/// trusted (the profiler splits it wrongly above 128 architected registers).
std::int64_t allocated_vgprs_in_trace(const Arch& arch, std::int64_t arch_vgprs,
                                      std::int64_t accum_vgprs);

/// The input for compute_occupancy(). A trace does not say the work-group mode: the default is
/// taken. SGPRs come rounded up, so the llvm model can read one wave low where its table cuts
/// through a granule.
OccupancyInput input_from_trace(const Arch& arch, const TracedKernel& kernel);

}  // namespace perflab::hal
