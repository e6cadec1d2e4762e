// dag.json: the critical path of a run, what it was spent on, what faster kernels would give,
// slack, bubbles, segments. Schema: schemas/dag.schema.json. Models: analyze/critical_path/.
#pragma once

#include <cstddef>

#include "analyze/analysis.h"
#include "base/json.h"
#include "trace/trace.h"

namespace perflab::report {

/// Nodes that `nodes` lists at most: beyond, the document would take gigabytes.
inline constexpr std::size_t kMostListedNodes = 200'000;

/// What the document was asked for with.
struct DagRequest {
  bool full = false;  ///< every node of the graph, when the path kept them
};

/// dag.json. Graphs of more than kMostListedNodes are not listed, which `missing` then says.
/// Precondition: analysis.critical_path.
Json dag_document(const trace::Trace& trace, const analyze::Analysis& analysis,
                  const DagRequest& request = {});

/// The summary for analysis.json: length, attribution, the five kernels with most path time.
Json critical_path_summary(const trace::Trace& trace, const analyze::CriticalPath& path);

/// The summary for analysis.json.
Json segments_summary(const analyze::Segments& segments);

}  // namespace perflab::report
