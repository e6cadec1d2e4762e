// What decides how operations of ranks are matched (docs/models/ranks_matching.md "Starts").
#pragma once

#include <cstdint>
#include <vector>

#include "ranks/values/matching.h"

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

}  // namespace perflab::ranks
