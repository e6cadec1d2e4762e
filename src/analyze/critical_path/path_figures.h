// What the graph of a run says, as figures: the critical path with every nanosecond attributed,
// criticality of kernels, parallelism over time, bubbles and their causes, and what faster kernels
// would give; and what can be asked for. Times are ns; those of the run are relative to `begin`.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyze/critical_path/build_graph.h"
#include "analyze/critical_path/edge_rules.h"
#include "analyze/critical_path/graph.h"
#include "analyze/critical_path/solve.h"
#include "analyze/critical_path/what_if.h"
#include "analyze/scope/place.h"
#include "base/bits.h"
#include "base/text/progress.h"
#include "trace/select.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// ns by what they were spent on (index: Spent). Their sum is the stretch they are of.
using SpentTimes = std::array<std::int64_t, kSpentKinds>;

/// Makespan if a kernel were so many times faster.
struct Gain {
  double factor = 0;                    ///< 1.5, 2; 0: infinitely fast
  std::int64_t makespan = 0, gain = 0;  ///< gain = present makespan - makespan, may be negative
};

/// One kernel (by name), all of its dispatches.
struct KernelCriticality {
  trace::Index name = 0;  ///< strings
  std::uint64_t dispatches = 0, on_path = 0, without_slack = 0;
  std::int64_t total = 0;      ///< sum of its dispatches
  std::int64_t path_time = 0;  ///< of the critical path inside its dispatches
  std::int64_t least_slack = 0, median_slack = 0;
  std::vector<Gain> gains;  ///< at 1.5x, 2x and infinitely fast; empty beyond the top kernels
};

/// Names that a segment lists at most.
inline constexpr std::size_t kMostNamesOfSegment = 3;

/// A stretch of the path that a person can read: everything between two changes of place.
struct PathSegment {
  Place place = Place::nowhere;
  trace::Index process = trace::kNone;
  std::int64_t place_id = 0;  ///< thread id, stream id or queue id of the recording
  std::int64_t from = 0, to = 0;
  SpentTimes spent{};
  std::uint64_t nodes = 0;   ///< on this stretch
  std::uint64_t folded = 0;  ///< further stretches that were folded into this one
  std::vector<std::pair<trace::Index, std::int64_t>>
      names;  ///< kernels, copies and calls in it with their ns, most first, at most three
  std::optional<EdgeRule> entered;  ///< what handed the path over from the stretch before
};

/// Time in which so many operations (dispatches, copies) ran side by side.
struct ConcurrencyLevel {
  std::uint64_t running = 0;
  std::int64_t time = 0;
};

/// Parallelism in one of equally long bins of the run.
struct ParallelismBin {
  double dispatches = 0, copies = 0;  ///< running, on average
  double busy = 0;                    ///< share of the bin with anything running
};

/// What a node stands for, without its graph: report/ has to name nodes when the graph is gone.
struct NodeRow {
  NodeKind kind = NodeKind::dispatch;
  trace::Index row = trace::kNone;  ///< of the Trace's columns; kNone: no node
};

/// A stretch with nothing running on any GPU, between two operations.
struct Bubble {
  std::int64_t from = 0, to = 0;
  NodeId before = kNoNode, after = kNoNode;  ///< ended at `from`; began at `to`
  NodeRow before_row, after_row;             ///< of those two
  SpentTimes spent{};         ///< what the begin of `after` waited for, walked back to `from`
  Spent cause = Spent::idle;  ///< the largest of them
  trace::Index call =
      trace::kNone;            ///< regions: the call in which the most of it passed; kNone: none
  std::int64_t call_time = 0;  ///< ns of it
  bool first_launch = false;   ///< that call is a FirstLaunches one
};

/// Launch calls that took long because they were the first of their kernel: CUDA loads code then
/// (docs/facts/cuda_calls.md "Who waits"). Only of CUDA processes.
struct FirstLaunches {
  std::vector<trace::Index> calls;  ///< regions, ascending: longer than ten times `usual`
  std::int64_t time = 0;            ///< ns of these calls, together
  std::int64_t usual = 0;           ///< median of the launch calls that are not the first, ns

