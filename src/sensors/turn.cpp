// See turn.h.
#include "sensors/turn.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace perflab::sensors {
namespace {

/// What accumulated between two readings.
Throttles grown(const Reading& before, const Reading& after) {
  Throttles found;
  if (!before.throttled_for || !after.throttled_for) return found;
  for (std::size_t i = 0; i < kThrottles; ++i)
    if (after.throttled_for->at(i) > before.throttled_for->at(i))
      found.add(static_cast<Throttle>(i));
  return found;
}

/// The lowest and highest value of a clock, first to last as they were read.
std::string change_of(std::span<const Span> spans, std::optional<double> Reading::* clock,
                      const char* name, double most) {
  std::vector<double> values;
  for (const Span& span : spans)
    for (const Reading* const reading : {&span.before, &span.after})
      if (reading->*clock) values.push_back(*(reading->*clock));
  if (values.empty()) return {};
  const auto low = std::ranges::min_element(values), high = std::ranges::max_element(values);
  if (*high <= 0 || (*high - *low) / *high <= most) return {};
  const bool rose = low < high;
  return fmt::format("the {} clock went from {:.0f} to {:.0f} MHz", name, rose ? *low : *high,
                     rose ? *high : *low);
}

}  // namespace

std::string disturbance_of(std::span<const Span> spans, double clock_change, Throttles& throttled) {
  throttled = {};
  for (const Span& span : spans) {
    throttled |= grown(span.before, span.after);
    for (const Reading* const reading : {&span.before, &span.after})
      if (reading->throttled) throttled |= *reading->throttled;
  }
  std::vector<std::string> found;
  for (const auto& [clock, name] :
       {std::pair{&Reading::core_mhz, "core"}, std::pair{&Reading::memory_mhz, "memory"}})
    if (std::string change = change_of(spans, clock, name, clock_change); !change.empty())
      found.push_back(std::move(change));
  if (throttled.any()) {
    std::vector<std::string_view> names;
    for (const Throttle one : throttled.list()) names.push_back(to_string(one));
    found.push_back(fmt::format("throttled: {}", fmt::join(names, ", ")));
  }
  return fmt::format("{}", fmt::join(found, "; "));
}

bool TurnWatch::take(std::span<const Span> spans) {
  if (spans.empty()) return true;
  Turn turn{.before = spans.front().before,
            .after = spans.back().after,
            .throttled = {},
            .repeats = repeats_,
            .disturbed = {}};
  turn.disturbed = disturbance_of(spans, conditions_.limits.clock_change, turn.throttled);
  if (!turn.disturbed.empty() && conditions_.repeated < conditions_.limits.most_repeats) {
    ++conditions_.repeated;
    ++repeats_;
    return false;
  }
  if (!turn.disturbed.empty()) ++conditions_.disturbed;
  conditions_.turns.push_back(std::move(turn));
  repeats_ = 0;
  return true;
}

std::string Conditions::words() const {
  std::string text;
  if (repeated > 0)
    text = fmt::format(
        "{} of the turns {} repeated, because the clock changed or the GPU was "
        "throttled",
        repeated, repeated == 1 ? "was" : "were");
  if (disturbed == 0) return text;
  const auto first =
      std::ranges::find_if(turns, [](const Turn& turn) { return !turn.disturbed.empty(); });
  return fmt::format("{}{}{} of {} turns that count {} disturbed all the same (the first: {})",
                     text, text.empty() ? "" : "; ", disturbed, turns.size(),
                     disturbed == 1 ? "was" : "were", first->disturbed);
}

Conditions no_conditions(std::string because) {
  Conditions none;
  none.missing_because = std::move(because);
  return none;
}

}  // namespace perflab::sensors
