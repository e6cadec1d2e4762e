// From a request to tune::tune or tune::simulate.
#include "measure/tuning/autotune.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "base/hash.h"
#include "base/system/files.h"
#include "base/system/subprocess.h"
#include "base/text/pattern.h"
#include "capture/capture_reader.h"
#include "hal/arch.h"
#include "measure/gpu_timer.h"
#include "measure/tolerance_json.h"
#include "measure/tuning/autotune_metrics.h"
#include "measure/tuning/autotune_priors.h"
#include "measure/tuning/build_folder.h"
#include "measure/tuning/capture_timer.h"
#include "tune/records/read_space.h"

namespace perflab::measure {
namespace {

namespace fs = std::filesystem;
using tune::CommandTemplate;
using tune::ObjectiveKind;

std::unexpected<Error> refuse(std::string message, std::string remedy = {}) {
  return fail(ErrorCode::usage, std::move(message), std::move(remedy));
}

/// Options that say nothing together, before anything is read or run.
Result<void> check_request(const AutotuneRequest& request) {
  const bool live = request.simulate.empty();
  if (live && request.space.empty() && !request.described)
    return refuse("autotune needs a search space", "--space FILE");
  const bool captured = !request.capture.folder.empty();
  if (live && !captured && request.templates.command.empty())
    return refuse(
        "autotune needs a command to run",
        "--cmd-template \"./kernel --bm {BLOCK_M}\", --capture FOLDER, or --simulate FILE");
  if (captured && request.templates.build.empty())
    return refuse("autotune needs a build for the captured kernel",
                  "--build-template \"hipcc --genco -DBM={BLOCK_M} k.hip -o {code_object}\"");
  if (!request.templates.code_object.empty() && request.templates.build.empty())
    return refuse("--code-object has no effect without a build: it is looked into after one",
                  "add --build-template");
  if (request.resume && request.journal.empty())
    return refuse("--resume needs a journal", "--journal FILE");
  if (!request.priors.empty() && request.options.search.model != tune::ModelKind::tgp)
    return refuse("--prior says nothing to the polynomial model", "leave out --model");
  if ((!request.further.limits.empty() || !request.further.second_objective.empty()) &&
      request.options.search.model != tune::ModelKind::tgp)
    return refuse("a limit or a second objective says nothing to the polynomial model",
                  "leave out --model");
  const auto& kind = request.objective;
  const bool metric = !request.metric_pattern.empty();
  if (kind == ObjectiveKind::metric && !metric)
    return refuse("--objective metric needs the pattern of the metric",
                  "--metric-regex 'time_ms: ([0-9.]+)'");
  if (kind && *kind != ObjectiveKind::metric && metric)
    return refuse("--metric-regex has no effect with another objective",
                  "leave one of the two out");
  if (!request.metric_unit.empty() && !metric)
    return refuse("--metric-unit has no effect without --metric-regex");
  if (metric) {
    PERFLAB_TRY(const Pattern pattern,
                Pattern::compile(request.metric_pattern, PatternScope::lines));
    if (pattern.groups() < 1)
      return refuse(fmt::format("--metric-regex {}: it has no group around the number",
                                request.metric_pattern),
                    "--metric-regex 'time_ms: ([0-9.]+)'");
  }
  if (!request.kernel.empty()) PERFLAB_TRY_VOID(Pattern::compile(request.kernel));
  if (live && request.maximize && !metric)
    return refuse("--maximize says nothing of a time", "--metric-regex names what is maximised");
  return {};
}

void tell(const AutotuneRequest& request, const std::string& text) {
  if (request.note) request.note(text);
}

/// What live tuning minimises.
Result<tune::Objective> live_objective(const AutotuneRequest& request) {
  tune::Objective objective;
  objective.maximize = request.maximize;
  objective.kernel_pattern = request.kernel;
  if (request.objective) {
    objective.kind = *request.objective;
  } else if (!request.metric_pattern.empty()) {
    objective.kind = ObjectiveKind::metric;
  } else if (request.slurm) {
    return refuse("the objective for the nodes of the cluster is missing",
                  "--objective gpu, --objective wall, or --metric-regex");
  } else if (rocprofv3_available() && !tune::local_gpus().empty()) {
    objective.kind = ObjectiveKind::gpu_time;
  } else {
    objective.kind = ObjectiveKind::wall_time;
    tell(request,
         fmt::format("{}: the wall time of the whole command is minimised "
                     "(--metric-regex reads a number that it prints)",
                     rocprofv3_available() ? "no GPU is known here" : "rocprofv3 is not there"));
  }
  objective.metric_pattern = request.metric_pattern;
  switch (objective.kind) {
    case ObjectiveKind::gpu_time:
      objective.unit = "ns";
      break;
    case ObjectiveKind::metric:
      objective.unit = request.metric_unit;
      break;
    case ObjectiveKind::wall_time:
      objective.unit = "s";
      break;
  }
  if (objective.kind == ObjectiveKind::gpu_time) return objective;
  if (!request.kernel.empty() && request.templates.code_object.empty())
    return refuse("--kernel says nothing here: no kernel is timed and no code object looked into",
                  "--objective gpu, or --code-object");
  objective.kernel_pattern.clear();
  return objective;
}

/// The default of a request takes the place of the space's.
Result<void> set_default(const std::vector<tune::Binding>& values,
                         tune::SpaceDescription& description) {
  for (const auto& [name, value] : values) {
    const auto known = std::ranges::find(description.parameters, name, &tune::Parameter::name);
    if (known == description.parameters.end())
      return fail(ErrorCode::bad_input,
                  fmt::format("default: the space has no parameter {}", name));
    const auto level = std::ranges::find_if(
        known->values, [&](const tune::Value& one) { return tune::same_value(one, value); });
    if (level == known->values.end())
      return fail(ErrorCode::bad_input,
                  fmt::format("default: {} is no value of {}", tune::to_text(value), name));
    known->default_level = static_cast<tune::Level>(level - known->values.begin());
  }
  if (values.empty()) return {};
  for (const tune::Parameter& parameter : description.parameters)
    if (!parameter.default_level && parameter.values.size() > 1)
      return fail(ErrorCode::bad_input,
                  fmt::format("default: it has no value of {}", parameter.name));
  for (tune::Parameter& parameter : description.parameters)
    if (!parameter.default_level) parameter.default_level = 0;
  description.default_declared = true;
  description.default_may_fail = false;
  return {};
}

Result<tune::Space> space_for(const AutotuneRequest& request, const std::string& architecture,
                              const std::optional<tune::Recording>& recording) {
  tune::SpaceDescription description;
  if (request.described) {
    description = *request.described;
  } else if (request.space.empty()) {
    PERFLAB_TRY(tune::Space recorded, tune::space_of(*recording));
    if (request.default_values.empty()) return recorded;
    description = recorded.description();
  } else {
    PERFLAB_TRY(tune::SpaceFile file, tune::read_space(request.space));
    description = std::move(file.description);
  }
  if (!architecture.empty()) PERFLAB_TRY_VOID(tune::add_device_limits(description, architecture));
  tune::ListingOptions listing;
  listing.seed = request.options.search.seed;
  Result<void> sound = set_default(request.default_values, description);
  Result<tune::Space> space = sound ? tune::Space::list(std::move(description), listing)
                                    : Result<tune::Space>(std::unexpected(sound.error()));
  const std::string& file = request.space.empty() ? request.simulate : request.space;
  if (!space && !file.empty()) return std::unexpected(std::move(space).error().with_note(file));
  return space;
}

/// Configurations of an earlier recording that the space has, best first.
Result<std::vector<tune::ConfigId>> warm_start(const AutotuneRequest& request,
                                               const tune::Space& space) {
  std::vector<tune::ConfigId> ids;
  if (request.warm_start.empty()) return ids;
  PERFLAB_TRY(const tune::Recording recording, tune::read_recording(request.warm_start));
  std::vector<const tune::RecordedConfiguration*> worked;
  for (const tune::RecordedConfiguration& one : recording.configurations)
    if (one.outcome == tune::Outcome::correct && one.value) worked.push_back(&one);
  std::ranges::stable_sort(worked, [&](const auto* a, const auto* b) {
    return request.maximize ? *a->value > *b->value : *a->value < *b->value;
  });
  std::vector<tune::Binding> values;
  for (const tune::RecordedConfiguration* one : worked) {
    values.clear();
    for (std::size_t i = 0; i < recording.parameters.size(); ++i)
      values.emplace_back(recording.parameters[i], one->values[i]);
    if (const auto id = space.find_values(values); id && std::ranges::find(ids, *id) == ids.end())
      ids.push_back(*id);
  }
  if (ids.empty())
    tell(request, fmt::format("{}: none of its configurations that worked is in the space",
                              request.warm_start.string()));
  return ids;
}

/// Names of the parameters, and the derived values with their expressions.
std::string space_key(const tune::Space& space) {
  std::string out;
  for (const tune::Parameter& parameter : space.parameters())
    out += fmt::format("{}{}", out.empty() ? "" : ", ", parameter.name);
  for (const auto& [name, expression] : space.description().derived)
    out += fmt::format(", {} = {}", name, expression);
  return out;
}

/// A journal's key with what is measured.
tune::JournalKey key_of(const tune::Objective& objective) {
  tune::JournalKey key;
  key.kind = tune::to_string(objective.kind);
  key.goal = objective.maximize ? tune::kMaximize : tune::kMinimize;
  key.objective =
      objective.metric_pattern + objective.kernel_pattern + metrics_key(objective.metrics);
  return key;
}

/// Into `journal`, when there is to be one.
Result<void> open_journal(const AutotuneRequest& request, const tune::JournalKey& key,
                          std::optional<tune::Journal>& journal) {
  if (request.journal.empty()) return {};
  PERFLAB_TRY(tune::Journal opened, tune::Journal::open(request.journal, key, request.resume));
  journal.emplace(std::move(opened));
  return {};
}

std::size_t build_jobs(const AutotuneRequest& request) {
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  return request.build_jobs > 0 ? request.build_jobs : std::clamp<std::size_t>(cores / 2, 1, 4);
}

/// A pattern that finds this name alone.
std::string exactly(const std::string& name) {
  std::string pattern = "^";
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') pattern += '\\';
    pattern += c;
  }
  return pattern + "$";
}

/// The GPUs that are asked for; "all" stands for their numbers.
std::vector<std::string> gpus_of(const AutotuneRequest& request) {
  if (request.gpus != std::vector<std::string>{"all"}) return request.gpus;
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < tune::local_gpus().size(); ++i)
    numbers.push_back(fmt::format("{}", i));
  return numbers;
}

