// Earliest schedules of a graph under changed durations, forwards in the order of the nodes, many
// scenarios side by side: the edges are read once for all of them. Formulas: graph.h.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "analyze/critical_path/bindings.h"
#include "analyze/critical_path/what_if.h"
#include "base/parallel.h"

namespace perflab::analyze {
namespace {

/// Scenarios of one pass: many read the edges seldom, few leave work for more threads.
constexpr std::size_t kMostLanes = 16, kFewestLanes = 4;

/// Times in ns after the recorded earliest start, by scenario. As double where all of them are
/// whole numbers that it holds exactly: every x86-64 adds and compares two of those at once.
template <class Time, std::size_t kLanes>
using Lanes = std::array<Time, kLanes>;

/// Whole numbers up to this are exact as double.
constexpr std::int64_t kExact = std::int64_t{1} << 52;

/// Times of a node's events in each scenario.
template <class Time, std::size_t kLanes>
struct alignas(64) NodeTimes {
  Lanes<Time, kLanes> start, end;
};

/// Up to kMostLanes scenarios, by class.
struct Block {
  /// By class: the scenarios in which it changes, and how.
  std::vector<std::vector<std::pair<std::size_t, Change>>> classes;
  std::array<bool, kMostLanes> drop_syncs{};
  bool any_drops_syncs = false;
  bool lengthens = false;  ///< some change can make a node longer
};

Block make_block(std::span<const Scenario> scenarios) {
  Block block;
  for (std::size_t lane = 0; lane < scenarios.size(); ++lane) {
    const Scenario& scenario = scenarios[lane];
    block.drop_syncs[lane] = scenario.drop_syncs;
    block.any_drops_syncs = block.any_drops_syncs || scenario.drop_syncs;
    if (block.classes.size() < scenario.changes.size())
      block.classes.resize(scenario.changes.size());
    for (std::size_t c = 1; c < scenario.changes.size(); ++c) {
      const Change& change = scenario.changes[c];
      if (change.factor == 1 && change.plus == 0) continue;
      block.classes[c].emplace_back(lane, change);
      block.lengthens = block.lengthens || change.factor > 1 || change.plus > 0;
    }
  }
  return block;
}

/// One pass over the graph for one block.
template <class Time, std::size_t kLanes>
class ScenarioPass {
 public:
  ScenarioPass(const Graph& graph, std::span<const std::uint32_t> slot, std::uint32_t slots,
               const Block& block)
      : graph_(graph),
        edges_(graph),
        slot_(slot),
        times_(slots),
        block_(block),
        begin_(graph.start.min()),
        most_(most_changed(graph.size())) {}

  Lanes<Time, kLanes> run(std::span<const std::uint16_t> node_class) {
    latest_.fill(0);
    const auto nodes = static_cast<NodeId>(graph_.size());
    for (NodeId node = 0; node < nodes; ++node) compute(node, node_class[node]);
    return latest_;
  }

 private:
  [[nodiscard]] const Lanes<Time, kLanes>& origin(std::uint32_t edge) const {
    const NodeTimes<Time, kLanes>& times = times_[slot_[graph_.from[edge]]];
    return edges_.from_end(edge) ? times.end : times.start;
  }

  /// max(times, times of the edge's origin + lag) by lane.
  void follow(std::uint32_t edge, std::int64_t lag, Lanes<Time, kLanes>& times) const {
    const Lanes<Time, kLanes>& from = origin(edge);
    const auto add = static_cast<Time>(lag);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const Time time = from[lane] + add;
      times[lane] = times[lane] < time ? time : times[lane];
    }
  }

  /// The same for an edge into the end of a node, which some scenarios drop.
  void follow_sync(std::uint32_t edge, std::int64_t lag, Lanes<Time, kLanes>& times) const {
    if (!block_.any_drops_syncs) return follow(edge, lag, times);
    const Lanes<Time, kLanes>& from = origin(edge);
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      if (!block_.drop_syncs[lane])
        times[lane] = std::max(times[lane], from[lane] + static_cast<Time>(lag));
  }

