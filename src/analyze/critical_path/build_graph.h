// From a Trace to a Graph: which host calls are nodes, which edges the recording proves, which are
// inferred. Facts: docs/facts/rocpd.md "Links"; rules: edge_rules.h; calls by name:
// trace/api_calls.h.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "analyze/critical_path/graph.h"
#include "analyze/critical_path/graph_input.h"
#include "analyze/scope/timing_scope.h"
#include "base/error.h"
#include "trace/trace.h"

namespace perflab::analyze {

struct GraphOptions {
  /// Begins up to so many ns before the end of what they follow count as "after it": the clocks of
  /// queues are read with noise. At most half of the shorter one of the two.
  std::int64_t noise = 1000;
  /// Rule `handover`: a dispatch of which no launch is known, on a queue that was idle, begins at
  /// most so many ns after the end of one on another queue, and does so nearly always and more
  /// often than by chance. 0: never inferred.
  std::int64_t handover = 5000;
};

/// What building found out beside the graph.
struct GraphReport {
  std::array<std::uint64_t, kEdgeRules> edges{};         ///< by rule
  std::array<std::uint64_t, kEdgeRules> contradicted{};  ///< orders that the API calls demand and
                                                         ///< the times deny: left out
  std::uint64_t dispatches = 0, copies = 0, calls = 0;   ///< nodes (a call in two halves is one)
  std::uint64_t without_launch = 0;  ///< dispatches and copies of which no launching call is known
  std::uint64_t unknown_events = 0;  ///< waits for an event whose record is not in the trace
  std::uint64_t graph_launches = 0;  ///< hipGraphLaunch calls
  std::uint64_t blind_graph_launches = 0;  ///< of those, calls of which no work was recorded
};

struct BuiltGraph {
  Graph graph;
  GraphReport report;
};

/// The graph of what takes part in it. Every dispatch and copy of that is a node. The result does
/// not depend on the order of files. Usual lags are left to measure_usual_lags().
BuiltGraph build_graph(const trace::Trace& trace, GraphInput input,
                       const GraphOptions& options = {});

/// The same of all recordings in the scope whose processes ran on that node (machine).
BuiltGraph build_graph(const trace::Trace& trace, const TimingScope& scope, trace::Index node,
                       const GraphOptions& options = {});

}  // namespace perflab::analyze
