// Occupancy of a kernel on a known architecture: the tables (hal/arch.h) joined to the models
// (hal/occupancy_model.h), with errors in words. Facts and formulas: docs/facts/hardware.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "hal/arch.h"
#include "hal/occupancy_model.h"
#include "hal/occupancy_next_step.h"
#include "hal/terms.h"

namespace perflab::hal {

/// What a device says of itself: it goes before the tables, in the models that are about the device
/// (limits_of_models()). A figure that cannot be is not used: unusable_limits() names it.
struct RecordedLimits {
  std::optional<std::int64_t> max_waves_per_simd = std::nullopt;
  std::optional<std::int64_t> simds_per_cu = std::nullopt;
  std::optional<std::int64_t> lds_bytes_per_cu = std::nullopt;

  friend bool operator==(const RecordedLimits&, const RecordedLimits&) = default;
};

/// A kernel and how it is launched.
struct OccupancyInput {
  std::optional<int> wave_size = std::nullopt;       ///< none: the architecture's default
  std::optional<WorkgroupMode> mode = std::nullopt;  ///< none: likewise
  KernelResources kernel = {};
  RecordedLimits recorded = {};
};

/// The models of a platform, in the order that documents and tables have them in.
std::span<const OccupancyModel> models_of(Platform platform);

/// The model that says what a platform's hardware holds: "theoretical" occupancy.
constexpr OccupancyModel hardware_model_of(Platform platform) {
  return platform == Platform::amd ? OccupancyModel::resident : OccupancyModel::cuda;
}

/// The answers of the platform's models (the others have none), and what was assumed for them.
struct Occupancy {
  Platform platform = Platform::amd;
  int wave_size = 0;
  WorkgroupMode mode = WorkgroupMode::cu;
  int simds = 0;  ///< SIMDs of the unit that per_cu figures speak of (resident model): CU, or WGP
  bool sgprs_unknown = false;  ///< SGPRs could limit here, but no count was given
  ModelOccupancy llvm;
  ModelOccupancy hip;
  ModelOccupancy resident;
  ModelOccupancy cuda;

  [[nodiscard]] const ModelOccupancy& of(OccupancyModel model) const;
  /// What the hardware holds, whatever the platform.
  [[nodiscard]] const ModelOccupancy& hardware() const;
};

/// The limits of the tables. Error (bad_input): the architecture has no such wave size or no WGP
/// mode.
Result<OccupancyLimits> limits_of(const Arch& arch, std::optional<int> wave_size = std::nullopt,
                                  std::optional<WorkgroupMode> mode = std::nullopt);

/// What each model computes with. The llvm model has the tables' limits: the compiler never saw the
/// device. The HIP runtime has its own wave slots and SIMDs, and asks the device for the LDS. The
/// resident and the cuda model take every recorded figure.
struct ModelLimits {
  OccupancyLimits llvm;
  OccupancyLimits hip;
  OccupancyLimits resident;
  OccupancyLimits cuda;

  [[nodiscard]] const OccupancyLimits& of(OccupancyModel model) const;
  /// Those that decide what can be launched.
  [[nodiscard]] const OccupancyLimits& hardware() const;
};

/// Errors as limits_of().
Result<ModelLimits> limits_of_models(const Arch& arch, const OccupancyInput& input);

/// A recorded figure that cannot be, and what the tables have in its place.
struct UnusableLimit {
  std::string_view field;  ///< "max_waves_per_simd"
  std::int64_t recorded = 0, table = 0;
};

/// Recorded figures that are not used: below 1, less than a quarter of the tables' figure, or more
/// than four times that.
std::vector<UnusableLimit> unusable_limits(const Arch& arch, const RecordedLimits& recorded);

/// Arch::unconfirmed_of_occupancy(), less the fields that a recorded figure stands in for.
std::vector<std::string> unconfirmed_of_occupancy(const Arch& arch, const RecordedLimits& recorded);

/// Why LLVM drops the kernel's amdgpu_waves_per_eu, as a clause; missing when it is honoured or
/// there is none.
std::optional<std::string> dropped_attribute(const Arch& arch, const OccupancyInput& input);

/// Occupancy under all models of the platform. Error (bad_input): the work-group cannot be launched; the message
/// names the count and its limit.
Result<Occupancy> compute_occupancy(const Arch& arch, const OccupancyInput& input);

/// Next step and headroom under every model of the platform.
struct OccupancyAdvice {
  ModelAdvice llvm;
  ModelAdvice hip;
  ModelAdvice resident;
  ModelAdvice cuda;

  [[nodiscard]] const ModelAdvice& of(OccupancyModel model) const;
};

/// What to lower for more waves, and what may grow for free (hal/occupancy_next_step.h). Errors as
/// compute_occupancy().
Result<OccupancyAdvice> advise_occupancy(const Arch& arch, const OccupancyInput& input);

/// The resources of one dispatch as rocpd has them (docs/facts/rocpd.md "Registers").
struct TracedKernel {
  std::optional<int> wave_size = std::nullopt;  ///< the agent's wave_front_size; none: the default
  std::int64_t workgroup_size = 0;              ///< work-items: x * y * z
  std::int64_t static_lds = 0;                  ///< bytes; kernel symbol, group_segment_size
  std::int64_t dispatch_lds = 0;  ///< bytes; dispatch, group_segment_size: static and dynamic
  std::int64_t arch_vgprs = 0;    ///< kernel symbol, arch_vgpr_count
  std::int64_t accum_vgprs = 0;   ///< kernel symbol, accum_vgpr_count
  std::optional<std::int64_t> sgprs = std::nullopt;
  RecordedLimits recorded = {};  ///< of the agent
};

/// Registers that a wave holds, from the two counts of a trace. Profilers decode them from the
/// kernel descriptor: both are granules, and on unified register files only their sum is to be
/// trusted (the profiler splits it wrongly above 128 architected registers).
std::int64_t allocated_vgprs_in_trace(const Arch& arch, std::int64_t arch_vgprs,
                                      std::int64_t accum_vgprs);

/// The input for compute_occupancy(). A trace does not say the work-group mode: the default is
/// taken. SGPRs come rounded up: see llvm_range_of_granule().
OccupancyInput input_from_trace(const Arch& arch, const TracedKernel& kernel);

/// What the llvm model would say at another count of the same SGPR granule.
struct LlvmGranuleRange {
  std::int64_t fewest = 0, most = 0;  ///< SGPRs that are recorded alike
  double waves_per_simd = 0;          ///< with the fewest
};

/// For an input_from_trace(): set when LLVM's table of SGPRs cuts through the recorded granule and
/// that decides the llvm figure. Precondition: compute_occupancy() has an answer.
std::optional<LlvmGranuleRange> llvm_range_of_granule(const Arch& arch,
                                                      const OccupancyInput& input);

}  // namespace perflab::hal
