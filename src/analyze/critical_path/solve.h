// Slack of every node and the critical path of a Graph, each in one pass over its edges
// (critical path method; formulas in graph.h). Knows nothing of traces.
#pragma once

#include <cstdint>
#include <functional>

#include "analyze/critical_path/graph.h"

namespace perflab::analyze {

/// Slack in ns by node: how much later it could start without a later end of the run; 0 on every
/// longest path. While it runs, times are kept of those nodes alone that edges already seen come
/// from, and of their neighbours.
PackedColumn<std::int64_t> slack(const Graph& graph);

/// What a stretch of the critical path was spent on.
enum class Spent : std::uint8_t {
  kernel,
  copy,
  launch_latency,  ///< return of the launching call (its begin, where the work began before that)
                   ///< to the begin of the work
  host_call,       ///< inside a host API call
  sync_return,     ///< end of the awaited work to the return of the waiting call
  host_code,       ///< between two calls of a thread
  idle,            ///< nothing that was recorded: a gap in a queue, before the first event
};
inline constexpr std::size_t kSpentKinds = 7;

/// What the wait behind an edge is called. Of submission_order the time belongs to the origin.
Spent spent_behind(EdgeRule rule);

/// What the time inside a node is called.
Spent spent_inside(NodeKind kind);

/// One stretch of the critical path. Stretches follow each other without gap or overlap.
struct PathStep {
  NodeId node;            ///< the node in which, or before which (`via`) it lies
  std::int64_t from, to;  ///< ns; from <= to
  Spent spent;
  std::uint32_t via;  ///< edge behind the node that waited; kNoEdge: inside the node
};

/// Visits the critical path from the end of the run to its begin (`to` of the first step is the
/// latest end, `from` of the last one the earliest start of all nodes). Of several longest paths
/// always the same one. The sum of all steps is the makespan. An empty graph has no steps.
/// Steps of no length are visited too: they name the nodes that the path passes. A step behind
/// submission_order has the edge's origin as its node: the time was spent in that.
void walk_critical_path(const Graph& graph, const std::function<void(const PathStep&)>& visit);

/// The same between two times (from <= to): steps are cut to them, and those outside left out.
void walk_critical_path(const Graph& graph, std::int64_t from, std::int64_t to,
                        const std::function<void(const PathStep&)>& visit);

/// Walks back from a node's start to a time, like walk_critical_path: what that start waited for.
void walk_back(const Graph& graph, NodeId node, std::int64_t until,
               const std::function<void(const PathStep&)>& visit);

/// Latest end minus earliest start; 0 for an empty graph.
std::int64_t makespan(const Graph& graph);

}  // namespace perflab::analyze
