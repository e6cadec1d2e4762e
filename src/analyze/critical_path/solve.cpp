// The critical path method: slacks are found backwards over the edges, and the binding edges from
// the last event backwards are the path. Formulas: graph.h; times in them are as recorded and how
// much later, so that what binds, most edges, needs no time at all.
#include "analyze/critical_path/solve.h"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "analyze/critical_path/bindings.h"
#include "base/error.h"

namespace perflab::analyze {
namespace {

/// Follows binding edges backwards. `at_` only ever falls, and every step ends where the one before
/// began: where an origin lies after what followed it (noise of clocks), the step is cut.
class Walk {
 public:
  Walk(const Graph& graph, std::int64_t at, std::int64_t until,
       const std::function<void(const PathStep&)>& visit)
      : graph_(graph), edges_(graph), visit_(visit), at_(at), until_(until) {}

  /// From an event of a node to a node that waits for nothing; `early`: or to `until`.
  void back(NodeId node, NodeEvent event, bool early) {
    for (;;) {
      if (early && at_ <= until_) return;
      const BoundEdges binding = edges_.binding(node);
      if (event == NodeEvent::end && binding.end == kNoEdge) {
        step(node, graph_.start[node], spent_inside(graph_.kind(node)), kNoEdge);
        event = NodeEvent::start;
        continue;
      }
      const std::uint32_t edge = event == NodeEvent::end ? binding.end : binding.start;
      if (edge == kNoEdge) break;
      const EdgeRule rule = graph_.rule[edge];
      const NodeId from = graph_.from[edge];
      PERFLAB_CHECK(from < node);
      if (rule == EdgeRule::submission_order)
        step(from, edges_.origin(edge), spent_inside(graph_.kind(from)), edge);
      else
        step(node, edges_.origin(edge), spent_behind(rule), edge);
      event = info(rule).from;
      node = from;
    }
    if (at_ > until_) step(node, until_, Spent::idle, kNoEdge);
  }

 private:
  void step(NodeId node, std::int64_t from, Spent spent, std::uint32_t via) {
    const std::int64_t cut = std::clamp(from, until_, at_);
    visit_({.node = node, .from = cut, .to = at_, .spent = spent, .via = via});
    at_ = cut;
  }

  const Graph& graph_;
  EdgeView edges_;
  const std::function<void(const PathStep&)>& visit_;
  std::int64_t at_, until_;
};

/// How much later than recorded events may be, in ns, while nodes are visited from the back. Edges
/// come from near, most of them: a few pages are there at a time.
class EventSlacks {
 public:
  explicit EventSlacks(std::size_t nodes) : pages_(nodes / kNodes + 1) {}

  std::int64_t& of(NodeId node, NodeEvent event) {
    std::vector<std::int64_t>& page = pages_[node / kNodes];
    if (page.empty()) page.assign(2 * kNodes, std::numeric_limits<std::int64_t>::max());
    return page[2 * (node % kNodes) + (event == NodeEvent::end ? 1 : 0)];
  }
  /// This node and later ones are not asked for again.
  void done_from(NodeId node) {
    if (node % kNodes == 0) pages_[node / kNodes] = std::vector<std::int64_t>();
  }

 private:
  static constexpr std::size_t kNodes = 4096;
  std::vector<std::vector<std::int64_t>> pages_;
};

/// The node that ends last; of several the one with the highest number. It is near the back.
NodeId last_node(const Graph& graph) {
  const std::int64_t latest = graph.end.max();
  auto node = static_cast<NodeId>(graph.size() - 1);
  while (graph.end[node] != latest) --node;
  return node;
}

}  // namespace

Spent spent_behind(EdgeRule rule) {
  switch (rule) {
    case EdgeRule::program_order:
      return Spent::host_code;
    case EdgeRule::launch:
    case EdgeRule::launch_inside:
      return Spent::launch_latency;
    case EdgeRule::stream_sync:
    case EdgeRule::device_sync:
    case EdgeRule::event_sync:
    case EdgeRule::blocking_call:
    case EdgeRule::implicit_sync:
    case EdgeRule::signal_wait:
      return Spent::sync_return;
    case EdgeRule::stream_order:
    case EdgeRule::queue_order:
    case EdgeRule::submission_order:
    case EdgeRule::event_wait:
    case EdgeRule::null_stream:
    case EdgeRule::handover:
    case EdgeRule::graph_order:
      break;
  }
  return Spent::idle;
}

Spent spent_inside(NodeKind kind) {
  switch (kind) {
    case NodeKind::dispatch:
      return Spent::kernel;
    case NodeKind::copy:
      return Spent::copy;
    case NodeKind::call:
    case NodeKind::call_wait:
      break;
  }
  return Spent::host_call;
}

PackedColumn<std::int64_t> slack(const Graph& graph) {
  if (graph.size() == 0) return {};
  const EdgeView edges(graph);
  const std::int64_t latest = graph.end.max();
  EventSlacks events(graph.size());
  PackedColumn<std::int64_t> slacks(graph.size());
  std::vector<std::int64_t> block(slacks.kRows);
  for (auto node = static_cast<NodeId>(graph.size()); node-- > 0;) {
    // What follows the node has lowered its slacks already: edges go to higher numbers.
    const BoundEdges binding = edges.binding(node);
    const std::int64_t end = std::min(events.of(node, NodeEvent::end), latest - graph.end[node]);
    const std::int64_t start =
        std::min(events.of(node, NodeEvent::start), end + edges.room_inside(node, binding.end));
    for (std::uint32_t edge = edges.first(node); edge < edges.last(node); ++edge) {
      const bool into_end = edges.into_end(edge);
      const std::int64_t room = edges.room(node, edge, into_end ? binding.end : binding.start);
      std::int64_t& before =
          events.of(graph.from[edge], edges.from_end(edge) ? NodeEvent::end : NodeEvent::start);
      before = std::min(before, (into_end ? end : start) + room);
    }
    block[node % slacks.kRows] = start;
    if (node % slacks.kRows == 0)
      slacks.replace(node, std::span(block).first(std::min(block.size(), graph.size() - node)));
    events.done_from(node);
  }
  return slacks;
}

void walk_critical_path(const Graph& graph, const std::function<void(const PathStep&)>& visit) {
  if (graph.size() == 0) return;
  const NodeId last = last_node(graph);
  Walk(graph, graph.end[last], graph.start.min(), visit).back(last, NodeEvent::end, false);
}

void walk_critical_path(const Graph& graph, std::int64_t from, std::int64_t to,
                        const std::function<void(const PathStep&)>& visit) {
  if (graph.size() == 0) return;
  const NodeId last = last_node(graph);
  const std::int64_t begin = graph.start.min(), end = graph.end[last];
  const std::function<void(const PathStep&)> visit_cut = [&](const PathStep& step) {
    if ((step.to <= from && step.from < from) || (step.from >= to && step.to > to)) return;
    PathStep cut = step;
    cut.from = std::max(cut.from, from);
    cut.to = std::min(cut.to, to);
    visit(cut);
  };
  const bool whole = from <= begin && to >= end;  // millions of steps: none is cut
  Walk(graph, end, begin, whole ? visit : visit_cut).back(last, NodeEvent::end, false);
}

void walk_back(const Graph& graph, NodeId node, std::int64_t until,
               const std::function<void(const PathStep&)>& visit) {
  if (graph.start[node] <= until) return;
  Walk(graph, graph.start[node], until, visit).back(node, NodeEvent::start, true);
}

std::int64_t makespan(const Graph& graph) {
  if (graph.size() == 0) return 0;
  return graph.end.max() - graph.start.min();
}

}  // namespace perflab::analyze
