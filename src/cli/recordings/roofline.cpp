// rocm-perf roofline: counters in, whatever wrote them; the roofline of each kernel out.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <span>

#include "analyze/pipeline.h"
#include "base/text/pattern.h"
#include "base/text/progress.h"
#include "cli/kit/analysis_options.h"
#include "cli/kit/command.h"
#include "cli/kit/html_page.h"
#include "report/kit/document.h"
#include "report/kit/text_table.h"
#include "report/roofline/roofline_document.h"
#include "report/roofline/roofline_text.h"

namespace perflab::cli {
namespace {

struct RooflineArguments {
  std::vector<std::string> files;
  std::vector<std::string> code;
  std::string kernel, out;
  RoofsArguments roofs;
  HtmlArguments html;
  bool json = false;
  unsigned threads = 0;
};

/// Names of kernels that an error lists at most.
constexpr std::size_t kMostNames = 10;

/// Leaves the kernels whose names the pattern matches, and their verdicts. Error (usage): there is
/// none.
Result<void> select_kernels(const std::string& text, analyze::Analysis& analysis) {
  analyze::Roofline& roofline = *analysis.roofline;
  PERFLAB_TRY(const Pattern pattern, Pattern::compile(text));
  std::vector<std::string> names;  // each once: a kernel can have run on several architectures
  for (const analyze::KernelRoofline& kernel : roofline.kernels)
    if (std::string name = report::printable(kernel.kernel);
        std::ranges::find(names, name) == names.end())
      names.push_back(std::move(name));
  std::erase_if(roofline.kernels, [&](const analyze::KernelRoofline& kernel) {
    return !pattern.found_in(kernel.kernel);
  });
  std::erase_if(analysis.bottlenecks.kernels, [&](const analyze::KernelBottleneck& kernel) {
    return !pattern.found_in(kernel.kernel);
  });
  if (!roofline.kernels.empty()) return {};
  const std::size_t shown = std::min(names.size(), kMostNames);
  std::string remedy = fmt::format("there are: {}", fmt::join(std::span(names).first(shown), ", "));
  if (shown < names.size()) remedy += fmt::format(", and {} more", names.size() - shown);
  return fail(ErrorCode::usage, fmt::format("--kernel {}: no kernel with counters matches", text),
              std::move(remedy));
}

/// Refuses a page that would replace what is read.
Result<void> check_roofline_page(const RooflineArguments& arguments) {
  std::vector<std::filesystem::path> inputs(arguments.files.begin(), arguments.files.end());
  inputs.insert(inputs.end(), arguments.code.begin(), arguments.code.end());
  if (!arguments.roofs.file.empty()) inputs.emplace_back(arguments.roofs.file);
  return check_html_file(arguments.html, inputs, arguments.out);
}

Result<void> run_roofline(const RooflineArguments& arguments) {
  PERFLAB_TRY_VOID(check_roofline_page(arguments));
  analyze::AnalyzeOptions options;
  options.find_critical_path = false;
  options.threads = arguments.threads;
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
  if (!arguments.kernel.empty()) PERFLAB_TRY_VOID(select_kernels(arguments.kernel, analysis));
  if (arguments.json || !arguments.out.empty() || arguments.html) {
    const std::vector<Document> documents = {
        {"roofline",
         report::roofline_document(
             trace, analysis, {.kernel_filter = arguments.kernel, .roofs = arguments.roofs.file})}};
    if (!arguments.out.empty()) PERFLAB_TRY_VOID(write_documents(arguments.out, documents));
    PERFLAB_TRY_VOID(write_html_file(arguments.html, documents, arguments.out));
    if (arguments.json) {
      PERFLAB_TRY(const std::string text, report::render("roofline", documents.front().value));
      return print(text);
    }
  }
  PERFLAB_TRY_VOID(print(report::roofline_report_text(
      trace, analysis, terminal_style(),
      arguments.out.empty() ? "--json or --out DIR" : "roofline.json")));
  if (!arguments.out.empty()) fmt::print(stderr, "\ndocuments: {}/roofline.json\n", arguments.out);
  return {};
}

}  // namespace

void add_roofline(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<RooflineArguments>();
  CLI::App* command =
      app.add_subcommand("roofline", "Show work, traffic and rates against what the GPU can do");
  command->footer(
      "Examples: rocm-perf roofline pass_1/*.db pass_2/*.db pass_3/*.db\n"
      "          rocm-perf roofline 1234_counter_collection.csv --roofs roofline.csv --json");
  command
      ->add_option("FILE", arguments->files,
                   "Counter passes of one command: rocpd databases, counter_collection.csv of "
                   "rocprofv3, tables of rocprof-compute; a database without counters gives times")
      ->required();
  add_roofs_options(*command, arguments->roofs);
  command->add_option("--kernel", arguments->kernel, "Only kernels whose name this regex matches");
  command
      ->add_option(
          "--code", arguments->code,
          "Binary or code object that holds the kernels: says whether their floating-point "
          "instructions are packed; repeatable")
      ->allow_extra_args(false);
  command->add_option("--out", arguments->out, "Write roofline.json into this folder");
  add_html_option(*command, arguments->html, "the roofline");
  command->add_flag("--json", arguments->json, "Print roofline.json and nothing else");
  command->add_option("--threads", arguments->threads,
                      "Threads to read with (default: all cores); the result is the same");
  command->callback([arguments, &exit_code] {
    if (const auto done = run_roofline(*arguments); !done) exit_code = report_error(done.error());
  });
}

}  // namespace perflab::cli
