// rocm-perf critical-path: a recorded run in; where its time went and what would shorten it, out.
#include <fmt/format.h>

#include <memory>

#include "base/text/progress.h"
#include "cli/kit/analysis_options.h"
#include "cli/kit/command.h"
#include "cli/kit/html_page.h"
#include "report/critical_path/dag_document.h"
#include "report/critical_path/dag_text.h"
#include "report/kit/document.h"
#include "report/recording/timeline_document.h"

namespace perflab::cli {
namespace {

struct CriticalPathArguments {
  std::vector<std::string> files;
  PathArguments path;
  HtmlArguments html;
  std::string out;
  bool json = false;
  unsigned threads = 0;
};

/// dag and timeline, into the folder and the page that were asked for.
Result<std::vector<Document>> write_path_documents(const CriticalPathArguments& arguments,
                                                   const analyze::AnalyzedTrace& analyzed) {
  const auto& [trace, analysis] = analyzed;
  std::vector<Document> documents = {
      {"dag", report::dag_document(
                  trace, analysis,
                  {.full = arguments.path.full, .nodes = arguments.html.file.has_value()})}};
  if (analysis.timeline)
    documents.push_back({"timeline", report::timeline_document(trace, analysis)});
  if (!arguments.out.empty()) PERFLAB_TRY_VOID(write_documents(arguments.out, documents));
  PERFLAB_TRY_VOID(write_html_file(arguments.html, documents, arguments.out));
  return documents;
}

Result<void> run_critical_path(const CriticalPathArguments& arguments) {
  if (arguments.path.full && !arguments.json && arguments.out.empty() && !arguments.html)
    return fail(ErrorCode::usage, "--full is about dag.json",
                "add --json, --out DIR or --html FILE");
  const std::vector<std::filesystem::path> files(arguments.files.begin(), arguments.files.end());
  PERFLAB_TRY_VOID(check_perfetto_file(arguments.path, files, arguments.out));
  PERFLAB_TRY_VOID(check_html_file(arguments.html, files, arguments.out, &arguments.path));
  analyze::AnalyzeOptions options;
  options.threads = arguments.threads;
  options.search_code = false;  // registers say nothing here
  PERFLAB_TRY_VOID(apply(arguments.path, options));
  report::keep_for_documents(!arguments.out.empty(), arguments.html.file.has_value(), options);
  LongWork work("reading recordings");
  options.progress = work.tell();
  PERFLAB_TRY(const analyze::AnalyzedTrace analyzed, analyze::analyze_files(files, options));
  work.end();
  const auto& [trace, analysis] = analyzed;
  if (!analysis.critical_path) return no_critical_path(analyzed);
  tell_nodes_left_out(arguments.path, analyzed);
  PERFLAB_TRY_VOID(write_perfetto_file(arguments.path, analyzed));
  if (arguments.json || !arguments.out.empty() || arguments.html) {
    PERFLAB_TRY(const std::vector<Document> documents, write_path_documents(arguments, analyzed));
    if (arguments.json) {
      PERFLAB_TRY(const std::string text, report::render("dag", documents.front().value));
      return print(text);
    }
  }
  PERFLAB_TRY_VOID(print(report::dag_report_text(trace, analysis, terminal_style())));
  if (!arguments.out.empty())
    fmt::print(stderr, "\ndocuments: {0}/dag.json, {0}/timeline.json\n", arguments.out);
  return {};
}

}  // namespace

void add_critical_path(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<CriticalPathArguments>();
  CLI::App* command = app.add_subcommand(
      "critical-path", "Show where the time of a run went and what would shorten it");
  command->footer(
      "Examples: rocm-perf critical-path run.db --what-if 'gemm=2x' --what-if sync=drop\n"
      "          rocm-perf critical-path run.db --perfetto run.json --segment 3");
  command
      ->add_option("TRACE", arguments->files,
                   "rocpd databases: the processes of one run, without counter passes")
      ->required();
  add_path_options(*command, arguments->path);
  command->add_option("--out", arguments->out, "Write dag.json and timeline.json into this folder");
  add_html_option(*command, arguments->html, "the path, the timeline and what-if sliders");
  command->add_flag("--json", arguments->json, "Print dag.json and nothing else");
  command->add_option("--threads", arguments->threads,
                      "Threads to read with (default: all cores); the result is the same");
  command->callback([arguments, &exit_code] {
    if (const auto done = run_critical_path(*arguments); !done)
      exit_code = report_error(done.error());
  });
}

}  // namespace perflab::cli
