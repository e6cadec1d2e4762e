// Which operations of several ranks are one operation. Rules: docs/models/ranks_matching.md
// "Matching"; what recordings say of communication: docs/facts/ranks.md.
#pragma once

#include <span>

#include "ranks/match/options.h"
#include "ranks/values/matching.h"
#include "ranks/values/rank_summary.h"

namespace perflab::ranks {

/// Operations that are one, over summaries ordered by rank. Reads identity, communicators and
/// collectives. Never fails: what is not matched stands in Matching::unmatched with its reason.
Matching match(std::span<const RankSummary> ranks, const MatchOptions& options = {});

}  // namespace perflab::ranks
