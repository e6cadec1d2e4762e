// dag.json: the critical path of a run, what it was spent on, what faster kernels would give,
// slack, bubbles, segments. Schema: schemas/dag.schema.json. Models: analyze/critical_path/.
#pragma once

#include <cstddef>

#include "analyze/analysis.h"
#include "base/text/json.h"
#include "trace/trace.h"

namespace perflab::report {

/// Nodes that `nodes` lists at most: beyond, the document would take gigabytes.
inline constexpr std::size_t kMostListedNodes = 200'000;
/// Nodes that a page has at most, so that its what-if can simulate any change. Each takes about 60
/// bytes of the page; beyond, it has the gains of the kernels with most path time.
inline constexpr std::size_t kMostPageNodes = 20'000;

/// What the document was asked for with.
struct DagRequest {
  bool full = false;   ///< every segment, and every node of the graph when the path kept them
  bool nodes = false;  ///< for a page: the nodes, when they are few
};

/// dag.json. Graphs of more than kMostListedNodes (kMostPageNodes for a page) are not listed, which
/// `missing` then says.
/// Precondition: analysis.critical_path.
Json dag_document(const trace::Trace& trace, const analyze::Analysis& analysis,
                  const DagRequest& request = {});

/// `environment` of documents about a whole trace: files, machines, processes and threads.
Json trace_environment_json(const trace::Trace& trace);

/// The summary for analysis.json: length, attribution, the five kernels with most path time.
Json critical_path_summary(const trace::Trace& trace, const analyze::CriticalPath& path);

/// The summary for analysis.json.
Json segments_summary(const analyze::Segments& segments);

}  // namespace perflab::report
