// Tries every amount with the models' integer bounds; words and fractions are made once a step.
#include "hal/occupancy_sweep.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace perflab::hal {
namespace {

std::int64_t& swept(KernelResources& kernel, Sweep of) {
  switch (of) {
    case Sweep::vgpr:
      return kernel.vgprs;
    case Sweep::lds:
      return kernel.static_lds;
    case Sweep::block:
      break;
  }
  return kernel.workgroup_size;
}

std::pair<std::int64_t, std::int64_t> range_of(const OccupancyLimits& limits,
                                               const KernelResources& kernel, Sweep of) {
  switch (of) {
    case Sweep::vgpr:
      return {std::min<std::int64_t>(kernel.vgprs, 1), limits.addressable_vgprs};
    case Sweep::lds:
      return {0, limits.lds_max_per_workgroup - kernel.dynamic_lds};
    case Sweep::block:
      break;
  }
  return {kernel.workgroup_size_min.value_or(1), limits.max_workgroup_size};
}

/// What tells one step from the next.
struct StepOutcome {
  std::optional<LaunchProblem> problem;
  std::array<std::int64_t, kOccupancyModels.size()> waves{};

  bool operator==(const StepOutcome&) const = default;
};

StepOutcome step_outcome(Platform platform, const ModelLimits& limits,
                         const KernelResources& kernel) {
  StepOutcome outcome{.problem = check_launch(limits.hardware(), kernel)};
  if (!outcome.problem)
    for (const OccupancyModel model : models_of(platform))
      outcome.waves[static_cast<std::size_t>(model)] =
          detail::comparable_waves(limits.of(model), kernel, model);
  return outcome;
}

SweepStep step_at(const Arch& arch, const OccupancyInput& input, std::int64_t from) {
  SweepStep step{.from = from, .to = from, .refusal = {}, .models = {}};
  const auto occupancy = compute_occupancy(arch, input);
  if (!occupancy) {
    step.refusal = occupancy.error().message;
    return step;
  }
  for (const OccupancyModel model : models_of(arch.platform))
    step.models[static_cast<std::size_t>(model)] = {occupancy->of(model).waves_per_simd,
                                                    occupancy->of(model).occupancy};
  return step;
}

}  // namespace

Result<OccupancySweep> sweep_occupancy(const Arch& arch, const OccupancyInput& input, Sweep of) {
  PERFLAB_TRY_VOID(compute_occupancy(arch, input));
  if (of == Sweep::vgpr && input.kernel.allocated_vgprs)
    return fail(ErrorCode::bad_input, "the count of VGPRs is known as allocated granules only");
  PERFLAB_TRY(const ModelLimits limits, limits_of_models(arch, input));
  OccupancyInput tried = input;
  OccupancySweep sweep{.of = of, .current = swept(tried.kernel, of), .steps = {}};
  std::optional<StepOutcome> last;
  const auto [first, end] = range_of(limits.hardware(), input.kernel, of);
  for (std::int64_t amount = first; amount <= end; ++amount) {
    swept(tried.kernel, of) = amount;
    const StepOutcome outcome = step_outcome(arch.platform, limits, tried.kernel);
    if (outcome == last) {
      sweep.steps.back().to = amount;
      continue;
    }
    sweep.steps.push_back(step_at(arch, tried, amount));
    last = outcome;
  }
  return sweep;
}

}  // namespace perflab::hal
