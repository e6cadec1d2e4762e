// The loop of a tuning (session.h). Everything that decides depends on the seed and on results in
// proposal order alone, which is what makes a resumed tuning end as an undisturbed one.
#include "tune/run/tuning_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stats/summary.h"

namespace perflab::tune {
namespace {

constexpr std::size_t kMostWarmStarts = 4;  // docs/facts/tuning.md "Choices of the model"
constexpr double kGoodQuality = 0.75;       // of R2: docs/AUTOTUNE.md "Reading the result"

SearchOptions search_options(const Space& space, const TuneOptions& options) {
  SearchOptions made = options.search;
  made.maximize = options.objective.maximize;
  made.metrics = options.objective.metrics;
  made.first = {space.default_configuration()};
  for (const ConfigId id : options.warm_start)
    if (made.first.size() <= kMostWarmStarts &&
        std::find(made.first.begin(), made.first.end(), id) == made.first.end())
      made.first.push_back(id);
  return made;
}

Phase phase_of(const Proposal& proposal, const Space& space) {
  switch (proposal.kind) {
    case ProposalKind::first:
      return proposal.id == space.default_configuration() ? Phase::baseline : Phase::warm_start;
    case ProposalKind::seed:
      return Phase::seed;
    case ProposalKind::model:
    case ProposalKind::local:
      break;
  }
  return Phase::confirm;
}

void count(OutcomeCounts& counts, const Step& step) {
  const Evaluation& evaluation = step.evaluation;
  switch (evaluation.outcome) {
    case Outcome::correct:
      ++counts.correct;
      counts.unstable += evaluation.unstable ? 1 : 0;
      counts.outside += step.within_limits ? 0 : 1;
      break;
    case Outcome::compile_failed:
      ++counts.compile;
      break;
    case Outcome::run_failed:
      ++counts.runtime;
      break;
    case Outcome::timed_out:
      ++counts.timeout;
      break;
    case Outcome::wrong:
      ++counts.wrong;
      break;
    case Outcome::not_launchable:
      ++counts.device_limit;
      break;
  }
}

}  // namespace

TuningRun::TuningRun(const Space& space, Journal* journal, const TuneOptions& options,
                     const OnProgress& progress)
    : space_(space),
      journal_(journal),
      options_(options),
      progress_(progress),
      search_(space, search_options(space, options)),
      racing_(options.objective.maximize, options.repeats.most_runs) {
  if (journal_ == nullptr) return;
  for (const JournalEntry& entry : journal_->earlier())
    earlier_.emplace(entry.round + '\n' + configuration_key(entry.configuration), &entry);
}

std::vector<Binding> TuningRun::parameters(ConfigId id) const {
  if (id == kCapturedId) return {};
  std::vector<Binding> bindings = space_.bindings(id);
  bindings.resize(space_.width());  // without the derived values
  return bindings;
}

std::string TuningRun::configuration(ConfigId id) const {
  return configuration_key(parameters(id));
}

const JournalEntry* TuningRun::journalled(ConfigId id, const std::string& round) const {
  if (earlier_.empty()) return nullptr;
  const auto found = earlier_.find(round + '\n' + configuration(id));
  return found == earlier_.end() ? nullptr : found->second;
}

Result<void> TuningRun::write(ConfigId id, const std::string& round, const Answer& answer) {
  if (journal_ == nullptr) return {};
  return journal_->append({.configuration = parameters(id),
                           .round = round,
                           .worker = answer.worker,
                           .evaluation = answer.evaluation});
}

bool TuningRun::out_of_time() const {
  return options_.time_limit && std::chrono::steady_clock::now() - began_ >= *options_.time_limit;
}

double TuningRun::run_limit_seconds() const {
  if (!best_run_seconds_) return options_.first_timeout_seconds;
  return std::max(options_.least_timeout_seconds, options_.timeout_factor * *best_run_seconds_);
}

void TuningRun::learn(const Proposal& proposal, Answer&& answer) {
  const Evaluation& evaluation = answer.evaluation;
  std::vector<std::optional<double>> metrics =
      values_of(evaluation.metrics, options_.objective.metrics);
  const bool within = within_limits(metrics, options_.objective.metrics);
  search_.tell(proposal.id, evaluation.outcome, evaluation.value, std::move(metrics));
  if (!evaluation.compiled.empty()) search_.tell_compiled(proposal.id, evaluation.compiled.front());
  if (evaluation.value && within && (!best_ || better(*evaluation.value, *best_))) {
    best_ = evaluation.value;
    best_run_seconds_ = evaluation.longest_run_seconds;
  }
  if (options_.race) {
    if (evaluation.value && within) racing_.add(proposal.id, *evaluation.value);
    const std::size_t of_a_run = std::max<std::size_t>(evaluation.samples.size(), 1);
    const std::size_t fewest = evaluation.value ? options_.repeats.fewest_samples : 1;
    without_race_ += (fewest + of_a_run - 1) / of_a_run;
  }
  steps_.push_back({.id = proposal.id,
                    .phase = phase_of(proposal, space_),
                    .local = proposal.kind == ProposalKind::local,
                    .predicted = proposal.predicted,
                    .expected_gain = proposal.expected_gain,
                    .evaluation = std::move(answer.evaluation),
                    .worker = std::move(answer.worker),
                    .from_journal = answer.from_journal,
                    .best_so_far = best_,
                    .within_limits = within,
                    .built = answer.built});
}

/// The further run's samples join those that are known. One that fails says nothing of the others:
/// the last comparison will.
void TuningRun::learn_again(ConfigId id, const Evaluation& evaluation) {
  const auto step = std::ranges::find(steps_, id, &Step::id);
  PERFLAB_CHECK(step != steps_.end());
  Evaluation& known = step->evaluation;
  known.run_seconds += evaluation.run_seconds;
  if (!evaluation.value) {
    racing_.leave(id);
    ++failed_again_;
    return;
  }
  racing_.add(id, *evaluation.value);
  known.samples.insert(known.samples.end(), evaluation.samples.begin(), evaluation.samples.end());
  const stats::Summary all = stats::summarize(known.samples);
  known.value = all.median;
  known.cv = all.cv;
  known.unstable = known.cv && *known.cv > options_.repeats.unstable_cv;
  search_.tell_again(id, *known.value);
  best_ = search_.best_value();
}

Result<void> TuningRun::race(std::size_t batch, const Again& again) {
  while (options_.race && search_.expected_gain() && !out_of_time()) {
    const std::vector<ConfigId> ids = racing_.next(*search_.expected_gain(), batch);
    if (ids.empty()) break;
    PERFLAB_TRY(const std::vector<Answer> answers, again(ids));
    for (std::size_t i = 0; i < ids.size(); ++i) learn_again(ids[i], answers[i].evaluation);
  }
  return {};
}

std::string TuningRun::next_round(ConfigId id) const {
  return fmt::format("{}{}", kAgainRound, racing_.runs(id));
}

std::optional<Race> TuningRun::raced() const {
  if (!options_.race) return std::nullopt;
  Race race{.runs = steps_.size() + failed_again_,
            .again = failed_again_,
            .without_at_least = without_race_,
            .spread = racing_.spread(),
            .failed = failed_again_};
  for (const Step& step : steps_) {
    const std::size_t more = std::max<std::size_t>(racing_.runs(step.id), 1) - 1;
    race.runs += more;
    race.again += more;
    race.raced += more > 0 ? 1 : 0;
  }
  if (const auto best = search_.best()) race.best = racing_.runs(*best);
  return race;
}

void TuningRun::report(Phase phase) const {
  if (!progress_) return;
  TuneProgress now;
  now.phase = phase;
  now.evaluated = steps_.size();
  now.budget = options_.budget;
  now.best = best_;
  if (const Step* baseline = step_of(space_.default_configuration()))
    now.default_value = baseline->evaluation.value;
  now.expected_gain = search_.expected_gain();
  double fraction = static_cast<double>(steps_.size()) / static_cast<double>(options_.budget);
  if (options_.time_limit) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began_;
    fraction = std::max(fraction, spent / std::chrono::duration<double>(*options_.time_limit));
  }
  now.fraction = std::min(fraction, 1.0);
  progress_(now);
}

