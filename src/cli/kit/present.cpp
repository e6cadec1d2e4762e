// Nothing is printed before everything is written: what stdout says is in the files.
#include "cli/kit/present.h"

#include <fmt/format.h>

#include "report/analysis/recording_documents.h"
#include "report/critical_path/dag_document.h"
#include "report/kit/document.h"

namespace perflab::cli {

void apply(const Outputs& outputs, analyze::AnalyzeOptions& options) {
  const bool page = outputs.html.file.has_value();
  options.timeline = options.keep_trace_detail = page || !outputs.folder.empty();
  if (page) options.critical_path.keep_nodes_up_to = report::kMostPageNodes;
}

Result<void> present(const Outputs& outputs, const std::vector<Document>& documents,
                     const std::function<std::string()>& text) {
  if (!outputs.folder.empty()) {
    PERFLAB_TRY_VOID(write_documents(outputs.folder, documents, outputs.quiet));
    if (outputs.whole_recording)
      PERFLAB_TRY_VOID(remove_stale_documents(outputs.folder, documents, outputs.quiet));
  }
  PERFLAB_TRY_VOID(write_html_file(outputs.html, documents, outputs.folder, outputs.quiet));
  if (outputs.json) {
    const Document& first = documents.front();
    PERFLAB_TRY(const std::string rendered, report::render(first.name, first.value));
    return print(rendered);
  }
  if (outputs.quiet) return {};
  PERFLAB_TRY_VOID(print(text()));
  if (outputs.folder.empty()) return {};
  std::string names;
  for (const Document& document : documents)
    names += fmt::format("{}{}.json", names.empty() ? "" : ", ", document.name);
  fmt::print(stderr, "\ndocuments in {}: {}\n", outputs.folder, names);
  return {};
}

}  // namespace perflab::cli
