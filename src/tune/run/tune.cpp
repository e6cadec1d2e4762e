// Live tuning: proposals become jobs of an executor, and everything measured goes to the journal
// before anything else happens with it.
#include "tune/run/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/hash.h"
#include "stats/summary.h"
#include "tune/run/last_comparison.h"
#include "tune/run/tuning_run.h"

namespace perflab::tune {
namespace {

constexpr std::string_view kSearchRound = "search";
constexpr std::string_view kCapturedRound = "captured";
/// The same round for every configuration.
std::function<std::string(ConfigId)> always(std::string_view round) {
  return [round = std::string(round)](ConfigId) { return round; };
}

constexpr std::size_t kBatchWithBuilds = 4;  // docs/facts/tuning.md "Choices of the model"

class LiveTuning {
 public:
  LiveTuning(const Commands& commands, Executor& executor, const TuneOptions& options,
             TuningRun& session)
      : commands_(commands), executor_(executor), options_(options), session_(session) {}

  [[nodiscard]] std::size_t batch() const {
    if (options_.batch > 0) return options_.batch;
    return commands_.build ? std::max(executor_.width(), kBatchWithBuilds) : executor_.width();
  }
  /// Whether candidates are built first and chosen by what the compiler says of them.
  [[nodiscard]] std::size_t candidates_per_run() const {
    return commands_.build && commands_.code_object ? options_.build_ahead : 1;
  }

  Result<std::vector<std::optional<Answer>>> evaluate(std::span<const Proposal> proposals,
                                                      std::size_t runs);
  /// Measures the captured code object, if there is a capture. Errors: it does not work.
  Result<void> measure_captured();
  Result<std::vector<Answer>> again(std::span<const ConfigId> ids);
  Result<void> compare(TuneResult& result);

 private:
  Result<Job> job_for(ConfigId id) const;
  Result<void> fill_commands(Job& job, ConfigId id) const;
  using RoundOf = std::function<std::string(ConfigId)>;
  Result<std::vector<Answer>> run(const std::vector<Job>& jobs, const RoundOf& round_of,
                                  bool serial);
  Result<std::vector<std::size_t>> choose(std::span<const Proposal> proposals, std::size_t runs,
                                          std::vector<std::optional<Answer>>& placed);
  Result<std::vector<Answer>> build(const std::vector<ConfigId>& ids);
  void take_metrics(Contestant& contestant, std::vector<std::vector<double>>& measured,
                    const Evaluation& evaluation, TuneResult& result) const;