Result<std::unique_ptr<tune::Executor>> make_executor(const AutotuneRequest& request,
                                                      const tune::Objective& objective) {
  if (request.slurm) {
    tune::SlurmOptions options = request.slurm_options;
    std::error_code error;
    options.program = fs::read_symlink("/proc/self/exe", error).string();
    options.working_directory = fs::current_path(error);
    return tune::make_slurm_executor(std::move(options));
  }
  tune::LocalOptions options;
  options.gpus = gpus_of(request);
  if (!request.gpus.empty() && options.gpus.empty())
    return fail(ErrorCode::missing_tool, "--gpus all: there is no GPU that the driver knows",
                "leave it out to measure without one");
  options.build_jobs = build_jobs(request);
  // Where the processor is what is measured, a compiler beside it would be in the figures.
  options.overlap_builds = !tune::local_gpus().empty();
  tune::GpuTimer timer;
  if (objective.kind == ObjectiveKind::gpu_time) {
    PERFLAB_TRY(timer, make_gpu_timer());
  }
  return tune::make_local_executor(std::move(options), std::move(timer));
}

}  // namespace

/// All that a tuning refers to while it goes on, where it stays.
struct AutotuneSession::State {
  OnAutotuneProgress progress;
  std::optional<tune::Recording> recording;
  std::optional<tune::Space> space;
  Templates templates;
  tune::Commands commands;
  tune::TuneOptions options;
  std::unique_ptr<tune::Executor> executor;
  std::optional<tune::Journal> journal;
  std::optional<BuildFolder> builds;
  std::string gpu;
  std::shared_ptr<CaptureTimer> timer;  ///< of a capture
  std::optional<capture::Description> captured;
  std::string capture_hash;
  std::unique_ptr<tune::OpenTuning> tuning;

