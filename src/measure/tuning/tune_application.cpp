#include "measure/tuning/tune_application.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "analyze/pipeline.h"
#include "base/enum_names.h"
#include "base/hash.h"
#include "base/system/files.h"
#include "base/text/json.h"

namespace perflab::measure {
namespace {

namespace fs = std::filesystem;
using tune::ApplicationKernel;
using tune::KernelSource;

/// Evaluations of every kernel before any choice between them: the seed, and the model's first
/// pick, which says what it expects.
std::size_t first_samples(const ApplicationRequest& request) {
  return request.options.search.seed_evaluations + 1;
}

/// Parameters and their values, without derived ones.
Configuration configuration_of(const tune::Space& space, tune::ConfigId id) {
  Configuration bindings = space.bindings(id);
  bindings.resize(space.width());
  return bindings;
}

std::string configurations_text(const ApplicationRequest& request,
                                const std::vector<TunedKernel>& kernels, bool defaults) {
  Json out = Json::object();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    Json& one = out[request.application.kernels[i].name] = Json::object();
    for (const auto& [name, value] :
         defaults ? kernels[i].default_configuration : kernels[i].configuration)
      one[name] = tune::to_json(value);
  }
  return to_canonical_text(out);
}

Result<replay::DiffOptions> tolerance_of(const tune::ApplicationTolerance& written) {
  replay::DiffOptions compare{.max_ulp = written.max_ulp,
                              .max_relative = written.relative,
                              .max_absolute = written.absolute};
  if (written.type.empty()) return compare;
  compare.type = from_name<replay::ElementType>(written.type);
  if (compare.type) return compare;
  return fail(ErrorCode::bad_input, fmt::format("type: '{}' is none of {}", written.type,
                                                fmt::join(replay::element_type_names(), ", ")));
}

Result<AutotuneRequest> request_of(const ApplicationRequest& request,
                                   const ApplicationKernel& kernel) {
  AutotuneRequest one;
  one.space = kernel.space;
  one.described = kernel.described;
  one.default_values = kernel.default_values;
  one.templates = {.command = kernel.command,
                   .build = kernel.build,
                   .check = kernel.check,
                   .code_object = kernel.code_object};
  one.capture.folder = kernel.capture;
  one.capture.launch = kernel.launch;
  PERFLAB_TRY(one.capture.compare, tolerance_of(kernel.tolerance));
  one.simulate = kernel.recording;
  one.metric_pattern = kernel.metric_pattern;
  one.metric_unit = kernel.metric_unit;
  one.maximize = kernel.maximize;
  if (kernel.source == KernelSource::command) {
    using enum tune::ObjectiveKind;
    one.objective = kernel.objective == "wall"      ? wall_time
                    : kernel.objective == "metric"  ? metric
                    : kernel.metric_pattern.empty() ? gpu_time
                    : kernel.objective.empty()      ? metric
                                                    : gpu_time;
    if (*one.objective == gpu_time || !kernel.code_object.empty()) one.kernel = kernel.pattern;
  }
  one.options = request.options;
  if (kernel.source == KernelSource::capture)
    one.options.first_timeout_seconds =
        std::min(one.options.first_timeout_seconds, kCaptureTimeoutSeconds);
  one.journal = request.folder / (kernel.name + ".journal.jsonl");
  one.resume = request.resume;
  return one;
}

OnAutotuneProgress progress_of(const ApplicationRequest& request, const std::string& name) {
  if (!request.progress) return {};
  return [&request, name](const tune::TuneProgress& now, const tune::Objective& objective) {
    request.progress(name, now, objective);
  };
}

/// The time of `value` over that of the default.
std::optional<double> factor_of(std::optional<double> value, std::optional<double> default_value,
                                bool maximize) {
  if (!value || !default_value || !(*value > 0) || !(*default_value > 0)) return std::nullopt;
  return maximize ? *default_value / *value : *value / *default_value;
}

Result<std::optional<analyze::KernelGroups>> read_groups(const ApplicationRequest& request) {
  if (request.recordings.empty()) return std::optional<analyze::KernelGroups>();
  analyze::AnalyzeOptions options;
  options.search_code = false;
  options.critical_path.keep_nodes = true;
  options.critical_path.gains = 0;
  options.progress = request.reading;
  PERFLAB_TRY(const analyze::AnalyzedTrace analyzed,
              analyze::analyze_files(request.recordings, options));
  const analyze::Analysis& analysis = analyzed.analysis;
  if (!analysis.critical_path)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: no critical path: {}", request.recordings.front().string(),
                            analysis.critical_path_missing.reason),
                analysis.critical_path_missing.remedy);
  std::vector<std::string> patterns;
  for (const ApplicationKernel& kernel : request.application.kernels)
    patterns.push_back(kernel.pattern);
  PERFLAB_TRY(analyze::KernelGroups groups,
              analyze::KernelGroups::make(analyzed.trace, *analysis.critical_path, patterns));
  return std::optional(std::move(groups));
}

