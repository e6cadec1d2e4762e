// rocm-perf optimize: a faster kernel, with proof; and optimize --recheck, the proof again.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "base/system/files.h"
#include "base/system/interrupt.h"
#include "base/text/command_line.h"
#include "base/text/progress.h"
#include "cli/kit/command.h"
#include "cli/kit/help.h"
#include "cli/tuning/optimize_options.h"
#include "optimize/rounds/apply.h"
#include "optimize/rounds/optimization_text.h"
#include "optimize/rounds/recheck.h"
#include "optimize/run/optimize_kernel.h"
#include "report/kit/document.h"

namespace perflab::cli {
namespace {

/// What is said on stderr while it runs.
optimize::OptimizeTalk optimize_talk(const OptimizeArguments& arguments, ProgressLine& line) {
  optimize::OptimizeTalk talk;
  talk.progress = &line;
  const bool quiet = arguments.outputs.quiet;
  talk.on_step = [&line](const optimize::Candidate& candidate, std::string_view step,
                         std::size_t samples) {
    const std::string of =
        candidate.number == 0 ? "original" : fmt::format("candidate {}", candidate.number);
    line.update(samples == 0 ? fmt::format("{}: {}", of, step)
                             : fmt::format("{}: {}, {} samples", of, step, samples));
  };
  talk.on_decided = [&line, quiet](const optimize::Candidate& candidate) {
    if (!quiet) line.pass_through(optimize::decided_line(candidate) + "\n");
  };
  talk.note = [&line, quiet](const std::string& text) {
    if (!quiet) line.pass_through("rocm-perf: " + text + "\n");
  };
  return talk;
}

Result<void> present_optimization(const OptimizeArguments& arguments,
                                  const optimize::KernelOptimization& session,
                                  const std::string& original_kept) {
  optimize::OptimizationData data = session.data();
  data.original_kept = original_kept;
  const Outputs& outputs = arguments.outputs;
  std::vector<Section> sections;
  for (const std::string_view name : optimize::kOptimizationSections)
    sections.push_back({name, [&data, name] {
                          return optimize::optimization_section(data, name, terminal_style());
                        }});
  PERFLAB_TRY_VOID(
      present_answer(outputs, {{"optimization", optimize::optimization_document(data)}}, sections));
  if (outputs.json || outputs.quiet) return {};
  fmt::print(
      stderr, "also in {}: ledger.jsonl, candidates{}\n", outputs.folder,
      session.optimization.accepted
          ? ", accepted" + session.optimization.source.extension().string() + ", accepted.diff"
          : "");
  return {};
}

/// Whether something was accepted.
Result<bool> run_optimize(const OptimizeArguments& arguments,
                          const std::vector<std::string>& behind_dashes,
                          const std::vector<std::string>& words) {
  PERFLAB_TRY_VOID(check_details(arguments.outputs, optimize::kOptimizationSections));
  PERFLAB_TRY(const optimize::OptimizeRequest request, optimize_request(arguments, behind_dashes));
  PERFLAB_TRY_VOID(
      check_html_file(arguments.outputs.html,
                      {request.source, request.replay.capture, request.trace, request.analysis},
                      arguments.outputs.folder));
  const InterruptScope interrupts;
  ProgressLine line({.quiet = arguments.outputs.quiet});
  Result<optimize::KernelOptimization> session =
      optimize::optimize_kernel(request, optimize_talk(arguments, line));
  line.erase();
  if (!session) {
    if (session.error().code != ErrorCode::interrupted) return std::unexpected(session.error());
    Error error{.code = ErrorCode::interrupted,
                .message = "the optimisation was interrupted; the source is as it was",
                .notes = session.error().notes,
                .remedy = {}};
    std::vector<std::string> again = words;
    if (!request.loop.resume) again.insert(again.begin() + 2, "--resume");
    std::error_code ignored;
    if (std::filesystem::exists(request.loop.folder / optimize::kLedgerName, ignored))
      error.remedy = fmt::format("what was decided is in {}; go on with: {}",
                                 arguments.outputs.folder, join_command_line(again));
    return std::unexpected(std::move(error));
  }
  PERFLAB_TRY_VOID(optimize::write_accepted(session->optimization));
  const bool accepted = session->optimization.accepted.has_value();
  // The answer says whether it was applied: that comes first, and what went wrong with it last.
  Result<std::filesystem::path> kept;
  if (accepted && arguments.apply) {
    kept = optimize::apply_accepted(session->optimization);
    if (kept && !arguments.outputs.quiet)
      fmt::print(stderr, "{} was replaced; the original is {}\n",
                 session->optimization.source.string(), kept->string());
  }
  PERFLAB_TRY_VOID(present_optimization(arguments, *session, kept ? kept->string() : ""));
  if (!kept) return std::unexpected(std::move(kept).error());
  return accepted;
}

Result<bool> run_recheck(const OptimizeArguments& arguments) {
  if (arguments.outputs.json)
    return fail(ErrorCode::usage, "--recheck prints text: it has no --json",
                "leave --json out; exit code 1 means that something does not hold");
  if (arguments.outputs.html)
    return fail(ErrorCode::usage, "--recheck prints text: it has no --html",
                fmt::format("rocm-perf report {} --html {}", arguments.recheck,
                            *arguments.outputs.html.file));
  PERFLAB_TRY_VOID(check_details(arguments.outputs, {}));
  PERFLAB_TRY(const optimize::Recheck result, optimize::recheck(arguments.recheck));
  if (!arguments.outputs.quiet)
    PERFLAB_TRY_VOID(print(arguments.outputs.details.empty() ? optimize::recheck_answer(result)
                                                             : optimize::recheck_text(result)));
  return result.holds();
}

}  // namespace

void add_optimize(CLI::App& app, const std::vector<std::string>& target,
                  const std::vector<std::string>& words, int& exit_code) {
  const auto arguments = std::make_shared<OptimizeArguments>();
  CLI::App* command =
      app.add_subcommand("optimize", "Find a faster kernel, and prove that it computes the same");
  set_examples(*command,
               {"rocm-perf optimize kernel.hip --capture capture",
                "rocm-perf optimize kernel.hip --build 'hipcc -O3 {source} -o {build_dir}/k' --run "
                "'{build_dir}/k {seed}' --metric-regex 'ms: ([0-9.]+)' -- -DBLOCK=256",
                "rocm-perf optimize kernel.hip --capture capture --proposer exec:./agent --apply",
                "rocm-perf optimize --recheck optimization/optimization.json"});
  command->footer(
      "Words after -- are arguments of the compiler. The source is not written without "
      "--apply.\n"
      "Exit codes: 0 something was accepted (--recheck: all holds), 1 nothing was.");
  add_optimize_options(*command, *arguments);
  command->callback([arguments, &target, words, &exit_code] {
    const Result<bool> done = arguments->recheck.empty() ? run_optimize(*arguments, target, words)
                                                         : run_recheck(*arguments);
    exit_code = !done ? report_error(done.error()) : *done ? 0 : 1;
  });
}

}  // namespace perflab::cli
