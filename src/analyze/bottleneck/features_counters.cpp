// Features of counter passes: what analyze/roofline/roofline.h has of the kernel, as shares of 0
// to 1. Formulas: hal/counters/*.json; figures that only passes together would give are not used.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "analyze/bottleneck/feature_parts.h"
#include "analyze/roofline/roofline.h"
#include "base/text/number_text.h"
#include "hal/arch.h"
#include "hal/counter_catalogue.h"

namespace perflab::analyze {
namespace {

using enum FeatureId;

std::string passes_of(const Figure& figure) {
  if (figure.passes.empty()) return "";
  return fmt::format(", pass{} {}", figure.passes.size() == 1 ? "" : "es",
                     fmt::join(figure.passes, " and "));
}

const Figure* find_figure(const KernelRoofline& roofline, std::string_view name) {
  const auto found = std::ranges::find(roofline.features, name, &Figure::name);
  return found == roofline.features.end() ? nullptr : &*found;
}

const LevelTraffic* find_level(const KernelRoofline& roofline, std::string_view name) {
  const auto found = std::ranges::find(roofline.levels, name, &LevelTraffic::name);
  return found == roofline.levels.end() ? nullptr : &*found;
}

const Missing* find_missing(const KernelRoofline& roofline, std::string_view field) {
  const auto found = std::ranges::find(roofline.missing, field, &Missing::field);
  return found == roofline.missing.end() ? nullptr : &*found;
}

class CounterFeatures {
 public:
  CounterFeatures(const KernelRoofline& roofline, const CuRoom& room, FeatureSet& set)
      : r_(roofline), room_(room), set_(set) {}

  void add() {
    if (saw_nothing())
      return lack_all(
          set_, FeatureSource::counters,
          "the counters saw no wave or no instruction of this kernel: their zeros say nothing",
          kCountersRemedy);
    level(hbm_share, "hbm");
    level(l2_share, "l2");
    level(lds_share, "lds");
    compute();
    binding();
    side();
    figure(valu_busy, "issue.valu", 0.01);
    figure(mfma_busy, "issue.mfma", 0.01);
    no_matrix();
    figure(vmem_busy, "issue.vmem", 0.01);
    figure(lds_busy, "lds.util", 0.01);
    figure(cu_busy, "cu.busy", 0.01);
    figure(achieved_occupancy, "occupancy.achieved", 0.01);
    figure(wait_dependency, "wave_time.dependency", 0.01);
    figure(wait_issue, "wave_time.issue", 0.01);
    figure(branch_share, "branch_share", 0.01);
    figure(l2_hit, "hit.l2", 0.01);
    per_cu(busy_cu_occupancy, room_.wave_slots, "wave slots");
    per_cu(occupancy_reached, room_.resident_waves, "resident waves");
    lanes();
  }

 private:
  /// A dispatch has waves, and waves have instructions: counters without any have counted nothing.
  [[nodiscard]] bool saw_nothing() const {
    const hal::CounterTable* const table = hal::find_counter_table(r_.architecture);
    if (table == nullptr) return false;
    return std::ranges::any_of(r_.counters, [&](const CounterValue& counter) {
      return (counter.name == table->waves || counter.name == table->instructions) &&
             counter.mean == 0.0;
    });
  }

  /// A figure that the tables have, times `scale`.
  const Figure* figure(FeatureId id, std::string_view name, double scale) {
    const Figure* const found = find_figure(r_, name);
    if (found == nullptr || found->state == CounterState::unsupported) {
      lack(set_, id, fmt::format("there is no formula for it on {}", r_.architecture), "");
      return nullptr;
    }
    if (!found->value) {
      lack(set_, id, found->reason, found->remedy);
      return nullptr;
    }
    give(set_, id, *found->value * scale, found->formula + passes_of(*found));
    return found;
  }

  /// Why a share of time has no value: nearly always for want of times.
  [[nodiscard]] std::string_view remedy_of(const Missing& missing) const {
    if (!missing.remedy.empty()) return missing.remedy;
    return r_.time_ns ? std::string_view() : kTimesRemedy;
  }

  void level(FeatureId id, std::string_view name) {
    const LevelTraffic* const found = find_level(r_, name);
    if (found == nullptr)
      return lack(set_, id, fmt::format("there is no formula for it on {}", r_.architecture), "");
    if (found->bytes && *found->bytes == 0)
      return give(set_, id, 0, "no byte moved there" + passes_of(found->read_bytes));
    if (found->share)
      return give(set_, id, *found->share,
                  fmt::format("{} of {} {}{}; times: {}", number_text(*found->gb_per_s),
                              number_text(*found->ceiling.value), found->ceiling.unit,
                              passes_of(found->read_bytes), r_.time_from));
    for (const char* const what : {"bytes", "gb_per_s", "share"})
      if (const Missing* const missing =
              find_missing(r_, fmt::format("levels.{}.{}", found->name, what)))
        return lack(set_, id, missing->reason,
                    found->bytes ? remedy_of(*missing) : std::string_view(missing->remedy));
    lack(set_, id, "its bytes are not known", kCountersRemedy);
  }

  void compute() {
    if (r_.compute_share)
      return give(set_, compute_share, *r_.compute_share,
                  fmt::format("{} of {} {}; times: {}", number_text(r_.gflops.value_or(0)),
                              number_text(r_.compute_roof.value.value_or(0)), r_.compute_roof.unit,
                              r_.time_from));
    if (r_.flops_raw && *r_.flops_raw == 0 && r_.flops_are != "estimate")
      return give(set_, compute_share, 0, "no floating-point or matrix instruction was counted");
    if (const Missing* const missing = find_missing(r_, "compute.share"))
      return lack(set_, compute_share, missing->reason, remedy_of(*missing));
    lack(set_, compute_share, "the arithmetic was not counted", kCountersRemedy);
  }

