// What to give up for one more wave, and what may grow for free, under each model of
// hal/occupancy_model.h. Exact for those models: bounds are solved in closed form, and work-group
// sizes (and the LDS under LLVM 20's range rule), in which occupancy is not monotone, are walked.
// LDS and registers are held while the work-group size changes. C++20 standard library only.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "hal/occupancy_model.h"

namespace perflab::hal {

/// An amount that a kernel can trade for waves.
enum class Resource {
  vgpr,   ///< vector registers of a wave as they are demanded: on unified files the architected
          ///< count rounded up plus AGPRs, on separate files the larger of the two
  sgpr,   ///< scalar registers of a wave
  lds,    ///< bytes of a work-group: static in the llvm model, static and dynamic in the others
  block,  ///< work-items of a work-group (the largest size, when it is a range)
};

inline constexpr std::array kResources = {Resource::vgpr, Resource::sgpr, Resource::lds,
                                          Resource::block};

/// Stable names for documents: "vgpr", "sgpr", "lds", "block".
constexpr std::string_view to_string(Resource resource) {
  switch (resource) {
    case Resource::vgpr:
      return "vgpr";
    case Resource::sgpr:
      return "sgpr";
    case Resource::lds:
      return "lds";
    case Resource::block:
      return "block";
  }
  return "";
}

/// One amount, lowered as little as possible.
struct Change {
  Resource resource = Resource::vgpr;
  std::int64_t from = 0;
  std::int64_t to = 0;  ///< the largest amount below `from` that will do
};

/// Changes that together let more waves be resident, and how many are then.
struct Step {
  std::vector<Change> changes;  ///< in the order of Resource
  double waves_per_simd = 0;
  double occupancy = 0;
  int workgroups_per_cu = 0;
};

/// Why lowering one resource alone gains nothing.
enum class NoStep {
  at_maximum,  ///< as many waves as the model allows
  not_known,   ///< no count was given
  nothing,     ///< the kernel has nothing of it to give up
  others,      ///< something else limits as well: SingleStep::limited_by
};

/// The smallest decrease of one resource alone that gains waves, or why there is none.
struct SingleStep {
  std::optional<Step> step = std::nullopt;
  NoStep reason = NoStep::at_maximum;    ///< says something only when there is no step
  std::vector<Limiter> limited_by = {};  ///< with NoStep::others: what keeps the waves out then
};

/// What to do for more waves.
struct NextStep {
  /// The cheapest: of the single steps the one with the smallest relative decrease (the first on a
  /// tie), and when no single one gains, the resources that must be lowered together. For those
  /// the work-group keeps its size if that can be, else it gets the largest size that can.
  std::optional<Step> best;
  std::array<SingleStep, kResources.size()> alone;

