#include "ranks/clocks/nodes.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "ranks/clocks/pair.h"

namespace perflab::ranks {
namespace {

// Adds a rank to a node that it shares operations with; false: nothing proves that it may.
bool join(const Meetings& meetings, RankIndex rank, Node& node) {
  const std::vector<Meeting> own = meetings.of(std::vector{InNode{rank, 0, 0}});
  for (const InNode& other : node.ranks) {
    const std::vector<Meeting> there = meetings.of(std::vector{other});
    const auto clock = same_machine_clock(common_of(meetings.matching(), own, there));
    if (!clock) continue;
    const double near = std::max(clock->offset - *clock->low, *clock->high - clock->offset);
    // `there` is certified already: its own error is in the bounds.
    node.ranks.push_back({rank, clock->offset, near});
    node.likely.push_back(clock->likely);
    return true;
  }
  return false;
}

}  // namespace

std::vector<Node> nodes_of(const Meetings& meetings) {
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> of_machine;
  std::vector<Node> nodes;
  for (RankIndex rank = 0; rank < meetings.ranks().size(); ++rank) {
    const RankIdentity& identity = meetings.ranks()[rank].identity;
    bool joined = false;
    if (!identity.machine_id.empty()) {
      for (const std::size_t node : of_machine[{identity.machine_id, identity.hostname}]) {
        joined = join(meetings, rank, nodes[node]);
        if (joined) break;
      }
    }
    if (joined) continue;
    if (!identity.machine_id.empty()) {
      of_machine[{identity.machine_id, identity.hostname}].push_back(nodes.size());
    }
    nodes.push_back({{InNode{rank, 0, 0}}, {std::nullopt}});
  }
  return nodes;
}

}  // namespace perflab::ranks
