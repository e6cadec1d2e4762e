// All operations of a job put together: ranks, statistics, who waits for whom, the worst
// operations. Model: docs/models/ranks.md "Figures".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ranks/figures/figures.h"

namespace perflab::ranks {

/// Figures of all operations. `busy`: by rank and collective, Work::busy (empty: not known), for
/// imbalance. `worst_cells`: members that `worst` holds in all at most. Memory: beside the input a
/// number per operation and pair of ranks.
Figures all_figures(std::span<const RankSummary> ranks, const Matching& matching,
                    const Clocks& clocks, std::span<const std::vector<std::int64_t>> busy,
                    std::size_t worst_cells = 20'000);

}  // namespace perflab::ranks