/// The searches of all kernels, and the one budget.
class ApplicationTuning {
 public:
  ApplicationTuning(const ApplicationRequest& request, std::optional<analyze::KernelGroups> groups)
      : request_(request),
        groups_(std::move(groups)),
        factors_(request.application.kernels.size(), 1.0) {
    result_.kernels.resize(factors_.size());
  }

  Result<void> open();
  Result<void> search();
  Result<void> finish();
  void predict();
  Result<void> prove();
  [[nodiscard]] ApplicationRun take() { return std::move(result_); }

 private:
  [[nodiscard]] Result<AutotuneSession> open_session(const ApplicationKernel& kernel) const;
  [[nodiscard]] std::vector<tune::ShareState> states() const;
  /// Of kernel i, for the choice.
  [[nodiscard]] double worth(std::size_t i) const {
    return worth_.empty() ? 1 : worth_[i].per_percent;
  }
  [[nodiscard]] std::size_t used() const {
    std::size_t sum = 0;
    for (const AutotuneSession& session : sessions_) sum += session.tuning().state().evaluated;
    return sum;
  }
  void take_result(std::size_t i, AutotuneRun&& run);
  [[nodiscard]] AutotuneRequest proof_request(const std::string& found,
                                              const std::string& defaults) const;

  const ApplicationRequest& request_;
  std::optional<analyze::KernelGroups> groups_;
  analyze::GroupFactors factors_;           ///< of the best that the searches have, by kernel
  std::vector<analyze::GroupWorth> worth_;  ///< at these; empty: there is no recording
  std::vector<AutotuneSession> sessions_;
  ApplicationRun result_;
};

Result<AutotuneSession> ApplicationTuning::open_session(const ApplicationKernel& kernel) const {
  PERFLAB_TRY(AutotuneRequest request, request_of(request_, kernel));
  return AutotuneSession::open(std::move(request), progress_of(request_, kernel.name));
}

Result<void> ApplicationTuning::open() {
  for (std::size_t i = 0; i < factors_.size(); ++i) {
    const ApplicationKernel& kernel = request_.application.kernels[i];
    Result<AutotuneSession> session = open_session(kernel);
    if (!session)
      return std::unexpected(std::move(session).error().with_note("kernel " + kernel.name));
    const tune::Space& space = session->space();
    TunedKernel& tuned = result_.kernels[i];
    tuned.objective = session->objective();
    tuned.default_configuration = tuned.configuration =
        configuration_of(space, space.default_configuration());
    sessions_.push_back(std::move(*session));
  }
  if (!groups_) return {};
  worth_ = groups_->worth(factors_);
  result_.recorded = groups_->recorded();
  for (std::size_t i = 0; i < factors_.size(); ++i) {
    result_.kernels[i].times = groups_->groups()[i];
    result_.kernels[i].worth = worth_[i];
  }
  return {};
}

