// Earliest schedules of a graph under changed durations, forwards in the order of the nodes, many
// scenarios side by side: the edges are read once for all of them. Formulas: graph.h; a time is
// kept as how much later it is than recorded, so that what binds, most edges, needs no time at all.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "analyze/critical_path/bindings.h"
#include "analyze/critical_path/solve.h"
#include "analyze/critical_path/what_if.h"
#include "base/parallel.h"

namespace perflab::analyze {
namespace {

/// Scenarios of one pass: many read the edges seldom, few leave work for more threads.
constexpr std::size_t kMostLanes = 16, kFewestLanes = 4;

/// How much later than recorded, in ns (negative: earlier), by scenario. As double where all of
/// them are whole numbers that it holds exactly: every x86-64 adds and compares two of those at
/// once.
template <class Time, std::size_t kLanes>
using Lanes = std::array<Time, kLanes>;

/// Whole numbers up to this are exact as double.
constexpr std::int64_t kExact = std::int64_t{1} << 52;

/// A node's events in each scenario.
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
  ScenarioPass(const Graph& graph, const PackedColumn<std::uint32_t>& slot, std::uint32_t slots,
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

  /// max(times, those of the edge's origin - room) by lane.
  void follow(std::uint32_t edge, std::int64_t room, Lanes<Time, kLanes>& times) const {
    const Lanes<Time, kLanes>& from = origin(edge);
    const auto less = static_cast<Time>(room);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const Time time = from[lane] - less;
      times[lane] = times[lane] < time ? time : times[lane];
    }
  }

  /// The same for an edge into the end of a node, which some scenarios drop.
  void follow_sync(std::uint32_t edge, std::int64_t room, Lanes<Time, kLanes>& times) const {
    if (!block_.any_drops_syncs) return follow(edge, room, times);
    const Lanes<Time, kLanes>& from = origin(edge);
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      if (!block_.drop_syncs[lane])
        times[lane] = std::max(times[lane], from[lane] - static_cast<Time>(room));
  }

  void compute(NodeId node, std::uint16_t change_class) {
    const BoundEdges binding = edges_.binding(node);
    NodeTimes<Time, kLanes> times;
    times.start.fill(binding.start == kNoEdge ? Time{0} : std::numeric_limits<Time>::lowest());
    const std::uint32_t first = edges_.first(node), last = edges_.last(node);
    bool waits = false;
    for (std::uint32_t edge = first; edge < last; ++edge) {
      if (edges_.into_end(edge))
        waits = true;
      else
        follow(edge, edges_.room(node, edge, binding.start), times.start);
    }
    const std::int64_t less = edges_.room_inside(node, binding.end);
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      times.end[lane] = times.start[lane] - static_cast<Time>(less);
    if (change_class < block_.classes.size() && !block_.classes[change_class].empty())
      change(node, edges_.own_work(node, binding.end), block_.classes[change_class], times);
    for (std::uint32_t edge = first; waits && edge < last; ++edge)
      if (edges_.into_end(edge)) follow_sync(edge, edges_.room(node, edge, binding.end), times.end);
    const auto recorded = static_cast<Time>(graph_.end[node] - begin_);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const Time end = recorded + times.end[lane];
      latest_[lane] = latest_[lane] < end ? end : latest_[lane];
    }
    times_[slot_[node]] = times;
  }

  /// Ends of a node in the scenarios that change its own work.
  void change(NodeId node, std::int64_t own,
              const std::vector<std::pair<std::size_t, Change>>& changes,
              NodeTimes<Time, kLanes>& times) const {
    const std::int64_t duration = graph_.end[node] - graph_.start[node];
    for (const auto& [lane, change] : changes)
      times.end[lane] =
          times.start[lane] + static_cast<Time>(changed(own, change, most_) - duration);
  }

  const Graph& graph_;
  EdgeView edges_;
  const PackedColumn<std::uint32_t>& slot_;
  std::vector<NodeTimes<Time, kLanes>> times_;
  const Block& block_;
  Lanes<Time, kLanes> latest_{};
  std::int64_t begin_, most_;
};

/// Whether all times of scenarios in which nothing becomes longer are exact as double: none is
/// later than recorded, and none earlier by more than all durations together, which are what the
/// edges that bind leave to shorten.
bool is_exact(const Graph& graph) {
  if (makespan(graph) >= kExact) return false;
  std::int64_t durations = 0;
  for (NodeId node = 0; node < graph.size() && durations < kExact; ++node)
    durations += graph.end[node] - graph.start[node];
  return durations < kExact;
}

/// Passes over all scenarios, so many in each, or fewer where threads would be idle.
template <std::size_t kLanes>
std::vector<std::int64_t> simulate(const Graph& graph, const PackedColumn<std::uint32_t>& slot,
                                   std::uint32_t slots, bool exact,
                                   std::span<const std::uint16_t> node_class,
                                   std::span<const Scenario> scenarios, unsigned threads) {
  const std::size_t blocks = (scenarios.size() + kLanes - 1) / kLanes;
  if constexpr (kLanes > kFewestLanes)
    if (blocks < threads)
      return simulate<kLanes / 2>(graph, slot, slots, exact, node_class, scenarios, threads);
  std::vector<std::int64_t> makespans(scenarios.size(), 0);
  parallel_each(blocks, threads, [&](std::size_t index) {
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
  });
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

Simulator::Simulator(const Graph& graph) : graph_(graph) {
  const auto nodes = static_cast<NodeId>(graph.size());
  if (nodes == 0) return;
  exact_ = is_exact(graph);
  // From the back, the first edge from a node is the last that needs its times.
  Bits used(nodes), is_last_use(graph.from.size());  // by node, by edge
  for (std::size_t edge = graph.from.size(); edge-- > 0;) {
    const NodeId from = graph.from[edge];
    if (used[from]) continue;
    is_last_use.set(edge);
    used.set(from);
  }
  std::vector<std::uint32_t> free;
  for (NodeId node = 0; node < nodes; ++node) {
    // A node may take the slot of an origin of its own: a pass writes it when all is read.
    for (std::uint32_t edge = graph.first_edge[node]; edge < graph.first_edge[node + 1]; ++edge) {
      if (!is_last_use[edge]) continue;
      PERFLAB_CHECK(graph.from[edge] < node);
      free.push_back(slot_[graph.from[edge]]);
    }
    std::uint32_t slot = slots_;
    if (free.empty()) {
      ++slots_;
    } else {
      slot = free.back();
      free.pop_back();
    }
    slot_.push_back(slot);
    if (!used[node]) free.push_back(slot);
  }
}

std::vector<std::int64_t> Simulator::makespans(std::span<const std::uint16_t> node_class,
                                               std::span<const Scenario> scenarios,
                                               unsigned threads) const {
  PERFLAB_CHECK(node_class.size() == graph_.size());
  if (graph_.size() == 0) return std::vector<std::int64_t>(scenarios.size(), 0);
  return simulate<kMostLanes>(graph_, slot_, slots_, exact_, node_class, scenarios,
                              thread_count(threads));
}

}  // namespace perflab::analyze
