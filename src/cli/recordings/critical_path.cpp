// rocm-perf critical-path: a recorded run in; where its time went and what would shorten it, out.
#include <CLI/CLI.hpp>
#include <memory>

#include "base/text/progress.h"
#include "cli/kit/analysis_options.h"
#include "cli/kit/help.h"
#include "cli/kit/present.h"
#include "report/analysis/timeline_document.h"
#include "report/critical_path/dag_document.h"
#include "report/critical_path/dag_text.h"
#include "report/kit/document.h"

namespace perflab::cli {
namespace {

struct CriticalPathArguments {
  std::vector<std::string> files;
  PathArguments path;
  PartArguments part;
  Outputs outputs;
  unsigned threads = 0;
};

/// dag and, where there is one, timeline.
std::vector<Document> path_documents(const CriticalPathArguments& arguments,
                                     const analyze::AnalyzedTrace& analyzed) {
  const auto& [trace, analysis] = analyzed;
  const bool page = static_cast<bool>(arguments.outputs.html);
  std::vector<Document> documents = {
      {"dag", report::dag_document(trace, analysis, {.full = arguments.path.full, .nodes = page})}};
  if (analysis.timeline)
    documents.push_back({"timeline", report::timeline_document(trace, analysis)});
  return documents;
}

Result<void> run_critical_path(const CriticalPathArguments& arguments) {
  if (arguments.path.full && !arguments.outputs.json && arguments.outputs.folder.empty() &&
      !arguments.outputs.html)
    return fail(ErrorCode::usage, "--full is about dag.json",
                "add --json, --out DIR or --html FILE");
  const std::vector<std::filesystem::path> files(arguments.files.begin(), arguments.files.end());
  PERFLAB_TRY_VOID(check_perfetto_file(arguments.path, files, arguments.outputs.folder));
  PERFLAB_TRY_VOID(
      check_html_file(arguments.outputs.html, files, arguments.outputs.folder, &arguments.path));
  analyze::AnalyzeOptions options;
  options.threads = arguments.threads;
  options.search_code = false;  // registers say nothing here
  PERFLAB_TRY_VOID(apply(arguments.path, options));
  PERFLAB_TRY_VOID(apply(arguments.part, options));
  apply(arguments.outputs, options);
  LongWork work("reading recordings");
  options.progress = work.tell();
  PERFLAB_TRY(const analyze::AnalyzedTrace analyzed, analyze::analyze_files(files, options));
  work.end();
  const auto& [trace, analysis] = analyzed;
  if (!analysis.critical_path) return no_critical_path(analyzed);
  tell_nodes_left_out(arguments.path, analyzed);
  PERFLAB_TRY_VOID(write_perfetto_file(arguments.path, analyzed));
  return present_answer(arguments.outputs, path_documents(arguments, analyzed),
                        {{"critical-path", [&] {
                            return report::dag_report_text(trace, analysis, terminal_style());
                          }}});
}

}  // namespace

void add_critical_path(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<CriticalPathArguments>();
  CLI::App* command = app.add_subcommand(
      "critical-path", "Show where the time of a run went and what would shorten it");
  set_examples(*command, {"rocm-perf critical-path run.db --what-if 'gemm=2x' --what-if sync=drop",
                          "rocm-perf critical-path run.db --perfetto run.json --segment 3"});
  command
      ->add_option("TRACE", arguments->files,
                   "Recordings: rocprofv3's (rocpd databases, JSON, CSV tables, or a folder of one "
                   "of these) or traces of PyTorch's profiler (JSON); databases and JSON also "
                   "packed by gzip or "
                   "zstd; the processes of "
                   "one run, without counter passes")
      ->required();
  add_path_options(*command, arguments->path);
  add_part_options(*command, arguments->part, false);
  command->add_option("--out", arguments->outputs.folder,
                      "Write dag.json, timeline.json and summary.json into this folder");
  add_html_option(*command, arguments->outputs.html, "the path, the timeline and what-if sliders");
  add_answer_options(*command, arguments->outputs, "dag");
  command->add_option("--threads", arguments->threads,
                      "Threads to read with (default: all cores); the result is the same");
  command->callback([arguments, &exit_code] {
    if (const auto done = run_critical_path(*arguments); !done)
      exit_code = report_error(done.error());
  });
}

}  // namespace perflab::cli
