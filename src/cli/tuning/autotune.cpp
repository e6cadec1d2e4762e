// rocm-perf autotune: searches the best configuration of a command. And autotune-worker, what it
// starts on the nodes of a cluster.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "base/enum_names.h"
#include "base/system/files.h"
#include "base/system/interrupt.h"
#include "base/text/command_line.h"
#include "base/text/duration.h"
#include "base/text/progress.h"
#include "cli/kit/command.h"
#include "cli/kit/help.h"
#include "cli/kit/option_parsers.h"
#include "cli/kit/present.h"
#include "measure/gpu_timer.h"
#include "measure/tolerance_json.h"
#include "measure/tuning/autotune.h"
#include "measure/tuning/capture_bench.h"
#include "replay/elements/element_type.h"
#include "report/kit/document.h"
#include "report/tuning/autotune_document.h"
#include "report/tuning/autotune_text.h"

namespace perflab::cli {
namespace {

struct AutotuneArguments {
  measure::AutotuneRequest request;
  std::vector<std::string> objectives;
  std::string effort = "auto", model = "tgp", time_limit, timeout;
  std::string executor = "local", type;
  Outputs outputs;
  bool keep_builds = false;
};

/// The journal when no name was given: the search of a recording takes no time that could be lost.
constexpr const char* kJournalName = "autotune.journal.jsonl";
constexpr const char* kJournalInFolder = "journal.jsonl";
constexpr const char* kBuildsName = "autotune_builds";

/// What only says something of a captured launch.
const std::vector<std::string> kCaptureOptions = {
    "--workgroup", "--grid", "--blocks",     "--dynamic-lds", "--type",           "--max-ulp",
    "--rtol",      "--atol", "--iterations", "--caches",      "--ignore-findings"};

template <class T>
using Named = std::map<std::string, T>;
const Named<tune::ObjectiveKind> kObjectives = {{"gpu", tune::ObjectiveKind::gpu_time},
                                                {"metric", tune::ObjectiveKind::metric},
                                                {"wall", tune::ObjectiveKind::wall_time}};
const Named<tune::Effort> kEfforts = {{"quick", tune::Effort::quick},
                                      {"auto", tune::Effort::automatic},
                                      {"full", tune::Effort::full}};
const Named<tune::ModelKind> kModels = {{"tgp", tune::ModelKind::tgp},
                                        {"polynomial", tune::ModelKind::polynomial}};

template <class T>
std::vector<std::string> names_of(const Named<T>& all) {
  std::vector<std::string> names;
  for (const auto& [name, value] : all) names.push_back(name);
  return names;
}

double seconds_of(std::chrono::milliseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

/// The first objective by its kind, the second by the name of its metric; "time" is the kind that
/// is taken without any. Errors (usage): more of them, or what says nothing.
Result<void> read_objectives(const std::vector<std::string>& words,
                             measure::AutotuneRequest& request) {
  constexpr std::string_view kMaximised = ":max";
  bool first = false;
  for (const std::string& word : words) {
    const auto kind = kObjectives.find(word);
    const bool is_first = kind != kObjectives.end() || word == "time";
    if (is_first ? first : !request.further.second_objective.empty())
      return fail(ErrorCode::usage,
                  fmt::format("--objective {}: there is {} already", word,
                              is_first ? "a first objective" : "a second one"),
                  "--objective time --objective energy");
    first = first || is_first;
    if (kind != kObjectives.end()) request.objective = kind->second;
    if (is_first) continue;
    request.further.maximize_second = word.ends_with(kMaximised);
    request.further.second_objective =
        word.substr(0, word.size() - (request.further.maximize_second ? kMaximised.size() : 0));
  }
  if (!request.further.second_objective.empty() && !first)
    return fail(
        ErrorCode::usage, fmt::format("--objective {}: it can be the second of two", words.front()),
        fmt::format("--objective time --objective {}; the first is time, gpu, metric or wall",
                    words.front()));
  if (first && !request.simulate.empty() &&
      (request.objective || request.further.second_objective.empty()))
    return fail(ErrorCode::usage, "--objective says nothing with --simulate: nothing is run",
                "leave one of the two out");
  return {};
}

/// What the command line asks for. Errors (usage): a time that cannot be read.
Result<measure::AutotuneRequest> request_of(const AutotuneArguments& arguments) {
  measure::AutotuneRequest request = arguments.request;
  PERFLAB_TRY_VOID(read_objectives(arguments.objectives, request));
  request.options.search.effort = kEfforts.at(arguments.effort);
  request.options.search.model = kModels.at(arguments.model);
  if (!arguments.time_limit.empty()) {
    PERFLAB_TRY(request.options.time_limit, parse_duration(arguments.time_limit));
  }
  if (!arguments.timeout.empty()) {
    PERFLAB_TRY(const std::chrono::milliseconds first, parse_duration(arguments.timeout));
    request.options.first_timeout_seconds = seconds_of(first);
  } else if (!request.capture.folder.empty()) {
    request.options.first_timeout_seconds = measure::kCaptureTimeoutSeconds;
  }
  if (!arguments.type.empty())
    request.capture.compare.type = from_name<replay::ElementType>(arguments.type);
  if (request.options.race && (request.options.search.model != tune::ModelKind::tgp ||
                               !request.further.second_objective.empty()))
    return fail(ErrorCode::usage,
                "--race needs the gain that the model tgp expects of one objective: with another "
                "model, or with two objectives, there is none",
                "leave --race out");
  tune::RepeatRule& repeats = request.options.repeats;
  repeats.fewest_samples = std::min(repeats.fewest_samples, repeats.most_runs);
  if (request.journal.empty() && !arguments.outputs.folder.empty())
    request.journal = std::filesystem::path(arguments.outputs.folder) / kJournalInFolder;
  else if (request.journal.empty() && (request.simulate.empty() || request.resume))
    request.journal = kJournalName;
  if (arguments.keep_builds)
    request.builds =
        (arguments.outputs.folder.empty() ? "." : std::filesystem::path(arguments.outputs.folder)) /
        std::filesystem::path(kBuildsName);
  request.slurm = arguments.executor == "slurm";
  if (!arguments.outputs.quiet)
    request.note = [](const std::string& text) { fmt::print(stderr, "rocm-perf: {}\n", text); };
  return request;
}

std::optional<report::AutotuneCaptureData> capture_data(const measure::AutotuneCapture& capture,
                                                        const measure::AutotuneRun& run) {
  if (!run.captured) return std::nullopt;
  return report::AutotuneCaptureData{
      .hash = run.capture_hash,
      .kernel = run.captured->dispatch.kernel,
      .demangled = run.captured->dispatch.demangled,
      .platform = std::string(to_string(run.captured->machine.platform)),
      .isa = run.captured->machine.isa,
      .workgroup = capture.launch.workgroup,
      .grid = capture.launch.grid,
      .blocks = capture.launch.blocks,
      .dynamic_lds = capture.launch.dynamic_lds,
      .tolerance = measure::tolerance_json(capture.compare),
      .iterations = capture.iterations,
      .caches = std::string(to_string(capture.caches))};
}

report::AutotuneData report_data(const measure::AutotuneRequest& request,
                                 const measure::AutotuneRun& run) {
  return {.space = &run.space,
          .result = &run.result,
          .gpu = run.gpu,
          .environment = {.command = request.templates.command,
                          .build = request.templates.build,
                          .check = request.templates.check,
                          .code_object = request.templates.code_object,
                          .best_command = run.best_command,
                          .best_build = run.best_build,
                          .best_build_folder = measure::kBestBuildFolder,
                          .space_file = request.space.string(),
                          .simulated = request.simulate.string(),
                          .warm_start = request.warm_start.string(),
                          .priors = request.priors,
                          .journal = request.journal.string(),
                          .executor = !request.simulate.empty() ? ""
                                      : request.slurm           ? "slurm"
                                                                : "local",
                          .capture = request.capture.folder.string(),
                          .conditions = run.conditions},
          .capture = capture_data(request.capture, run)};
}

/// The evaluations in the formats of others.
Result<void> write_evaluations(const std::string& folder, std::string_view objective,
                               const measure::AutotuneRun& run) {
  std::vector<tune::ResultRow> rows;
  for (const tune::Step& step : run.result.steps) {
    std::vector<tune::Binding> configuration = run.space.bindings(step.id);
    configuration.resize(run.space.width());  // without the derived values
    rows.push_back({.configuration = std::move(configuration), .evaluation = step.evaluation});
  }
  const std::string& unit = run.result.objective.unit;
  const std::filesystem::path path(folder);
  PERFLAB_TRY_VOID(write_file_atomically(
      path / "results.t4.json", tune::to_t4(rows, objective, unit, run.result.objective.metrics)));
  return write_file_atomically(path / "results.csv", tune::to_csv(rows, objective, unit));
}

Result<void> present_autotune(const AutotuneArguments& arguments,
                              const measure::AutotuneRequest& request,
                              const measure::AutotuneRun& run) {
  const report::AutotuneData data = report_data(request, run);
  Json value = report::autotune_document(data);
  const std::string objective = value["objective"]["kind"];
  std::vector<Section> sections;
  for (const std::string_view name : report::kAutotuneSections)
    sections.push_back(
        {name, [&data, name] { return report::autotune_section(data, name, terminal_style()); }});
  Outputs outputs = arguments.outputs;
  if (!request.journal.empty()) outputs.again = "--resume";
  if (!outputs.folder.empty()) PERFLAB_TRY_VOID(write_evaluations(outputs.folder, objective, run));
  PERFLAB_TRY_VOID(present_answer(outputs, {{"autotune", std::move(value)}}, sections));
  if (outputs.json || outputs.quiet) return {};
  if (!outputs.folder.empty())
    fmt::print(stderr, "evaluations in {}: results.t4.json, results.csv\n", outputs.folder);
  if (!request.journal.empty()) fmt::print(stderr, "journal: {}\n", request.journal.string());
  if (!request.builds.empty()) fmt::print(stderr, "builds: {}\n", request.builds.string());
  return {};
}

/// Whether a configuration worked.
Result<bool> run(const AutotuneArguments& arguments, const std::vector<std::string>& words) {
  PERFLAB_TRY_VOID(check_details(arguments.outputs, report::kAutotuneSections));
  const InterruptScope interrupts;
  ProgressLine line({.quiet = arguments.outputs.quiet});
  PERFLAB_TRY(const measure::AutotuneRequest request, request_of(arguments));
  std::vector<std::filesystem::path> read = {request.space, request.simulate, request.warm_start,
                                             request.journal};
  read.insert(read.end(), request.priors.begin(), request.priors.end());
  PERFLAB_TRY_VOID(check_html_file(arguments.outputs.html, read, arguments.outputs.folder));
  if (!arguments.outputs.folder.empty())
    PERFLAB_TRY_VOID(make_directories(arguments.outputs.folder));
  const auto progress = [&](const tune::TuneProgress& now, const tune::Objective& objective) {
    line.update(report::autotune_progress_text(now, objective), now.fraction);
  };
  const Result<measure::AutotuneRun> done = measure::run_autotune(request, progress);
  line.erase();
  if (!done) {
    if (done.error().code != ErrorCode::interrupted) return std::unexpected(done.error());
    // Its own message names the program of a run, which says nothing.
    Error error{.code = ErrorCode::interrupted,
                .message = "the search was interrupted",
                .notes = done.error().notes,
                .remedy = {}};
    if (!request.journal.empty()) {
      std::vector<std::string> again = words;
      if (!request.resume) again.emplace_back("--resume");
      error.remedy = "what was finished is in " + request.journal.string() +
                     "; resume with: " + join_command_line(again);
    }
    return std::unexpected(std::move(error));
  }
  PERFLAB_TRY_VOID(present_autotune(arguments, request, *done));
  return done->result.winner.has_value();
}

/// Options that were given and say nothing with the others. Error (usage): the first of them.
Result<void> check_given(const CLI::App& command, const AutotuneArguments& arguments) {
  const auto refuse_given = [&](const std::vector<std::string>& options, const std::string& why,
                                const char* remedy) -> Result<void> {
    for (const std::string& option : options)
      if (command.count(option) > 0)
        return fail(ErrorCode::usage, fmt::format("{} says nothing {}", option, why), remedy);
    return {};
  };
  if (!arguments.request.simulate.empty()) {
    PERFLAB_TRY_VOID(
        refuse_given({"--gpus", "--metric-regex", "--check", "--build-template", "--timeout"},
                     "with --simulate: nothing is run", "leave one of the two out"));
    if (!arguments.request.options.race)
      PERFLAB_TRY_VOID(refuse_given({"--repeats"}, "with --simulate: nothing is run",
                                    "leave one of the two out, or add --race"));
    if (arguments.executor == "slurm")
      return fail(ErrorCode::usage,
                  "--executor slurm has no effect with --simulate: nothing is run",
                  "leave one of the two out");
  }
  if (arguments.executor == "local")
    PERFLAB_TRY_VOID(refuse_given({"--partition", "--workers", "--slurm-arg"},
                                  "with --executor local: it is of a cluster",
                                  "leave it out, or add --executor slurm"));
  if (arguments.request.capture.folder.empty()) {
    PERFLAB_TRY_VOID(
        refuse_given(kCaptureOptions, "without --capture: no launch is replayed", "leave it out"));
  } else {
    PERFLAB_TRY_VOID(refuse_given(
        {"--cmd-template", "--check", "--objective", "--metric-regex", "--metric-unit",
         "--maximize", "--metric", "--limit", "--kernel", "--gpus", "--simulate"},
        "with --capture: the captured launch is what is proven and timed", "leave it out"));
    if (arguments.executor != "local")
      return fail(ErrorCode::usage,
                  fmt::format("--executor {} is not possible with --capture: the captured launch "
                              "is replayed on this machine",
                              arguments.executor),
                  "leave it out");
  }
  if (arguments.request.templates.build.empty())
    PERFLAB_TRY_VOID(refuse_given({"--build-jobs", "--build-ahead", "--keep-builds"},
                                  "without --build-template: nothing is built", "leave it out"));
  else if (arguments.request.templates.code_object.empty() &&
           arguments.request.capture.folder.empty())
    PERFLAB_TRY_VOID(refuse_given({"--build-ahead"},
                                  "without --code-object: nothing is looked at before a run",
                                  "name the file that holds the built kernel"));
  return {};
}

/// A number above a bound. CLI11's own ranges let NaN through.
CLI::Validator above(double least, bool itself) {
  return CLI::Validator(
      [least, itself](std::string& text) -> std::string {
        double value = 0;
        const bool number = CLI::detail::lexical_cast(text, value) && std::isfinite(value);
        if (number && (value > least || (itself && value == least))) return {};
        return fmt::format("\"{}\" is not a number {} {}", text, itself ? "from" : "above", least);
      },
      "");
}

constexpr std::uint64_t kMostEvaluations = 10'000'000;

void add_what_options(CLI::App& command, AutotuneArguments& arguments) {
  measure::AutotuneRequest& request = arguments.request;
  command.add_option("--space", request.space,
                     "Search space: tune_params with restrictions, a list of configurations, T1, "
                     "Triton configs or BaCO (JSON, also gzip)");
  command.add_option("--cmd-template", request.templates.command,
                     "Command to measure, \"./kernel --bm {BLOCK_M}\": {NAME} is a value, {{ and "
                     "}} are braces; no shell");
  command.add_option("--build-template", request.templates.build,
                     "Command that builds a configuration, into {build_dir}");
  command.add_option("--code-object", request.templates.code_object,
                     "File of the build whose registers, LDS and spills the search may use, "
                     "\"{build_dir}/kernel.hsaco\"");
  command.add_option("--check", request.templates.check,
                     "Command that fails when a configuration's result is wrong");
  command.add_option("--kernel", request.kernel,
                     "Time and inspect only kernels whose name this regex matches");
  command.add_option("--arch", request.architecture,
                     "Architecture whose limits configurations must keep (default: the GPU's)");
  command
      .add_option(
          "--objective", arguments.objectives,
          "time (the default), gpu (of the kernel's dispatches), metric or wall (of the "
          "command); a second one is a --metric, power or energy (NAME:max: more is better)")
      ->check(offered({"gpu", "metric", "time", "wall"}))
      ->allow_extra_args(false);
  command.add_option(
      "--metric-regex", request.metric_pattern,
      "Read the objective from the command's output: 'time_ms: ([0-9.]+)'; every match "
      "is a sample");
  command.add_option("--metric-unit", request.metric_unit, "Unit of that number, for display");
  command.add_flag("--maximize", request.maximize, "Larger values are better");
  command
      .add_option(
          "--metric", request.further.metrics,
          "A further number: 'power:W=power: ([0-9.]+)' of the output; power or energy alone, "
          "of the GPU's sensors; the name alone, of a recording. Repeatable")
      ->allow_extra_args(false);
  command
      .add_option("--limit", request.further.limits,
                  "The best one keeps it: 'power<=400W', of any --metric. Repeatable")
      ->allow_extra_args(false);
}

void add_capture_options(CLI::App& command, AutotuneArguments& arguments) {
  measure::AutotuneCapture& capture = arguments.request.capture;
  command.add_option("--capture", capture.folder,
                     "Prove and time each build with this capture of isolate");
  command.add_option("--workgroup", capture.launch.workgroup,
                     "Capture: work-items of a work-group, expressions: \"TX,TY\"");
  command.add_option("--grid", capture.launch.grid, "Capture: work-items of the grid, likewise");
  command.add_option("--blocks", capture.launch.blocks,
                     "Capture: work-groups of the grid: \"N // TILE\"");
  command.add_option("--dynamic-lds", capture.launch.dynamic_lds, "Capture: dynamic LDS, bytes");
  command.add_option("--type", arguments.type, "Capture: type of the outputs")
      ->check(CLI::IsMember(replay::element_type_names()));
  command.add_option("--max-ulp", capture.compare.max_ulp, "Capture: floats may differ, ULPs");
  const auto tolerance = [&](const char* name, std::optional<double>& value, const char* text) {
    command.add_option(name, value, text)->check(CLI::Range(0.0, 1e300));
  };
  tolerance("--rtol", capture.compare.max_relative, "Capture: floats may differ, share");
  tolerance("--atol", capture.compare.max_absolute, "Capture: floats may differ, by value");
  command.add_option("--iterations", capture.iterations, "Capture: dispatches a measurement")
      ->check(whole_from(1, 1'000'000))
      ->capture_default_str();
  add_caches_option(command, capture.caches);
  command.add_flag("--ignore-findings", capture.ignore_findings,
                   "Capture: replay in spite of findings");
}

void add_search_options(CLI::App& command, AutotuneArguments& arguments) {
  tune::TuneOptions& options = arguments.request.options;
  command.add_option("--budget", options.budget, "Evaluate at most N configurations")
      ->check(whole_from(1, kMostEvaluations))
      ->capture_default_str();
  command.add_option("--time-limit", arguments.time_limit,
                     "Stop searching after this (90s, 10m); the current measurement and the final "
                     "comparison still run");
  command
      .add_option(
          "--effort", arguments.effort,
          "quick and auto stop when little more can be expected; full uses the whole budget")
      ->check(CLI::IsMember(names_of(kEfforts)))
      ->capture_default_str();
  command
      .add_option("--seed", options.search.seed,
                  "Seed of every random choice: same seed, same search")
      ->check(whole_from(0, INT64_MAX))
      ->capture_default_str();
  command
      .add_option("--model", arguments.model,
                  "tgp (Gaussian process), or polynomial, the published baseline")
      ->check(CLI::IsMember(names_of(kModels)))
      ->capture_default_str();
  command
      .add_option("--prune-factor", options.search.prune_factor,
                  "Skip what the model predicts to be this many times slower than the best, even "
                  "at its lower bound")
      ->check(above(1, false))
      ->capture_default_str();
  command
      .add_option("--repeats", options.repeats.most_runs,
                  "Run a configuration at most N times; fewer when its times are steady")
      ->check(whole_from(1, 10'000))
      ->capture_default_str();
  command.add_flag("--race", options.race,
                   "Run every configuration once, and again only those that may be the best");
  command.add_option("--timeout", arguments.timeout,
                     "Stop a run after this as long as there is no best one (default: 600s; a "
                     "captured dispatch: 10s)");
  command
      .add_option("--timeout-factor", options.timeout_factor,
                  "After that, stop a run that takes this many times as long as the best")
      ->check(above(1, true))
      ->capture_default_str();
  command.add_option(
      "--simulate", arguments.request.simulate,
      "Run nothing; search in a recording (Kernel Tuner cache, T4, KTT, Triton, CSV; "
      "also gzip)");
  command.add_option("--warm-start", arguments.request.warm_start,
                     "Start with the best configurations of a recording or a journal");
  command.add_option("--prior", arguments.request.priors,
                     "Learn from recordings or journals of the same kernel: on another GPU, of "
                     "another size or version");
}

void add_running_options(CLI::App& command, AutotuneArguments& arguments) {
  measure::AutotuneRequest& request = arguments.request;
  command.add_option(
      "--journal", request.journal,
      fmt::format("File that keeps every evaluation (default: {}, or {} with --out; none with "
                  "--simulate)",
                  kJournalName, std::string("DIR/") + kJournalInFolder));
  command.add_flag("--resume", request.resume, "Continue from the journal");
  command.add_option("--executor", arguments.executor, "Where configurations are measured")
      ->check(CLI::IsMember({"local", "slurm"}))
      ->capture_default_str();
  command.add_option("--partition", request.slurm_options.partition, "Slurm: partition");
  command.add_option("--workers", request.slurm_options.workers, "Slurm: nodes to use at once")
      ->check(whole_from(1, 10'000))
      ->capture_default_str();
  command
      .add_option("--slurm-arg", request.slurm_options.extra,
                  "Slurm: a further argument of salloc, --slurm-arg=--gres=gpu:1; repeatable")
      ->allow_extra_args(false);
  command
      .add_option("--gpus", request.gpus,
                  "GPUs of this machine to measure on at once: 0,1 or all; they must be identical")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      .add_option("--build-jobs", request.build_jobs,
                  "Builds at once (default: half of the cores, at most 4)")
      ->check(whole_from(1, 1024));
  command
      .add_option("--build-ahead", request.options.build_ahead,
                  "Builds for each run: what the compiler says of them decides which is run; needs "
                  "--code-object or --capture (default: 2)")
      ->check(whole_from(1, 64));
  command.add_flag("--keep-builds", arguments.keep_builds,
                   fmt::format("Keep the builds, in {} (in the folder of --out)", kBuildsName));
  command.add_option("--out", arguments.outputs.folder,
                     "Folder for autotune.json, summary.json, results.t4.json, results.csv and the "
                     "journal");
  add_html_option(command, arguments.outputs.html, "the search");
  add_answer_options(command, arguments.outputs, "autotune");
  command.add_flag("--quiet", arguments.outputs.quiet, "Print nothing but errors");
}

}  // namespace

void add_autotune(CLI::App& app, const std::vector<std::string>& words, int& exit_code) {
  const auto arguments = std::make_shared<AutotuneArguments>();
  CLI::App* command =
      app.add_subcommand("autotune", "Find the fastest configuration of a kernel or program");
  set_examples(*command,
               {"rocm-perf autotune --space space.json --cmd-template \"./kernel --bm {BLOCK_M}\"",
                "rocm-perf autotune --space space.json --build-template \"hipcc -DBM={BLOCK_M} "
                "k.hip -o {build_dir}/k\" --cmd-template {build_dir}/k --metric-regex 'ms: "
                "([0-9.]+)'",
                "rocm-perf autotune --space space.json --capture softmax.capture --build-template "
                "\"hipcc --genco -DBM={BLOCK_M} k.hip -o {code_object}\" "
                "--workgroup BLOCK_M",
                "rocm-perf autotune --simulate cache.json --budget 100"});
  command->footer("Exit code 1: no configuration worked.");
  add_what_options(*command, *arguments);
  add_capture_options(*command, *arguments);
  add_search_options(*command, *arguments);
  add_running_options(*command, *arguments);
  command->callback([command, arguments, words, &exit_code] {
    const Result<void> sound = check_given(*command, *arguments);
    const Result<bool> worked =
        sound ? run(*arguments, words) : Result<bool>(std::unexpected(sound.error()));
    exit_code = !worked ? report_error(worked.error()) : *worked ? 0 : 1;
  });
}

void add_autotune_capture_worker(CLI::App& app, int& exit_code) {
  const auto folder = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(measure::kCaptureWorkerCommand, "")->group("");
  command->add_option("FOLDER", *folder)->required();
  command->callback(
      [folder, &exit_code] { exit_code = measure::autotune_capture_worker_main(*folder); });
}

void add_autotune_worker(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("autotune-worker", "")->group("");
  command->prefix_command();
  command->callback([command, &exit_code] {
    // A node without rocprofv3 can measure everything else.
    Result<tune::GpuTimer> timer = measure::make_gpu_timer();
    if (!timer)
      timer = [error = timer.error()](const std::vector<std::string>&,
                                      const tune::Job&) -> Result<tune::ProfiledRun> {
        return std::unexpected(error);
      };
    exit_code = tune::autotune_worker_main(command->remaining(), *timer);
  });
}

}  // namespace perflab::cli
