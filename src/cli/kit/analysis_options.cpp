// Shared options of analyze, critical-path, profile and roofline.
#include "cli/kit/analysis_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/system/memory.h"
#include "base/text/duration.h"
#include "base/text/numbers.h"
#include "base/text/pattern.h"
#include "base/text/progress.h"
#include "cli/kit/output_file.h"
#include "hal/calibration.h"
#include "hal/measured_roofs.h"
#include "report/critical_path/dag_document.h"
#include "report/kit/document.h"
#include "report/perfetto/perfetto.h"

namespace perflab::cli {
namespace {

/// Of a Perfetto file, about: with the launching call, the path and the counters of each.
constexpr double kBytesPerDispatch = 1000;
/// Beyond so many the user is told what to expect.
constexpr std::uint64_t kManyDispatches = 1'000'000;

/// The value of --segment; nothing when it was not given.
Result<std::optional<std::size_t>> segment_number(const std::optional<std::string>& given) {
  if (!given) return std::optional<std::size_t>();
  const std::string& text = *given;
  const auto number = whole_number<std::size_t>(text);
  if (!number)
    return fail(ErrorCode::usage,
                fmt::format("--segment '{}': this is not the number of a segment", text),
                "they are counted from 0, in time order");
  return number;
}

/// A time of a run: "1.5ms", "90s", "2h"; nothing when it was not given.
Result<std::optional<std::int64_t>> time_of_run(const char* option, const std::string& text) {
  if (text.empty()) return std::optional<std::int64_t>();
  if (const auto nanoseconds = parse_short_time(text)) return nanoseconds->count();
  auto longer = parse_duration(text);
  if (longer) return std::chrono::nanoseconds(*longer).count();
  return fail(ErrorCode::usage, fmt::format("{} '{}' is not a time", option, text),
              "write it as 0, 500us, 1.5ms, 2s or 10m");
}

}  // namespace

void add_part_options(CLI::App& command, PartArguments& arguments, bool kernels) {
  command.add_option("--from", arguments.from,
                     "Begin of what is read (1.5ms, 2s, 10m), counted from the earliest start of "
                     "the recording: only what begins there or later");
  command.add_option("--to", arguments.to, "End of what is read: only what begins before it");
  if (kernels)
    command.add_option("--kernel", arguments.kernel,
                       "Read only dispatches of kernels whose name this regex matches, and the "
                       "calls that launched them: no critical path, no segments");
  command.add_option("--memory", arguments.memory,
                     "Refuse databases that need more memory than this (16G, 512M; default: what "
                     "the machine has)");
}

Result<void> apply(const PartArguments& arguments, analyze::AnalyzeOptions& options) {
  PERFLAB_TRY(options.part.from, time_of_run("--from", arguments.from));
  PERFLAB_TRY(options.part.to, time_of_run("--to", arguments.to));
  if (options.part.to && options.part.from.value_or(0) >= *options.part.to)
    return fail(ErrorCode::usage, "--to is not behind --from: nothing begins between them");
  if (!arguments.kernel.empty()) {
    PERFLAB_TRY(options.part.kernel, Pattern::compile(arguments.kernel));
  }
  if (arguments.memory.empty()) {
    options.memory.bytes = available_memory().value_or(0);
  } else {
    PERFLAB_TRY(options.memory.bytes, parse_bytes(arguments.memory));
  }
  options.memory.remedy =
      "--from and --to read a part of the run, --memory SIZE allows more memory";
  return {};
}

void add_roofs_options(CLI::App& command, RoofsArguments& arguments) {
  command.add_option("--roofs", arguments.file,
                     "Ceilings measured on this machine: rocprof-compute's roofline.csv");
  command.add_option("--roofs-device", arguments.device,
                     "Number of the device in that file (default: the first); without --roofs: of "
                     "the recording's GPU whose own attributes (units, clocks, memory) make the "
                     "ceilings, where else its product's do");
}

void add_calibration_option(CLI::App& command, RoofsArguments& arguments) {
  command.add_option(
      "--calibration", arguments.calibration,
      "What `calibrate` found about the GPU (default: on this machine): disproved counters and "
      "formulas are not used, its measured ceilings are");
}

Result<void> apply(const RoofsArguments& arguments, analyze::AnalyzeOptions& options) {
  options.find_calibration = true;
  if (!arguments.calibration.empty()) {
    PERFLAB_TRY(options.calibration, hal::read_calibration(arguments.calibration));
  }
  if (arguments.file.empty()) {
    options.roofs_device = arguments.device;
    return {};
  }
  PERFLAB_TRY(options.roofs, hal::read_measured_roofs(arguments.file, arguments.device));
  return {};
}

void add_path_options(CLI::App& command, PathArguments& arguments) {
  command
      .add_option("--what-if", arguments.what_if,
                  "How long the whole run would take with 'regex=2x' (kernels twice as fast), "
                  "'regex=0', 'regex=+10us', 'copy=2x', 'launch=0' or 'sync=drop'; repeatable, "
                  "applied together")
      ->allow_extra_args(false);
  command.add_option("--segment", arguments.segment,
                     "Analyse only this one of the repeated segments; they are counted from 0");
  command.add_option("--perfetto", arguments.perfetto,
                     "Write a trace that ui.perfetto.dev opens, with the critical path, slack, "
                     "segments and counters as tracks: about 1 KB per dispatch, so for long runs "
                     "add --segment N");
  command.add_flag("--full", arguments.full,
                   fmt::format("Put every node of the graph into dag.json, if there are at most "
                               "{} (one segment with --segment N), and all segments",
                               report::kMostListedNodes));
  command.add_option("--handover", arguments.handover,
                     "Infer an order between queues from gaps of at most this time, where "
                     "nothing better is known (500ns, 5us; 0: never; default: 5us)");
}

Result<void> apply(const PathArguments& arguments, analyze::AnalyzeOptions& options) {
  for (const std::string& text : arguments.what_if) {
    PERFLAB_TRY(analyze::WhatIf what_if, analyze::parse_what_if(text));
    options.critical_path.what_if.push_back(std::move(what_if));
  }
  if (!arguments.handover.empty()) {
    Result<std::chrono::nanoseconds> handover = parse_short_time(arguments.handover);
    if (!handover) {
      handover.error().message = "--handover " + handover.error().message;
      return std::unexpected(std::move(handover).error());
    }
    options.critical_path.graph.handover = handover->count();
  }
  PERFLAB_TRY(options.segment, segment_number(arguments.segment));
  options.critical_path.keep_nodes = arguments.full || arguments.perfetto;
  return {};
}

OutputFile perfetto_file(const PathArguments& arguments) {
  return {.option = "--perfetto",
          .what = "the trace",
          .example = "trace.json",
          .name = *arguments.perfetto};
}

Result<void> check_perfetto_file(const PathArguments& arguments,
                                 const std::vector<std::filesystem::path>& inputs,
                                 const std::filesystem::path& out) {
  if (!arguments.perfetto) return {};
  return check_output_file(perfetto_file(arguments), inputs, out);
}

void tell_nodes_left_out(const PathArguments& arguments, const analyze::AnalyzedTrace& analyzed) {
  const auto& path = analyzed.analysis.critical_path;
  if (!arguments.full || !path || !path->graph || path->graph->size() <= report::kMostListedNodes)
    return;
  fmt::print(stderr,
             "rocm-perf: --full: the graph has {} nodes and dag.json lists at most {}: they were "
             "left out; --segment N restricts it to one segment\n",
             path->graph->size(), report::kMostListedNodes);
}

Result<void> write_perfetto_file(const PathArguments& arguments,
                                 const analyze::AnalyzedTrace& analyzed) {
  if (!arguments.perfetto) return {};
  if (!analyzed.analysis.critical_path) return no_critical_path(analyzed);
  const std::uint64_t dispatches = analyzed.analysis.critical_path->report.dispatches;
  if (dispatches > kManyDispatches)
    fmt::print(stderr,
               "rocm-perf: --perfetto: {} dispatches make about {:.1f} GB, which is a lot for "
               "ui.perfetto.dev; --segment N restricts it to one segment\n",
               dispatches, static_cast<double>(dispatches) * kBytesPerDispatch / 1e9);
  LongWork work("writing " + *arguments.perfetto);
  PERFLAB_TRY_VOID(report::write_perfetto(*arguments.perfetto, analyzed.trace, analyzed.analysis));
  work.end();
  fmt::print(stderr, "rocm-perf: wrote {}: open it in ui.perfetto.dev\n", *arguments.perfetto);
  return {};
}

std::unexpected<Error> no_critical_path(const analyze::AnalyzedTrace& analyzed) {
  const Missing& missing = analyzed.analysis.critical_path_missing;
  return fail(ErrorCode::bad_input,
              fmt::format("{}: there is no critical path: {}", analyzed.trace.sources.front().file,
                          missing.reason),
              missing.remedy);
}

}  // namespace perflab::cli
