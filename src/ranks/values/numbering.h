// Whether the ranks of a job go by their own numbers, or by their places: one rule for the labels
// of documents, roots of operations and what-if.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ranks/values/rank_summary.h"

namespace perflab::ranks {

/// Whether each has a number, and no two the same.
bool number_each(std::vector<std::optional<std::int64_t>> numbers);
bool number_each(std::span<const RankSummary> ranks);

}  // namespace perflab::ranks