std::vector<tune::ShareState> ApplicationTuning::states() const {
  std::vector<tune::ShareState> states;
  for (std::size_t i = 0; i < sessions_.size(); ++i)
    states.push_back({.search = sessions_[i].tuning().state(),
                      .batch = sessions_[i].tuning().batch(),
                      .worth = worth(i)});
  return states;
}

Result<void> ApplicationTuning::search() {
  const std::size_t budget = request_.options.budget;
  for (;;) {
    const std::size_t before = used();
    const std::vector<tune::ShareState> states = this->states();
    const auto share =
        tune::next_share(states, request_.split, first_samples(request_), budget - before);
    if (!share) break;
    const std::size_t i = share->search;
    AutotuneSession& session = sessions_[i];
    const std::size_t had = states[i].search.evaluated;
    if (Result<void> done = session.tuning().search_to(had + share->evaluations); !done)
      return std::unexpected(
          std::move(done).error().with_note("kernel " + request_.application.kernels[i].name));
    const tune::TuningState now = session.tuning().state();
    result_.shares.push_back({.kernel = i,
                              .evaluations = now.evaluated - had,
                              .promise = tune::promise_of(states[i].search),
                              .worth = groups_ ? std::optional(worth(i)) : std::nullopt});
    const double factor =
        factor_of(now.best, now.default_value, session.objective().maximize).value_or(1);
    if (factor == factors_[i]) continue;
    factors_[i] = factor;
    // What hid behind this kernel may be on the path now. Fixed shares are of the beginning.
    if (groups_ && request_.split == tune::Split::adaptive) worth_ = groups_->worth(factors_);
  }
  result_.used = used();
  result_.stopped_because = result_.used >= budget
                                ? tune::budget_was_used(budget)
                                : "every search is over, or its kernel is worth nothing more";
  return {};
}

void ApplicationTuning::take_result(std::size_t i, AutotuneRun&& run) {
  TunedKernel& kernel = result_.kernels[i];
  const tune::TuneResult& result = run.result;
  kernel.default_value = result.default_value;
  if (result.winner) {
    kernel.configuration = configuration_of(run.space, *result.winner);
    kernel.value = result.finalists.front().value;
    if (*result.winner != result.default_id) kernel.gain = result.finalists.front().over_default;
  }
  kernel.factor = factor_of(kernel.value, kernel.default_value, result.objective.maximize);
  factors_[i] = kernel.factor.value_or(1);
  kernel.run = std::move(run);
}

Result<void> ApplicationTuning::finish() {
  for (std::size_t i = 0; i < sessions_.size(); ++i) {
    result_.kernels[i].evaluations = sessions_[i].tuning().state().evaluated;
    if (result_.kernels[i].evaluations == 0) continue;
    Result<AutotuneRun> run = std::move(sessions_[i]).finish();
    if (!run)
      return std::unexpected(
          std::move(run).error().with_note("kernel " + request_.application.kernels[i].name));
    take_result(i, std::move(*run));
  }
  sessions_.clear();  // nothing may run beside the application
  return {};
}

void ApplicationTuning::predict() {
  if (!groups_) {
    result_.no_prediction = "there is no recording of the application";
    return;
  }
  std::vector<analyze::GroupFactors> rows = {factors_};
  for (std::size_t i = 0; i < factors_.size(); ++i)
    rows.emplace_back(factors_.size(), 1.0)[i] = factors_[i];
  const std::vector<std::int64_t> makespans = groups_->makespans(rows);
  result_.predicted = makespans.front();
  for (std::size_t i = 0; i < factors_.size(); ++i)
    if (result_.kernels[i].factor) result_.kernels[i].alone_makespan = makespans[i + 1];
}

