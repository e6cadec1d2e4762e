// Tuning against a recorded space: every figure comes from the recording, no command is run.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <unordered_map>
#include <utility>

#include "stats/summary.h"
#include "tune/model/search_random.h"
#include "tune/run/last_comparison.h"
#include "tune/run/tune.h"
#include "tune/run/tuning_run.h"

namespace perflab::tune {
namespace {

using RecordedRows = std::unordered_map<ConfigId, const RecordedConfiguration*>;

RecordedRows rows_of(const Space& space, const Recording& recording) {
  RecordedRows rows;
  std::vector<Binding> values;
  for (const RecordedConfiguration& recorded : recording.configurations) {
    values.clear();
    for (std::size_t i = 0; i < recording.parameters.size(); ++i)
      values.emplace_back(recording.parameters[i], recorded.values[i]);
    if (const auto id = space.find_values(values)) rows[*id] = &recorded;
  }
  return rows;
}

std::optional<double> recorded_metric(const RecordedConfiguration& recorded,
                                      const std::string& name) {
  for (const auto& [known, value] : recorded.metrics)
    if (known == name) return value;
  return std::nullopt;
}

/// Whether it worked, and keeps every limit.
bool allowed(const RecordedConfiguration& recorded, const std::vector<Metric>& metrics) {
  if (recorded.outcome != Outcome::correct || !recorded.value) return false;
  return std::ranges::all_of(metrics, [&](const Metric& metric) {
    const auto value = metric.needed() ? recorded_metric(recorded, metric.name) : std::nullopt;
    return !metric.needed() || (value && metric.within(*value));
  });
}

Evaluation evaluation_of(const RecordedConfiguration& recorded,
                         const std::vector<Metric>& metrics) {
  Evaluation evaluation;
  evaluation.outcome = recorded.outcome;
  evaluation.build_seconds = recorded.compile_ms.value_or(0) / 1e3;
  evaluation.run_seconds = recorded.benchmark_ms.value_or(0) / 1e3;
  if (recorded.outcome != Outcome::correct || !recorded.value) {
    if (recorded.outcome == Outcome::correct) evaluation.outcome = Outcome::run_failed;
    evaluation.detail = "recorded so";
    return evaluation;
  }
  for (const Metric& metric : metrics) {
    MetricValue one{.name = metric.name, .value = recorded_metric(recorded, metric.name)};
    if (!one.value) one.detail = "not recorded";
    if (!one.value && metric.needed()) {
      evaluation.outcome = Outcome::run_failed;
      evaluation.detail = fmt::format("the recording has no {} of it", metric.name);
      evaluation.metrics.clear();
      return evaluation;
    }
    evaluation.metrics.push_back(std::move(one));
  }
  evaluation.value = recorded.value;
  evaluation.samples = recorded.repeats;
  evaluation.cv = stats::summarize(recorded.repeats).cv;
  evaluation.unstable =
      evaluation.cv && stats::classify(*evaluation.cv) == stats::Stability::unstable;
  return evaluation;
}

/// One run of a race: a recorded repeat, drawn by seed, configuration and number of the run.
Evaluation one_run(const RecordedConfiguration& recorded, const std::vector<Metric>& metrics,
                   std::uint64_t seed, ConfigId id, const std::string& round) {
  Evaluation evaluation = evaluation_of(recorded, metrics);
  if (!evaluation.value) return evaluation;
  std::uint64_t number = 0;
  if (round.starts_with(kAgainRound))
    std::from_chars(round.data() + kAgainRound.size(), round.data() + round.size(), number);
  if (!recorded.repeats.empty()) {
    Random random(seed + 0x9e3779b97f4a7c15U * (id + 1) + 0xbf58476d1ce4e5b9U * number);
    evaluation.value = recorded.repeats[random.below(recorded.repeats.size())];
  }
  evaluation.samples = {*evaluation.value};
  evaluation.cv.reset();
  evaluation.unstable = false;
  return evaluation;
}

Simulation simulation_of(const RecordedRows& rows, const Objective& objective) {
  Simulation simulation;
  bool found = false;
  for (const auto& [id, recorded] : rows) {
    if (!allowed(*recorded, objective.metrics)) continue;
    const double value = *recorded->value;
    const bool better = is_better(value, simulation.optimum, objective.maximize);
    if (!found || better || (value == simulation.optimum && id < simulation.optimum_id)) {
      simulation.optimum = value;
      simulation.optimum_id = id;
      found = true;
    }
  }
  return simulation;
}

/// Of every recorded configuration within the limits.
std::vector<Losses> recorded_losses(const RecordedRows& rows, const Objective& objective) {
  std::vector<Losses> losses;
  for (const auto& [id, recorded] : rows) {
    if (!allowed(*recorded, objective.metrics)) continue;
    std::vector<std::optional<double>> values;
    for (const Metric& metric : objective.metrics)
      values.push_back(recorded_metric(*recorded, metric.name));
    if (const auto one = losses_of(*recorded->value, values, objective)) losses.push_back(*one);
  }
  return losses;
}

class OpenSimulation final : public OpenTuning {
 public:
  OpenSimulation(const Space& space, RecordedRows rows, Journal* journal, TuneOptions options,
                 OnProgress progress)
      : rows_(std::move(rows)),
        options_(std::move(options)),
        progress_(std::move(progress)),
        session_(space, journal, options_, progress_) {
    for (std::size_t id = 0; id < space.size(); ++id)
      if (!rows_.contains(static_cast<ConfigId>(id))) {
        session_.model().drop(static_cast<ConfigId>(id));
        ++not_recorded_;
      }
  }

