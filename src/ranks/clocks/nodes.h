// Ranks of one machine as one clock. Rules: docs/models/ranks_matching.md "Nodes".
#pragma once

#include <cstdint>
#include <vector>

#include "ranks/clocks/meetings.h"

namespace perflab::ranks {

/// A node: ranks with one clock, that of the first.
struct Node {
  std::vector<InNode> ranks;  ///< ascending; the first has offset 0
  std::vector<std::optional<double>> likely;
};

/// Ranks that say the same machine and whose operations prove one clock are a node; others are
/// nodes of their own. By first rank.
std::vector<Node> nodes_of(const Meetings& meetings);

}  // namespace perflab::ranks