void TuningRun::report_comparison(std::size_t round, std::size_t rounds) const {
  if (!progress_) return;
  TuneProgress now;
  now.phase = Phase::confirm;
  now.budget = options_.budget;
  now.best = best_;
  now.round = round;
  now.rounds = rounds;
  now.fraction = static_cast<double>(round - 1) / static_cast<double>(rounds);
  progress_(now);
}

Result<void> TuningRun::search(std::size_t evaluations, std::size_t batch,
                               std::size_t candidates_per_run, const Evaluate& evaluate,
                               const Again& again) {
  const std::size_t most = std::min(evaluations, options_.budget);
  while (steps_.size() < most && !out_of_time()) {
    const std::size_t runs = std::min(batch, most - steps_.size());
    // Until the first fit there is nothing to choose between; and should no candidate build, all of
    // them count.
    const bool choosing = steps_.size() >= options_.search.seed_evaluations &&
                          steps_.size() + runs * candidates_per_run <= options_.budget;
    const std::vector<Proposal> proposals =
        search_.propose(runs * (choosing ? candidates_per_run : 1));
    if (proposals.empty()) {
      stopped_because_ = search_.why_finished();
      over_ = true;
      return {};
    }
    report(phase_of(proposals.front(), space_));
    PERFLAB_TRY(std::vector<std::optional<Answer>> answers, evaluate(proposals, runs));
    for (std::size_t i = 0; i < proposals.size(); ++i) {
      if (answers[i]) {
        learn(proposals[i], std::move(*answers[i]));
      } else {
        search_.drop(proposals[i].id);
        ++built_not_run_;
      }
    }
    PERFLAB_TRY_VOID(race(batch, again));
    report(phase_of(proposals.back(), space_));
  }
  if (steps_.size() >= options_.budget)
    stopped_because_ = budget_was_used(options_.budget);
  else
    stopped_because_ =
        steps_.size() >= most ? "its share of the budget was used" : "the time limit was reached";
  return {};
}

