// Which operations of several ranks are one operation. Rules: docs/models/ranks_matching.md
// "Matching"; what recordings say of communication: docs/facts/ranks.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ranks/values/matching.h"
#include "ranks/values/rank_summary.h"

namespace perflab::ranks {

/// A communicator of a rank whose best place against the others the clocks have refuted.
struct Denied {
  RankIndex rank = 0;
  std::uint32_t communicator = 0;  ///< RankSummary::communicators
  std::uint32_t places = 0;        ///< so many of its places, best first, are not taken again
};

struct MatchOptions {
  /// Starts of recordings are searched this many operations of a communicator apart.
  std::int64_t farthest = 4096;
  std::vector<Denied> denied = {};
  /// Clocks that are known already: they choose where values and gaps leave several places.
  const Clocks* known = nullptr;
};

/// Operations that are one, over summaries ordered by rank. Reads identity, communicators and
/// collectives. Never fails: what is not matched stands in Matching::unmatched with its reason.
Matching match(std::span<const RankSummary> ranks, const MatchOptions& options = {});

}  // namespace perflab::ranks
