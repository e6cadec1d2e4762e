// The edges into a node as the solver and the simulator read them: origins, the edges that bind,
// lags. Inline, because passes over tens of millions of edges live on it; formulas: graph.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "analyze/critical_path/edge_rules.h"
#include "analyze/critical_path/graph.h"

namespace perflab::analyze {

/// The edges that bind a node's two events.
struct BoundEdges {
  std::uint32_t start =
      kNoEdge;                  ///< whose origin came last, of equal ones the first; kNoEdge: none
  std::uint32_t end = kNoEdge;  ///< likewise, if that was after the node's start; kNoEdge: the
                                ///< node's own work binds
};

/// Which rules join ends, a bit per rule.
struct RuleEnds {
  std::uint32_t from = 0, into = 0;
};

/// From the table of edge_rules.h, read once.
inline const RuleEnds& rule_ends() {
  static const RuleEnds kEnds = [] {
    RuleEnds ends;
    for (std::uint32_t rule = 0; rule < kEdgeRules; ++rule) {
      const EdgeRuleInfo& facts = info(static_cast<EdgeRule>(rule));
      if (facts.from == NodeEvent::end) ends.from |= 1U << rule;
      if (facts.to == NodeEvent::end) ends.into |= 1U << rule;
    }
    return ends;
  }();
  return kEnds;
}

/// A view of a graph's edges. Keeps a reference to the graph.
class EdgeView {
 public:
  explicit EdgeView(const Graph& graph) : graph_(graph), ends_(rule_ends()) {}

  [[nodiscard]] std::uint32_t first(NodeId node) const { return graph_.first_edge[node]; }
  [[nodiscard]] std::uint32_t last(NodeId node) const { return graph_.first_edge[node + 1]; }

  /// Whether the edge comes from its origin's end, and whether it goes into its node's end.
  [[nodiscard]] bool from_end(std::uint32_t edge) const {
    return ((ends_.from >> rule(edge)) & 1U) != 0;
  }
  [[nodiscard]] bool into_end(std::uint32_t edge) const {
    return ((ends_.into >> rule(edge)) & 1U) != 0;
  }

  /// Recorded time of the event that the edge comes from, ns.
  [[nodiscard, gnu::always_inline]] std::int64_t origin(std::uint32_t edge) const {
    return (from_end(edge) ? graph_.end : graph_.start)[graph_.from[edge]];
  }

  /// Both binding edges.
  [[nodiscard, gnu::always_inline]] BoundEdges binding(NodeId node) const {
    if (graph_.binds.empty()) return find_binding(node);
    BoundEdges binding;
    const std::uint32_t past = last(node);
    for (std::uint32_t edge = first(node); edge < past; ++edge)
      if (graph_.binds[edge]) (into_end(edge) ? binding.end : binding.start) = edge;
    return binding;
  }

  /// The same from the times of the edges' origins, in one pass over the node's edges.
  [[nodiscard]] BoundEdges find_binding(NodeId node) const {
    BoundEdges binding;
    std::int64_t latest_start = 0, latest_end = 0;
    bool has_time = false;  // latest_start: of a single edge nobody asks
    const std::uint32_t past = last(node);
    for (std::uint32_t edge = first(node); edge < past; ++edge) {
      if (into_end(edge)) {
        const std::int64_t time = origin(edge);
        if (time <= (binding.end == kNoEdge ? graph_.start[node] : latest_end)) continue;
        latest_end = time;
        binding.end = edge;
      } else if (binding.start == kNoEdge) {
        binding.start = edge;
      } else {
        const std::int64_t time = origin(edge);
        if (!std::exchange(has_time, true)) latest_start = origin(binding.start);
        if (time <= latest_start) continue;
        latest_start = time;
        binding.start = edge;
      }
    }
    return binding;
  }

  /// The node's own work in ns: its duration, or for a call that waited at most usual_sync_call.
  [[nodiscard, gnu::always_inline]] std::int64_t own_work(NodeId node,
                                                          std::uint32_t binding_end) const {
    const std::int64_t duration = graph_.end[node] - graph_.start[node];
    return binding_end == kNoEdge ? duration : std::min(duration, graph_.usual_sync_call);
  }

  /// Recorded distance of the edge's two events, ns; negative where clocks were read with noise.
  [[nodiscard, gnu::always_inline]] std::int64_t distance(NodeId node, std::uint32_t edge) const {
    return (into_end(edge) ? graph_.end : graph_.start)[node] - origin(edge);
  }

  /// lag(e) of graph.h in ns; `binding`: the edge that binds the event it goes into.
  [[nodiscard, gnu::always_inline]] std::int64_t lag(NodeId node, std::uint32_t edge,
                                                     std::uint32_t binding) const {
    const std::int64_t recorded = distance(node, edge);
    return edge == binding ? recorded : std::min(recorded, graph_.usual_lag[rule(edge)]);
  }

  /// The recorded distance less lag(), ns: how much later than recorded the edge's origin may come
  /// before the event that it goes into does. Of an edge that binds no time is read.
  [[nodiscard, gnu::always_inline]] std::int64_t room(NodeId node, std::uint32_t edge,
                                                      std::uint32_t binding) const {
    if (edge == binding) return 0;
    return std::max(std::int64_t{0}, distance(node, edge) - graph_.usual_lag[rule(edge)]);
  }

  /// The recorded duration less own_work(), ns.
  [[nodiscard, gnu::always_inline]] std::int64_t room_inside(NodeId node,
                                                             std::uint32_t binding_end) const {
    if (binding_end == kNoEdge) return 0;
    return std::max(std::int64_t{0},
                    graph_.end[node] - graph_.start[node] - graph_.usual_sync_call);
  }

 private:
  [[nodiscard]] std::uint32_t rule(std::uint32_t edge) const {
    return static_cast<std::uint32_t>(graph_.rule[edge]);
  }

  const Graph& graph_;
  RuleEnds ends_;
};

/// Fills `binds`: whoever asks for binding edges again and again reads a bit instead of times.
void find_bindings(Graph& graph, unsigned threads);

/// Fills usual_lag and usual_sync_call: medians over the edges that bind (of waiting calls: over
/// those that did not wait), of more than half a million of some that a hash draws. A rule that
/// never binds takes the median of the rules that work like it, at most its own smallest distance;
/// 0 where none of those binds either: what is then computed from it is the most that could be
/// gained. Finds the edges that bind where that was not done.
void measure_usual_lags(Graph& graph, unsigned threads = 1);

}  // namespace perflab::analyze