  Result<void> search_to(std::size_t evaluations) override {
    return session_.search(
        evaluations, batch(), 1,
        [&](std::span<const Proposal> proposals, std::size_t) { return evaluate(proposals); },
        [&](std::span<const ConfigId> ids) { return again(ids); });
  }
  [[nodiscard]] TuningState state() const override { return session_.state(); }
  [[nodiscard]] std::size_t batch() const override {
    return std::max<std::size_t>(options_.batch, 1);
  }
  Result<TuneResult> finish() override;

 private:
  Result<Answer> answer_of(ConfigId id, const std::string& round);
  Result<std::vector<std::optional<Answer>>> evaluate(std::span<const Proposal> proposals);
  Result<std::vector<Answer>> again(std::span<const ConfigId> ids);

  RecordedRows rows_;
  TuneOptions options_;
  OnProgress progress_;
  TuningRun session_;
  std::size_t not_recorded_ = 0;
};

Result<Answer> OpenSimulation::answer_of(ConfigId id, const std::string& round) {
  if (const JournalEntry* entry = session_.journalled(id, round))
    return Answer{.evaluation = entry->evaluation, .worker = {}, .from_journal = true};
  const RecordedConfiguration& recorded = *rows_.at(id);
  const std::vector<Metric>& metrics = options_.objective.metrics;
  Answer answer{.evaluation = options_.race
                                  ? one_run(recorded, metrics, options_.search.seed, id, round)
                                  : evaluation_of(recorded, metrics),
                .worker = {}};
  PERFLAB_TRY_VOID(session_.write(id, round, answer));
  return answer;
}

Result<std::vector<std::optional<Answer>>> OpenSimulation::evaluate(
    std::span<const Proposal> proposals) {
  std::vector<std::optional<Answer>> answers;
  for (const Proposal& proposal : proposals) {
    PERFLAB_TRY(answers.emplace_back(), answer_of(proposal.id, "search"));
  }
  return answers;
}

Result<std::vector<Answer>> OpenSimulation::again(std::span<const ConfigId> ids) {
  std::vector<Answer> answers;
  for (const ConfigId id : ids) {
    PERFLAB_TRY(answers.emplace_back(), answer_of(id, session_.next_round(id)));
  }
  return answers;
}

Result<TuneResult> OpenSimulation::finish() {
  TuneResult result = session_.finish(not_recorded_, recorded_losses(rows_, options_.objective));
  std::vector<Contestant> contestants = contestants_of(result, options_.final_candidates);
  for (Contestant& contestant : contestants) {
    contestant.samples = rows_.at(contestant.id)->repeats;
    contestant.recorded = true;
    if (options_.race) contestant.search_value = *rows_.at(contestant.id)->value;
  }
  decide(result, session_.space(), std::move(contestants), options_.final_candidates);
  if (!rows_.contains(result.default_id))
    result.warnings.emplace_back(
        "the recording does not have the default configuration: no gain can be given");
  result.simulation = simulation_of(rows_, options_.objective);
  if (result.winner) result.simulation->best = rows_.at(*result.winner)->value;
  return result;
}

}  // namespace

Result<std::unique_ptr<OpenTuning>> open_simulation(const Space& space, const Recording& recording,
                                                    Journal* journal, TuneOptions options,
                                                    OnProgress progress) {
  RecordedRows rows = rows_of(space, recording);
  if (std::ranges::none_of(rows, [](const auto& row) {
        return row.second->outcome == Outcome::correct && row.second->value;
      }))
    return fail(ErrorCode::bad_input,
                "the recording has no value for any configuration of the space",
                "name the recording's parameters in the space as the recording does");
  if (std::ranges::none_of(
          rows, [&](const auto& row) { return allowed(*row.second, options.objective.metrics); }))
    return fail(ErrorCode::bad_input, "no recorded configuration is within the limits",
                "give other limits");
  return std::make_unique<OpenSimulation>(space, std::move(rows), journal, std::move(options),
                                          std::move(progress));
}

Result<TuneResult> simulate(const Space& space, const Recording& recording, Journal* journal,
                            TuneOptions options, const OnProgress& progress) {
  PERFLAB_TRY(const std::unique_ptr<OpenTuning> tuning,
              open_simulation(space, recording, journal, std::move(options), progress));
  PERFLAB_TRY_VOID(tuning->search_to(std::numeric_limits<std::size_t>::max()));
  return tuning->finish();
}

}  // namespace perflab::tune
