// Names of phases and decisions, as documents have them; what limits ruled out.
#include "tune/run/tuning.h"

#include "base/enum_names.h"

namespace perflab::tune {

std::string_view to_string(Phase phase) {
  using enum Phase;
  static constexpr auto kNames = enum_names<Phase>(
      {{baseline, "baseline"}, {warm_start, "warm_start"}, {seed, "seed"}, {confirm, "confirm"}});
  return kNames[phase];
}

std::string_view to_string(Decision decision) {
  using enum Decision;
  static constexpr auto kNames = enum_names<Decision>({{separated, "separated"},
                                                       {tie, "tie"},
                                                       {only_one, "only_one"},
                                                       {not_compared, "not_compared"}});
  return kNames[decision];
}

const Step* best_outside(const TuneResult& result) {
  const Step* best = nullptr;
  for (const Step& step : result.steps) {
    if (!step.evaluation.value || step.within_limits) continue;
    if (best == nullptr ||
        is_better(*step.evaluation.value, *best->evaluation.value, result.objective.maximize))
      best = &step;
  }
  return best;
}

}  // namespace perflab::tune
