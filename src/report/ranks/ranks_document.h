// ranks.json: what many ranks say together. Model: docs/models/ranks.md.
#pragma once

#include "base/text/json.h"
#include "ranks/analyze_ranks.h"

namespace perflab::report {

/// Rows of the long lists at most.
inline constexpr std::size_t kMostRankPairs = 5000, kMostHops = 500, kMostMissingRanks = 100;

/// The document "ranks" with its schema. In `missing` a field of a list's rows is named once, with
/// "[]" for the row: "ranks[].clock.low_ns".
Json ranks_document(const ranks::RanksAnalysis& analysis);

}  // namespace perflab::report
