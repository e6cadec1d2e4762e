// How much ran side by side over the run, and when nothing did: one sweep over dispatches and
// copies by start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyze/critical_path/path_figures.h"
#include "trace/trace.h"

namespace perflab::analyze {

inline constexpr std::size_t kParallelismBins = 100;

struct Parallelism {
  std::vector<ConcurrencyLevel> levels;
  std::vector<ParallelismBin> bins;
  std::vector<Bubble> bubbles;  ///< longest first, at most as many as asked for; no causes yet
  std::uint64_t bubble_count = 0;
  std::int64_t bubble_time = 0;
};

/// Of the graph's dispatches and copies, as far as they lie within [begin, begin + length]. A
/// bubble ends with an operation: the time after the last one is none. The first one has no
/// operation before it.
Parallelism measure_parallelism(const Graph& graph, std::int64_t begin, std::int64_t length,
                                std::size_t most_bubbles);

}  // namespace perflab::analyze
