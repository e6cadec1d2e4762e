// Random small graphs and the slow model.
#include "analyze/critical_path/random_graph.h"

#include <algorithm>
#include <limits>

#include "analyze/critical_path/bindings.h"

namespace perflab::test {

using analyze::EdgeRule;
using analyze::EdgeRuleInfo;
using analyze::Graph;
using analyze::kEdgeRules;
using analyze::NodeEvent;
using analyze::NodeId;
using analyze::NodeKind;

NodeId add_node(Graph& graph, NodeKind kind, std::int64_t start, std::int64_t end,
                const std::vector<std::pair<NodeId, EdgeRule>>& edges) {
  const auto node = static_cast<NodeId>(graph.size());
  if (graph.first_edge.empty()) graph.first_edge.push_back(0);
  graph.start.push_back(start);
  graph.end.push_back(end);
  graph.kind_row.push_back((static_cast<std::uint32_t>(kind) << Graph::kRowBits) | node);
  for (const auto& [from, rule] : edges) {
    graph.from.push_back(from);
    graph.rule.push_back(rule);
  }
  graph.first_edge.push_back(static_cast<std::uint32_t>(graph.from.size()));
  graph.binds = {};  // those found before are of fewer edges
  return node;
}

Graph random_graph(Prng& prng, std::int64_t most) {
  constexpr std::int64_t kNoise = 3;
  Graph graph;
  const std::int64_t nodes = 1 + prng.below(most), spread = 1 + prng.below(60);
  const std::int64_t density = prng.below(5);
  std::int64_t start = 1000 + prng.below(10);
  while (static_cast<std::int64_t>(graph.size()) < nodes) {
    start += prng.below(spread) - spread / 4;
    const std::int64_t end = start + (prng.below(4) == 0 ? 0 : prng.below(spread));
    const auto kind = static_cast<NodeKind>(prng.below(4));
    const auto node = static_cast<NodeId>(graph.size());
    std::vector<std::pair<NodeId, EdgeRule>> edges;
    for (std::int64_t i = 0; node > 0 && i < density; ++i) {
      const auto from = static_cast<NodeId>(prng.below(node));
      const auto rule = static_cast<EdgeRule>(prng.below(kEdgeRules));
      const EdgeRuleInfo& facts = analyze::info(rule);
      if (facts.to == NodeEvent::end && !analyze::is_call(kind)) continue;
      const std::int64_t time = facts.to == NodeEvent::start ? start : end;
      if (graph.time(from, facts.from) <= time + kNoise) edges.emplace_back(from, rule);
    }
    if (kind == NodeKind::call_wait) {  // its first half takes the edges into the start
      std::vector<std::pair<NodeId, EdgeRule>> first, second = {{node, EdgeRule::program_order}};
      for (const auto& edge : edges)
        (analyze::info(edge.second).to == NodeEvent::end ? second : first).push_back(edge);
      add_node(graph, NodeKind::call, start, start, first);
      add_node(graph, kind, start, end, second);
    } else {
      add_node(graph, kind, start, end, edges);
    }
  }
  if (prng.below(2) == 0) {
    analyze::measure_usual_lags(graph);
  } else {
    for (std::int64_t& lag : graph.usual_lag) lag = prng.below(30) - kNoise;
    graph.usual_sync_call = prng.below(20);
  }
  return graph;
}

SlowModel::SlowModel(const Graph& graph) : graph_(graph), own_(graph.size()) {
  for (NodeId to = 0; to < graph.size(); ++to) {
    own_[to] = graph.end[to] - graph.start[to];
    for (const NodeEvent event : {NodeEvent::start, NodeEvent::end}) {
      std::vector<std::uint32_t> edges;
      for (std::uint32_t e = graph.first_edge[to]; e < graph.first_edge[to + 1]; ++e)
        if (analyze::info(graph.rule[e]).to == event) edges.push_back(e);
      const auto origin = [&](std::uint32_t e) {
        return graph.time(graph.from[e], analyze::info(graph.rule[e]).from);
      };
      const auto last = std::ranges::max_element(edges, {}, origin);
      bool binds = last != edges.end();
      if (binds && event == NodeEvent::end) {
        binds = origin(*last) > graph.start[to];
        if (binds) own_[to] = std::min(own_[to], graph.usual_sync_call);
      }
      for (const std::uint32_t e : edges) {
        const EdgeRule rule = graph.rule[e];
        const std::int64_t recorded = graph.time(to, event) - origin(e);
        const std::int64_t usual = graph.usual_lag[static_cast<std::size_t>(rule)];
        constraints_.push_back({.from = graph.from[e],
                                .from_event = analyze::info(rule).from,
                                .to = to,
                                .to_event = event,
                                .lag = binds && e == *last ? recorded : std::min(usual, recorded)});
      }
    }
  }
}

std::int64_t SlowModel::evaluate(NodeId node, NodeEvent event, const ModelChanges& changes) {
  const std::size_t index = 2 * std::size_t{node} + (event == NodeEvent::end ? 1 : 0);
  if (is_known_[index]) return known_[index];
  std::vector<std::int64_t> bounds;
  if (event == NodeEvent::end)
    bounds.push_back(evaluate(node, NodeEvent::start, changes) +
                     (changes.own ? changes.own(node, own_[node]) : own_[node]));
  for (const Constraint& c : constraints_) {
    if (c.to != node || c.to_event != event) continue;
    if (changes.drop_syncs && event == NodeEvent::end) continue;
    bounds.push_back(evaluate(c.from, c.from_event, changes) + c.lag);
  }
  if (bounds.empty()) bounds.push_back(graph_.start[node]);
  std::int64_t time = std::ranges::max(bounds);
  if (event == NodeEvent::start && !changes.delay.empty()) time += changes.delay[node];
  is_known_[index] = true;
  return known_[index] = time;
}

std::int64_t SlowModel::time(NodeId node, NodeEvent event, const ModelChanges& changes) {
  known_.assign(2 * graph_.size(), 0);
  is_known_.assign(2 * graph_.size(), false);
  return evaluate(node, event, changes);
}

std::int64_t SlowModel::run_end(const ModelChanges& changes) {
  std::int64_t latest = time(0, NodeEvent::end, changes);
  for (NodeId node = 1; node < graph_.size(); ++node)
    latest = std::max(latest, evaluate(node, NodeEvent::end, changes));
  return latest;
}

std::int64_t SlowModel::longest_from(NodeId node, NodeEvent event, std::int64_t at) const {
  std::int64_t latest =
      event == NodeEvent::start ? longest_from(node, NodeEvent::end, at + own_[node]) : at;
  for (const Constraint& c : constraints_)
    if (c.from == node && c.from_event == event)
      latest = std::max(latest, longest_from(c.to, c.to_event, at + c.lag));
  return latest;
}

std::int64_t SlowModel::longest_path_end() const {
  std::int64_t latest = std::numeric_limits<std::int64_t>::min();
  for (NodeId node = 0; node < graph_.size(); ++node) {
    const bool waits = std::ranges::any_of(constraints_, [&](const Constraint& c) {
      return c.to == node && c.to_event == NodeEvent::start;
    });
    if (!waits) latest = std::max(latest, longest_from(node, NodeEvent::start, graph_.start[node]));
  }
  return latest;
}

}  // namespace perflab::test
