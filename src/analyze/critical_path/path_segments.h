// The critical path as stretches that a person can read: everything between two changes of place,
// the short ones folded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyze/critical_path/path_figures.h"
#include "trace/trace.h"

namespace perflab::analyze {

struct PathSegments {
  std::vector<PathSegment> segments;  ///< in time order; times relative to `begin`
  std::uint64_t stretches = 0;        ///< before folding
};

/// Of the path between two times. At most `most` segments (at least 3): the longest stretches stay,
/// what lies between two of them becomes one segment.
PathSegments path_segments(const trace::Trace& trace, const Graph& graph, std::int64_t begin,
                           std::int64_t end, std::size_t most);

}  // namespace perflab::analyze