  const Commands& commands_;
  Executor& executor_;
  const TuneOptions& options_;
  TuningRun& session_;
  std::set<ConfigId> built_;                     ///< by this process, with success
  std::set<ConfigId> checked_;                   ///< found right by this process
  std::map<ConfigId, BuiltCandidate> expected_;  ///< of those that were chosen to run
  std::optional<Captured> captured_;
};

Result<void> LiveTuning::fill_commands(Job& job, ConfigId id) const {
  const Space& space = session_.space();
  std::vector<Binding> bindings = space.bindings(id);
  if (commands_.launched) {
    PERFLAB_TRY(const LaunchValues launch, commands_.launch.evaluate(bindings));
    job.captured = {.code_object = {}, .launch = launch};
  }
  if (!options_.build_folders.empty()) {
    std::vector<Binding> parameters(bindings.begin(),
                                    bindings.begin() + static_cast<std::ptrdiff_t>(space.width()));
    job.build_folder = options_.build_folders / key_text(configuration_key(std::move(parameters)));
  }
  bindings.emplace_back(std::string(kBuildFolderName), job.build_folder.string());
  if (commands_.run) {
    PERFLAB_TRY(job.run, commands_.run->fill(bindings));
  }
  if (commands_.launched) {
    PERFLAB_TRY(const std::vector<std::string> path, commands_.launched->fill(bindings));
    job.captured->code_object = path.front();
    bindings.emplace_back(std::string(kCodeObjectName), path.front());
  }
  if (commands_.build) {
    PERFLAB_TRY(job.build, commands_.build->fill(bindings));
  }
  if (commands_.check) {
    PERFLAB_TRY(job.check, commands_.check->fill(bindings));
  }
  if (commands_.code_object) {
    PERFLAB_TRY(const std::vector<std::string> path, commands_.code_object->fill(bindings));
    job.code_object = path.front();
  }
  return {};
}

Result<Job> LiveTuning::job_for(ConfigId id) const {
  Job job;
  job.id = id;
  if (id == kCapturedId)
    job.captured.emplace();
  else
    PERFLAB_TRY_VOID(fill_commands(job, id));
  job.code_object_kernel = commands_.code_object_kernel;
  job.architecture = options_.architecture;
  job.objective = options_.objective;
  job.repeats = options_.repeats;
  if (options_.race) job.repeats.most_runs = job.repeats.fewest_samples = 1;
  job.run_limit_seconds = session_.run_limit_seconds();
  job.build_limit_seconds = options_.build_timeout_seconds;
  job.already_built = built_.contains(id);
  job.already_checked = checked_.contains(id);
  return job;
}

/// Answers from the journal where it has them; the others are run, and written as they finish.
Result<std::vector<Answer>> LiveTuning::run(const std::vector<Job>& jobs, const RoundOf& round_of,
                                            bool serial) {
  std::vector<Answer> answers(jobs.size());
  std::vector<Job> missing;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto id = static_cast<ConfigId>(jobs[i].id);
    if (const JournalEntry* entry = session_.journalled(id, round_of(id))) {
      answers[i] = {.evaluation = entry->evaluation, .worker = entry->worker, .from_journal = true};
    } else {
      missing.push_back(jobs[i]);
      places.push_back(i);
    }
  }
  if (missing.empty()) return answers;
  PERFLAB_TRY_VOID(executor_.evaluate(missing, serial, [&](Finished&& finished) -> Result<void> {
    const auto id = static_cast<ConfigId>(missing[finished.index].id);
    Answer& answer = answers[places[finished.index]];
    answer = {.evaluation = std::move(finished.evaluation),
              .worker = std::move(finished.worker),
              .from_journal = false};
    if (answer.evaluation.outcome == Outcome::correct) {
      built_.insert(id);
      checked_.insert(id);
    }
    return session_.write(id, round_of(id), answer);
  }));
  return answers;
}

Result<std::vector<Answer>> LiveTuning::build(const std::vector<ConfigId>& ids) {
  std::vector<Answer> answers(ids.size());
  std::vector<Job> missing;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (const JournalEntry* entry = session_.journalled(ids[i], std::string(kBuiltRound))) {
      answers[i] = {.evaluation = entry->evaluation, .worker = {}, .from_journal = true};
      continue;
    }
    PERFLAB_TRY(Job job, job_for(ids[i]));
    missing.push_back(std::move(job));
    places.push_back(i);
  }
  if (missing.empty()) return answers;
  PERFLAB_TRY_VOID(executor_.build_all(missing, [&](Finished&& finished) -> Result<void> {
    Answer& answer = answers[places[finished.index]];
    answer.evaluation = std::move(finished.evaluation);
    const auto id = static_cast<ConfigId>(missing[finished.index].id);
    if (answer.evaluation.outcome == Outcome::correct) built_.insert(id);
    return session_.write(id, std::string(kBuiltRound), answer);
  }));
  return answers;
}

