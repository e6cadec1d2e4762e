// rocm-perf roofline: counters in, whatever wrote them; the roofline of each kernel out.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "analyze/keep_kernels.h"
#include "analyze/pipeline.h"
#include "base/system/memory.h"
#include "base/text/progress.h"
#include "cli/kit/analysis_options.h"
#include "cli/kit/help.h"
#include "cli/kit/present.h"
#include "report/kit/document.h"
#include "report/roofline/roofline_document.h"
#include "report/roofline/roofline_text.h"

namespace perflab::cli {
namespace {

struct RooflineArguments {
  std::vector<std::string> files;
  std::vector<std::string> code;
  std::string kernel;
  RoofsArguments roofs;
  Outputs outputs;
  unsigned threads = 0;
};

/// Refuses a page that would replace what is read.
Result<void> check_roofline_page(const RooflineArguments& arguments) {
  std::vector<std::filesystem::path> inputs(arguments.files.begin(), arguments.files.end());
  inputs.insert(inputs.end(), arguments.code.begin(), arguments.code.end());
  if (!arguments.roofs.file.empty()) inputs.emplace_back(arguments.roofs.file);
  if (!arguments.roofs.calibration.empty()) inputs.emplace_back(arguments.roofs.calibration);
  return check_html_file(arguments.outputs.html, inputs, arguments.outputs.folder);
}

Result<void> run_roofline(const RooflineArguments& arguments) {
  PERFLAB_TRY_VOID(check_roofline_page(arguments));
  analyze::AnalyzeOptions options;
  options.find_critical_path = false;
  options.threads = arguments.threads;
  options.memory = {.bytes = available_memory().value_or(0),
                    .remedy = "give fewer passes at once, or use a machine with more memory"};
  options.code_files.assign(arguments.code.begin(), arguments.code.end());
  PERFLAB_TRY_VOID(apply(arguments.roofs, options));
  LongWork work("reading recordings");
  options.progress = work.tell();
  PERFLAB_TRY(analyze::AnalyzedTrace analyzed,
              analyze::analyze_files({arguments.files.begin(), arguments.files.end()}, options));
  work.end();
  auto& [trace, analysis] = analyzed;
  if (!analysis.roofline)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: there is no roofline: {}", arguments.files.front(),
                            analysis.roofline_missing.reason),
                analysis.roofline_missing.remedy);
  if (!arguments.kernel.empty())
    PERFLAB_TRY_VOID(analyze::keep_kernels(arguments.kernel, analysis));
  std::vector<Document> documents = {
      {"roofline",
       report::roofline_document(
           trace, analysis, {.kernel_filter = arguments.kernel, .roofs = arguments.roofs.file})}};
  return present_answer(arguments.outputs, std::move(documents),
                        {{"roofline", [&] {
                            return report::roofline_report_text(trace, analysis, terminal_style(),
                                                                arguments.outputs.folder.empty()
                                                                    ? "--json or --out DIR"
                                                                    : "roofline.json");
                          }}});
}

}  // namespace

void add_roofline(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<RooflineArguments>();
  CLI::App* command =
      app.add_subcommand("roofline", "Show work, traffic and rates against what the GPU can do");
  set_examples(*command,
               {"rocm-perf roofline pass_1/*.db pass_2/*.db pass_3/*.db",
                "rocm-perf roofline 1234_counter_collection.csv --roofs roofline.csv --json"});
  command
      ->add_option("FILE", arguments->files,
                   "Counter passes of one command: rocpd databases, counter_collection.csv of "
                   "rocprofv3, tables of rocprof-compute; a database without counters gives times")
      ->required();
  add_roofs_options(*command, arguments->roofs);
  add_calibration_option(*command, arguments->roofs);
  command->add_option("--kernel", arguments->kernel, "Only kernels whose name this regex matches");
  command
      ->add_option("--code", arguments->code,
                   "Binary or code object with the kernels, which shows whether their "
                   "floating-point instructions are packed; repeatable")
      ->allow_extra_args(false);
  command->add_option("--out", arguments->outputs.folder,
                      "Write roofline.json and summary.json into this folder");
  add_html_option(*command, arguments->outputs.html, "the roofline");
  add_answer_options(*command, arguments->outputs, "roofline");
  command->add_option("--threads", arguments->threads,
                      "Threads to read with (default: all cores); the result is the same");
  command->callback([arguments, &exit_code] {
    if (const auto done = run_roofline(*arguments); !done) exit_code = report_error(done.error());
  });
}

}  // namespace perflab::cli