TuningState TuningRun::state() const {
  const Step* const baseline = step_of(space_.default_configuration());
  return {.evaluated = steps_.size(),
          .best = best_,
          .default_value = baseline == nullptr ? std::nullopt : baseline->evaluation.value,
          .expected_gain = search_.expected_gain(),
          .over = over_ || search_.finished() || steps_.size() >= options_.budget};
}

const Step* TuningRun::step_of(ConfigId id) const {
  const auto found = std::ranges::find(steps_, id, &Step::id);
  return found == steps_.end() ? nullptr : &*found;
}

BuiltAhead TuningRun::built_ahead() const {
  BuiltAhead built{.per_run = options_.build_ahead, .unused_build_seconds = unused_build_seconds_};
  double without = 0;
  double with = 0;
  double without_mix = 0;
  bool any_mix = false;
  for (const Step& step : steps_) {
    const auto& value = step.evaluation.value;
    const BuiltCandidate& expected = step.built;
    if (!value || !expected.predicted || !expected.corrected) continue;
    const double plainer = expected.without_mix.value_or(*expected.corrected);
    if (!(*value > 0 && *expected.predicted > 0 && *expected.corrected > 0 && plainer > 0))
      continue;
    without += std::abs(std::log(*value / *expected.predicted));
    with += std::abs(std::log(*value / *expected.corrected));
    without_mix += std::abs(std::log(*value / plainer));
    any_mix = any_mix || expected.without_mix;
    ++built.compared;
  }
  if (built.compared == 0) return built;
  const auto count = static_cast<double>(built.compared);
  built.error_without = without / count;
  built.error_with = with / count;
  if (any_mix) built.error_without_mix = without_mix / count;
  return built;
}