  void binding() {
    if (!r_.binding || !r_.binding->share) {
      const Missing* missing = find_missing(r_, "binding");
      if (missing == nullptr) missing = find_missing(r_, "binding.share");
      for (const FeatureId id : {nearest_roof, integer_share})
        lack(set_, id, missing == nullptr ? "no roof is known to bind" : missing->reason,
             missing == nullptr ? std::string_view() : remedy_of(*missing));
    }
    if (!r_.binding) return;
    const Binding& bound = *r_.binding;
    if (bound.share)
      give(set_, nearest_roof, *bound.share,
           fmt::format("the roof of {}{}; times: {}", bound.roof, without(), r_.time_from));
    if (bound.roof != "integer")
      give(set_, integer_share, 0, fmt::format("the roof of {} binds", bound.roof));
    else if (bound.share)
      give(set_, integer_share, *bound.share, "the integer roof binds; times: " + r_.time_from);
  }

  /// Pipes that got no instruction were not busy, whatever the cycles were.
  void no_matrix() {
    if (set_[mfma_busy].value) return;
    const Figure* const instructions = find_figure(r_, "matrix_instructions");
    if (instructions != nullptr && instructions->value == 0.0)
      give(set_, mfma_busy, 0, "no matrix instruction was counted" + passes_of(*instructions));
  }

  /// Roofs that were left out of the search for the binding one.
  [[nodiscard]] std::string without() const {
    std::vector<std::string_view> unknown;
    for (const LevelTraffic& level : r_.levels)
      if (!level.bytes || (*level.bytes > 0 && !level.share)) unknown.push_back(level.name);
    if (unknown.empty()) return "";
    return fmt::format(" (without {}, which is not known)", fmt::join(unknown, " and "));
  }

  /// Times that the roofs alone take: of bytes and FLOP, whatever the kernel's own time is.
  void side() {
    if (!r_.binding) {
      const Missing* const missing = find_missing(r_, "binding");
      return lack(set_, memory_side,
                  missing == nullptr ? "no roof is known to bind" : missing->reason,
                  missing == nullptr ? std::string_view() : std::string_view(missing->remedy));
    }
    if (r_.binding->roof == "integer")
      return lack(set_, memory_side,
                  "the integer roof binds: it is neither memory's nor floating-point", "");
    double memory = 0;
    for (const LevelTraffic& level : r_.levels)
      // What LDS moves can be in doubt (gfx950), and its share is missing then.
      if (level.bytes && level.ceiling.value && *level.ceiling.value > 0 &&
          (level.name != "lds" || level.share))
        memory = std::max(memory, *level.bytes / *level.ceiling.value);
    const std::optional<double> arithmetic = arithmetic_time();
    if (!arithmetic)
      return lack(set_, memory_side, "the time at the compute roof is not known", "");
    give(set_, memory_side, memory / (memory + *arithmetic),
         fmt::format("{} ns at the memory roof, {} ns at the floating-point roof, of {} "
                     "dispatch{} together",
                     number_text(memory), number_text(*arithmetic), r_.dispatches,
                     r_.dispatches == 1 ? "" : "es"));
  }

  /// ns at the compute roof; lanes that are switched off take their time all the same.
  [[nodiscard]] std::optional<double> arithmetic_time() const {
    if (r_.flops_are == "estimate") {
      if (!r_.estimate || !r_.compute_roof.value) return std::nullopt;
      return r_.estimate->flops / *r_.compute_roof.value;
    }
    double ns = 0;
    for (const Work& work : r_.work) {
      if (!work.flops.value) return std::nullopt;
      if (*work.flops.value == 0) continue;
      if (!work.ceiling.value) return std::nullopt;
      ns += *work.flops.value / *work.ceiling.value;
    }
    return ns;
  }

  void per_cu(FeatureId id, const std::optional<double>& room, std::string_view what) {
    const Figure* const waves = figure(id, "occupancy.busy_cus_waves", 1);
    if (waves == nullptr) return;
    if (!room || *room <= 0)
      return lack(set_, id, fmt::format("the {} of a CU are not known", what), "");
    give(set_, id, *waves->value / *room,
         fmt::format("{:.6g} of {:.6g} {}; {}{}", *waves->value, *room, what, waves->formula,
                     passes_of(*waves)));
  }

  void lanes() {
    figure(partial_waves, "partial_waves", 0.01);
    const Figure* const lanes = figure(lanes_active, "lanes", 1);
    if (lanes == nullptr) return;
    // On AMD only architectures of wave64 count lanes (docs/facts/counters.md "Units"): there is
    // one wave size wherever there is this figure.
    const hal::Arch* const arch = hal::find_arch(r_.architecture);
    if (arch == nullptr || arch->wave_sizes.size() != 1)
      return lack(set_, lanes_active, "the wave size of this kernel is not known", "");
    const int wave = arch->wave_sizes.front().wave_size;
    give(set_, lanes_active, *lanes->value / wave,
         fmt::format("{:.6g} of {} lanes; {}{}", *lanes->value, wave, lanes->formula,
                     passes_of(*lanes)));
  }

  const KernelRoofline& r_;
  const CuRoom& room_;
  FeatureSet& set_;
};

}  // namespace

void add_counter_features(const KernelRoofline& roofline, const CuRoom& room, FeatureSet& set) {
  CounterFeatures(roofline, room, set).add();
}

}  // namespace perflab::analyze
