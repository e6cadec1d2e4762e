// rocm-perf compare: two measurements in; per kernel SAME, FASTER, SLOWER or UNDECIDED, out.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <utility>

#include "base/system/files.h"
#include "base/text/progress.h"
#include "cli/kit/command.h"
#include "cli/kit/help.h"
#include "cli/kit/html_page.h"
#include "cli/kit/option_parsers.h"
#include "cli/kit/output_file.h"
#include "cli/kit/present.h"
#include "compare/read_samples.h"
#include "report/comparison/comparison_document.h"
#include "report/comparison/comparison_junit.h"
#include "report/comparison/comparison_markdown.h"
#include "report/comparison/comparison_text.h"
#include "report/kit/document.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;

struct ComparePlaces {
  std::string a, b;
  std::vector<std::string> more_a, more_b;
  std::string out, junit, markdown;
};

struct CompareArguments {
  ComparePlaces places;
  Outputs outputs = {.takes_folder = false};
  std::string threshold = "2%", confidence = "95%", min_share = "0%";
  std::string kernel, unit, samples = "auto";
  bool larger_is_better = false, fail_undecided = false;
  unsigned threads = 0;
};

/// "2%" or "0.02", from 0 to `most`.
Result<double> parse_share(const char* option, const std::string& text, double most) {
  if (const std::optional<double> share = share_from(text, most)) return *share;
  return fail(ErrorCode::usage,
              fmt::format("{} '{}': must be a share from 0 to {}", option, text, most),
              fmt::format("{} 2%, or {} 0.02", option, option));
}

Result<compare::CompareOptions> compare_options(const CompareArguments& arguments) {
  compare::CompareOptions options;
  PERFLAB_TRY(options.threshold, parse_share("--threshold", arguments.threshold, 10));
  PERFLAB_TRY(options.confidence, parse_share("--confidence", arguments.confidence, 1));
  PERFLAB_TRY(options.min_share, parse_share("--min-share", arguments.min_share, 1));
  if (!(options.confidence > 0) || !(options.confidence < 1))
    return fail(ErrorCode::usage,
                fmt::format("--confidence '{}': it lies between 0 and 100 %, without the two",
                            arguments.confidence),
                "--confidence 95%");
  if (!arguments.kernel.empty()) {
    PERFLAB_TRY(Pattern pattern, Pattern::compile(arguments.kernel));
    options.kernel = std::move(pattern);
  }
  if (arguments.samples == "runs") options.samples = compare::SampleChoice::runs;
  if (arguments.samples == "single") options.samples = compare::SampleChoice::single;
  options.unit = arguments.unit;
  options.larger_is_better = arguments.larger_is_better;
  options.fail_undecided = arguments.fail_undecided;
  return options;
}

/// The paths of both sides: A and B, or as many runs as --a and --b give.
Result<std::pair<std::vector<fs::path>, std::vector<fs::path>>> sides_of(
    const ComparePlaces& places) {
  const auto all = [](const std::string& first, const std::vector<std::string>& more) {
    std::vector<fs::path> paths(more.begin(), more.end());
    if (!first.empty()) paths.insert(paths.begin(), first);
    return paths;
  };
  std::pair<std::vector<fs::path>, std::vector<fs::path>> sides = {all(places.a, places.more_a),
                                                                   all(places.b, places.more_b)};
  if (sides.first.empty() || sides.second.empty())
    return fail(ErrorCode::usage, "compare needs two sides",
                "rocm-perf compare A B, or rocm-perf compare --a RUN... --b RUN...");
  return sides;
}

/// The files to write: no input, no two the same, nothing in the way.
Result<void> check_outputs(const ComparePlaces& places, const HtmlArguments& html,
                           const compare::SampleSide& a, const compare::SampleSide& b) {
  std::vector<OutputFile> outputs = {{"--out", "the document", "comparison.json", places.out},
                                     {"--junit", "the report", "perf.xml", places.junit},
                                     {"--markdown", "the table", "perf.md", places.markdown}};
  std::erase_if(outputs, [](const OutputFile& output) { return output.name.empty(); });
  if (html) outputs.push_back(page_file(html));
  std::vector<fs::path> inputs = a.read_files;
  inputs.insert(inputs.end(), b.read_files.begin(), b.read_files.end());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    PERFLAB_TRY_VOID(check_output_file(outputs[i], inputs, {}));
    for (std::size_t j = 0; j < i; ++j) PERFLAB_TRY_VOID(check_distinct(outputs[j], outputs[i]));
  }
  return {};
}

Result<void> write_outputs(const ComparePlaces& places, const Json& document,
                           const compare::ComparisonResult& result,
                           const compare::CompareOptions& options) {
  if (!places.out.empty()) {
    PERFLAB_TRY(const std::string text, report::render("comparison", document));
    PERFLAB_TRY_VOID(write_file_atomically(places.out, text));
  }
  if (!places.junit.empty())
    PERFLAB_TRY_VOID(
        write_file_atomically(places.junit, report::comparison_junit(result, options)));
  if (!places.markdown.empty())
    PERFLAB_TRY_VOID(
        write_file_atomically(places.markdown, report::comparison_markdown(result, options)));
  return {};
}

