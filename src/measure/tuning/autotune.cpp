// From a request to tune::tune or tune::simulate.
#include "measure/tuning/autotune.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
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
#include "measure/tuning/capture_timer.h"
#include "tune/records/read_space.h"

namespace perflab::measure {
namespace {

namespace fs = std::filesystem;
using tune::CommandTemplate;
using tune::ObjectiveKind;

/// The folder of all builds: a given one that stays, or a fresh one that goes with its contents.
class BuildFolder {
 public:
  /// `parent`: where a fresh one is made. Error (usage): it cannot be.
  static Result<BuildFolder> make(const fs::path& kept, const fs::path& parent) {
    BuildFolder folder;
    if (!kept.empty()) {
      PERFLAB_TRY_VOID(make_directories(kept));
      folder.path_ = fs::absolute(kept);
      return folder;
    }
    std::string pattern = (parent / "rocm-perf-builds-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      return fail(ErrorCode::usage, fmt::format("{}: no folder for builds can be made there: {}",
                                                parent.string(), errno_text(errno)));
    folder.path_ = pattern;
    folder.remove_ = true;
    return folder;
  }
  BuildFolder(const BuildFolder&) = delete;
  BuildFolder& operator=(const BuildFolder&) = delete;
  BuildFolder(BuildFolder&& other) noexcept
      : path_(std::move(other.path_)), remove_(std::exchange(other.remove_, false)) {}
  BuildFolder& operator=(BuildFolder&&) = delete;
  ~BuildFolder() {
    std::error_code ignored;
    if (remove_) fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  BuildFolder() = default;
  fs::path path_;
  bool remove_ = false;
};

std::unexpected<Error> refuse(std::string message, std::string remedy = {}) {
  return fail(ErrorCode::usage, std::move(message), std::move(remedy));
}

/// Options that say nothing together, before anything is read or run.
Result<void> check_request(const AutotuneRequest& request) {
  const bool live = request.simulate.empty();
  if (live && request.space.empty()) return refuse("autotune needs a search space", "--space FILE");
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

/// Parameters, then derived values: what expressions may use.
std::vector<std::string> value_names(const tune::Space& space) {
  std::vector<std::string> names;
  for (const tune::Parameter& parameter : space.parameters()) names.push_back(parameter.name);
  for (const auto& [name, expression] : space.description().derived) names.push_back(name);
  return names;
}

/// Names that templates may use.
std::vector<std::string> known_names(const tune::Space& space, bool with_builds) {
  std::vector<std::string> names = value_names(space);
  if (with_builds) names.emplace_back(tune::kBuildFolderName);
  return names;
}

/// Where a build for a capture leaves its code object, unless --code-object says it.
constexpr const char* kLaunchedFile = "{build_dir}/kernel.code_object";

/// Parses one template; the error says which.
Result<std::optional<CommandTemplate>> parsed(const std::string& text, const char* option,
                                              const std::vector<std::string>& known) {
  if (text.empty()) return std::optional<CommandTemplate>();
  Result<CommandTemplate> made = CommandTemplate::parse(text, known);
  if (!made) {
    made.error().message = fmt::format("{}: {}", option, made.error().message);
    return std::unexpected(std::move(made).error());
  }
  return std::optional(std::move(*made));
}

struct Templates {
  std::optional<CommandTemplate> run, build, check, code_object;
  std::optional<CommandTemplate> launched;  ///< of a capture: the file that a build leaves
};

/// Error (usage): the template does not name one file.
Result<void> check_one_file(const CommandTemplate& file, const tune::Space& space,
                            const std::string& text) {
  std::vector<tune::Binding> bindings = space.bindings(space.default_configuration());
  bindings.emplace_back(std::string(tune::kBuildFolderName), std::string("b"));
  PERFLAB_TRY(const std::vector<std::string> words, file.fill(bindings));
  if (words.size() == 1) return {};
  return refuse(fmt::format("--code-object {}: it is the path of one file, and these are {} words",
                            text, words.size()),
                "quote it within the template");
}

Result<Templates> parse_templates(const AutotuneRequest& request, const tune::Space& space) {
  const AutotuneTemplates& texts = request.templates;
  const std::vector<std::string> known = known_names(space, !texts.build.empty());
  Templates out;
  PERFLAB_TRY(out.run, parsed(texts.command, "--cmd-template", known));
  PERFLAB_TRY(out.check, parsed(texts.check, "--check", known));
  PERFLAB_TRY(out.code_object, parsed(texts.code_object, "--code-object", known));
  if (out.code_object) PERFLAB_TRY_VOID(check_one_file(*out.code_object, space, texts.code_object));
  std::vector<std::string> of_build = known;
  if (!request.capture.folder.empty()) {
    of_build.emplace_back(tune::kCodeObjectName);
    out.launched = out.code_object;
    if (!out.launched) {
      PERFLAB_TRY(out.launched, parsed(kLaunchedFile, "--code-object", known));
    }
  }
  PERFLAB_TRY(out.build, parsed(texts.build, "--build-template", of_build));
  if (out.launched && !out.code_object &&
      std::ranges::find(out.build->names(), tune::kCodeObjectName) == out.build->names().end())
    return refuse("--build-template does not say with {code_object} where the code object goes",
                  "\"... -o {code_object}\", or name the file that it leaves with --code-object");
  return out;
}

/// Error (missing_tool): every configuration would fail, for want of the program.
Result<void> check_program(const CommandTemplate& command) {
  const std::string program = command.fixed_program();
  if (program.empty() || find_program(program)) return {};
  return fail(ErrorCode::missing_tool,
              fmt::format("--cmd-template: {}: no program of that name can be started", program),
              "name one that is on PATH, or its path; --build-template builds it first");
}

Result<tune::Space> space_for(const AutotuneRequest& request, const std::string& architecture,
                              const std::optional<tune::Recording>& recording) {
  if (request.space.empty()) return tune::space_of(*recording);
  PERFLAB_TRY(tune::SpaceFile file, tune::read_space(request.space));
  if (!architecture.empty())
    PERFLAB_TRY_VOID(tune::add_device_limits(file.description, architecture));
  tune::ListingOptions listing;
  listing.seed = request.options.search.seed;
  Result<tune::Space> space = tune::Space::list(std::move(file.description), listing);
  if (!space) return std::unexpected(std::move(space).error().with_note(request.space.string()));
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

Result<std::optional<tune::Journal>> open_journal(const AutotuneRequest& request,
                                                  const tune::JournalKey& key) {
  if (request.journal.empty()) return std::optional<tune::Journal>();
  PERFLAB_TRY(tune::Journal journal, tune::Journal::open(request.journal, key, request.resume));
  return std::optional(std::move(journal));
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

/// A template with the winner's values.
Result<std::vector<std::string>> filled(const std::optional<CommandTemplate>& one,
                                        const std::optional<CommandTemplate>& launched,
                                        const tune::Space& space,
                                        const std::optional<tune::ConfigId>& winner) {
  if (!one || !winner) return std::vector<std::string>();
  std::vector<tune::Binding> bindings = space.bindings(*winner);
  bindings.emplace_back(std::string(tune::kBuildFolderName), std::string(kBestBuildFolder));
  if (launched) {
    PERFLAB_TRY(const std::vector<std::string> file, launched->fill(bindings));
    bindings.emplace_back(std::string(tune::kCodeObjectName), file.front());
  }
  return one->fill(bindings);
}

Result<AutotuneRun> finished(tune::Space space, tune::TuneResult result, std::string gpu,
                             const Templates& templates) {
  PERFLAB_TRY(std::vector<std::string> command, filled(templates.run, {}, space, result.winner));
  PERFLAB_TRY(std::vector<std::string> build,
              filled(templates.build, templates.launched, space, result.winner));
  return AutotuneRun{.space = std::move(space),
                     .result = std::move(result),
                     .gpu = std::move(gpu),
                     .captured = {},
                     .capture_hash = {},
                     .conditions = {},
                     .best_command = std::move(command),
                     .best_build = std::move(build)};
}

/// The objective goes with every report: the caller cannot know it before.
tune::OnProgress with_objective(const OnAutotuneProgress& progress,
                                const tune::Objective& objective) {
  if (!progress) return {};
  return [&progress, objective](const tune::TuneProgress& now) { progress(now, objective); };
}

Result<AutotuneRun> simulated(const AutotuneRequest& request, const OnAutotuneProgress& progress) {
  PERFLAB_TRY(const std::string bytes, read_file(request.simulate));
  PERFLAB_TRY(std::optional<tune::Recording> recording, tune::read_recording(request.simulate));
  PERFLAB_TRY(tune::Space space, space_for(request, request.architecture, recording));
  PERFLAB_TRY(const Templates templates, parse_templates(request, space));
  tune::TuneOptions options = request.options;
  options.objective = {.kind = ObjectiveKind::metric,
                       .metric_pattern = {},
                       .kernel_pattern = {},
                       .maximize = request.maximize,
                       .unit = recording->unit};
  PERFLAB_TRY(options.objective.metrics, metrics_of(request.further, &*recording));
  PERFLAB_TRY(options.warm_start, warm_start(request, space));
  PERFLAB_TRY(options.search.priors, read_priors(request.priors, space, request.maximize));
  tune::JournalKey key = key_of(options.objective);
  key.command = "simulate " + key_text(bytes);
  key.space = space_key(space);
  key.priors = priors_key(options.search.priors);
  PERFLAB_TRY(std::optional<tune::Journal> journal, open_journal(request, key));
  const tune::OnProgress report = with_objective(progress, options.objective);
  PERFLAB_TRY(
      tune::TuneResult result,
      tune::simulate(space, *recording, journal ? &*journal : nullptr, std::move(options), report));
  return finished(std::move(space), std::move(result), recording->device, templates);
}

/// The folder of builds, if there are any.
Result<std::optional<BuildFolder>> builds_of(const AutotuneRequest& request,
                                             const Templates& templates,
                                             tune::TuneOptions& options) {
  std::optional<BuildFolder> builds;
  if (!templates.build) return builds;
  std::error_code error;
  // A folder that the nodes of a cluster see too is most likely ours.
  PERFLAB_TRY(BuildFolder made,
              BuildFolder::make(request.builds, request.slurm ? fs::current_path(error)
                                                              : fs::temp_directory_path(error)));
  options.build_folders = made.path();
  builds.emplace(std::move(made));
  return builds;
}

Result<AutotuneRun> live(const AutotuneRequest& request, const OnAutotuneProgress& progress) {
  tune::TuneOptions options = request.options;
  options.architecture = request.architecture;
  if (options.architecture.empty() && !request.slurm)
    if (const std::vector<tune::Gpu> gpus = tune::local_gpus(); !gpus.empty())
      options.architecture = gpus.front().architecture;
  PERFLAB_TRY(tune::Space space, space_for(request, options.architecture, std::nullopt));
  PERFLAB_TRY(Templates templates, parse_templates(request, space));
  if (!request.slurm && !templates.build) PERFLAB_TRY_VOID(check_program(*templates.run));
  PERFLAB_TRY(options.objective, live_objective(request));
  std::optional<std::vector<std::string>> gpus;
  if (!request.slurm) gpus = gpus_of(request);
  PERFLAB_TRY(options.objective.metrics,
              live_metrics(request.further, options.objective.kind, gpus));
  PERFLAB_TRY(options.warm_start, warm_start(request, space));
  PERFLAB_TRY(options.search.priors, read_priors(request.priors, space, request.maximize));
  PERFLAB_TRY(const std::unique_ptr<tune::Executor> executor,
              make_executor(request, options.objective));
  std::string gpu = executor->gpu();
  tune::JournalKey key = key_of(options.objective);
  key.command = request.templates.command;
  key.build = build_key(request.templates.build);
  key.check = request.templates.check;
  key.binary_hash = hash_of_programs(request.templates.command);
  key.gpu = gpu;
  key.space = space_key(space);
  key.priors = priors_key(options.search.priors);
  PERFLAB_TRY(std::optional<tune::Journal> journal, open_journal(request, key));
  PERFLAB_TRY(const std::optional<BuildFolder> builds, builds_of(request, templates, options));
  const tune::Commands commands{.run = templates.run,
                                .build = templates.build,
                                .check = templates.check,
                                .code_object = templates.code_object,
                                .code_object_kernel = request.kernel,
                                .launched = {}};
  const tune::OnProgress report = with_objective(progress, options.objective);
  PERFLAB_TRY(tune::TuneResult result,
              tune::tune(space, commands, *executor, journal ? &*journal : nullptr,
                         std::move(options), report));
  return finished(std::move(space), std::move(result), std::move(gpu), templates);
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

Result<AutotuneRun> on_capture(const AutotuneRequest& request, const OnAutotuneProgress& progress) {
  PERFLAB_TRY(const capture::Capture capture, capture::Capture::open(request.capture.folder));
  const capture::Description& captured = capture.description();
  tune::TuneOptions options = request.options;
  options.architecture = request.architecture;
  if (options.architecture.empty() && hal::find_arch(captured.machine.agent_name) != nullptr)
    options.architecture = captured.machine.agent_name;
  PERFLAB_TRY(tune::Space space, space_for(request, options.architecture, std::nullopt));
  PERFLAB_TRY(const Templates templates, parse_templates(request, space));
  PERFLAB_TRY(tune::LaunchExpressions launch, launch_of(request, space));
  options.objective = {.kind = ObjectiveKind::gpu_time,
                       .metric_pattern = {},
                       .kernel_pattern = {},
                       .maximize = false,
                       .unit = "ns"};
  PERFLAB_TRY(options.warm_start, warm_start(request, space));
  PERFLAB_TRY(options.search.priors, read_priors(request.priors, space, request.maximize));
  PERFLAB_TRY(const std::shared_ptr<CaptureTimer> timer, timer_on(request, captured));
  PERFLAB_TRY(
      const std::unique_ptr<tune::Executor> executor,
      tune::make_local_executor({.gpus = {}, .build_jobs = build_jobs(request), .topology = {}},
                                [timer](const std::vector<std::string>&, const tune::Job& job) {
                                  return timer->time(job);
                                }));
  tune::JournalKey key = key_of(options.objective);
  key.command = capture_key(request.capture, capture.hash());
  key.build = build_key(request.templates.build);
  key.gpu = timer->gpu();
  key.space = space_key(space);
  key.priors = priors_key(options.search.priors);
  PERFLAB_TRY(std::optional<tune::Journal> journal, open_journal(request, key));
  PERFLAB_TRY(const std::optional<BuildFolder> builds, builds_of(request, templates, options));
  // Of cubins the search does not know the registers.
  const bool looked_into = captured.machine.platform == capture::Platform::hip;
  const tune::Commands commands{.run = {},
                                .build = templates.build,
                                .check = {},
                                .code_object = looked_into ? templates.code_object : std::nullopt,
                                .code_object_kernel = exactly(captured.dispatch.kernel),
                                .launched = templates.launched,
                                .launch = std::move(launch)};
  const tune::OnProgress report = with_objective(progress, options.objective);
  PERFLAB_TRY(tune::TuneResult result,
              tune::tune(space, commands, *executor, journal ? &*journal : nullptr,
                         std::move(options), report));
  PERFLAB_TRY(AutotuneRun done,
              finished(std::move(space), std::move(result), timer->gpu(), templates));
  done.captured = captured;
  done.capture_hash = capture.hash();
  done.conditions = timer->conditions();
  return done;
}

}  // namespace

Result<AutotuneRun> run_autotune(const AutotuneRequest& request,
                                 const OnAutotuneProgress& progress) {
  PERFLAB_TRY_VOID(check_request(request));
  if (!request.architecture.empty() && hal::find_arch(request.architecture) == nullptr)
    return std::unexpected(hal::unknown_architecture(request.architecture));
  if (!request.capture.folder.empty()) return on_capture(request, progress);
  return request.simulate.empty() ? live(request, progress) : simulated(request, progress);
}

}  // namespace perflab::measure
