// The page is made of documents alone (src/report/page): nothing is in it that they do not have.
#include "cli/kit/html_page.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/system/files.h"
#include "base/text/progress.h"
#include "report/kit/document.h"
#include "report/summary/summary.h"

namespace perflab::cli {

void add_html_option(CLI::App& command, HtmlArguments& arguments, const std::string& what) {
  command.add_option("--html", arguments.file,
                     fmt::format("Write {} as one HTML page that needs no network", what));
}

OutputFile page_file(const HtmlArguments& arguments) {
  return {
      .option = "--html", .what = "the page", .example = "report.html", .name = *arguments.file};
}

Result<void> check_html_file(const HtmlArguments& arguments,
                             const std::vector<std::filesystem::path>& inputs,
                             const std::filesystem::path& out, const PathArguments* path) {
  if (!arguments) return {};
  const OutputFile page = page_file(arguments);
  PERFLAB_TRY_VOID(check_output_file(page, inputs, out));
  if (path == nullptr || !path->perfetto) return {};
  return check_distinct(perfetto_file(*path), page);
}

Result<void> write_html_file(const HtmlArguments& arguments,
                             const std::vector<report::RenderedDocument>& documents,
                             const std::string& folder, bool quiet) {
  if (!arguments) return {};
  std::vector<report::PageDocument> shown;
  shown.reserve(documents.size());
  for (const report::RenderedDocument& one : documents)
    if (one.name != report::kSummary)
      shown.push_back({.name = one.name,
                       .file = folder.empty() ? std::nullopt : std::optional(one.name + ".json"),
                       .text = one.text});
  return write_page(arguments, shown, quiet);
}

Result<void> write_page(const HtmlArguments& arguments,
                        std::span<const report::PageDocument> documents, bool quiet) {
  LongWork work("making the page", LongWork::mostly_short(quiet));
  PERFLAB_TRY(const std::string page, report::html_page(documents));
  PERFLAB_TRY_VOID(write_file_atomically(*arguments.file, page));
  work.end();
  if (!quiet) fmt::print(stderr, "rocm-perf: wrote {}: open it in a browser\n", *arguments.file);
  return {};
}

}  // namespace perflab::cli