TuneResult TuningRun::finish(std::size_t not_recorded, std::span<const Losses> recorded) {
  TuneResult result;
  result.objective = options_.objective;
  result.seed = options_.search.seed;
  result.budget = options_.budget;
  result.model = options_.search.model;
  result.effort = options_.search.effort;
  result.prune_factor = options_.search.prune_factor;
  result.quality = search_.quality();
  const std::vector<PriorFigures> figures = search_.priors();
  for (std::size_t p = 0; p < figures.size(); ++p)
    result.priors.push_back(
        {.description = options_.search.priors[p]->description(), .figures = figures[p]});
  result.prior_odds = search_.prior_odds();
  result.importance = search_.importance();
  result.default_id = space_.default_configuration();
  result.default_declared = space_.description().default_declared;
  result.expected_gain_left = search_.expected_gain();
  result.stopped_because = stopped_because_;
  result.journal_torn = journal_ != nullptr && journal_->torn();
  for (const Step& step : steps_) {
    count(result.outcomes, step);
    result.resumed += step.from_journal ? 1 : 0;
  }
  result.pruned = pruned(not_recorded, result.outcomes.device_limit);
  if (const Step* baseline = step_of(result.default_id))
    result.default_value = baseline->evaluation.value;
  add_warnings(result);
  std::vector<std::optional<Losses>> losses;
  for (const Step& step : steps_) {
    std::optional<Losses>& one = losses.emplace_back();
    if (step.evaluation.value && step.within_limits)
      one = losses_of(*step.evaluation.value,
                      values_of(step.evaluation.metrics, options_.objective.metrics),
                      options_.objective);
  }
  result.front = front_of(losses, recorded);
  result.built_ahead = built_ahead();
  result.race = raced();
  if (result.race) best_so_far();
  result.steps = std::move(steps_);
  return result;
}

/// What was the best after every step, by the values that the steps have at the end.
void TuningRun::best_so_far() {
  std::optional<double> best;
  for (Step& step : steps_) {
    const std::optional<double>& value = step.evaluation.value;
    if (value && step.within_limits && (!best || better(*value, *best))) best = value;
    step.best_so_far = best;
  }
}

PruneCounts TuningRun::pruned(std::size_t not_recorded, std::size_t not_launchable) const {
  PruneCounts counts;
  counts.product = space_.counts().product;
  counts.removed = space_.counts().removed;
  counts.listed = space_.size();
  counts.sampled = space_.counts().sampled;
  counts.not_recorded = not_recorded;
  counts.model = search_.pruned();
  counts.built_not_run = built_not_run_;
  counts.not_launchable = not_launchable;
  counts.never_reached = counts.listed - steps_.size() - not_recorded - built_not_run_ -
                         counts.model.slow - counts.model.failing;
  return counts;
}

void TuningRun::add_warnings(TuneResult& result) const {
  if (!result.default_declared)
    result.warnings.emplace_back(
        result.pruned.sampled
            ? "the space declares no default: gains are over one configuration of the sample"
            : "the space declares no default: gains are over its first configuration");
  if (const Step* baseline = step_of(result.default_id);
      baseline != nullptr && !baseline->evaluation.value)
    result.warnings.push_back(fmt::format("the default configuration did not work ({}): {}",
                                          to_string(baseline->evaluation.outcome),
                                          baseline->evaluation.detail));
  if (const Step* baseline = step_of(result.default_id);
      baseline != nullptr && baseline->evaluation.value && !baseline->within_limits)
    result.warnings.emplace_back("the default configuration is not within the limits");
  if (result.quality.r2 && *result.quality.r2 < kGoodQuality)
    result.warnings.push_back(
        fmt::format("the model predicts unseen configurations badly (leave-one-out R2 {:.2f} over "
                    "{} of them, below {:.2f}): do not rely on its pruning and its importances",
                    *result.quality.r2, result.quality.samples, kGoodQuality));
  if (result.pruned.sampled)
    result.warnings.push_back(
        fmt::format("the space is too large to list: the search saw a random sample of {} "
                    "configurations",
                    result.pruned.listed));
  if (result.journal_torn)
    result.warnings.emplace_back("the last line of the journal was torn by a kill: it was dropped");
}

}  // namespace perflab::tune
