// Inputs of the occupancy gap: names of figures are those of hal's counter tables.
#include "analyze/roofline/explain_occupancy.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "analyze/kernels/cu_room.h"

namespace perflab::analyze {
namespace {

constexpr std::string_view kWaitedPrefix = "limiter.";

/// A figure of the counters as a share; without one: why.
struct FoundShare {
  std::optional<double> value;
  std::string reason, remedy;
};

FoundShare share_of(const KernelRoofline& roofline, std::string_view name) {
  const auto found = std::ranges::find(roofline.features, name, &Figure::name);
  if (found == roofline.features.end() || found->state == CounterState::unsupported)
    return {.value = {},
            .reason = "no counter of " + roofline.architecture + " tells it",
            .remedy = {}};
  // Counters of a busy unit reach 100 % and, by rounding and by passes, a little more.
  if (found->value)
    return {.value = std::clamp(*found->value / 100, 0.0, 1.0), .reason = {}, .remedy = {}};
  return {.value = {}, .reason = found->reason, .remedy = found->remedy};
}

/// The launch in rounds, or why the split cannot use it.
void add_rounds(const Kernel& kernel, GapInput& input) {
  const CuRoom room = room_of(kernel);
  const std::uint64_t waves = waves_per_workgroup(kernel);
  if (kernel.launch_shapes > 1)
    input.no_rounds = "its launches differ in size: the counters are of all of them together";
  else if (!kernel.workgroups || *kernel.workgroups == 0 || waves == 0)
    input.no_rounds = "the launch has no work-group size";
  else if (!kernel.gpu.compute_units || *kernel.gpu.compute_units <= 0)
    input.no_rounds = "the number of CUs of its GPU is not known";
  else
    input.rounds = {
        .workgroups = static_cast<double>(*kernel.workgroups),
        .cus = static_cast<double>(*kernel.gpu.compute_units),
        .workgroups_per_cu = room.resident_waves.value_or(0) / static_cast<double>(waves)};
}

std::vector<WaitedFor> waited_for(const KernelRoofline& roofline) {
  std::vector<WaitedFor> out;
  for (const Figure& figure : roofline.features)
    if (figure.name.starts_with(kWaitedPrefix) && figure.value.value_or(0) > 0)
      out.push_back({.resource = figure.name.substr(kWaitedPrefix.size()),
                     .share = std::min(*figure.value / 100, 1.0)});
  std::ranges::stable_sort(out, std::ranges::greater{}, &WaitedFor::share);
  return out;
}

Missing missing_gap(std::string reason, std::string remedy) {
  return {.field = "occupancy_gap", .reason = std::move(reason), .remedy = std::move(remedy)};
}

/// The gap, or the entry that says why there is none.
std::variant<OccupancyGap, Missing> explain(const KernelRoofline& roofline, const Kernel& kernel) {
  if (!kernel.occupancy) {
    const auto why = std::ranges::find(kernel.missing, "occupancy.theoretical", &Missing::field);
    if (why != kernel.missing.end()) return missing_gap(why->reason, why->remedy);
    return missing_gap("its theoretical occupancy is not known", "");
  }
  const FoundShare achieved = share_of(roofline, "occupancy.achieved");
  if (!achieved.value) return missing_gap(achieved.reason, achieved.remedy);
  const FoundShare cus = share_of(roofline, "cu.busy");
  const FoundShare engines = share_of(roofline, "se.busy");
  const FoundShare wait = share_of(roofline, "launch.resource_wait");
  GapInput input{.theoretical = kernel.occupancy->hardware().occupancy,
                 .achieved = *achieved.value,
                 .cus_busy = cus.value,
                 .engines_busy = engines.value,
                 .resource_wait = wait.value,
                 .rounds = {},
                 .no_cus = cus.reason,
                 .no_engines = engines.reason,
                 .no_wait = wait.reason,
                 .no_rounds = {}};
  add_rounds(kernel, input);
  Result<OccupancyGap> gap = split_occupancy_gap(input);
  if (!gap) return missing_gap(gap.error().message, "");
  gap->waited_for = waited_for(roofline);
  return std::move(*gap);
}

}  // namespace

const KernelRoofline* roofline_of(const std::optional<Roofline>& roofline, const Kernel& kernel) {
  if (!roofline) return nullptr;
  const KernelRoofline* found = nullptr;
  for (const KernelRoofline& one : roofline->kernels) {
    if (one.kernel != kernel.name) continue;
    if (one.architecture == kernel.gpu.architecture) return &one;
    if (!kernel.gpu.architecture.empty()) continue;
    if (found != nullptr) return nullptr;
    found = &one;
  }
  return found;
}

void explain_occupancy(const std::optional<Roofline>& roofline, const Missing& roofline_missing,
                       std::vector<Kernel>& kernels) {
  constexpr const char* kRemedy = "collect counters: rocm-perf profile --roofline -- ./app";
  for (Kernel& kernel : kernels) {
    const KernelRoofline* const counted = roofline_of(roofline, kernel);
    if (counted == nullptr) {
      const bool none = !roofline && !roofline_missing.reason.empty();
      kernel.occupancy_gap_missing = missing_gap(
          none ? roofline_missing.reason : "no counters of this kernel say what was achieved",
          none ? roofline_missing.remedy : kRemedy);
      continue;
    }
    auto explained = explain(*counted, kernel);
    if (auto* const gap = std::get_if<OccupancyGap>(&explained))
      kernel.occupancy_gap = std::move(*gap);
    else
      kernel.occupancy_gap_missing = std::move(std::get<Missing>(explained));
  }
}

}  // namespace perflab::analyze
