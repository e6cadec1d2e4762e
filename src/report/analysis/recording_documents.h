// The documents of one analysed recording: the same for analyze, profile, their pages and the C
// interface.
#pragma once

#include <string>
#include <vector>

#include "analyze/pipeline.h"
#include "report/critical_path/dag_document.h"
#include "report/kit/document.h"

namespace perflab::report {

/// What documents are made with.
struct RecordingRequest {
  std::string roofs;   ///< file of measured ceilings; empty: none
  bool full = false;   ///< dag.json: all nodes and segments
  bool nodes = false;  ///< dag.json: the nodes, when there are few (for a page)
};

/// analysis, and of roofline, dag, timeline and thread_trace those that there are.
std::vector<NamedDocument> trace_documents(const analyze::AnalyzedTrace& analyzed,
                                           const RecordingRequest& request = {});

/// The same with profile, of recorded runs.
std::vector<NamedDocument> recording_documents(const analyze::AnalyzedRuns& runs,
                                               const RecordingRequest& request);

}  // namespace perflab::report
