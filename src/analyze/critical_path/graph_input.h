// What of a Trace takes part in the graph of one machine, and in which order: host calls, and
// dispatches and copies by the call that submitted them. That order is topological for every edge,
// because what the host submits later never holds up what it submitted before.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "analyze/critical_path/graph.h"
#include "analyze/scope/timing_scope.h"
#include "trace/api_calls.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// A dispatch or copy, as Graph::kind_row has it.
using Operation = std::uint32_t;

class GraphInput {
 public:
  GraphInput(const trace::Trace& trace, const TimingScope& scope, trace::Index node,
             unsigned threads = 1);

  /// By region: the outermost call that it is part of and that is a node; itself for such a call;
  /// kNone elsewhere.
  [[nodiscard]] trace::Index owner(trace::Index region) const { return owner_[region]; }
  [[nodiscard]] bool is_node(trace::Index region) const { return owner_[region] == region; }
  [[nodiscard]] trace::CallKind call_kind(trace::Index region) const {
    return kind_of_name_[trace_.regions.name[region]];
  }
  /// Whether a call launches a graph (trace::is_graph_launch).
  [[nodiscard]] bool launches_graph(trace::Index region) const {
    return launches_graph_[trace_.regions.name[region]];
  }
  [[nodiscard]] bool includes_process(trace::Index process) const {
    return process != trace::kNone && includes_[process];
  }

  /// Operations to place behind the call `region` and before the next, by start; those before all
  /// calls with `region` = kNone.
  [[nodiscard]] std::vector<Operation>::const_iterator begin_of(trace::Index region) const;
  [[nodiscard]] std::vector<Operation>::const_iterator end_of(trace::Index region) const;

  /// Of a call with an operation that stands behind a later call, because another one of its stream
  /// or queue that began before it was submitted later: the call behind which the last of its
  /// operations stands. kNone: all its operations stand behind itself.
  [[nodiscard]] trace::Index overtaken_by(trace::Index region) const {
    return overtaken_by_.empty() ? trace::kNone : overtaken_by_[region];
  }
  [[nodiscard]] bool is_overtaken(trace::Index region) const {
    return overtaken_by(region) != trace::kNone;
  }

  /// When the first node starts and the last one ends (trace clock, ns); both 0 without nodes.
  [[nodiscard]] std::int64_t earliest() const { return earliest_; }
  [[nodiscard]] std::int64_t latest() const { return latest_; }
  [[nodiscard]] std::size_t operations() const { return order_.size(); }
  [[nodiscard]] std::size_t calls() const { return calls_; }

  [[nodiscard]] std::int64_t start(Operation operation) const;
  [[nodiscard]] std::int64_t end(Operation operation) const;
  [[nodiscard]] trace::Index track(Operation operation) const;
  /// Lanes that order the operations of a track: graph building keeps a state for each. kNone: no
  /// such lane.
  [[nodiscard]] trace::Index stream_lane(trace::Index track) const {
    return stream_lane_of_track_[track];
  }
  [[nodiscard]] trace::Index queue_lane(trace::Index track) const {
    return queue_lane_of_track_[track];
  }
  [[nodiscard]] std::size_t lanes() const { return lanes_.size(); }
  /// Process, GPU and stream (kNone: the lane is a queue's) of a lane.
  struct LaneInfo {
    trace::Index process, agent, stream;
    bool is_default_stream;
  };
  [[nodiscard]] const LaneInfo& lane(trace::Index lane) const { return lanes_[lane]; }
  /// The lane of a stream; of a default stream on that GPU. kNone: nothing ran on it.
  [[nodiscard]] trace::Index lane_of_stream(trace::Index stream, trace::Index agent) const;
  /// The call that submitted the operation, as a node; kNone when it is not known.
  [[nodiscard]] trace::Index submitter(Operation operation) const;

 private:
  void choose_processes(const TimingScope& scope, trace::Index node);
  void find_calls();
  /// Whether a call is a node although nothing ran for it. `marker`: by category.
  [[nodiscard]] bool does_something(trace::Index region, const Bits& marker) const;
  [[nodiscard]] std::vector<bool> threads_that_only_keep_resources(const Bits& submits,
                                                                   const Bits& marker) const;
  void find_lanes();
  [[nodiscard]] std::vector<bool> default_streams_that_order() const;  // by process
  [[nodiscard]] std::vector<trace::Index> gpu_of_tracks() const;
  void order_operations();
  void extend(std::int64_t start, std::int64_t end);
  [[nodiscard]] std::vector<bool> streams_of_several_gpus() const;

  const trace::Trace& trace_;
  std::vector<bool> includes_;                 ///< by process
  std::vector<trace::CallKind> kind_of_name_;  ///< by string
  std::vector<bool> launches_graph_;           ///< by string
  std::vector<trace::Index> owner_;            ///< by region
  std::size_t calls_ = 0;
  std::int64_t earliest_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t latest_ = std::numeric_limits<std::int64_t>::min();
  std::vector<LaneInfo> lanes_;
  std::vector<trace::Index> lane_of_stream_;  ///< by stream, but for default streams
  std::vector<trace::Index> default_lanes_;   ///< lanes of default streams
  std::vector<trace::Index> stream_lane_of_track_, queue_lane_of_track_;
  std::vector<Operation> order_;
  std::vector<std::uint32_t> first_of_key_;  ///< into order_; key 0: before all calls
  std::vector<trace::Index> overtaken_by_;   ///< by region; empty where there is none
};

/// What a node is called: its kernel, copy kind or API call (index into strings).
trace::Index node_name(const trace::Trace& trace, const Graph& graph, NodeId node);

/// An operation as the graph names it.
constexpr Operation operation(NodeKind kind, std::size_t row) {
  return static_cast<std::uint32_t>(kind) << Graph::kRowBits | static_cast<std::uint32_t>(row);
}
constexpr NodeKind kind_of(Operation operation) {
  return static_cast<NodeKind>(operation >> Graph::kRowBits);
}
constexpr std::uint32_t row_of(Operation operation) {
  return operation & ((1U << Graph::kRowBits) - 1);
}

}  // namespace perflab::analyze
