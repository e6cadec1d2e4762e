// Earliest schedules of a graph under changed durations, forwards in the order of the nodes, eight
// scenarios side by side. Formulas: graph.h.
#include <algorithm>
#include <array>
#include <limits>

#include "analyze/critical_path/bindings.h"
#include "analyze/critical_path/what_if.h"
#include "base/parallel.h"

namespace perflab::analyze {
namespace {

constexpr std::size_t kLanes = 8;
using Lanes = std::array<std::int64_t, kLanes>;

/// Times of a node's events in each scenario, ns after the recorded earliest start.
struct alignas(64) NodeTimes {
  Lanes start, end;
};

/// How a class changes in each scenario.
struct LaneChanges {
  std::array<Change, kLanes> change;
};

/// Up to kLanes scenarios, by class.
struct Block {
  std::vector<LaneChanges> classes;
  std::array<bool, kLanes> drop_syncs{};
};

Block make_block(std::span<const Scenario> scenarios) {
  Block block;
  for (std::size_t lane = 0; lane < scenarios.size(); ++lane) {
    const Scenario& scenario = scenarios[lane];
    block.drop_syncs[lane] = scenario.drop_syncs;
    if (block.classes.size() < scenario.changes.size())
      block.classes.resize(scenario.changes.size());
    for (std::size_t c = 1; c < scenario.changes.size(); ++c)
      block.classes[c].change[lane] = scenario.changes[c];
  }
  return block;
}

/// One pass over the graph for one block.
class ScenarioPass {
 public:
  ScenarioPass(const Graph& graph, std::span<const std::uint32_t> slot, std::uint32_t slots,
               Block block)
      : graph_(graph),
        edges_(graph),
        slot_(slot),
        times_(slots),
        block_(std::move(block)),
        begin_(*std::ranges::min_element(graph.start)),
        most_(most_changed(graph.size())) {}

  Lanes run(std::span<const std::uint16_t> node_class) {
    latest_.fill(0);
    const auto nodes = static_cast<NodeId>(graph_.size());
    for (NodeId node = 0; node < nodes; ++node) compute(node, node_class[node]);
    return latest_;
  }

 private:
  /// max(times, times of the edge's origin + lag) by lane.
  template <class Take>
  void follow(std::uint32_t edge, std::int64_t lag, Lanes& times, Take take) const {
    const NodeTimes& origin = times_[slot_[graph_.from[edge]]];
    const Lanes& from = edges_.from_end(edge) ? origin.end : origin.start;
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      if (take(lane)) times[lane] = std::max(times[lane], from[lane] + lag);
  }

  void compute(NodeId node, std::uint16_t change_class) {
    const BoundEdges binding = edges_.binding(node);
    NodeTimes times;
    times.start.fill(binding.start == kNoEdge ? graph_.start[node] - begin_
                                              : std::numeric_limits<std::int64_t>::min());
    const std::uint32_t first = edges_.first(node), last = edges_.last(node);
    bool waits = false;
    for (std::uint32_t edge = first; edge < last; ++edge) {
      if (edges_.into_end(edge))
        waits = true;
      else
        follow(edge, edges_.lag(node, edge, binding.start), times.start,
               [](std::size_t) { return true; });
    }
    const std::int64_t own = edges_.own_work(node, binding.end);
    if (change_class < block_.classes.size()) {
      const auto& changes = block_.classes[change_class].change;
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        times.end[lane] = times.start[lane] + changed(own, changes[lane], most_);
    } else {
      for (std::size_t lane = 0; lane < kLanes; ++lane) times.end[lane] = times.start[lane] + own;
    }
    for (std::uint32_t edge = first; waits && edge < last; ++edge)
      if (edges_.into_end(edge))
        follow(edge, edges_.lag(node, edge, binding.end), times.end,
               [this](std::size_t lane) { return !block_.drop_syncs[lane]; });
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      latest_[lane] = std::max(latest_[lane], times.end[lane]);
    times_[slot_[node]] = times;
  }

  const Graph& graph_;
  EdgeView edges_;
  std::span<const std::uint32_t> slot_;
  std::vector<NodeTimes> times_;
  Block block_;
  Lanes latest_{};
  std::int64_t begin_, most_;
};

}  // namespace

std::int64_t changed(std::int64_t own, const Change& change, std::int64_t most) {
  if (change.factor == 1 && change.plus == 0) return own;
  std::int64_t scaled = own;
  if (change.factor != 1) {
    const double product = static_cast<double>(own) * change.factor;
    scaled = product < static_cast<double>(most) ? static_cast<std::int64_t>(product + 0.5) : most;
  }
  return std::clamp(std::min(scaled, most) + std::clamp(change.plus, -most, most), std::int64_t{0},
                    most);
}

Simulator::Simulator(const Graph& graph) : graph_(graph), slot_(graph.size()) {
  const auto nodes = static_cast<NodeId>(graph.size());
  if (nodes == 0) return;
  std::vector<NodeId> last_use(nodes, kNoNode);
  for (NodeId node = 0; node < nodes; ++node)
    for (std::uint32_t edge = graph.first_edge[node]; edge < graph.first_edge[node + 1]; ++edge)
      last_use[graph.from[edge]] = node;
  std::vector<std::uint32_t> free;
  for (NodeId node = 0; node < nodes; ++node) {
    // A node may take the slot of an origin of its own: a pass writes it when all is read.
    for (std::uint32_t edge = graph.first_edge[node]; edge < graph.first_edge[node + 1]; ++edge) {
      const NodeId from = graph.from[edge];
      PERFLAB_CHECK(from < node);
      if (last_use[from] != node) continue;
      last_use[from] = kNoNode;
      free.push_back(slot_[from]);
    }
    if (free.empty()) {
      slot_[node] = slots_++;
    } else {
      slot_[node] = free.back();
      free.pop_back();
    }
    if (last_use[node] == kNoNode) free.push_back(slot_[node]);
  }
}

std::vector<std::int64_t> Simulator::makespans(std::span<const std::uint16_t> node_class,
                                               std::span<const Scenario> scenarios,
                                               unsigned threads) const {
  std::vector<std::int64_t> makespans(scenarios.size(), 0);
  PERFLAB_CHECK(node_class.size() == graph_.size());
  if (graph_.size() == 0) return makespans;
  const std::size_t blocks = (scenarios.size() + kLanes - 1) / kLanes;
  const Result<void> done =
      parallel_for(blocks, thread_count(threads), [&](unsigned, std::size_t index) -> Result<void> {
        const std::size_t first = index * kLanes;
        const std::size_t count = std::min(kLanes, scenarios.size() - first);
        const Lanes found =
            ScenarioPass(graph_, slot_, slots_, make_block(scenarios.subspan(first, count)))
                .run(node_class);
        std::copy_n(found.begin(), count, makespans.begin() + static_cast<std::ptrdiff_t>(first));
        return {};
      });
  PERFLAB_CHECK(done.has_value());
  return makespans;
}

}  // namespace perflab::analyze