  [[nodiscard]] tune::Journal* journal_or_null() { return journal ? &*journal : nullptr; }
  /// The objective goes with every report: the caller cannot know it before.
  [[nodiscard]] tune::OnProgress report() const {
    if (!progress) return {};
    return [this](const tune::TuneProgress& now) { progress(now, options.objective); };
  }
  void open_live() {
    tuning = tune::open_tuning(*space, commands, *executor, journal_or_null(), options, report());
  }
};

namespace {

using State = AutotuneSession::State;

Result<void> open_simulated(const AutotuneRequest& request, State& state) {
  PERFLAB_TRY(const std::string bytes, read_file(request.simulate));
  PERFLAB_TRY(state.recording, tune::read_recording(request.simulate));
  const tune::Recording& recording = *state.recording;
  PERFLAB_TRY(state.space, space_for(request, request.architecture, state.recording));
  PERFLAB_TRY(state.templates, parse_templates(request.templates, false, *state.space));
  tune::TuneOptions& options = state.options;
  options.objective = {.kind = ObjectiveKind::metric,
                       .metric_pattern = {},
                       .kernel_pattern = {},
                       .maximize = request.maximize,
                       .unit = recording.unit};
  PERFLAB_TRY(options.objective.metrics, metrics_of(request.further, &recording));
  PERFLAB_TRY(options.warm_start, warm_start(request, *state.space));
  PERFLAB_TRY(options.search.priors, read_priors(request.priors, *state.space, request.maximize));
  tune::JournalKey key = key_of(options.objective);
  key.command = "simulate " + key_text(bytes);
  key.space = space_key(*state.space);
  key.priors = priors_key(options.search.priors);
  PERFLAB_TRY_VOID(open_journal(request, key, state.journal));
  state.gpu = recording.device;
  PERFLAB_TRY(state.tuning, tune::open_simulation(*state.space, recording, state.journal_or_null(),
                                                  options, state.report()));
  return {};
}

/// The folder of builds, if there are any.
Result<void> open_builds(const AutotuneRequest& request, State& state) {
  if (!state.templates.build) return {};
  std::error_code error;
  // A folder that the nodes of a cluster see too is most likely ours.
  PERFLAB_TRY(BuildFolder made,
              BuildFolder::make(request.builds, request.slurm ? fs::current_path(error)
                                                              : fs::temp_directory_path(error)));
  state.options.build_folders = made.path();
  state.builds.emplace(std::move(made));
  return {};
}

Result<void> open_commands(const AutotuneRequest& request, State& state) {
  tune::TuneOptions& options = state.options;
  options.architecture = request.architecture;
  if (options.architecture.empty() && !request.slurm)
    if (const std::vector<tune::Gpu> gpus = tune::local_gpus(); !gpus.empty())
      options.architecture = gpus.front().architecture;
  PERFLAB_TRY(state.space, space_for(request, options.architecture, std::nullopt));
  PERFLAB_TRY(state.templates, parse_templates(request.templates, false, *state.space));
  const Templates& templates = state.templates;
  if (!request.slurm && !templates.build) PERFLAB_TRY_VOID(check_program(*templates.run));
  PERFLAB_TRY(options.objective, live_objective(request));
  std::optional<std::vector<std::string>> gpus;
  if (!request.slurm) gpus = gpus_of(request);
  PERFLAB_TRY(options.objective.metrics,
              live_metrics(request.further, options.objective.kind, gpus));
  PERFLAB_TRY(options.warm_start, warm_start(request, *state.space));
  PERFLAB_TRY(options.search.priors, read_priors(request.priors, *state.space, request.maximize));
  PERFLAB_TRY(state.executor, make_executor(request, options.objective));
  state.gpu = state.executor->gpu();
  tune::JournalKey key = key_of(options.objective);
  key.command = request.templates.command;
  key.build = build_key(request.templates.build);
  key.check = request.templates.check;
  key.binary_hash = hash_of_programs(request.templates.command);
  key.gpu = state.gpu;
  key.space = space_key(*state.space);
  key.priors = priors_key(options.search.priors);
  PERFLAB_TRY_VOID(open_journal(request, key, state.journal));
  PERFLAB_TRY_VOID(open_builds(request, state));
  state.commands = {.run = templates.run,
                    .build = templates.build,
                    .check = templates.check,
                    .code_object = templates.code_object,
                    .code_object_kernel = request.kernel,
                    .launched = {}};
  state.open_live();
  return {};
}

/// The geometry of every configuration, before anything is built. Errors: of the expressions.
Result<tune::LaunchExpressions> launch_of(const AutotuneRequest& request,
                                          const tune::Space& space) {
  PERFLAB_TRY(tune::LaunchExpressions launch,
              tune::LaunchExpressions::compile(request.capture.launch, value_names(space)));
  for (tune::ConfigId id = 0; request.capture.launch.any() && id < space.size(); ++id)
    if (auto values = launch.evaluate(space.bindings(id)); !values)
      return std::unexpected(std::move(values).error().with_note("with " + space.text(id)));
  return launch;
}

/// What measurements on a capture have in common.
std::string capture_key(const AutotuneCapture& capture, const std::string& hash) {
  return to_canonical_text(Json{{"capture", hash},
                                {"workgroup", capture.launch.workgroup},
                                {"grid", capture.launch.grid},
                                {"blocks", capture.launch.blocks},
                                {"dynamic_lds", capture.launch.dynamic_lds},
                                {"tolerance", tolerance_json(capture.compare)},
                                {"iterations", capture.iterations},
                                {"caches", to_string(capture.caches)}});
}

/// The process that holds the GPU, with the capture proven.
Result<std::shared_ptr<CaptureTimer>> timer_on(const AutotuneRequest& request,
                                               const capture::Description& captured) {
  const auto worker = std::make_shared<ReplayWorker>(
      own_worker_command(kCaptureWorkerCommand),
      to_json(CaptureBenchSetup{.capture = fs::absolute(request.capture.folder),
                                .compare = request.capture.compare,
                                .ignore_findings = request.capture.ignore_findings,
                                .iterations = request.capture.iterations,
                                .caches = request.capture.caches}));
  const std::chrono::duration<double> limit(request.options.first_timeout_seconds);
  return CaptureTimer::open(
      captured, [worker](const Json& what) { return worker->ask(what); },
      std::chrono::ceil<std::chrono::milliseconds>(limit));
}

Result<void> open_on_capture(const AutotuneRequest& request, State& state) {
  PERFLAB_TRY(const capture::Capture capture, capture::Capture::open(request.capture.folder));
  state.captured = capture.description();
  state.capture_hash = capture.hash();
  const capture::Description& captured = *state.captured;
  tune::TuneOptions& options = state.options;
  options.architecture = request.architecture;
  if (options.architecture.empty() && hal::find_arch(captured.machine.agent_name) != nullptr)
    options.architecture = captured.machine.agent_name;
  PERFLAB_TRY(state.space, space_for(request, options.architecture, std::nullopt));
  PERFLAB_TRY(state.templates, parse_templates(request.templates, true, *state.space));
  PERFLAB_TRY(tune::LaunchExpressions launch, launch_of(request, *state.space));
  options.objective = {.kind = ObjectiveKind::gpu_time,
                       .metric_pattern = {},
                       .kernel_pattern = {},
                       .maximize = false,
                       .unit = "ns"};
  PERFLAB_TRY(options.warm_start, warm_start(request, *state.space));
  PERFLAB_TRY(options.search.priors, read_priors(request.priors, *state.space, request.maximize));
  PERFLAB_TRY(state.timer, timer_on(request, captured));
  PERFLAB_TRY(state.executor,
              tune::make_local_executor(
                  {.gpus = {}, .build_jobs = build_jobs(request), .topology = {}},
                  [timer = state.timer](const std::vector<std::string>&, const tune::Job& job) {
                    return timer->time(job);
                  }));
  state.gpu = state.timer->gpu();
  tune::JournalKey key = key_of(options.objective);
  key.command = capture_key(request.capture, state.capture_hash);
  key.build = build_key(request.templates.build);
  key.gpu = state.gpu;
  key.space = space_key(*state.space);
  key.priors = priors_key(options.search.priors);
  PERFLAB_TRY_VOID(open_journal(request, key, state.journal));
  PERFLAB_TRY_VOID(open_builds(request, state));
  // Of cubins the search does not know the registers.
  const bool looked_into = captured.machine.platform == capture::Platform::hip;
  state.commands = {.run = {},
                    .build = state.templates.build,
                    .check = {},
                    .code_object = looked_into ? state.templates.code_object : std::nullopt,
                    .code_object_kernel = exactly(captured.dispatch.kernel),
                    .launched = state.templates.launched,
                    .launch = std::move(launch)};
  state.open_live();
  return {};
}

}  // namespace

