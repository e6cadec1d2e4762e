// What follows from something else in a record is computed again and compared.
#include "optimize/rounds/record_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "optimize/rounds/records.h"

namespace perflab::optimize {
namespace {

/// Figures of two builds of this program may differ in the last bits.
constexpr double kFigureTolerance = 1e-9;

std::string result_text(const GuardResult& guard) {
  if (guard.passed) return guard.name + " passed";
  return fmt::format("{} failed{}", guard.name,
                     guard.reason ? fmt::format(" ({})", to_string(*guard.reason)) : "");
}

}  // namespace

bool same_figures(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    const auto x = a.get<double>(), y = b.get<double>();
    return std::abs(x - y) <= kFigureTolerance * std::max({1.0, std::abs(x), std::abs(y)});
  }
  if (a.is_object() && b.is_object())
    return a.size() == b.size() && std::ranges::all_of(a.items(), [&](const auto& item) {
             return b.contains(item.key()) && same_figures(item.value(), b[item.key()]);
           });
  return a == b;
}

std::string altered_figure(const JudgeOptions& options, const Measurement& recorded) {
  Measurement again = recorded;
  recompute(options, again);
  if (!same_figures(again.confidence, recorded.confidence))
    return fmt::format("the confidence of a look is {}, and {} is recorded", again.confidence,
                       recorded.confidence);
  const Json now = to_json(again.comparison), then = to_json(recorded.comparison);
  for (const auto& [key, value] : now.items())
    if (!same_figures(value, then[key]))
      return fmt::format("{} is {} by the samples, and {} is recorded", key, value.dump(),
                         then[key].dump());
  const auto turns = [&](char side) {
    return static_cast<std::size_t>(std::ranges::count(recorded.order, side));
  };
  if (turns('A') != recorded.before.size() || turns('B') != recorded.after.size())
    return "the order of the turns does not have as many as there are samples";
  return {};
}

std::string altered_decision(const Candidate& candidate, const JudgeOptions& options,
                             bool must_reproduce) {
  const std::optional<Decision> again = decision_of(candidate, options, must_reproduce);
  if (!again) return "the step that it has to be based on is missing";
  const Decision& recorded = candidate.decision;
  if (again->outcome == recorded.outcome && again->reason == recorded.reason) return {};
  const auto text = [](const Decision& decision) {
    return fmt::format("{}{}", to_string(decision.outcome),
                       decision.reason ? fmt::format(" ({})", to_string(*decision.reason)) : "");
  };
  return fmt::format("the records say {}, and {} is recorded", text(*again), text(recorded));
}

std::string guard_difference(const GuardResults& recorded, const GuardResults& now) {
  for (std::size_t i = 0; i < std::max(recorded.size(), now.size()); ++i) {
    const bool same = i < recorded.size() && i < now.size() && recorded[i].name == now[i].name &&
                      recorded[i].passed == now[i].passed && recorded[i].reason == now[i].reason;
    if (same) continue;
    const auto text = [i](const GuardResults& guards) {
      return i < guards.size() ? result_text(guards[i]) : std::string("no further guard");
    };
    return fmt::format("it is found that {}, and {} is recorded", text(now), text(recorded));
  }
  return {};
}

}  // namespace perflab::optimize