  [[nodiscard]] const SingleStep& of(Resource resource) const {
    return alone[static_cast<std::size_t>(resource)];
  }
};

/// How much more of each a kernel may use, everything else held, without losing waves and with the
/// work-group still launchable. Every amount up to that is free. None = not known, or not there.
struct Headroom {
  /// Architected registers; of the sum when only allocated_vgprs is known.
  std::int64_t vgprs = 0;
  std::optional<std::int64_t> agprs = std::nullopt;
  std::optional<std::int64_t> sgprs = std::nullopt;
  std::int64_t lds = 0;    ///< bytes; see Resource::lds
  std::int64_t block = 0;  ///< work-items
};

/// Next step and headroom under one model.
struct ModelAdvice {
  NextStep next_step;
  Headroom headroom;
};

namespace detail {

constexpr std::int64_t align_down(std::int64_t value, std::int64_t granule) {
  return value / granule * granule;
}

constexpr Caps model_caps(const OccupancyLimits& limits, const KernelResources& kernel,
                          OccupancyModel model) {
  switch (model) {
    case OccupancyModel::llvm:
      return llvm_caps(limits, kernel);
    case OccupancyModel::hip:
      return hip_caps(limits, kernel);
    case OccupancyModel::cuda:
      return cuda_caps(limits, kernel);
    case OccupancyModel::resident:
      break;
  }
  return resident_caps(limits, kernel);
}

/// What a model counts in: waves per SIMD (llvm) or work-groups (the others).
constexpr std::int64_t model_units(const OccupancyLimits& limits, const KernelResources& kernel,
                                   OccupancyModel model) {
  return smallest(model_caps(limits, kernel, model));
}

/// Resident waves in a unit that does not depend on the work-group size: to compare launches.
constexpr std::int64_t comparable_waves(const OccupancyLimits& limits,
                                        const KernelResources& kernel, OccupancyModel model) {
  const std::int64_t units = model_units(limits, kernel, model);
  return model == OccupancyModel::llvm ? units : units * waves_per_workgroup(limits, kernel);
}

/// The amount of a resource that the model counts; none when it is not known.
constexpr std::optional<std::int64_t> amount_of(const OccupancyLimits& limits,
                                                const KernelResources& kernel, OccupancyModel model,
                                                Resource resource) {
  switch (resource) {
    case Resource::vgpr:
      return vgpr_demand(limits, kernel);
    case Resource::sgpr:
      return kernel.sgprs;
    case Resource::lds:
      return kernel.static_lds + (model == OccupancyModel::llvm ? 0 : kernel.dynamic_lds);
    case Resource::block:
      break;
  }
  return kernel.workgroup_size;
}

/// The kernel with one amount changed. LDS goes from the dynamic part first where both count.
constexpr KernelResources with_amount(KernelResources kernel, OccupancyModel model,
                                      Resource resource, std::int64_t amount) {
  switch (resource) {
    case Resource::vgpr:
      kernel.allocated_vgprs = amount;
      break;
    case Resource::sgpr:
      kernel.sgprs = amount;
      break;
    case Resource::lds:
      if (model != OccupancyModel::llvm) {
        const std::int64_t still_static = std::min(kernel.static_lds, amount);
        kernel.dynamic_lds = amount - still_static;
        amount = still_static;
      }
      kernel.static_lds = amount;
      break;
    case Resource::block:
      kernel.workgroup_size = amount;
      break;
  }
  return kernel;
}

/// Registers that a wave may have at most, so that `per_simd` waves of a SIMD find room.
constexpr std::int64_t most_vgprs(const OccupancyLimits& limits, std::int64_t per_simd) {
  return align_down(limits.vgprs_per_simd / per_simd, limits.vgpr_granule);
}

/// Waves per SIMD that the register files must hold for `units` of the model.
constexpr std::int64_t waves_for_units(const OccupancyLimits& limits, const KernelResources& kernel,
                                       OccupancyModel model, std::int64_t units) {
  if (model == OccupancyModel::llvm) return units;
  return ceil_div(units * waves_per_workgroup(limits, kernel), limits.simds);
}

/// The largest SGPR count that LLVM's table gives `waves` for, `unlimited` when every count has
/// them; none when no count has.
constexpr std::optional<std::int64_t> most_llvm_sgprs(const OccupancyLimits& limits,
                                                      std::int64_t waves, std::int64_t unlimited) {
  std::optional<std::int64_t> most;
  for (const SgprStep& step : limits.llvm_sgpr_waves)
    if (step.waves >= waves) most = step.max_sgprs.value_or(unlimited);
  return limits.llvm_sgpr_waves.empty() ? unlimited : most;
}

/// The largest LDS amount whose bound is at least `units`, with units above what any amount of
/// LDS allows for free (the llvm model: above 1). Not for LLVM 20's range.
constexpr std::int64_t most_lds(const OccupancyLimits& limits, const KernelResources& kernel,
                                OccupancyModel model, std::int64_t units) {
  switch (model) {
    case OccupancyModel::llvm: {
      const std::int64_t waves = waves_per_workgroup(limits, kernel);
      return limits.lds_bytes / ((units - 1) * limits.simds / waves + 1);
    }
    case OccupancyModel::hip:
      return limits.lds_bytes_per_cu / units;
    case OccupancyModel::cuda:
      return align_down(limits.lds_bytes / units, limits.lds_granule) - limits.lds_reserved;
    case OccupancyModel::resident:
      break;
  }
  return align_down(limits.lds_bytes / units, limits.lds_granule);
}

/// The largest LDS amount below the present one at which LLVM 20's rule for a range of sizes gives
/// at least `waves` waves per SIMD.
constexpr std::optional<std::int64_t> range_lds_below(const OccupancyLimits& limits,
                                                      const KernelResources& kernel,
                                                      std::int64_t waves) {
  if (kernel.static_lds < 1) return std::nullopt;
  const std::int64_t slots = limits.max_waves_llvm * limits.simds;
  for (std::int64_t groups = limits.lds_bytes / kernel.static_lds + 1; groups <= slots; ++groups)
    if (llvm_range_waves(limits, fewest_waves_per_workgroup(limits, kernel),
                         waves_per_workgroup(limits, kernel), limits.barrier_workgroups,
                         groups) >= waves)
      return limits.lds_bytes / groups;
  return std::nullopt;
}

/// The largest amount below the present one whose bound is at least `units`; none: the bound is
/// not one that lowering a resource moves.
constexpr std::optional<std::pair<Resource, std::int64_t>> relief(const OccupancyLimits& limits,
                                                                  const KernelResources& kernel,
                                                                  OccupancyModel model, Limiter by,
                                                                  std::int64_t units) {
  const auto lower = [](Resource resource, std::optional<std::int64_t> to) {
    return to ? std::optional(std::pair(resource, *to)) : std::nullopt;
  };
  const std::int64_t per_simd = waves_for_units(limits, kernel, model, units);
  if (by == Limiter::vgpr) {
    const std::int64_t most = most_vgprs(limits, per_simd);
    return lower(Resource::vgpr, most > 0 ? std::optional(most) : std::nullopt);
  }
  if (by == Limiter::sgpr) {
    if (model == OccupancyModel::llvm)
      return lower(Resource::sgpr, most_llvm_sgprs(limits, units, limits.max_sgprs));
    return lower(Resource::sgpr,
                 align_down(limits.sgprs_per_simd.value_or(0) / per_simd, limits.sgpr_granule));
  }
  const bool by_groups =
      by == Limiter::lds || by == Limiter::workgroup_slots || by == Limiter::barriers;
  if (model == OccupancyModel::llvm && by_groups && has_llvm_range(limits, kernel))
    return lower(Resource::lds, range_lds_below(limits, kernel, units));
  if (by == Limiter::lds) return lower(Resource::lds, most_lds(limits, kernel, model, units));
  return std::nullopt;
}

/// What it takes to have more than `waves` comparable waves at one work-group size.
struct Plan {
  std::vector<Change> changes;  ///< beside the work-group size
  std::vector<Limiter> below;   ///< every bound that is too low
  bool possible = true;         ///< false: a bound is among them that no change lifts
};

inline Plan plan_for(const OccupancyLimits& limits, const KernelResources& kernel,
                     OccupancyModel model, std::int64_t waves) {
  const std::int64_t needed =
      model == OccupancyModel::llvm ? waves + 1 : waves / waves_per_workgroup(limits, kernel) + 1;
  Plan plan;
  for (const Cap& cap : model_caps(limits, kernel, model)) {
    if (cap.value >= needed) continue;
    plan.below.push_back(cap.by);
    const auto lowered = relief(limits, kernel, model, cap.by, needed);
    if (!lowered) {
      plan.possible = false;
      continue;
    }
    const auto [resource, to] = *lowered;
    const std::int64_t from = amount_of(limits, kernel, model, resource).value_or(0);
    plan.changes.push_back({.resource = resource, .from = from, .to = to});
  }
  std::ranges::sort(plan.changes, {}, &Change::resource);
  std::ranges::sort(plan.below);
  return plan;
}

/// The step with its figures filled in.
inline Step step_of(const OccupancyLimits& limits, const KernelResources& kernel,
                    OccupancyModel model, std::vector<Change> changes) {
  KernelResources changed = kernel;
  for (const Change& change : changes)
    changed = with_amount(changed, model, change.resource, change.to);
  const ModelOccupancy after = model_occupancy(limits, changed, model);
  return {.changes = std::move(changes),
          .waves_per_simd = after.waves_per_simd,
          .occupancy = after.occupancy,
          .workgroups_per_cu = after.workgroups_per_cu};
}

/// The single step of a resource other than the work-group size, from the plan at that size.
inline SingleStep single_step(const OccupancyLimits& limits, const KernelResources& kernel,
                              OccupancyModel model, Resource resource, const Plan& plan) {
  SingleStep single;
  const auto amount = amount_of(limits, kernel, model, resource);
  if (!amount || *amount < 1) {
    single.reason = amount ? NoStep::nothing : NoStep::not_known;
    return single;
  }
  if (plan.possible && plan.changes.size() == 1 && plan.changes.front().resource == resource) {
    single.step = step_of(limits, kernel, model, plan.changes);
    return single;
  }
  single.reason = NoStep::others;
  for (const Limiter by : plan.below)
    if (to_string(by) != to_string(resource)) single.limited_by.push_back(by);
  // It is the only one, and its least amount is still too much.
  if (single.limited_by.empty()) single.limited_by = plan.below;
  return single;
}

/// Walks the smaller work-group sizes. The nearest one that gains by itself goes into `single`;
/// the nearest one that gains at all, with what must be lowered beside it, is returned.
inline std::vector<Change> walk_blocks(const OccupancyLimits& limits, const KernelResources& kernel,
                                       OccupancyModel model, std::int64_t waves, const Plan& here,
                                       SingleStep& single) {
  const std::int64_t fewest =
      kernel.workgroup_size_min ? fewest_waves_per_workgroup(limits, kernel) : std::int64_t{1};
  std::int64_t size = waves_per_workgroup(limits, kernel) - 1;
  single.reason = size < fewest ? NoStep::nothing : NoStep::others;
  std::vector<Change> together;
  for (; size >= fewest; --size) {
    const Change block{
        .resource = Resource::block, .from = kernel.workgroup_size, .to = size * limits.wave_size};
    const KernelResources smaller = with_amount(kernel, model, Resource::block, block.to);
    if (comparable_waves(limits, smaller, model) > waves) {
      single.step = step_of(limits, kernel, model, {block});
      break;
    }
    if (!together.empty()) continue;
    Plan plan = plan_for(limits, smaller, model, waves);
    if (!plan.possible) continue;
    together = std::move(plan.changes);
    together.push_back(block);
  }
  if (single.reason == NoStep::others && !single.step) single.limited_by = here.below;
  return together;
}

/// Whether `a` gives up a smaller share than `b`.
constexpr bool cheaper(const Change& a, const Change& b) {
  return (a.from - a.to) * b.from < (b.from - b.to) * a.from;
}

/// Most demand of vector registers that keeps `units`, and the work-group launchable.
constexpr std::int64_t most_demand(const OccupancyLimits& limits, const KernelResources& kernel,
                                   OccupancyModel model, std::int64_t units) {
  const std::int64_t to_launch =
      ceil_div(waves_per_workgroup(limits, kernel), limits.simds);  // one work-group must fit
  std::int64_t per_simd = waves_for_units(limits, kernel, model, units);
  if (model == OccupancyModel::llvm && units == 1) per_simd = 0;  // the least that it says
  return most_vgprs(limits, std::max(per_simd, to_launch));
}

constexpr void vgpr_headroom(const OccupancyLimits& limits, const KernelResources& kernel,
                             std::int64_t most, Headroom& room) {
  const auto more = [](std::int64_t up_to, std::int64_t now) {
    return std::max<std::int64_t>(up_to - now, 0);
  };
  if (kernel.allocated_vgprs) {
    const std::int64_t all = align_up(addressable_registers(limits), limits.vgpr_granule);
    room.vgprs = more(std::min(most, all), *kernel.allocated_vgprs);
    return;
  }
  const bool unified = limits.agpr_rule == AgprRule::unified;
  const std::int64_t vgprs = unified && kernel.agprs > 0
                                 ? align_down(most - kernel.agprs, limits.accum_offset_granule)
                                 : most;
  room.vgprs = more(std::min(vgprs, limits.addressable_vgprs), kernel.vgprs);
  if (limits.agpr_rule == AgprRule::none) return;
  const std::int64_t agprs =
      unified ? most - align_up(kernel.vgprs, limits.accum_offset_granule) : most;
  room.agprs = more(std::min(agprs, limits.addressable_agprs), kernel.agprs);
}

constexpr std::optional<std::int64_t> sgpr_headroom(const OccupancyLimits& limits,
                                                    const KernelResources& kernel,
                                                    OccupancyModel model, std::int64_t units) {
  if (!kernel.sgprs) return std::nullopt;
  std::int64_t most = limits.max_sgprs;
  if (model == OccupancyModel::llvm)
    most = std::min(most, most_llvm_sgprs(limits, units, most).value_or(0));
  if (limits.sgprs_per_simd) {
    const std::int64_t to_launch = ceil_div(waves_per_workgroup(limits, kernel), limits.simds);
    const std::int64_t per_simd =
        model == OccupancyModel::llvm ? 0 : waves_for_units(limits, kernel, model, units);
    most = std::min(most, align_down(*limits.sgprs_per_simd / std::max(per_simd, to_launch),
                                     limits.sgpr_granule));
  }
  return std::max<std::int64_t>(most - *kernel.sgprs, 0);
}

constexpr std::int64_t lds_headroom(const OccupancyLimits& limits, const KernelResources& kernel,
                                    OccupancyModel model, std::int64_t units) {
  const std::int64_t total = kernel.static_lds + kernel.dynamic_lds;
  const std::int64_t to_launch =
      std::min(limits.lds_max_per_workgroup, align_down(limits.lds_bytes, limits.lds_granule));
  std::int64_t room = to_launch - total;
  if (model == OccupancyModel::llvm && has_llvm_range(limits, kernel)) {
    // Downwards through the numbers of work-groups, as far as nothing is lost.
    const std::int64_t slots = limits.max_waves_llvm * limits.simds;
    std::int64_t groups =
        std::min(slots, limits.lds_bytes / std::max<std::int64_t>(kernel.static_lds, 1));
    const auto keeps = [&](std::int64_t fewer) {
      const auto grown = with_amount(kernel, model, Resource::lds,
                                     limits.lds_bytes / std::max<std::int64_t>(fewer, 1));
      return model_units(limits, grown, model) >= units;
    };
    while (groups > 1 && keeps(groups - 1)) --groups;
    room = std::min(room, limits.lds_bytes / groups - kernel.static_lds);
  } else if (units > (model == OccupancyModel::llvm ? 1 : 0)) {
    room = std::min(room, most_lds(limits, kernel, model, units) -
                              (model == OccupancyModel::llvm ? kernel.static_lds : total));
  }
  return std::max<std::int64_t>(room, 0);
}

constexpr std::int64_t block_headroom(const OccupancyLimits& limits, const KernelResources& kernel,
                                      OccupancyModel model) {
  const std::int64_t waves = comparable_waves(limits, kernel, model);
  std::int64_t largest = kernel.workgroup_size;
  while (largest < limits.max_workgroup_size) {
    // All sizes of one number of waves are the same to every model.
    const std::int64_t next =
        std::min(limits.max_workgroup_size, (largest / limits.wave_size + 1) * limits.wave_size);
    const KernelResources grown = with_amount(kernel, model, Resource::block, next);
    if (check_launch(limits, grown) || comparable_waves(limits, grown, model) < waves) break;
    largest = next;
  }
  return largest - kernel.workgroup_size;
}

}  // namespace detail

/// What to lower for more waves under the model. Precondition: check_launch() found nothing.
inline NextStep next_step(const OccupancyLimits& limits, const KernelResources& kernel,
                          OccupancyModel model) {
  using namespace detail;
  NextStep result;
  const std::int64_t waves = comparable_waves(limits, kernel, model);
  const std::int64_t max_waves = model == OccupancyModel::llvm ? limits.max_waves_llvm
                                 : model == OccupancyModel::hip
                                     ? limits.max_waves_hip * limits.simds
                                     : limits.max_waves_hardware * limits.simds;
  if (waves >= max_waves) return result;
  Plan here = plan_for(limits, kernel, model, waves);
  for (const Resource resource : {Resource::vgpr, Resource::sgpr, Resource::lds})
    result.alone[static_cast<std::size_t>(resource)] =
        single_step(limits, kernel, model, resource, here);
  SingleStep& block = result.alone[static_cast<std::size_t>(Resource::block)];
  std::vector<Change> with_block = walk_blocks(limits, kernel, model, waves, here, block);
  for (const SingleStep& single : result.alone)
    if (single.step &&
        (!result.best || cheaper(single.step->changes.front(), result.best->changes.front())))
      result.best = single.step;
  if (result.best) return result;
  if (here.possible)
    result.best = step_of(limits, kernel, model, std::move(here.changes));
  else if (!with_block.empty())
    result.best = step_of(limits, kernel, model, std::move(with_block));
  return result;
}

/// What may grow without losing waves under the model. Precondition: check_launch() found nothing.
inline Headroom headroom(const OccupancyLimits& limits, const KernelResources& kernel,
                         OccupancyModel model) {
  using namespace detail;
  const std::int64_t units = model_units(limits, kernel, model);
  Headroom room;
  vgpr_headroom(limits, kernel, most_demand(limits, kernel, model, units), room);
  room.sgprs = sgpr_headroom(limits, kernel, model, units);
  room.lds = lds_headroom(limits, kernel, model, units);
  room.block = block_headroom(limits, kernel, model);
  return room;
}

/// Both. Precondition: check_launch() found nothing.
inline ModelAdvice advise(const OccupancyLimits& limits, const KernelResources& kernel,
                          OccupancyModel model) {
  return {.next_step = next_step(limits, kernel, model),
          .headroom = headroom(limits, kernel, model)};
}

}  // namespace perflab::hal