AutotuneSession::AutotuneSession(std::unique_ptr<State> state) : state_(std::move(state)) {}
AutotuneSession::AutotuneSession(AutotuneSession&&) noexcept = default;
AutotuneSession::~AutotuneSession() = default;

Result<AutotuneSession> AutotuneSession::open(const AutotuneRequest& request,
                                              OnAutotuneProgress progress) {
  PERFLAB_TRY_VOID(check_request(request));
  if (!request.architecture.empty() && hal::find_arch(request.architecture) == nullptr)
    return std::unexpected(hal::unknown_architecture(request.architecture));
  auto state = std::make_unique<State>();
  state->progress = std::move(progress);
  state->options = request.options;
  PERFLAB_TRY_VOID(!request.capture.folder.empty() ? open_on_capture(request, *state)
                   : request.simulate.empty()      ? open_commands(request, *state)
                                                   : open_simulated(request, *state));
  return AutotuneSession(std::move(state));
}

tune::OpenTuning& AutotuneSession::tuning() {
  return *state_->tuning;
}

const tune::OpenTuning& AutotuneSession::tuning() const {
  return *state_->tuning;
}

const tune::Space& AutotuneSession::space() const {
  return *state_->space;
}

const tune::Objective& AutotuneSession::objective() const {
  return state_->options.objective;
}

