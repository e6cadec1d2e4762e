// The operations of each communicator of each rank, and what is compared of them: every operation
// becomes a number, equal for operations that may be one. What may be compared: docs/facts/ranks.md
// "Clocks", docs/models/ranks_matching.md "Matching".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ranks/values/matching.h"
#include "ranks/values/rank_summary.h"

namespace perflab::ranks {

/// A communicator of a rank.
struct Unit {
  RankIndex rank = 0;
  std::uint32_t communicator = 0;
  std::vector<std::uint32_t> operations;  ///< RankSummary::collectives, all but pairs, ascending
  std::vector<std::uint32_t> pairs;       ///< sends and receives
  std::vector<std::uint32_t> tokens;      ///< as `operations`, once give_tokens() has made them
  std::uint64_t token_hash = 0;           ///< of `tokens`
};

/// All communicators that have operations, by rank, then communicator.
std::vector<Unit> units_of(std::span<const RankSummary> ranks);

/// Names of all ranks as numbers: equal for equal text.
class CommonNames {
 public:
  explicit CommonNames(std::span<const RankSummary> ranks);
  [[nodiscard]] std::uint32_t of(RankIndex rank, Name name) const {
    return name == kNoName ? kNoName : numbers_[rank][name];
  }

 private:
  std::vector<std::vector<std::uint32_t>> numbers_;
};

/// Bytes that all ranks of an operation have alike, by its kind; -1: none, or not said.
std::int64_t common_bytes(const Collective& operation);

/// Fills in the tokens of units of one bucket. Sizes, types and roots count where all operations
/// that can have them say them; work-groups where no size is known.
void give_tokens(std::span<const RankSummary> ranks, const CommonNames& names,
                 std::span<Unit* const> units);

}  // namespace perflab::ranks
