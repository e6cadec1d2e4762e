// The graph of a run: dispatches, copies and host calls as nodes, what orders them as edges. It is
// built so that the recorded times are its earliest schedule exactly; lengthening, shortening and
// dropping then give makespans that mean something. Made by build_graph.h from a Trace; solved by
// solve.h and what_if.h, which know nothing of traces.
//
// Every node has two events, start and end, at the recorded times. With lag(e) of an edge:
//   start(v) = max over edges e into its start of t(from) + lag(e); its recorded start without any
//   end(v)   = max of start(v) + own(v) and, over edges e into its end, t(from) + lag(e)
// The edge whose origin came last binds: its lag is the recorded distance. The others would have
// allowed an earlier time: their lag is the usual one of their rule, at most the recorded distance.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyze/critical_path/edge_rules.h"
#include "base/bits.h"
#include "base/packed_column.h"

namespace perflab::analyze {

enum class NodeKind : std::uint8_t {
  dispatch,   ///< row of Trace::dispatches
  copy,       ///< row of Trace::copies
  call,       ///< row of Trace::regions
  call_wait,  ///< second half of a call that submits work and waits for it: its whole duration; the
              ///< first half, a `call` of no length at its start, is what the work depends on
};

/// Whether the node is a host call (or half of one).
constexpr bool is_call(NodeKind kind) {
  return kind == NodeKind::call || kind == NodeKind::call_wait;
}

/// Number of a node: its place in the order. No node.
using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = 0xFFFF'FFFF;

struct Graph {
  /// Nodes in topological order: every edge goes to a higher number.
  PackedColumn<std::int64_t> start, end;  ///< ns, recorded; start <= end
  std::vector<std::uint32_t> kind_row;    ///< kind in the top two bits, row below
  std::vector<std::uint32_t> first_edge;  ///< of edges into the node; one more entry than nodes
  /// Edges by the node they go into.
  PackedColumn<NodeId> from;
  std::vector<EdgeRule> rule;
  /// Whether an edge binds an event of its node. Empty until find_bindings() (bindings.h).
  Bits binds;
  /// Usual distance in ns of a rule's events where it binds; 0 where nothing is known.
  std::array<std::int64_t, kEdgeRules> usual_lag{};
  std::int64_t usual_sync_call = 0;  ///< ns that a waiting call takes when there is nothing left to
                                     ///< wait for

  static constexpr std::uint32_t kRowBits = 30;

  [[nodiscard]] std::size_t size() const { return start.size(); }
  [[nodiscard]] NodeKind kind(NodeId node) const {
    return static_cast<NodeKind>(kind_row[node] >> kRowBits);
  }
  [[nodiscard]] std::uint32_t row(NodeId node) const {
    return kind_row[node] & ((1U << kRowBits) - 1);
  }
  /// Recorded time of an event.
  [[nodiscard]] std::int64_t time(NodeId node, NodeEvent event) const {
    return event == NodeEvent::start ? start[node] : end[node];
  }
};

/// No edge.
inline constexpr std::uint32_t kNoEdge = 0xFFFF'FFFF;

}  // namespace perflab::analyze
