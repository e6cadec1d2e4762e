// Two clocks: the line between them, what the bounds certify of it, and operations that no line
// allows. Rules: docs/models/ranks_matching.md "Two clocks".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ranks/clocks/meetings.h"

namespace perflab::ranks {

/// What is added to the first's times: offset + drift (t - at).
struct PairClock {
  std::int64_t at = 0;
  double offset = 0, drift = 0;
  std::optional<double> low, high;  ///< certified, at `at`
  double drift_error = 0;           ///< certified, as far as `low` and `high` are
  std::optional<double> likely;
  std::vector<std::uint32_t> against;  ///< operations that no line through the others allows
  bool refuted = false;                ///< too many of them for a match
};

/// Nullopt: nothing in common.
std::optional<PairClock> pair_clock(std::span<const Common> common);

/// The same for two ranks of one machine, whose clocks are one but for the translation of GPU
/// times. Nullopt: nothing proves that they are, or it is refuted.
std::optional<PairClock> same_machine_clock(std::span<const Common> common);

/// GPU times are translated to the host's clock this well, ns (docs/facts/ranks.md "Clocks").
inline constexpr double kTranslationNs = 4000;

}  // namespace perflab::ranks
