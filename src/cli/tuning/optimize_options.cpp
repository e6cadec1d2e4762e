// Options to a SessionRequest.
#include "cli/tuning/optimize_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/enum_names.h"
#include "base/text/command_line.h"
#include "base/text/duration.h"
#include "cli/kit/option_parsers.h"
#include "replay/elements/element_type.h"

namespace perflab::cli {
namespace {

Result<double> parse_gain(const std::string& text) {
  constexpr double kMostGain = 10;  // eleven times as fast: beyond it, a typing error
  if (const std::optional<double> gain = share_from(text, kMostGain)) return *gain;
  return fail(ErrorCode::usage,
              fmt::format("--min-gain '{}': must be a share from 0 to {}", text, kMostGain),
              "--min-gain 2%, or --min-gain 0.02");
}

void add_source_options(CLI::App& command, OptimizeArguments& arguments) {
  optimize::OptimizeRequest& request = arguments.request;
  command.add_option("SOURCE", arguments.what,
                     "Source file with the kernel; with --source, the application to profile "
                     "(\"./app args\")");
  command.add_option("--source", arguments.source,
                     "Source file of an application; the hottest critical kernel in it is chosen");
  command.add_option("--kernel", request.kernel,
                     "Name of the kernel, if the source has several (with --host: any function)");
  command.add_flag("--host", request.host, "Compile the source for this machine's CPU");
  command.add_option("--arch", request.arch,
                     "Architecture to read the source for (default: the capture's or trace's, else "
                     "gfx942)");
  command.add_option("--build", request.command.build,
                     "Build command: 'hipcc -O3 {source} -o {build_dir}/app', with --capture into "
                     "{code_object}; no shell");
  command.add_option("--trace", request.trace,
                     "Recording of the whole application (a database, or the folder of a profile), "
                     "for what the gain means there");
  command.add_option("--analysis", request.analysis,
                     "analysis.json of that recording, or its folder, for the proposer");
}

void add_measuring_options(CLI::App& command, OptimizeArguments& arguments) {
  optimize::OptimizeRequest& request = arguments.request;
  optimize::CommandWorkshopOptions& commands = request.command;
  command.add_option("--capture", request.replay.capture,
                     "Prove and time with this captured dispatch (rocm-perf isolate)");
  command.add_option("--run", commands.run,
                     "Prove and time with this command: '{build_dir}/app {seed}'");
  command.add_option("--check", commands.check, "Command that fails when a result is wrong");
  command
      .add_option("--output", commands.outputs,
                  "File that a run writes, to be compared ('{build_dir}/out.bin'; default: what it "
                  "prints); repeatable")
      ->allow_extra_args(false);
  command.add_option("--metric-regex", commands.metric_pattern,
                     "Times in the command's output: 'time_ms: ([0-9.]+)'");
  command.add_option("--metric-unit", commands.metric_unit, "Unit of that number");
  command.add_flag("--maximize", commands.larger_is_better, "Larger values of it are better");
  command.add_flag("--rocprofv3", commands.rocprofv3,
                   "Time the kernel's dispatches with rocprofv3");
  command.add_option("--type", arguments.type, "Element type of the outputs")
      ->check(CLI::IsMember(replay::element_type_names()));
  command.add_option("--max-ulp", commands.compare.max_ulp,
                     "Allowed difference between floats in ULPs");
  const auto tolerance = [&](const char* name, std::optional<double>& value, const char* text) {
    command.add_option(name, value, text)->check(CLI::Range(0.0, 1e300));
  };
  tolerance("--rtol", commands.compare.max_relative,
            "Floats may differ by this share of the expected value");
  tolerance("--atol", commands.compare.max_absolute, "Floats may differ by this much");
  command
      .add_option("--perturbations", commands.perturbations,
                  "Number of perturbed inputs to prove on")
      ->check(whole_from(0, 1000))
      ->capture_default_str();
  command.add_option("--seed", request.loop.judge.seed, "Seed of inputs and statistics")
      ->check(whole_from(0, INT64_MAX))
      ->capture_default_str();
  command
      .add_option("--iterations", request.replay.iterations, "Dispatches per replayed measurement")
      ->check(whole_from(1, 1'000'000))
      ->capture_default_str();
  add_caches_option(command, request.replay.caches);
  command.add_flag("--ignore-findings", request.replay.ignore_findings,
                   "Replay even if `capture check` finds an error");
  command
      .add_option("--time-limit", arguments.time_limit,
                  "Time limit of a dispatch, build, run or check")
      ->capture_default_str();
}

void add_proposer_options(CLI::App& command, OptimizeArguments& arguments) {
  optimize::OptimizeRequest& request = arguments.request;
  llm::LlmOptions& model = request.llm;
  command
      .add_option("--proposer", request.proposer,
                  "rules (built-in transforms), llm (a language model over HTTP), or exec:COMMAND")
      ->capture_default_str();
  command.add_option("--model", model.chat.model, "Language model");
  command.add_option(
      "--base-url", model.chat.base_url,
      "Server of the model (default: the provider's; the key is $ROCM_PERF_LLM_KEY)");
  command.add_option("--provider", model.chat.provider, "Interface that the server speaks")
      ->check(CLI::IsMember({"openai", "anthropic"}));
  command.add_option("--max-tokens", model.budget.tokens, "Budget in tokens for the whole search")
      ->check(whole_from(1, INT64_MAX));
  const auto money = [&](const char* name, std::optional<double>& value, const char* text) {
    command.add_option(name, value, text)->check(CLI::Range(0.0, 1e9));
  };
  money("--max-cost", model.budget.cost_usd,
        "Budget in USD for the whole search; needs both prices");
  money("--price-in", model.budget.prompt_price, "USD per million input tokens");
  money("--price-out", model.budget.completion_price, "USD per million output tokens");
  command.add_option("--transcript", model.transcript,
                     "Record every exchange in this file; an existing one is played back");
}

void add_sandbox_options(CLI::App& command, OptimizeArguments& arguments) {
  optimize::SandboxRequest& sandbox = arguments.request.sandbox;
  CLI::Option* const none = command.add_flag(
      "--no-sandbox", sandbox.turned_off,
      "Run exec: programs and what they or a model propose as you, with home and network");
  command
      .add_option("--sandbox-show", arguments.sandbox_shown,
                  "File or folder of your home that may be read in the sandbox; repeatable")
      ->allow_extra_args(false)
      ->excludes(none);
  command
      .add_flag("--proposer-network", sandbox.proposer_network,
                "The exec: program has the network and the keys; candidates never do")
      ->excludes(none);
}

void add_loop_options(CLI::App& command, OptimizeArguments& arguments) {
  optimize::LoopOptions& loop = arguments.request.loop;
  command.add_option("--min-gain", arguments.min_gain, "Smallest gain that is accepted")
      ->capture_default_str();
  command.add_option("--time-budget", arguments.time_budget,
                     "Stop searching after this (90s, 10m); the final proof still runs");
  command.add_option("--max-candidates", loop.max_candidates, "Stop after N proposals")
      ->check(whole_from(1, 1'000'000));
  command
      .add_option("--patience", loop.patience,
                  "Stop after N refusals in a row (default: 8; rules: none)")
      ->check(whole_from(1, 1'000'000));
  command
      .add_option("--out", arguments.outputs.folder,
                  "Folder for the ledger, candidates, the accepted source and optimization.json")
      ->capture_default_str();
  command.add_flag("--resume", loop.resume, "Continue from the ledger");
  command.add_flag(
      "--apply", arguments.apply,
      "Replace the source with what was accepted; the original is kept as SOURCE.orig");
  command.add_option("--recheck", arguments.recheck,
                     "Run nothing; verify this optimization.json again");
  add_html_option(command, arguments.outputs.html, "what was tried, and the proof,");
  add_answer_options(command, arguments.outputs, "optimization");
  command.add_flag("--quiet", arguments.outputs.quiet, "Print nothing but errors");
}

}  // namespace

void add_optimize_options(CLI::App& command, OptimizeArguments& arguments) {
  add_source_options(command, arguments);
  add_measuring_options(command, arguments);
  add_proposer_options(command, arguments);
  add_sandbox_options(command, arguments);
  add_loop_options(command, arguments);
}

Result<optimize::OptimizeRequest> optimize_request(const OptimizeArguments& arguments,
                                                   const std::vector<std::string>& behind_dashes) {
  optimize::OptimizeRequest request = arguments.request;
  if (arguments.what.empty())
    return fail(ErrorCode::usage, "optimize needs a source file",
                "rocm-perf optimize kernel.hip --capture capture");
  request.source = arguments.source.empty() ? arguments.what : arguments.source;
  if (!arguments.source.empty()) {
    PERFLAB_TRY(request.application, split_command_line(arguments.what));
  }
  request.arguments = behind_dashes;
  PERFLAB_TRY(request.loop.judge.min_gain, parse_gain(arguments.min_gain));
  if (!arguments.time_budget.empty()) {
    PERFLAB_TRY(request.loop.time_budget, parse_duration(arguments.time_budget));
  }
  PERFLAB_TRY(request.command.time_limit, parse_duration(arguments.time_limit));
  request.loop.folder = arguments.outputs.folder;
  if (!arguments.type.empty())
    request.command.compare.type = request.command.output_type =
        from_name<replay::ElementType>(arguments.type);
  request.command.seed = request.replay.seed = request.loop.judge.seed;
  request.replay.time_limit = request.command.time_limit;
  request.replay.compare = request.command.compare;
  request.replay.perturbations = request.command.perturbations;
  request.replay.build = request.command.build;
  request.exec.transcript = request.llm.transcript;
  request.sandbox.shown.assign(arguments.sandbox_shown.begin(), arguments.sandbox_shown.end());
  return request;
}

}  // namespace perflab::cli
