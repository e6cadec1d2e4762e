// Times of ranks on a common clock, and how wrong they may be. Rules: docs/models/ranks_matching.md
// "Clocks".
#include "ranks/values/matching.h"

#include <algorithm>
#include <cmath>

namespace perflab::ranks {
namespace {

/// Certified error of an aligned time against the zone's reference, ns.
std::optional<double> error_of(const RankClock& clock, std::int64_t time) {
  if (!clock.low || !clock.high) return std::nullopt;
  const double away = std::abs(static_cast<double>(time - clock.at));
  return std::max(clock.offset - *clock.low, *clock.high - clock.offset) + away * clock.drift_error;
}

}  // namespace

std::int64_t Clocks::aligned(RankIndex rank, std::int64_t time) const {
  const RankClock& clock = ranks.at(rank);
  return time + std::llround(clock.offset + clock.drift * static_cast<double>(time - clock.at));
}

std::optional<std::int64_t> Clocks::error(RankIndex one, RankIndex other, std::int64_t time) const {
  const RankClock& left = ranks.at(one);
  const RankClock& right = ranks.at(other);
  if (left.zone != right.zone) return std::nullopt;
  if (one == other) return 0;
  if (left.node == right.node) {
    return static_cast<std::int64_t>(std::ceil(left.near + right.near));
  }
  // `time` is one on the clock of `one`; of `other` the same moment.
  const std::int64_t moment = aligned(one, time);
  const std::int64_t there = moment - std::llround(right.offset);
  const auto a = error_of(left, time), b = error_of(right, there);
  if (!a || !b) return std::nullopt;
  return static_cast<std::int64_t>(std::ceil(*a + *b));
}

}  // namespace perflab::ranks