  void compute(NodeId node, std::uint16_t change_class) {
    const BoundEdges binding = edges_.binding(node);
    NodeTimes<Time, kLanes> times;
    times.start.fill(binding.start == kNoEdge ? static_cast<Time>(graph_.start[node] - begin_)
                                              : std::numeric_limits<Time>::lowest());
    const std::uint32_t first = edges_.first(node), last = edges_.last(node);
    bool waits = false;
    for (std::uint32_t edge = first; edge < last; ++edge) {
      if (edges_.into_end(edge))
        waits = true;
      else
        follow(edge, edges_.lag(node, edge, binding.start), times.start);
    }
    const std::int64_t own = edges_.own_work(node, binding.end);
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      times.end[lane] = times.start[lane] + static_cast<Time>(own);
    if (change_class < block_.classes.size())
      for (const auto& [lane, change] : block_.classes[change_class])
        times.end[lane] = times.start[lane] + static_cast<Time>(changed(own, change, most_));
    for (std::uint32_t edge = first; waits && edge < last; ++edge)
      if (edges_.into_end(edge)) follow_sync(edge, edges_.lag(node, edge, binding.end), times.end);
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      latest_[lane] = latest_[lane] < times.end[lane] ? times.end[lane] : latest_[lane];
    times_[slot_[node]] = times;
  }

  const Graph& graph_;
  EdgeView edges_;
  std::span<const std::uint32_t> slot_;
  std::vector<NodeTimes<Time, kLanes>> times_;
  const Block& block_;
  Lanes<Time, kLanes> latest_{};
  std::int64_t begin_, most_;
};

/// Whether all times of scenarios in which nothing becomes longer are exact as double: none is
/// later than the run's end, and each node is at most by the most negative lag earlier than the
/// one before it.
/// `least`: the least distance of an edge.
bool is_exact(const Graph& graph, std::int64_t least) {
  least = std::min(least, std::ranges::min(graph.usual_lag));
  const std::int64_t span = graph.end.max() - graph.start.min();
  return span < kExact && least > -kExact / static_cast<std::int64_t>(graph.size());
}

/// Passes over all scenarios, so many in each, or fewer where threads would be idle.
template <std::size_t kLanes>
std::vector<std::int64_t> simulate(const Graph& graph, std::span<const std::uint32_t> slot,
                                   std::uint32_t slots, bool exact,
                                   std::span<const std::uint16_t> node_class,
                                   std::span<const Scenario> scenarios, unsigned threads) {
  const std::size_t blocks = (scenarios.size() + kLanes - 1) / kLanes;
  if constexpr (kLanes > kFewestLanes)
    if (blocks < threads)
      return simulate<kLanes / 2>(graph, slot, slots, exact, node_class, scenarios, threads);
  std::vector<std::int64_t> makespans(scenarios.size(), 0);
  const Result<void> done =
      parallel_for(blocks, threads, [&](unsigned, std::size_t index) -> Result<void> {
        const std::size_t first = index * kLanes;
        const std::size_t count = std::min(kLanes, scenarios.size() - first);
        const Block block = make_block(scenarios.subspan(first, count));
        const auto pass = [&]<class Time>(Time) {
          const Lanes<Time, kLanes> found =
              ScenarioPass<Time, kLanes>(graph, slot, slots, block).run(node_class);
          for (std::size_t lane = 0; lane < count; ++lane)
            makespans[first + lane] = static_cast<std::int64_t>(found[lane]);
        };
        if (exact && !block.lengthens)
          pass(double{});
        else
          pass(std::int64_t{});
        return {};
      });
  PERFLAB_CHECK(done.has_value());
  return makespans;
}

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
  // From the back, the first edge from a node is the last that needs its times.
  std::vector<bool> used(nodes, false), is_last_use(graph.from.size(), false);  // by node, by edge
  for (std::size_t edge = graph.from.size(); edge-- > 0;) {
    const NodeId from = graph.from[edge];
    is_last_use[edge] = !used[from];
    used[from] = true;
  }
  const EdgeView edges(graph);
  std::vector<std::uint32_t> free;
  for (NodeId node = 0; node < nodes; ++node) {
    // A node may take the slot of an origin of its own: a pass writes it when all is read.
    for (std::uint32_t edge = graph.first_edge[node]; edge < graph.first_edge[node + 1]; ++edge) {
      PERFLAB_CHECK(graph.from[edge] < node);
      least_distance_ = std::min(least_distance_, edges.distance(node, edge));
      if (is_last_use[edge]) free.push_back(slot_[graph.from[edge]]);
    }
    if (free.empty()) {
      slot_[node] = slots_++;
    } else {
      slot_[node] = free.back();
      free.pop_back();
    }
    if (!used[node]) free.push_back(slot_[node]);
  }
}

std::vector<std::int64_t> Simulator::makespans(std::span<const std::uint16_t> node_class,
                                               std::span<const Scenario> scenarios,
                                               unsigned threads) const {
  PERFLAB_CHECK(node_class.size() == graph_.size());
  if (graph_.size() == 0) return std::vector<std::int64_t>(scenarios.size(), 0);
  const bool exact = is_exact(graph_, least_distance_);
  return simulate<kMostLanes>(graph_, slot_, slots_, exact, node_class, scenarios,
                              thread_count(threads));
}

}  // namespace perflab::analyze
