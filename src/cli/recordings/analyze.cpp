// rocm-perf analyze: recorded databases and thread traces in, documents and tables out.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <map>
#include <memory>
#include <optional>

#include "analyze/pipeline.h"
#include "base/text/progress.h"
#include "cli/kit/analysis_options.h"
#include "cli/kit/help.h"
#include "cli/kit/present.h"
#include "cli/recordings/recording_sections.h"
#include "report/analysis/analysis_document.h"
#include "report/analysis/profile_document.h"
#include "report/analysis/recording_documents.h"
#include "report/kit/document.h"
#include "report/kit/style.h"
#include "report/pc_sampling/pc_sampling_text.h"
#include "report/thread_trace/thread_trace_text.h"

namespace perflab::cli {
namespace {

struct AnalyzeArguments {
  std::vector<std::string> files;
  std::vector<std::string> code;
  std::vector<std::string> counters;
  std::vector<std::string> thread_traces;
  std::vector<std::string> pc_samples;
  std::optional<std::uint64_t> pc_interval;
  RoofsArguments roofs;
  PathArguments path;
  PartArguments part;
  Outputs outputs{.folder = {}, .html = {}, .whole_recording = true};
  bool no_critical_path = false;
  bool verbose = false;
  unsigned threads = 0;
};

/// The first option given that says nothing without a recording; nullptr: none.
const char* option_about_recordings(const AnalyzeArguments& arguments) {
  const PathArguments& path = arguments.path;
  if (!arguments.counters.empty()) return "--counters";
  if (!arguments.code.empty() && arguments.pc_samples.empty()) return "--code";
  if (!arguments.roofs.file.empty()) return "--roofs";
  if (arguments.roofs.device) return "--roofs-device";
  if (!arguments.roofs.calibration.empty()) return "--calibration";
  if (!path.what_if.empty()) return "--what-if";
  if (path.segment) return "--segment";
  if (path.perfetto) return "--perfetto";
  if (path.full) return "--full";
  if (!path.handover.empty()) return "--handover";
  if (arguments.verbose) return "--verbose";
  if (!arguments.part.from.empty()) return "--from";
  if (!arguments.part.to.empty()) return "--to";
  if (!arguments.part.kernel.empty()) return "--kernel";
  if (!arguments.part.memory.empty()) return "--memory";
  return arguments.no_critical_path ? "--no-critical-path" : nullptr;
}

/// Says on stderr which tables of databases SQLite had to read, and why.
void tell_how_read(const trace::ReadReport& report) {
  std::map<std::string, std::uint64_t> parts;
  std::uint64_t by_sqlite = 0;
  for (const auto& [range, many] : report.ranges) {
    parts[range.first] += many;
    if (range.second) by_sqlite += many;
  }
  for (const auto& [range, many] : report.ranges)
    if (range.second)
      fmt::print(stderr, "rocm-perf: rocpd_{}: SQLite read {} of {} parts: {}\n", range.first, many,
                 parts[range.first], to_string(*range.second));
  if (by_sqlite == 0 && !parts.empty())
    fmt::print(stderr, "rocm-perf: the large tables were read from their pages\n");
}

/// Thread traces and PC samples, with or without a recording.
void put_traces(const AnalyzeArguments& arguments, analyze::AnalyzeOptions& options) {
  options.threads = arguments.threads;
  options.code_files.assign(arguments.code.begin(), arguments.code.end());
  options.thread_traces.assign(arguments.thread_traces.begin(), arguments.thread_traces.end());
  options.pc_samples.assign(arguments.pc_samples.begin(), arguments.pc_samples.end());
  options.pc_interval = arguments.pc_interval;
  apply(arguments.outputs, options);
}

/// The sections of what stands without a recording.
std::vector<Section> trace_sections(const analyze::Analysis& analysis) {
  std::vector<Section> sections;
  if (analysis.thread_traces)
    sections.push_back({"thread-trace", [&] {
                          return report::thread_trace_report_text(analysis, terminal_style());
                        }});
  if (!analysis.pc_sampling) return sections;
  const bool alone = sections.empty();
  sections.push_back({"pc-samples", [&analysis, alone] {
                        return alone ? report::pc_sampling_report_text(analysis, terminal_style())
                                     : report::pc_sampling_text(analysis, terminal_style());
                      }});
  return sections;
}

/// Thread traces and PC samples without a recording: there are no times, so no profile, roofline or
/// critical path.
Result<void> run_traces_alone(const AnalyzeArguments& arguments) {
  if (arguments.thread_traces.empty() && arguments.pc_samples.empty())
    return fail(ErrorCode::usage,
                "there is nothing to analyse: no TRACE and no --att or --pc-samples",
                "rocm-perf analyze run.db, or rocm-perf analyze --att DIR");
  if (const char* option = option_about_recordings(arguments))
    return fail(ErrorCode::usage, fmt::format("{} has no effect without a recording", option),
                "add the database of the run: rocm-perf analyze run.db --att DIR");
  analyze::AnalyzeOptions options;
  put_traces(arguments, options);
  std::vector<std::filesystem::path> inputs = options.thread_traces;
  inputs.insert(inputs.end(), options.pc_samples.begin(), options.pc_samples.end());
  PERFLAB_TRY_VOID(check_html_file(arguments.outputs.html, inputs, arguments.outputs.folder));
  LongWork work(arguments.thread_traces.empty() ? "reading PC samples" : "reading thread traces");
  options.progress = work.tell();
  PERFLAB_TRY(const analyze::AnalyzedTrace analyzed, analyze::analyze_thread_traces(options));
  work.end();
  return present_answer(arguments.outputs, report::trace_documents(analyzed),
                        trace_sections(analyzed.analysis));
}

/// What a recording is analysed with.
Result<analyze::AnalyzeOptions> options_of(const AnalyzeArguments& arguments) {
  analyze::AnalyzeOptions options;
  put_traces(arguments, options);
  options.counter_files.assign(arguments.counters.begin(), arguments.counters.end());
  PERFLAB_TRY_VOID(apply(arguments.roofs, options));
  PERFLAB_TRY_VOID(apply(arguments.path, options));
  PERFLAB_TRY_VOID(apply(arguments.part, options));
  if (options.part.has_window() && !options.counter_files.empty())
    return fail(ErrorCode::usage,
                "--from and --to are times of one run: counter passes ran at other times",
                "leave out --counters, or --from and --to");
  options.find_critical_path = !arguments.no_critical_path && arguments.part.kernel.empty();
  if (options.find_critical_path)
    options.memory.remedy = "--no-critical-path takes less; " + options.memory.remedy;
  return options;
}

Result<void> run_analyze(const AnalyzeArguments& arguments) {
  if (arguments.pc_interval && arguments.pc_samples.empty())
    return fail(ErrorCode::usage, "--pc-interval is about PC samples", "add --pc-samples FILE");
  if (arguments.files.empty()) return run_traces_alone(arguments);
  if (arguments.path.full && arguments.outputs.folder.empty() && !arguments.outputs.html)
    return fail(ErrorCode::usage, "--full is about dag.json", "add --out DIR or --html FILE");
  const std::vector<std::filesystem::path> files(arguments.files.begin(), arguments.files.end());
  std::vector<std::filesystem::path> inputs = files;
  inputs.insert(inputs.end(), arguments.code.begin(), arguments.code.end());
  inputs.insert(inputs.end(), arguments.counters.begin(), arguments.counters.end());
  inputs.insert(inputs.end(), arguments.thread_traces.begin(), arguments.thread_traces.end());
  inputs.insert(inputs.end(), arguments.pc_samples.begin(), arguments.pc_samples.end());
  if (!arguments.roofs.file.empty()) inputs.emplace_back(arguments.roofs.file);
  if (!arguments.roofs.calibration.empty()) inputs.emplace_back(arguments.roofs.calibration);
  PERFLAB_TRY_VOID(check_perfetto_file(arguments.path, inputs, arguments.outputs.folder));
  PERFLAB_TRY_VOID(
      check_html_file(arguments.outputs.html, inputs, arguments.outputs.folder, &arguments.path));
  PERFLAB_TRY(analyze::AnalyzeOptions options, options_of(arguments));
  LongWork work("reading recordings");
  options.progress = work.tell();
  PERFLAB_TRY(const analyze::AnalyzedRuns runs, analyze::analyze_runs({files}, options));
  const auto& [trace, analysis] = runs.representative;
  if (options.progress) options.progress("making documents", 0);
  std::vector<Document> documents =
      report::recording_documents(runs, {.roofs = arguments.roofs.file,
                                         .full = arguments.path.full,
                                         .nodes = arguments.outputs.html.file.has_value()});
  work.end();
  if (!arguments.roofs.file.empty() && !analysis.roofline)
    fmt::print(stderr, "rocm-perf: --roofs {} was not used, there is no roofline: {}\n",
               arguments.roofs.file, analysis.roofline_missing.reason);
  if (arguments.verbose) tell_how_read(trace.report);
  tell_nodes_left_out(arguments.path, runs.representative);
  PERFLAB_TRY_VOID(write_perfetto_file(arguments.path, runs.representative));
  return present_answer(
      arguments.outputs, std::move(documents),
      recording_sections(runs.representative, report::profile_of_recording(runs),
                         arguments.outputs.folder.empty() ? "--out DIR" : "roofline.json"));
}

}  // namespace

void add_analyze(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<AnalyzeArguments>();
  CLI::App* command =
      app.add_subcommand("analyze", "Analyse traces of rocprofv3 and PyTorch, thread traces too");
  set_examples(*command,
               {"rocm-perf analyze host/1234_results.db --out report",
                "rocm-perf analyze run.db --counters pass_1/*.db pass_2/*.db --html run.html",
                "rocm-perf analyze run.db --att att_output",
                "rocm-perf analyze --pc-samples host/1234_results.json --pc-interval 65536"});
  command->add_option(
      "TRACE", arguments->files,
      "Recordings: rocprofv3's (rocpd databases, JSON, CSV tables, or a folder of one of these) or "
      "traces of PyTorch's profiler (JSON); databases and JSON also packed by gzip or zstd; the "
      "processes of one "
      "run, or counter "
      "passes (pass_N folders); not needed with --att or --pc-samples");
  command
      ->add_option("--att", arguments->thread_traces,
                   "Decoded thread traces of the same command: the output folder of rocprofv3 "
                   "--att, a ui_output folder in it, or a stats CSV; repeatable")
      ->allow_extra_args(false);
  command->add_option("--pc-samples", arguments->pc_samples,
                      "PC samples of the same command: *_results.json or *_pc_sampling_*.csv of "
                      "rocprofv3, or folders of them");
  command
      ->add_option("--pc-interval", arguments->pc_interval,
                   "Their interval, which no file states: cycles of stochastic ones, "
                   "microseconds of host traps (default: estimated)")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--code", arguments->code,
                   "Binary or code object with the kernels, for exact registers; repeatable (files "
                   "beside the database and the program itself are found without it)")
      ->allow_extra_args(false);
  command->add_option("--counters", arguments->counters,
                      "Counter passes of the same command, for the roofline: databases, or "
                      "counter_collection.csv files");
  add_roofs_options(*command, arguments->roofs);
  add_calibration_option(*command, arguments->roofs);
  add_path_options(*command, arguments->path);
  add_part_options(*command, arguments->part, true);
  command
      ->add_flag("--no-critical-path", arguments->no_critical_path,
                 "Leave out the critical path: half the time and memory on very large traces")
      ->excludes("--what-if", "--perfetto", "--full", "--handover");
  command->add_option(
      "--out", arguments->outputs.folder,
      "Write analysis.json, profile.json, dag.json, timeline.json and the answer (summary.json) "
      "into "
      "this folder; with counters also roofline.json, with --att also thread_trace.json");
  add_html_option(*command, arguments->outputs.html, "everything");
  add_answer_options(*command, arguments->outputs, "analysis");
  command->add_option("--threads", arguments->threads,
                      "Threads to read with (default: all cores); the result is the same");
  command->add_flag("--verbose", arguments->verbose,
                    "Say on stderr which tables of databases SQLite had to read, and why");
  command->callback([arguments, &exit_code] {
    if (const auto done = run_analyze(*arguments); !done) exit_code = report_error(done.error());
  });
}

}  // namespace perflab::cli
