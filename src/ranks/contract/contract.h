// A rank's graph between its collectives: everything else eliminated without loss, by (max, +)
// algebra. Semantics of the graph: analyze/critical_path/graph.h; what is kept, dropped and
// assumed: docs/models/ranks.md "A rank between its collectives".
#pragma once

#include <cstdint>
#include <span>

#include "analyze/critical_path/graph.h"
#include "analyze/critical_path/what_if.h"
#include "ranks/values/rank_summary.h"

namespace perflab::ranks {

/// Node that belongs to no collective.
inline constexpr std::uint32_t kNoCollective = 0xFFFF'FFFF;

/// What is contracted. Of a process that drives several GPUs each agent is a rank: its own
/// collectives are marked, those of the other agents stay ordinary work with its recorded length.
struct ContractInput {
  const analyze::Graph& graph;
  /// By node: the collective (place in RankSummary::collectives) whose kernel it is. Each
  /// collective has at least one node; its entry is the earliest start of its nodes, its exit their
  /// latest end.
  std::span<const std::uint32_t> collective_of;
  std::uint32_t collectives = 0;
  /// By node: name of a dispatch; kNoName for everything else, and for what is not to be named.
  std::span<const Name> kernel_of;
  /// By node, of `scenarios` (analyze::scenarios_of); may be empty without scenarios. Changes of a
  /// collective's own kernels change nothing: how long they take is not this rank's alone.
  std::span<const std::uint16_t> node_class;
  std::span<const analyze::Scenario> scenarios;
};

/// The contraction: for any times of begin and exits, entries and the end (the latest end of all
/// nodes) are those of the whole graph, as recorded and in each scenario. Time is linear in nodes
/// and edges, memory about 70 bytes per node. The result depends on nothing but the input.
/// A collective of several kernels counts as one from its entry on: the starts of its later kernels
/// and the ends of all of them keep their recorded distance to its exit.
LocalGraph contract(const ContractInput& input);

}  // namespace perflab::ranks
