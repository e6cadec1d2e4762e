// State of a stream or hardware queue while its operations are placed one after the other: what the
// next one has to follow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analyze/critical_path/graph.h"

namespace perflab::analyze {

/// Work to wait for, with the lane that it ran on. Later work of a lane stands for earlier work.
struct PendingWork {
  std::uint32_t lane = 0;
  NodeId node = kNoNode;
};

/// Adds work to a list, by lane, that holds at most one of each.
inline void add_work(std::vector<PendingWork>& all, const PendingWork& work) {
  const auto found = std::ranges::lower_bound(all, work.lane, {}, &PendingWork::lane);
  if (found == all.end() || found->lane != work.lane)
    all.insert(found, work);
  else
    found->node = std::max(found->node, work.node);
}

struct Lane {
  NodeId last = kNoNode;           ///< the operation placed last
  NodeId longest = kNoNode;        ///< of all placed, the one that ends last
  std::vector<PendingWork> waits;  ///< what events the next operation has to wait for

  /// Takes an operation in.
  void placed(const Graph& graph, NodeId node) {
    last = node;
    if (longest == kNoNode || graph.end[node] >= graph.end[longest]) longest = node;
  }
};

/// Whether `node` begins after `before` ended, but for the noise of clocks: at most `noise` ns, and
/// at most half of the shorter one of the two.
inline bool follows(const Graph& graph, NodeId before, NodeId node, std::int64_t noise) {
  const std::int64_t shorter =
      std::min(graph.end[before] - graph.start[before], graph.end[node] - graph.start[node]);
  return graph.end[before] <= graph.start[node] + std::min(noise, shorter / 2);
}

}  // namespace perflab::analyze
