// In the order in which a page shows them. They are made side by side: none needs another.
#include "report/analysis/recording_documents.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "report/analysis/analysis_document.h"
#include "report/analysis/profile_document.h"
#include "report/analysis/timeline_document.h"
#include "report/roofline/roofline_document.h"
#include "report/thread_trace/thread_trace_document.h"

namespace perflab::report {

std::vector<NamedDocument> trace_documents(const analyze::AnalyzedTrace& analyzed,
                                           const RecordingRequest& request) {
  const analyze::Analysis& analysis = analyzed.analysis;
  std::vector<NamedDocument> documents;
  std::vector<std::function<Json()>> makers;  // by document
  const auto add = [&](std::string name, std::function<Json()> make) {
    documents.push_back({std::move(name), Json()});
    makers.push_back(std::move(make));
  };
  add("analysis", [&] { return analysis_document(analyzed.trace, analyzed.analysis); });
  if (analysis.roofline)
    add("roofline", [&] {
      return roofline_document(analyzed.trace, analyzed.analysis,
                               {.kernel_filter = {}, .roofs = request.roofs});
    });
  if (analysis.critical_path)
    add("dag", [&] {
      return dag_document(analyzed.trace, analyzed.analysis,
                          {.full = request.full, .nodes = request.nodes});
    });
  if (analysis.timeline)
    add("timeline", [&] { return timeline_document(analyzed.trace, analyzed.analysis); });
  if (has_thread_trace_detail(analysis))
    add("thread_trace", [&] { return thread_trace_document(analyzed.analysis); });
  parallel_each(2 * makers.size(), thread_count(0), [&](std::size_t index) {
    if (index < makers.size())
      documents[index].value = makers[index]();
    else  // render() needs them next, and says what is wrong
      (void)read_schema(documents[index - makers.size()].name);
  });
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
