// Random small graphs, and a slow model of them to compare with: written from the formulas in
// graph.h alone, one constraint at a time, sharing nothing with the solver.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analyze/critical_path/graph.h"
#include "support/prng.h"

namespace perflab::test {

/// Adds a node with its edges {from, rule} and returns its number.
analyze::NodeId add_node(
    analyze::Graph& graph, analyze::NodeKind kind, std::int64_t start, std::int64_t end,
    const std::vector<std::pair<analyze::NodeId, analyze::EdgeRule>>& edges = {});

/// A graph of 1 to `most` nodes with few different times, so that equal times, lengths of zero and
/// gaps of down to -3 ns are common; with several sources and sinks, and calls in two halves.
analyze::Graph random_graph(Prng& prng, std::int64_t most);

/// One "to >= from + lag" between two events.
struct Constraint {
  analyze::NodeId from;
  analyze::NodeEvent from_event;
  analyze::NodeId to;
  analyze::NodeEvent to_event;
  std::int64_t lag;
};

/// What the slow model may change.
struct ModelChanges {
  std::function<std::int64_t(analyze::NodeId, std::int64_t)> own;  ///< own work -> new own work
  std::vector<std::int64_t> delay;                                 ///< of starts, by node
  bool drop_syncs = false;
};

/// The graph as constraints.
class SlowModel {
 public:
  explicit SlowModel(const analyze::Graph& graph);

  /// Time of an event under the changes, by recursion over all constraints.
  std::int64_t time(analyze::NodeId node, analyze::NodeEvent event, const ModelChanges& changes);
  /// Latest end of all nodes under the changes.
  std::int64_t run_end(const ModelChanges& changes);
  /// The longest of all paths between events, by walking every one of them; ends of the run only.
  [[nodiscard]] std::int64_t longest_path_end() const;

 private:
  std::int64_t evaluate(analyze::NodeId node, analyze::NodeEvent event,
                        const ModelChanges& changes);
  [[nodiscard]] std::int64_t longest_from(analyze::NodeId node, analyze::NodeEvent event,
                                          std::int64_t at) const;

  const analyze::Graph& graph_;
  std::vector<std::int64_t> own_;
  std::vector<Constraint> constraints_;
  std::vector<std::int64_t> known_;  ///< of two events per node, while one question is answered
  std::vector<bool> is_known_;
};

}  // namespace perflab::test
