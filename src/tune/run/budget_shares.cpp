#include "tune/run/budget_shares.h"

#include <algorithm>
#include <tuple>

#include "base/enum_names.h"

namespace perflab::tune {
namespace {

/// What a model does not see: one that fits badly promises too little, and its search would starve.
/// Measured: docs/models/autotuning.md "A whole application".
constexpr double kUnseen = 0.3;

/// Larger is served first.
double claim(const ShareState& state, Split split) {
  const auto next = static_cast<double>(state.search.evaluated + 1);
  switch (split) {
    case Split::adaptive:
      return state.worth * promise_of(state.search);
    case Split::worth:
      return state.worth / next;  // d'Hondt: shares in proportion
    case Split::equal:
      break;
  }
  return 1 / next;
}

}  // namespace

std::string_view to_string(Split split) {
  using enum Split;
  static constexpr auto kNames =
      enum_names<Split>({{adaptive, "adaptive"}, {worth, "worth"}, {equal, "equal"}});
  return kNames[split];
}

double promise_of(const TuningState& state) {
  const double of_one_more = 1 / static_cast<double>(state.evaluated + 1);
  return state.expected_gain ? *state.expected_gain + kUnseen * of_one_more : of_one_more;
}

std::optional<Share> next_share(std::span<const ShareState> states, Split split, std::size_t first,
                                std::size_t left) {
  std::optional<std::size_t> chosen;
  const auto rank = [&](std::size_t i) {
    const ShareState& state = states[i];
    const bool sampled = split != Split::adaptive || state.search.evaluated >= first;
    // Whoever has no first samples yet comes before all others.
    return std::tuple(!sampled, sampled ? claim(state, split) : state.worth,
                      -static_cast<double>(state.search.evaluated));
  };
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (states[i].search.over || (split != Split::equal && !(states[i].worth > 0))) continue;
    if (!chosen || rank(i) > rank(*chosen)) chosen = i;
  }
  if (!chosen || left == 0) return std::nullopt;
  const ShareState& state = states[*chosen];
  const std::size_t evaluated = state.search.evaluated;
  const std::size_t wanted =
      split == Split::adaptive && evaluated < first ? first - evaluated : state.batch;
  return Share{.search = *chosen, .evaluations = std::clamp<std::size_t>(wanted, 1, left)};
}

}  // namespace perflab::tune
