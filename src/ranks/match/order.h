// The order in which operations come about, and those that no order allows. Method: Kahn's
// algorithm over the entries and exits of all ranks (docs/models/ranks_matching.md "Order").
#pragma once

#include <span>

#include "ranks/values/matching.h"
#include "ranks/values/rank_summary.h"

namespace perflab::ranks {

/// Orders Matching::operations so that an operation comes after all that had to end before it
/// could begin. Operations that wait for each other in a circle are taken out as denied by times;
/// a group with many of them goes as a whole.
void order_operations(std::span<const RankSummary> ranks, Matching& matching);

}  // namespace perflab::ranks
