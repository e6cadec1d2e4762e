// The clocks of ranks from their common operations, and matches that the clocks do not refute.
// Rules: docs/models/ranks_matching.md "Clocks"; facts: docs/facts/ranks.md "Clocks".
#pragma once

#include <span>

#include "ranks/match/match.h"
#include "ranks/values/matching.h"
#include "ranks/values/rank_summary.h"

namespace perflab::ranks {

/// Matches and clocks that agree with each other.
struct Aligned {
  Matching matching;
  Clocks clocks;
};

/// Clocks of all ranks from what is matched; reads identity and collectives of `ranks`. `refuted`,
/// where given, gets the communicators of ranks whose operations no offset explains.
Clocks clocks_of(std::span<const RankSummary> ranks, const Matching& matching,
                 std::vector<Denied>* refuted = nullptr);

/// Matches, finds the clocks, and matches again without what the clocks refute, until both hold.
Aligned match_and_align(std::span<const RankSummary> ranks, const MatchOptions& options = {});

}  // namespace perflab::ranks