/// The exit code: 1 when the gate fails.
Result<int> run_compare(const CompareArguments& arguments) {
  PERFLAB_TRY(const compare::CompareOptions options, compare_options(arguments));
  PERFLAB_TRY(const auto sides, sides_of(arguments.places));
  LongWork work("reading A");
  PERFLAB_TRY(compare::SampleSide a,
              compare::read_samples(sides.first, arguments.threads, part_of(work.tell(), 0, 0.5)));
  PERFLAB_TRY(compare::SampleSide b,
              compare::read_samples(sides.second, arguments.threads, part_of(work.tell(), 0.5, 1)));
  PERFLAB_TRY_VOID(check_outputs(arguments.places, arguments.outputs.html, a, b));
  PERFLAB_TRY(const compare::ComparisonResult result,
              compare::compare_sides(std::move(a), std::move(b), options));
  const Json document = report::comparison_document(result, options);
  PERFLAB_TRY_VOID(write_outputs(arguments.places, document, result, options));
  work.end();
  PERFLAB_TRY_VOID(present_answer(
      arguments.outputs, {{"comparison", document}},
      {{"kernels", [&] { return report::comparison_kernels_text(result, terminal_style()); }},
       {"notes", [&] { return report::comparison_notes_text(result, terminal_style()); }},
       {"verdict",
        [&] { return report::comparison_verdict_text(result, options, terminal_style()); }}}));
  return result.fails ? exit_code(ErrorCode::refused) : 0;
}

void add_gate_options(CLI::App& command, CompareArguments& arguments) {
  command.add_option(
      "--threshold", arguments.threshold,
      "Slower by more than this is a regression; equal within this is SAME (default: "
      "2%)");
  command.add_option("--confidence", arguments.confidence,
                     "Confidence of all comparisons together (default: 95%)");
  command.add_flag("--fail-undecided", arguments.fail_undecided,
                   "Also fail when a comparison could not be decided");
  command.add_option("--kernel", arguments.kernel,
                     "Only kernels whose name this regex matches somewhere");
  command.add_option(
      "--min-share", arguments.min_share,
      "Kernels with a smaller share of the time on both sides cannot fail (default: 0%)");
  command
      .add_option("--samples", arguments.samples,
                  "What counts as a sample: runs (sums of runs), single (dispatches, iterations), "
                  "or auto: runs where both sides have three or more")
      ->check(CLI::IsMember({"auto", "runs", "single"}));
}

}  // namespace

void add_compare(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<CompareArguments>();
  CLI::App* command =
      app.add_subcommand("compare", "Compare two measurements; exit code 1 on a regression");
  set_examples(*command,
               {"rocm-perf compare base new --threshold 3%",
                "rocm-perf compare --a base_*.db --b new_*.db --junit perf.xml --markdown perf.md",
                "rocm-perf compare old.txt new.txt --unit ms"});
  command->footer(
      "Exit codes: 0 no regression shown; 1 a kernel or the total is SLOWER by more than "
      "the threshold, or undecided with --fail-undecided; 2 usage; 3 bad input.");
  command->add_option("A", arguments->places.a,
                      "Baseline: a recording that analyze reads, a folder of them, profile.json, "
                      "analysis.json, replay.json, a journal of autotune, or "
                      "numbers, one per line");
  command->add_option("B", arguments->places.b, "What is compared with A: the same kinds of input");
  command->add_option("--a", arguments->places.more_a, "Runs of A, one file each");
  command->add_option("--b", arguments->places.more_b, "Runs of B, one file each");
  add_gate_options(*command, *arguments);
  command->add_option("--unit", arguments->unit,
                      "Unit of inputs that state none: ns, us, ms, s, or any other");
  command->add_flag("--larger-is-better", arguments->larger_is_better,
                    "The inputs are rates, not times");
  command->add_option("--out", arguments->places.out, "Write comparison.json to this file");
  command->add_option("--junit", arguments->places.junit, "Write JUnit XML to this file");
  command->add_option("--markdown", arguments->places.markdown,
                      "Write a Markdown table to this file");
  add_html_option(*command, arguments->outputs.html, "the comparison");
  add_answer_options(*command, arguments->outputs, "comparison");
  offer_sections(*command, {"kernels", "notes", "verdict"});
  command->add_option("--threads", arguments->threads,
                      "Threads to read with (default: all cores); the result is the same");
  command->callback([arguments, &exit_code] {
    const Result<int> done = run_compare(*arguments);
    exit_code = done ? *done : report_error(done.error());
  });
}

}  // namespace perflab::cli