/// Builds every proposal. One that does not build has its answer; of the others the places of those
/// that are worth a run are given.
Result<std::vector<std::size_t>> LiveTuning::choose(std::span<const Proposal> proposals,
                                                    std::size_t runs,
                                                    std::vector<std::optional<Answer>>& placed) {
  std::vector<ConfigId> ids;
  for (const Proposal& proposal : proposals) ids.push_back(proposal.id);
  PERFLAB_TRY(std::vector<Answer> answers, build(ids));
  std::vector<std::size_t> chosen;
  std::vector<ConfigId> candidates;
  std::vector<CompiledKernel> compiled;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Evaluation& built = answers[i].evaluation;
    if (built.outcome != Outcome::correct) {
      placed[i] = std::move(answers[i]);
    } else if (built.compiled.empty()) {  // nothing to judge it by
      if (chosen.size() < runs) chosen.push_back(i);
    } else {
      candidates.push_back(ids[i]);
      compiled.push_back(built.compiled.front());
    }
  }
  const std::size_t keep = runs - chosen.size();
  for (const BuiltCandidate& one : session_.model().choose_built(candidates, compiled, keep)) {
    chosen.push_back(static_cast<std::size_t>(std::ranges::find(ids, one.id) - ids.begin()));
    expected_.insert_or_assign(one.id, one);
  }
  std::ranges::sort(chosen);
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (!placed[i] && !std::ranges::binary_search(chosen, i))
      session_.add_unused_builds(answers[i].evaluation.build_seconds);
  return chosen;
}

Result<std::vector<std::optional<Answer>>> LiveTuning::evaluate(std::span<const Proposal> proposals,
                                                                std::size_t runs) {
  std::vector<std::size_t> chosen(proposals.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = i;
  std::vector<std::optional<Answer>> placed(proposals.size());
  if (proposals.size() > runs) {
    PERFLAB_TRY(chosen, choose(proposals, runs, placed));
  }
  std::vector<Job> jobs;
  for (const std::size_t i : chosen) {
    PERFLAB_TRY(Job job, job_for(proposals[i].id));
    jobs.push_back(std::move(job));
  }
  PERFLAB_TRY(std::vector<Answer> answers, run(jobs, always(kSearchRound), false));
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (const auto built = expected_.find(proposals[chosen[i]].id); built != expected_.end()) {
      answers[i].built = built->second;
    }
    placed[chosen[i]] = std::move(answers[i]);
  }
  return placed;
}

/// One run more of each, as in the last comparison: without warm-up, and without the check.
Result<std::vector<Answer>> LiveTuning::again(std::span<const ConfigId> ids) {
  std::vector<Job> jobs;
  for (const ConfigId id : ids) {
    PERFLAB_TRY(Job job, job_for(id));
    job.exact_runs = 1;
    job.already_checked = true;
    jobs.push_back(std::move(job));
  }
  return run(jobs, [this](ConfigId id) { return session_.next_round(id); }, false);
}

Result<void> LiveTuning::measure_captured() {
  if (!commands_.launched) return {};
  PERFLAB_TRY(const Job job, job_for(kCapturedId));
  PERFLAB_TRY(std::vector<Answer> answers, run({job}, always(kCapturedRound), true));
  Evaluation& evaluation = answers.front().evaluation;
  if (!evaluation.value)
    return fail(ErrorCode::target_failed,
                fmt::format("the captured code object itself does not work: {}", evaluation.detail),
                "`rocm-perf replay verify` on this capture shows it alone");
  captured_ = {.evaluation = evaluation,
               .value = *evaluation.value,
               .samples = evaluation.samples.size(),
               .cv = evaluation.cv,
               .winners = {}};
  return {};
}

/// The further metrics of a round: from the fewest rounds on their medians over the rounds count,
/// and what is outside of a limit then cannot win.
void LiveTuning::take_metrics(Contestant& contestant, std::vector<std::vector<double>>& measured,
                              const Evaluation& evaluation, TuneResult& result) const {
  const std::vector<Metric>& metrics = options_.objective.metrics;
  if (metrics.empty() || contestant.id == kCapturedId || !evaluation.value) return;
  const auto values = values_of(evaluation.metrics, metrics);
  measured.resize(metrics.size());
  for (std::size_t i = 0; i < metrics.size(); ++i)
    if (values[i]) measured[i].push_back(*values[i]);
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (measured[i].size() < kFewestRounds) return;
    contestant.metrics[i] = stats::summarize(measured[i]).median;
  }
  if (contestant.outside || within_limits(contestant.metrics, metrics)) return;
  contestant.outside = true;
  result.warnings.push_back(fmt::format(
      "{} was within the limits in the search and not in the last comparison: it cannot win",
      session_.space().text(contestant.id)));
}

