// Where the operations of one rank stand against those of another when their recordings start
// apart: places at which the values agree, and which of them the times leave. The rules and their
// thresholds: docs/models/ranks_matching.md "Starts".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ranks/match/units.h"
#include "ranks/values/matching.h"

namespace perflab::ranks {

/// Operation i of the other stands at operation i + by of the reference.
struct Shift {
  std::int64_t by = 0;
  std::size_t overlap = 0;    ///< operations that both have
  std::size_t different = 0;  ///< of these, whose values differ
};

/// All shifts whose values agree about as well as the best, by distance from 0.
std::vector<Shift> agreeing_shifts(std::span<const std::uint32_t> reference,
                                   std::span<const std::uint32_t> other, std::int64_t farthest);

/// What times say of a shift.
struct TimesOf {
  std::size_t points = 0;    ///< operations whose exits were compared
  double spread = 0;         ///< ns, median distance of differences of exits from their line
  double difference = 0;     ///< ns, reference minus other, in the middle
  double difference_at = 0;  ///< ns from the other's first operation that was compared
  double slack = 0;          ///< ns; below 0, no clocks make every exit follow every entry
  bool possible = true;      ///< not refuted by that
};

/// Two sequences of operations.
struct Pair {
  const RankSummary* reference = nullptr;
  const RankSummary* other = nullptr;
  std::span<const std::uint32_t> reference_operations, other_operations;
  std::span<const std::uint32_t> reference_tokens, other_tokens;
  std::int64_t theta = 0;                ///< what must be added to the other's times, where known
  std::optional<std::int64_t> theta_to;  ///< how far it may be from `theta`, ns; null: not known
};

/// Whether the bounds of two of the operations alone leave no clocks: what most wrong shifts fail
/// by within some dozen operations, without a Strip. Such a shift is not `possible` either.
bool is_refuted(const Pair& pair, const Shift& shift);

TimesOf times_of(const Pair& pair, const Shift& shift);

struct Place {
  std::optional<std::int64_t> by;  ///< null: see `why`
  Unmatched why = Unmatched::start_ambiguous;
  TimesOf times;
  bool assumed = false;  ///< only because both have the same operations from first to last
};

/// The one place of a sequence against another, or why there is none; the first `denied` best are
/// not taken.
Place place_of(const Pair& pair, std::span<const Shift> shifts, std::uint32_t denied);

}  // namespace perflab::ranks
