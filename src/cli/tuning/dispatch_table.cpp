// rocm-perf dispatch-table: tunings of the same kernel for several problem sizes in; a rule that
// chooses a configuration by the size, and what it loses, out.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <utility>

#include "base/system/files.h"
#include "base/text/progress.h"
#include "cli/kit/command.h"
#include "cli/kit/help.h"
#include "cli/kit/option_parsers.h"
#include "cli/kit/output_file.h"
#include "cli/kit/present.h"
#include "report/kit/document.h"
#include "report/tuning/dispatch_table_document.h"
#include "report/tuning/dispatch_table_header.h"
#include "report/tuning/dispatch_table_text.h"
#include "tune/records/recording.h"
#include "tune/table/dispatch_table.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;

struct TableArguments {
  std::vector<std::string> problems, manifests;
  std::size_t leaves = 0;  ///< 0: not given
  std::string loss, header;
  bool maximize = false;
  Outputs outputs = {.takes_page = false};
};

constexpr const char* kDefaultLoss = "1%";
constexpr double kMostLoss = 10;

/// What was tuned, in the order of the sizes; files of a manifest beside it.
Result<tune::SortedProblems> named_problems(const TableArguments& arguments) {
  if (arguments.problems.empty() && arguments.manifests.empty())
    return fail(ErrorCode::usage,
                "dispatch-table needs problems: sizes, and what was tuned of each",
                "--problem M=1024,N=512:FILE for each, or --manifest FILE");
  std::vector<tune::NamedProblem> all;
  for (const std::string& text : arguments.problems) {
    PERFLAB_TRY(tune::NamedProblem one, tune::parse_problem(text));
    all.push_back(std::move(one));
  }
  for (const std::string& file : arguments.manifests) {
    PERFLAB_TRY(const std::string text, read_file(file));
    PERFLAB_TRY(std::vector<tune::NamedProblem> listed, tune::parse_problems(text, file));
    for (tune::NamedProblem& one : listed) {
      one.recording = fs::path(file).parent_path() / one.recording;
      all.push_back(std::move(one));
    }
  }
  return tune::sort_problems(std::move(all));
}

/// With a number of leaves alone the best rule of so many is looked for.
Result<tune::RuleOptions> rule_options(const TableArguments& arguments) {
  tune::RuleOptions options;
  if (arguments.leaves > 0) options.leaves = arguments.leaves;
  if (arguments.loss.empty() && arguments.leaves > 0) return options;
  const std::string text = arguments.loss.empty() ? kDefaultLoss : arguments.loss;
  const std::optional<double> loss = share_from(text, kMostLoss);
  if (!loss)
    return fail(ErrorCode::usage,
                fmt::format("--loss '{}': must be a share from 0 to {}", text, kMostLoss),
                "--loss 2%, or --loss 0.02");
  options.loss = *loss;
  return options;
}

Result<tune::MeasuredProblems> read_problems(const tune::SortedProblems& sorted, bool maximize) {
  LongWork work("reading recordings");
  std::vector<tune::RecordedProblem> recorded;
  const TellProgress tell = work.tell();
  for (const tune::NamedProblem& one : sorted.problems) {
    PERFLAB_TRY(tune::Recording recording, tune::read_recording(one.recording));
    recorded.push_back({.named = one, .recording = std::move(recording)});
    if (tell)
      tell("reading recordings",
           static_cast<double>(recorded.size()) / static_cast<double>(sorted.problems.size()));
  }
  return tune::join_recordings(sorted.sizes, std::move(recorded), maximize);
}

/// No input is replaced. Error (usage).
Result<void> check_header(const TableArguments& arguments, const tune::SortedProblems& sorted) {
  if (arguments.header.empty()) return {};
  std::vector<fs::path> inputs(arguments.manifests.begin(), arguments.manifests.end());
  for (const tune::NamedProblem& one : sorted.problems) inputs.push_back(one.recording);
  return check_output_file({.option = "--header",
                            .what = "the table as C++",
                            .example = "table.h",
                            .name = arguments.header},
                           inputs, arguments.outputs.folder);
}

Result<void> run_dispatch_table(const TableArguments& arguments) {
  PERFLAB_TRY(const tune::RuleOptions options, rule_options(arguments));
  PERFLAB_TRY(const tune::SortedProblems sorted, named_problems(arguments));
  PERFLAB_TRY_VOID(check_header(arguments, sorted));
  PERFLAB_TRY(const tune::MeasuredProblems measured, read_problems(sorted, arguments.maximize));
  LongWork work("learning rules");
  const tune::DispatchTable table = tune::make_dispatch_table(measured, options);
  work.end();
  const report::DispatchTableData data{
      .measured = measured, .table = table, .options = options, .header = arguments.header};
  const Json document = report::dispatch_table_document(data);
  if (!arguments.header.empty()) {
    PERFLAB_TRY(const std::string text,
                report::dispatch_table_header(data, fs::path(arguments.header).stem().string()));
    PERFLAB_TRY_VOID(report::validate("dispatch_table", document));
    if (!arguments.outputs.folder.empty())
      PERFLAB_TRY_VOID(make_directories(arguments.outputs.folder));
    PERFLAB_TRY_VOID(write_file_atomically(arguments.header, text));
  }
  std::vector<Section> sections;
  for (const std::string_view name : report::kDispatchTableSections)
    sections.push_back({name, [&document, name] {
                          return report::dispatch_table_section(document, name, terminal_style());
                        }});
  return present_answer(arguments.outputs, {{"dispatch_table", document}}, sections);
}

}  // namespace

void add_dispatch_table(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<TableArguments>();
  CLI::App* command = app.add_subcommand(
      "dispatch-table", "Make a rule that chooses the configuration by the problem size");
  set_examples(*command, {"rocm-perf dispatch-table --problem M=1024,N=512:a.jsonl "
                          "--problem M=4096,N=512:b.jsonl --header gemm_table.h",
                          "rocm-perf dispatch-table --manifest problems.json --leaves 4"});
  command
      ->add_option("--problem", arguments->problems,
                   "Sizes of a problem and the recording of its tuning, M=1024,N=512:FILE: "
                   "whatever autotune --simulate reads. Repeatable")
      ->allow_extra_args(false);
  command
      ->add_option("--manifest", arguments->manifests,
                   "Problems in a JSON file: {\"problems\": [{\"size\": {\"M\": 1024}, "
                   "\"recording\": \"a.jsonl\"}]}, files beside it. Repeatable")
      ->allow_extra_args(false);
  command
      ->add_option("--leaves", arguments->leaves,
                   "At most N leaves; without --loss the best rule of so many")
      ->check(whole_from(1, tune::kMostProblems));
  command->add_option("--loss", arguments->loss,
                      fmt::format("The smallest rule that loses no more on average against the "
                                  "best of each problem (default: {})",
                                  kDefaultLoss));
  command->add_flag("--maximize", arguments->maximize,
                    "Larger values are better (default: as journals say)");
  command->add_option("--header", arguments->header,
                      "Write the rule to this file as a C++17 header");
  command->add_option("--out", arguments->outputs.folder,
                      "Folder for dispatch_table.json and summary.json");
  add_answer_options(*command, arguments->outputs, "dispatch_table");
  offer_sections(*command,
                 {report::kDispatchTableSections.begin(), report::kDispatchTableSections.end()});
  command->callback([arguments, &exit_code] {
    if (const auto done = run_dispatch_table(*arguments); !done)
      exit_code = report_error(done.error());
  });
}

}  // namespace perflab::cli