Result<AutotuneRun> AutotuneSession::finish() && {
  PERFLAB_TRY(tune::TuneResult result, state_->tuning->finish());
  state_->tuning.reset();
  const auto& [run, build, check, code_object, launched] = state_->templates;
  const tune::Space& space = *state_->space;
  PERFLAB_TRY(std::vector<std::string> best, filled_template(run, {}, space, result.winner));
  PERFLAB_TRY(std::vector<std::string> best_build,
              filled_template(build, launched, space, result.winner));
  AutotuneRun done{.space = std::move(*state_->space),
                   .result = std::move(result),
                   .gpu = std::move(state_->gpu),
                   .captured = std::move(state_->captured),
                   .capture_hash = std::move(state_->capture_hash),
                   .conditions = {},
                   .best_command = std::move(best),
                   .best_build = std::move(best_build)};
  if (state_->timer) done.conditions = state_->timer->conditions();
  return done;
}

Result<AutotuneRun> run_autotune(const AutotuneRequest& request,
                                 const OnAutotuneProgress& progress) {
  PERFLAB_TRY(AutotuneSession session, AutotuneSession::open(request, progress));
  PERFLAB_TRY_VOID(session.tuning().search_to(request.options.budget));
  return std::move(session).finish();
}

}  // namespace perflab::measure
