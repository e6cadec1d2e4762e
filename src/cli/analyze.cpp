// rocm-perf analyze: recorded databases in, documents and tables out.
#include <fmt/format.h>

#include <memory>

#include "analyze/pipeline.h"
#include "cli/command.h"
#include "report/analysis_document.h"
#include "report/document.h"
#include "report/profile_document.h"

namespace perflab::cli {
namespace {

struct Arguments {
  std::vector<std::string> files;
  std::vector<std::string> code;
  std::string out;
  bool json = false;
  unsigned threads = 0;
};

Result<void> run(const Arguments& arguments) {
  const std::vector<std::filesystem::path> files(arguments.files.begin(), arguments.files.end());
  PERFLAB_TRY(const analyze::AnalyzedRuns runs,
              analyze::analyze_runs(
                  {files}, {.threads = arguments.threads,
                            .code_files = {arguments.code.begin(), arguments.code.end()}}));
  const auto& [trace, analysis] = runs.representative;
  const report::ProfileData profile = report::profile_of_recording(runs);
  const Json document = report::analysis_document(trace, analysis);
  if (!arguments.out.empty())
    PERFLAB_TRY_VOID(write_documents(
        arguments.out, {{"analysis", document}, {"profile", report::profile_document(profile)}}));
  if (arguments.json) {
    PERFLAB_TRY(const std::string text, report::render("analysis", document));
    return print(text);
  }
  const report::TerminalStyle style = terminal_style();
  PERFLAB_TRY_VOID(
      print(report::analysis_text(trace, analysis, style) + report::profile_text(profile, style)));
  if (!arguments.out.empty())
    fmt::print(stderr, "\ndocuments: {}/analysis.json, {}/profile.json\n", arguments.out,
               arguments.out);
  return {};
}

}  // namespace

void add_analyze(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("analyze", "Analyse recorded traces (rocpd databases of rocprofv3)");
  command->footer("Example: rocm-perf analyze host/1234_results.db --out report");
  command
      ->add_option("TRACE", arguments->files,
                   "rocpd databases: the processes of one run, or counter passes (pass_N folders)")
      ->required();
  command
      ->add_option("--code", arguments->code,
                   "Binary or code object that holds the kernels: exact registers; repeatable "
                   "(files beside the database and the program itself are found without it)")
      ->allow_extra_args(false);
  command->add_option("--out", arguments->out,
                      "Write analysis.json and profile.json into this folder");
  command->add_flag("--json", arguments->json, "Print analysis.json and nothing else");
  command->add_option("--threads", arguments->threads,
                      "Threads to read with (default: all cores); the result is the same");
  command->callback([arguments, &exit_code] {
    if (const auto done = run(*arguments); !done) exit_code = report_error(done.error());
  });
}

}  // namespace perflab::cli