Result<void> LiveTuning::compare(TuneResult& result) {
  std::vector<Contestant> contestants = contestants_of(result, options_.final_candidates);
  result.captured = captured_;
  if (captured_ && !contestants.empty())
    contestants.push_back({.id = kCapturedId,
                           .search_value = captured_->value,
                           .unstable = captured_->evaluation.unstable,
                           .samples = {}});
  if (contestants.size() > 1 && options_.final_rounds > 0) {
    // Rounds of other finalists, from before a budget was raised, say, are not this comparison's.
    std::string finalists;
    for (const Contestant& contestant : contestants)
      finalists += contestant.id == kCapturedId ? "" : session_.space().text(contestant.id) + '\n';
    const std::string name = key_text(finalists);
    std::map<ConfigId, std::vector<std::vector<double>>> measured;  // per metric
    const Round round =
        [&](std::size_t number,
            std::span<const std::size_t> order) -> Result<std::vector<std::optional<double>>> {
      session_.report_comparison(number + 1, options_.final_rounds);
      std::vector<Job> jobs;
      for (const std::size_t index : order) {
        PERFLAB_TRY(Job job, job_for(contestants[index].id));
        job.exact_runs = 1;
        job.already_checked = true;
        jobs.push_back(std::move(job));
      }
      PERFLAB_TRY(const std::vector<Answer> answers,
                  run(jobs, always(fmt::format("final {} of {}", number + 1, name)), true));
      std::vector<std::optional<double>> values;
      for (std::size_t i = 0; i < answers.size(); ++i) {
        values.push_back(answers[i].evaluation.value);
        take_metrics(contestants[order[i]], measured[contestants[order[i]].id],
                     answers[i].evaluation, result);
      }
      return values;
    };
    PERFLAB_TRY_VOID(compare_interleaved(contestants, std::array{result.default_id, kCapturedId},
                                         options_.final_rounds, options_.objective.maximize,
                                         round));
  }
  decide(result, session_.space(), std::move(contestants), options_.final_candidates,
         looks_of(options_.final_rounds));
  return {};
}

class OpenLiveTuning final : public OpenTuning {
 public:
  OpenLiveTuning(const Space& space, const Commands& commands, Executor& executor, Journal* journal,
                 TuneOptions options, OnProgress progress)
      : options_(std::move(options)),
        progress_(std::move(progress)),
        session_(space, journal, options_, progress_),
        live_(commands, executor, options_, session_) {}

  Result<void> search_to(std::size_t evaluations) override {
    if (!begun_) PERFLAB_TRY_VOID(live_.measure_captured());
    begun_ = true;
    return session_.search(
        evaluations, live_.batch(), live_.candidates_per_run(),
        [&](std::span<const Proposal> proposals, std::size_t runs) {
          return live_.evaluate(proposals, runs);
        },
        [&](std::span<const ConfigId> ids) { return live_.again(ids); });
  }
  [[nodiscard]] TuningState state() const override { return session_.state(); }
  [[nodiscard]] std::size_t batch() const override { return live_.batch(); }
  Result<TuneResult> finish() override {
    TuneResult result = session_.finish();
    PERFLAB_TRY_VOID(live_.compare(result));
    return result;
  }

 private:
  TuneOptions options_;
  OnProgress progress_;
  TuningRun session_;
  LiveTuning live_;
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<OpenTuning> open_tuning(const Space& space, const Commands& commands,
                                        Executor& executor, Journal* journal, TuneOptions options,
                                        OnProgress progress) {
  return std::make_unique<OpenLiveTuning>(space, commands, executor, journal, std::move(options),
                                          std::move(progress));
}

Result<TuneResult> tune(const Space& space, const Commands& commands, Executor& executor,
                        Journal* journal, TuneOptions options, const OnProgress& progress) {
  OpenLiveTuning tuning(space, commands, executor, journal, std::move(options), progress);
  PERFLAB_TRY_VOID(tuning.search_to(std::numeric_limits<std::size_t>::max()));
  return tuning.finish();
}

}  // namespace perflab::tune
