// Nothing is printed before everything is written: what stdout says is in the files.
#include "cli/kit/present.h"

#include <fmt/format.h>

#include <utility>

#include "base/text/progress.h"
#include "report/critical_path/dag_document.h"
#include "report/kit/document.h"

namespace perflab::cli {

void apply(const Outputs& outputs, analyze::AnalyzeOptions& options) {
  const bool page = outputs.html.file.has_value();
  options.timeline = options.keep_trace_detail = page || !outputs.folder.empty();
  if (page) options.critical_path.keep_nodes_up_to = report::kMostPageNodes;
}

namespace {

/// The documents that are written or shown, each rendered once.
Result<std::vector<report::RenderedDocument>> rendered(const Outputs& outputs,
                                                       std::vector<Document> documents) {
  const LongWork work("writing documents", LongWork::mostly_short(outputs.quiet));
  if (outputs.folder.empty() && !outputs.html) documents.resize(outputs.json ? 1 : 0);
  return report::render_all(std::move(documents));
}

}  // namespace

Result<void> present(const Outputs& outputs, std::vector<Document> documents,
                     const std::function<std::string()>& text) {
  PERFLAB_TRY(const auto written, rendered(outputs, std::move(documents)));
  if (!outputs.folder.empty()) {
    PERFLAB_TRY_VOID(write_documents(outputs.folder, written));
    if (outputs.whole_recording)
      PERFLAB_TRY_VOID(remove_stale_documents(outputs.folder, written, outputs.quiet));
  }
  PERFLAB_TRY_VOID(write_html_file(outputs.html, written, outputs.folder, outputs.quiet));
  if (outputs.json) return print(written.front().text);
  if (outputs.quiet) return {};
  PERFLAB_TRY_VOID(print(text()));
  if (outputs.folder.empty()) return {};
  std::string names;
  for (const report::RenderedDocument& document : written)
    names += fmt::format("{}{}.json", names.empty() ? "" : ", ", document.name);
  fmt::print(stderr, "\ndocuments in {}: {}\n", outputs.folder, names);
  return {};
}

}  // namespace perflab::cli
