// rocm-perf profile: runs a program under rocprofv3 and reports its hottest kernel.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "base/system/interrupt.h"
#include "base/text/command_line.h"
#include "base/text/duration.h"
#include "base/text/numbers.h"
#include "base/text/progress.h"
#include "base/text/text.h"
#include "cli/kit/analysis_options.h"
#include "cli/kit/command.h"
#include "cli/kit/html_page.h"
#include "measure/profile.h"
#include "report/critical_path/dag_text.h"
#include "report/kit/document.h"
#include "report/kit/process_outcome.h"
#include "report/kit/style.h"
#include "report/kit/text_table.h"
#include "report/recording/analysis_document.h"
#include "report/recording/analysis_text.h"
#include "report/recording/profile_document.h"
#include "report/recording/profile_text.h"
#include "report/roofline/roofline_text.h"

namespace perflab::cli {
namespace {

struct ProfileArguments {
  std::vector<std::string> words;
  int runs = 1;
  std::string timeout;
  std::string out = ".";
  bool no_rocprof = false, json = false, quiet = false, att = false;
  RoofsArguments roofs;
  HtmlArguments html;
  measure::AttOptions att_options;
  measure::ProfileOptions options;
};

/// The target: the words behind "--", or one string, or words.
Result<std::vector<std::string>> target_of(const ProfileArguments& arguments,
                                           const std::vector<std::string>& behind_dashes) {
  std::vector<std::string> words = arguments.words;
  words.insert(words.end(), behind_dashes.begin(), behind_dashes.end());
  if (words.size() == 1 && behind_dashes.empty()) return split_command_line(words.front());
  if (words.empty())
    return fail(ErrorCode::usage, "profile needs a program to run",
                "rocm-perf profile -- ./app args");
  return words;
}

report::ProfileData report_data(const measure::Profile& profile,
                                const std::vector<std::string>& target) {
  report::ProfileData data;
  data.analyzed = profile.analyzed ? &*profile.analyzed : nullptr;
  data.warnings = profile.warnings;
  data.command = target;
  if (profile.collection.rocprofv3) data.rocprofv3_version = profile.collection.rocprofv3->version;
  data.no_gpu_reason = profile.collection.traced
                           ? "no run left a database that can be used"
                           : "the process ran without a profiler (--no-rocprof)";
  for (std::size_t i = 0; i < profile.collection.runs.size(); ++i) {
    const collect::TargetRun& run = profile.collection.runs[i];
    data.runs.push_back({.process_wall_ns = run.process.wall_time.value,
                         .outcome = report::outcome_of(run.process),
                         .analyzed = profile.analyzed_index[i]});
    for (const collect::DatabaseFile& database : run.databases)
      data.databases.push_back(database.path.string());
  }
  if (!profile.counters) return data;
  for (const collect::CounterPass& pass : profile.counters->passes)
    for (const collect::DatabaseFile& database : pass.databases)
      data.databases.push_back(database.path.string());
  return data;
}

/// What was traced, and where it lies.
void say_what_was_traced(const measure::ThreadTracePass& pass) {
  if (pass.runs.empty()) return;
  const measure::AttChoice& choice = pass.choice;
  fmt::print(stderr, "\nthread trace of dispatch {} of {} of {}{}, CU {}: {}\n", choice.iteration,
             choice.of, report::printable(choice.kernel),
             choice.on_critical_path ? " (on the critical path)" : "",
             pass.runs.back().request.target_cu, pass.runs.back().folder.string());
}

Result<void> present(const ProfileArguments& arguments, const measure::Profile& profile,
                     const report::ProfileData& data) {
  std::vector<Document> documents = {{"profile", report::profile_document(data)}};
  if (profile.analyzed) {
    std::ranges::move(report::trace_documents(profile.analyzed->representative,
                                              {.roofs = arguments.roofs.file,
                                               .nodes = arguments.html.file.has_value()}),
                      std::back_inserter(documents));
  }
  PERFLAB_TRY_VOID(write_documents(arguments.out, documents, arguments.quiet));
  PERFLAB_TRY_VOID(remove_stale_documents(arguments.out, documents, arguments.quiet));
  PERFLAB_TRY_VOID(write_html_file(arguments.html, documents, arguments.out, arguments.quiet));
  if (arguments.json) {
    PERFLAB_TRY(const std::string text, report::render("profile", documents.front().value));
    return print(text);
  }
  if (arguments.quiet) return {};
  const report::TerminalStyle style = terminal_style();
  std::string text;
  if (profile.analyzed) {
    const auto& [trace, analysis] = profile.analyzed->representative;
    text = report::analysis_text(trace, analysis, style) + report::dag_text(trace, analysis, style);
    if (analysis.roofline) text += report::roofline_text(analysis, style);
  }
  PERFLAB_TRY_VOID(print(text + report::profile_text(data, style)));
  if (profile.thread_trace && profile.analyzed &&
      profile.analyzed->representative.analysis.thread_traces)
    say_what_was_traced(*profile.thread_trace);
  std::string names;
  for (const Document& document : documents)
    names += fmt::format("{}{}.json", names.empty() ? "" : ", ", document.name);
  fmt::print(stderr, "\ndocuments in {}: {}\n", arguments.out, names);
  return {};
}

/// Exit code 0, or the error's when the target failed, was stopped, or nothing could be measured.
Result<void> run_profile(const ProfileArguments& arguments,
                         const std::vector<std::string>& behind_dashes) {
  const InterruptScope interrupts;
  ProgressLine progress({.quiet = arguments.quiet});
  collect::CollectPlan plan;
  PERFLAB_TRY(plan.target, target_of(arguments, behind_dashes));
  plan.runs = arguments.runs;
  plan.no_rocprof = arguments.no_rocprof;
  plan.progress = &progress;
  if (!arguments.timeout.empty()) {
    PERFLAB_TRY(plan.timeout, parse_duration(arguments.timeout));
  }
  // The program's words can name files that it reads.
  std::vector<std::filesystem::path> inputs(plan.target.begin(), plan.target.end());
  if (!arguments.roofs.file.empty()) inputs.emplace_back(arguments.roofs.file);
  PERFLAB_TRY_VOID(check_html_file(arguments.html, inputs, arguments.out));
  measure::ProfileOptions options = arguments.options;
  options.timeline = true;
  if (arguments.html) options.keep_nodes_up_to = report::kMostPageNodes;
  if (arguments.att) {
    options.att = arguments.att_options;
    options.att->keep_detail = true;
  }
  if (!arguments.roofs.file.empty()) {
    if (!options.wants_counters())
      return fail(ErrorCode::usage, "--roofs says nothing without counters", "add --roofline");
    options.roofs = arguments.roofs.file;
    options.roofs_device = arguments.roofs.device;
  }
  PERFLAB_TRY(const measure::Profile profile, measure::profile(plan, options));
  progress.erase();
  if (profile.analyzed || !profile.problem)
    PERFLAB_TRY_VOID(present(arguments, profile, report_data(profile, plan.target)));
  if (profile.problem) return std::unexpected(*profile.problem);
  return {};
}

void add_counter_options(CLI::App& command, ProfileArguments& arguments) {
  command.add_flag("--roofline", arguments.options.roofline,
                   "Run it again for every set of hardware counters that the roofline needs");
  command
      .add_option("--counters", arguments.options.counters,
                  "Counters of your own, A,B,...: with --roofline in addition, else alone")
      ->delimiter(',')
      ->allow_extra_args(false);  // the program may follow without "--"
  add_roofs_options(command, arguments.roofs);
}

/// A whole number from 1 on, decimal or hexadecimal, with a suffix of bytes (k, M, G) where it says
/// so. CLI11 turns what does not fit into the largest number, and means floating point by positive.
CLI::Validator whole_number(std::uint64_t most, bool bytes) {
  return CLI::Validator(
      [most, bytes](std::string& text) -> std::string {
        const std::string bad = fmt::format("\"{}\" is no whole number from 1 to {}{}", text, most,
                                            bytes ? ", with k, M or G behind it for bytes" : "");
        std::string_view digits = text;
        std::uint64_t unit = 1;
        constexpr std::string_view kUnits = "kmg";
        if (bytes && !digits.empty()) {
          if (const std::size_t at = kUnits.find(lower(digits.back())); at != kUnits.npos) {
            unit = std::uint64_t{1} << (10 * (at + 1));
            digits.remove_suffix(1);
          }
        }
        const auto value = number_of(digits);
        if (!value || *value == 0 || *value > most / unit) return bad;
        text = fmt::format("{}", *value * unit);
        return {};
      },
      "");
}

void add_att_options(CLI::App& command, ProfileArguments& arguments) {
  measure::AttOptions& options = arguments.att_options;
  CLI::Option* const att = command.add_flag(
      "--att", arguments.att,
      "Run it again for a thread trace (rocprofv3 --att) of the longest critical dispatch");
  const auto add = [&](const char* name, auto& value, const char* text) {
    return command.add_option(name, value, text)->needs(att);
  };
  add("--att-kernel", options.kernel, "Trace a kernel whose name this regex matches")
      ->check([](const std::string& text) {
        return text.empty() ? std::string("an empty pattern names no kernel") : std::string();
      });
  add("--att-iteration", options.iteration, "Trace its Nth dispatch, from 1")
      ->transform(whole_number(INT32_MAX, false));
  add("--att-target-cu", options.target_cu, "CU (RDNA: WGP) whose waves are traced")
      ->check(CLI::Range(0, 127))
      ->capture_default_str();
  add("--att-shader-engines,--att-shader-engine-mask", options.shader_engines,
      "Bit mask of the shader engines to trace, 0x1 unless given")
      ->transform(whole_number(UINT64_MAX, false));
  add("--att-buffer,--att-buffer-size", options.buffer_bytes,
      "Buffer of each shader engine (64M, 1G); too small a one loses data")
      ->transform(whole_number(INT64_MAX, true));
}

}  // namespace

void add_profile(CLI::App& app, const std::vector<std::string>& target, int& exit_code) {
  const auto arguments = std::make_shared<ProfileArguments>();
  CLI::App* command =
      app.add_subcommand("profile", "Run a program under rocprofv3 and profile its hottest kernel");
  command->footer(
      "Example: rocm-perf profile --runs 5 -- ./app --size 4096\n"
      "         rocm-perf profile --roofline --att -- ./app\nDatabases are kept under "
      ".rocpd_profile/, every run in a folder of its own.");
  command->add_option("COMMAND", arguments->words,
                      "The program and its arguments, behind --; or one quoted string");
  command->add_option("--runs", arguments->runs, "Run it N times, to measure stability")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--timeout", arguments->timeout, "Stop a run that takes longer (90s, 10m)");
  add_counter_options(*command, *arguments);
  add_att_options(*command, *arguments);
  command->add_flag("--no-rocprof", arguments->no_rocprof,
                    "Only time the process; GPU figures are then missing");
  command
      ->add_option("--out", arguments->out,
                   "Folder for profile.json, analysis.json, dag.json, timeline.json, roofline.json "
                   "and thread_trace.json")
      ->capture_default_str();
  add_html_option(*command, arguments->html, "everything");
  command->add_flag("--json", arguments->json, "Print profile.json and nothing else");
  command->add_flag("--quiet", arguments->quiet, "Print nothing but errors");
  command->add_option("--threads", arguments->options.threads,
                      "Threads to read with (default: all cores)");
  command->callback([arguments, &target, &exit_code] {
    if (const auto done = run_profile(*arguments, target); !done)
      exit_code = report_error(done.error());
  });
}

}  // namespace perflab::cli