/// The two files as a space of two configurations, the defaults being its default: then the last
/// comparison of autotune is that of the application. A journal's answers are of these contents.
AutotuneRequest ApplicationTuning::proof_request(const std::string& found,
                                                 const std::string& defaults) const {
  const tune::Application& application = request_.application;
  const auto values = [&](const char* first, const char* second) {
    return std::vector<tune::Value>{(request_.folder / first).string(),
                                    (request_.folder / second).string()};
  };
  tune::SpaceDescription both;
  both.parameters.push_back({.name = std::string(tune::kConfigurationName),
                             .values = values(kDefaultConfigurationsFile, kConfigurationsFile),
                             .default_level = 0});
  both.parameters.push_back(
      {.name = "contents", .values = {key_text(defaults), key_text(found)}, .default_level = 0});
  both.listed = {{0, 0}, {1, 1}};
  both.default_declared = true;
  AutotuneRequest one;
  one.described = std::move(both);
  one.templates.command = application.command;
  one.metric_pattern = application.metric_pattern;
  one.metric_unit = application.metric_unit;
  one.maximize = application.maximize;
  one.objective = application.metric_pattern.empty() ? tune::ObjectiveKind::wall_time
                                                     : tune::ObjectiveKind::metric;
  one.options.final_rounds = request_.options.final_rounds;
  one.options.first_timeout_seconds = request_.options.first_timeout_seconds;
  one.options.search.effort = tune::Effort::full;
  // Each once, to see that it works: the turns decide.
  one.options.repeats.warm_up_runs = 0;
  one.options.repeats.fewest_samples = one.options.repeats.most_runs = 1;
  one.options.budget = 2;
  one.journal = request_.folder / "application.journal.jsonl";
  one.resume = request_.resume;
  return one;
}

/// What the last comparison says of the second configuration over the first.
ApplicationProof proof_of(const AutotuneRun& run) {
  const tune::TuneResult& result = run.result;
  ApplicationProof proof;
  proof.default_value = result.default_value;
  proof.objective = result.objective;
  proof.warnings = result.warnings;
  for (const tune::Finalist& finalist : result.finalists) {
    proof.rounds = std::max(proof.rounds, finalist.samples);
    if (finalist.id == result.default_id) continue;
    proof.value = finalist.value;
    proof.gain = finalist.over_default;
    proof.proven = result.winner == finalist.id && result.decision == tune::Decision::separated;
  }
  return proof;
}

Result<void> ApplicationTuning::prove() {
  const std::string found = configurations_text(request_, result_.kernels, false);
  const std::string defaults = configurations_text(request_, result_.kernels, true);
  PERFLAB_TRY_VOID(write_file_atomically(request_.folder / kDefaultConfigurationsFile, defaults));
  PERFLAB_TRY_VOID(write_file_atomically(request_.folder / kConfigurationsFile, found));
  if (request_.application.command.empty())
    result_.no_proof = "the application file has no command";
  else if (found == defaults)
    result_.no_proof = "no kernel has a better configuration than its default";
  if (!result_.no_proof.empty()) return {};
  PERFLAB_TRY(AutotuneSession session,
              AutotuneSession::open(proof_request(found, defaults),
                                    progress_of(request_, "the application")));
  PERFLAB_TRY_VOID(session.tuning().search_to(2));
  PERFLAB_TRY(const AutotuneRun run, std::move(session).finish());
  result_.proof = proof_of(run);
  return {};
}

}  // namespace

Result<ApplicationRun> tune_application(const ApplicationRequest& request) {
  PERFLAB_TRY(std::optional<analyze::KernelGroups> groups, read_groups(request));
  ApplicationTuning tuning(request, std::move(groups));
  PERFLAB_TRY_VOID(tuning.open());
  PERFLAB_TRY_VOID(tuning.search());
  PERFLAB_TRY_VOID(tuning.finish());
  tuning.predict();
  PERFLAB_TRY_VOID(tuning.prove());
  return tuning.take();
}

}  // namespace perflab::measure