  [[nodiscard]] bool contains(trace::Index call) const {
    return std::ranges::binary_search(calls, call);
  }
};

/// Node with its slack, for lists.
struct SlackRow {
  NodeId node = kNoNode;
  std::int64_t slack = 0;
  NodeRow row;  ///< of the node
};

/// An answer to --what-if: all changes given, together.
struct WhatIfAnswer {
  std::vector<WhatIf> changes;
  std::vector<std::uint64_t> matched;  ///< nodes that each change applies to
  std::int64_t makespan = 0, gain = 0;
};

/// A machine whose processes are not in this graph: clocks of machines are not aligned.
struct OtherNode {
  trace::Index node = trace::kNone;
  std::uint64_t processes = 0, dispatches = 0;
  std::int64_t span = 0;  ///< first start to last end of what was recorded there
};

/// A part of a run (a segment). Its critical path is what of the run's path lies in its time, since
/// what it waits for can lie before it; kernels, gains and lists are of its own rows.
struct PathPart {
  std::int64_t from = 0, to = 0;           ///< ns, trace clock
  trace::Index node = trace::kNone;        ///< the machine that it ran on
  const trace::Selection* rows = nullptr;  ///< its rows

  [[nodiscard]] bool includes(const Graph& graph, NodeId id) const {
    const std::uint32_t row = graph.row(id);
    if (graph.kind(id) == NodeKind::dispatch) return rows->dispatches[row];
    return graph.kind(id) == NodeKind::copy ? rows->copies[row] : rows->regions[row];
  }
};

struct CriticalPath {
  trace::Index node = trace::kNone;  ///< the machine this is of: the one with the longest span
  std::vector<OtherNode> other_nodes;
  std::uint64_t processes = 0;  ///< of that machine, with at least one node in the graph
  std::int64_t begin = 0;       ///< ns, trace clock: earliest start
  std::int64_t length = 0;      ///< the critical path: latest end - begin
  std::int64_t run_length = 0;  ///< that of the whole run; `length` unless a part was asked for
  SpentTimes spent{};           ///< adds up to `length`
  std::vector<KernelCriticality> kernels;     ///< most path time first
  std::vector<PathSegment> segments;          ///< in time order; long ones, and the rest folded
  std::uint64_t stretches = 0;                ///< of the path, before folding
  std::vector<ConcurrencyLevel> concurrency;  ///< ascending; adds up to `length`
  std::vector<ParallelismBin> parallelism;    ///< 100 bins over `length`
  std::vector<Bubble> bubbles;                ///< longest first
  std::uint64_t bubble_count = 0;
  std::int64_t bubble_time = 0;      ///< of all
  std::vector<SlackRow> most_slack;  ///< dispatches and copies, most first
  std::optional<WhatIfAnswer> what_if;
  FirstLaunches first_launches;
  trace::Platform platform = trace::Platform::amd;  ///< of its processes; of several: amd
  GraphOptions options;
  GraphReport report;
  std::vector<std::string> warnings;
  /// Whether what lasted from `start` to `end` (trace clock) lies in the time that this is of.
  [[nodiscard]] bool shows(std::int64_t start, std::int64_t end) const {
    return end >= begin && start <= begin + length;
  }

  /// Every node of the run, its slack and whether it is on the path: only when asked for.
  std::shared_ptr<const Graph> graph;
  PackedColumn<std::int64_t> slack;  ///< by node
  Bits on_path;                      ///< by node
};

struct CriticalPathOptions {
  GraphOptions graph;
  std::vector<WhatIf> what_if;
  bool keep_nodes = false;           ///< keep graph, slack and on_path
  std::size_t keep_nodes_up_to = 0;  ///< keep them also when no more nodes than this are shown
  /// Called while the graph is built, on any thread; of the path, machine and extent are known.
  std::function<void(const CriticalPath&)> see_extent = {};
  /// Is given the graph while it is there, behind see_extent and on its thread.
  std::function<void(const Graph&)> see_graph = {};
  std::size_t gains = 10;  ///< kernels of which gains are computed
  std::size_t most_segments = 40, most_bubbles = 20, most_slack = 20;
  unsigned threads = 0;
  TellProgress progress = {};
};

}  // namespace perflab::analyze
