// In the order in which a page shows them.
#include "report/analysis/recording_documents.h"

#include "report/analysis/analysis_document.h"
#include "report/analysis/profile_document.h"
#include "report/analysis/timeline_document.h"
#include "report/roofline/roofline_document.h"
#include "report/thread_trace/thread_trace_document.h"

namespace perflab::report {

std::vector<NamedDocument> trace_documents(const analyze::AnalyzedTrace& analyzed,
                                           const RecordingRequest& request) {
  const auto& [trace, analysis] = analyzed;
  std::vector<NamedDocument> documents = {{"analysis", analysis_document(trace, analysis)}};
  if (analysis.roofline)
    documents.push_back(
        {"roofline",
         roofline_document(trace, analysis, {.kernel_filter = {}, .roofs = request.roofs})});
  if (analysis.critical_path)
    documents.push_back(
        {"dag", dag_document(trace, analysis, {.full = request.full, .nodes = request.nodes})});
  if (analysis.timeline) documents.push_back({"timeline", timeline_document(trace, analysis)});
  if (has_thread_trace_detail(analysis))
    documents.push_back({"thread_trace", thread_trace_document(analysis)});
  return documents;
}

std::vector<NamedDocument> recording_documents(const analyze::AnalyzedRuns& runs,
                                               const RecordingRequest& request) {
  std::vector<NamedDocument> documents = trace_documents(runs.representative, request);
  documents.insert(documents.begin() + 1,
                   {"profile", profile_document(profile_of_recording(runs))});
  return documents;
}

}  // namespace perflab::report
