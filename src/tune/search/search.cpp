// The phases of the search: what is given first, a space-filling seed, then the model. Facts:
// docs/models/autotuning.md "Choice". Results are taken in at the next proposal, in the order of
// the proposals, so that the order in which a batch comes back changes nothing.
#include "tune/search/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/enum_names.h"
#include "tune/model/compiled.h"
#include "tune/model/encoding.h"
#include "tune/model/importance.h"
#include "tune/model/polynomial.h"
#include "tune/model/search_random.h"
#include "tune/model/targets.h"
#include "tune/model/tgp.h"

namespace perflab::tune {
namespace {

/// Random configurations of which the one farthest from all others is taken as a seed.
constexpr std::size_t kSeedCandidates = 60;
/// Results without which there is nothing to model.
constexpr std::size_t kLeastCorrect = 2;
constexpr std::size_t kLeastDistinct = 4;

/// When an effort stops: expected gain below, so many proposals running.
struct StopRule {
  double gain = 0;
  std::size_t times = 0;
  std::string_view text;
};

std::optional<StopRule> stop_rule(Effort effort) {
  switch (effort) {
    case Effort::quick:
      return StopRule{.gain = 0.005, .times = 8, .text = "0.5 %"};
    case Effort::automatic:
      return StopRule{.gain = 0.001, .times = 20, .text = "0.1 %"};
    case Effort::full:
      break;
  }
  return std::nullopt;
}

/// 1 - squared errors / squared deviations of the exact results; the scale does not matter.
ModelQuality quality_of(const Tgp& tgp) {
  const Targets& targets = tgp.targets();
  const std::vector<double> errors = tgp.posterior().leave_one_out();
  std::vector<double> seen;
  double squares = 0;
  for (std::size_t i = 0; i < errors.size(); ++i)
    if (targets.exact[i]) {
      seen.push_back(targets.standardised[i]);
      squares += errors[i] * errors[i];
    }
  ModelQuality quality{.r2 = std::nullopt, .samples = seen.size(), .fits = tgp.fits()};
  double mean = 0;
  for (const double value : seen) mean += value / static_cast<double>(seen.size());
  double total = 0;
  for (const double value : seen) total += (value - mean) * (value - mean);
  std::ranges::sort(seen);
  const auto repeated = std::ranges::unique(seen);
  seen.erase(repeated.begin(), repeated.end());
  if (seen.size() >= kLeastDistinct && total > 0) quality.r2 = 1 - squares / total;
  return quality;
}

/// Ranks from 0; equal values share the mean of theirs.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  std::vector<double> ranks;
  for (const double value : values) {
    const auto [first, last] = std::ranges::equal_range(sorted, value);
    ranks.push_back(0.5 * static_cast<double>((first - sorted.begin()) + (last - sorted.begin())));
  }
  return ranks;
}

/// Pearson's correlation of the ranks is Spearman's.
PriorFigures ranked(const EarlierTuning& prior, const std::vector<Told>& results, bool maximize) {
  std::vector<double> said;
  std::vector<double> measured;
  for (const Told& one : results) {
    if (!one.value) continue;
    said.push_back(prior.at(one.id));
    measured.push_back(maximize ? -*one.value : *one.value);
  }
  PriorFigures figures;
  figures.ranked = said.size();
  if (said.size() < kLeastRanked) return figures;
  said = ranks_of(said);
  measured = ranks_of(measured);
  // Ranks, ties included, have this mean.
  const double mean = 0.5 * static_cast<double>(said.size());
  double both = 0;
  double a = 0;
  double b = 0;
  for (std::size_t i = 0; i < said.size(); ++i) {
    both += (said[i] - mean) * (measured[i] - mean);
    a += (said[i] - mean) * (said[i] - mean);
    b += (measured[i] - mean) * (measured[i] - mean);
  }
  if (a > 0 && b > 0) figures.rank_correlation = both / std::sqrt(a * b);
  return figures;
}

}  // namespace

std::string_view to_string(ModelKind model) {
  return model == ModelKind::tgp ? "tgp" : "polynomial";
}

std::string_view to_string(Effort effort) {
  using enum Effort;
  static constexpr auto kNames =
      enum_names<Effort>({{quick, "quick"}, {automatic, "auto"}, {full, "full"}});
  return kNames[effort];
}

std::string_view to_string(ProposalKind kind) {
  using enum ProposalKind;
  static constexpr auto kNames = enum_names<ProposalKind>(
      {{first, "first"}, {seed, "seed"}, {model, "model"}, {local, "local"}});
  return kNames[kind];
}

struct Search::State {
  const Space& space;
  SearchOptions options;
  Encoding encoding;
  Random random;
  Tgp tgp;
  std::optional<Polynomial> polynomial;
  std::vector<bool> taken;        ///< by configuration: proposed or told
  std::vector<bool> told;         ///< by configuration
  std::vector<Told> results;      ///< taken in, in the order of their proposals
  std::vector<Told> fresh;        ///< told since the last proposal
  std::vector<ConfigId> waiting;  ///< proposed last, in order
  Targets targets;                ///< of the results
  std::optional<Told> best;
  bool changed = false;  ///< a value of the results, since the model learned them
  CompiledKernels compiled;
  std::size_t first_used = 0;
  std::size_t dropped = 0;
  std::optional<double> gain;
  std::size_t without_promise = 0;  ///< proposals running with a gain below the rule's
  std::string ended;

  State(const Space& of, SearchOptions with)
      : space(of),
        options(std::move(with)),
        encoding(of, {options.priors.begin(), options.priors.end()}),
        random(options.seed),
        tgp(encoding, options.seed, options.prune_factor, options.metrics),
        taken(of.size(), false),
        told(of.size(), false) {
    if (options.model == ModelKind::polynomial)
      polynomial.emplace(space, options.maximize, options.prune_factor);
  }

  [[nodiscard]] std::size_t told_count() const { return results.size() + fresh.size(); }
  [[nodiscard]] bool better(const Told& a, const Told& b) const {
    if (*a.value != *b.value) return is_better(*a.value, *b.value, options.maximize);
    return a.id < b.id;
  }
  [[nodiscard]] static bool ready(const Targets& of, std::size_t count,
                                  const SearchOptions& options) {
    return of.correct >= kLeastCorrect && count >= options.seed_evaluations;
  }

  /// The results with the fresh ones: proposed ones in the order of the proposals, then others by
  /// number.
  [[nodiscard]] std::vector<Told> all_results() const {
    std::vector<Told> all = results;
    std::vector<Told> others;
    for (const ConfigId id : waiting)
      if (const auto found = std::ranges::find(fresh, id, &Told::id); found != fresh.end())
        all.push_back(*found);
    for (const Told& one : fresh)
      if (std::ranges::find(waiting, one.id) == waiting.end()) others.push_back(one);
    std::ranges::sort(others, {}, &Told::id);
    all.insert(all.end(), others.begin(), others.end());
    return all;
  }

  [[nodiscard]] std::size_t second() const { return second_objective(options.metrics); }
  [[nodiscard]] bool two_objectives() const { return second() < options.metrics.size(); }

  /// Of two objectives: of their sum under weights that are drawn anew with every result (ParEGO).
  [[nodiscard]] Targets targets_for(const std::vector<Told>& of) const {
    if (!two_objectives())
      return targets_of(of, options.maximize,
                        tgp.sure_of_priors() ? TargetForm::compressed : TargetForm::logarithms);
    constexpr std::size_t kWeights = 10;
    Random drawn(options.seed ^ (of.size() * 0x9e3779b97f4a7c15U));
    const double weight =
        static_cast<double>(drawn.below(kWeights + 1)) / static_cast<double>(kWeights);
    const std::vector<Told> one =
        scalarised(of, options.maximize, second(), options.metrics[second()].maximize, weight);
    return targets_of(one, false, TargetForm::values);
  }

  void take_in() {
    results = all_results();
    fresh.clear();
    waiting.clear();
    changed = false;
    targets = targets_for(results);
    if (!ready(targets, results.size(), options)) return;
    if (!polynomial)
      tgp.learn(results, targets, taken);
    else if (!polynomial->fitted())
      polynomial->fit(results);
  }

  /// f(model) with all that was told; the search itself stays as it is, so that asking changes no
  /// proposal.
  template <class F>
  auto with_model(F f) const {
    if (fresh.empty() && !changed) return f(tgp);
    const std::vector<Told> all = all_results();
    const Targets now = targets_for(all);
    if (!ready(now, all.size(), options)) return f(tgp);
    Tgp copy = tgp;
    copy.learn(all, now, taken);
    return f(copy);
  }

  std::optional<Proposal> next();
  std::optional<Proposal> next_first();
  std::optional<ConfigId> next_seed();
  std::optional<Proposal> next_of_tgp();
  std::optional<Proposal> next_of_polynomial();
  bool stop_now(std::size_t proposals);
};

std::optional<Proposal> Search::State::next_first() {
  while (first_used < options.first.size()) {
    const ConfigId id = options.first[first_used++];
    if (id < space.size() && !taken[id])
      return Proposal{.id = id, .kind = ProposalKind::first, .predicted = {}, .expected_gain = {}};
  }
  return std::nullopt;
}

/// Of some random configurations the farthest from all known ones; of the polynomial's, the first.
std::optional<ConfigId> Search::State::next_seed() {
  std::optional<ConfigId> farthest;
  double best_distance = -1;
  for (std::size_t i = 0; i < kSeedCandidates; ++i) {
    const auto id = static_cast<ConfigId>(random.below(space.size()));
    if (taken[id]) continue;
    if (polynomial) return id;
    double nearest = std::numeric_limits<double>::infinity();
    for (const Told& one : results) nearest = std::min(nearest, encoding.distance(id, one.id));
    for (const ConfigId other : waiting) nearest = std::min(nearest, encoding.distance(id, other));
    if (nearest > best_distance) {
      farthest = id;
      best_distance = nearest;
    }
  }
  if (farthest) return farthest;
  const auto left = std::ranges::find(taken, false);
  if (left == taken.end()) return std::nullopt;
  return static_cast<ConfigId>(left - taken.begin());
}

std::optional<Proposal> Search::State::next_of_tgp() {
  const auto pick =
      tgp.pick(taken, results.size() + waiting.size(), options.effort == Effort::full);
  if (!pick) return std::nullopt;
  const ProposalKind kind = pick->local ? ProposalKind::local : ProposalKind::model;
  // Of two objectives the model predicts neither, and no gain in one of them ends the search.
  if (two_objectives())
    return Proposal{.id = pick->id, .kind = kind, .predicted = {}, .expected_gain = {}};
  // The first pick of a batch saw the model as it is; the later ones believe the first.
  if (waiting.empty()) gain = tgp.expected_gain();
  return Proposal{.id = pick->id,
                  .kind = kind,
                  .predicted = targets.scale.value(targets.loss(pick->prediction.mean)),
                  .expected_gain = pick->expected_gain};
}

std::optional<Proposal> Search::State::next_of_polynomial() {
  const auto id = polynomial->next(taken, options.effort == Effort::full);
  if (!id) return std::nullopt;
  return Proposal{.id = *id,
                  .kind = ProposalKind::model,
                  .predicted = polynomial->predicted(*id),
                  .expected_gain = {}};
}

std::optional<Proposal> Search::State::next() {
  if (auto first = next_first()) return first;
  if (ready(targets, results.size(), options))
    return polynomial ? next_of_polynomial() : next_of_tgp();
  const auto id = next_seed();
  if (!id) return std::nullopt;
  return Proposal{.id = *id, .kind = ProposalKind::seed, .predicted = {}, .expected_gain = {}};
}

/// Counts the proposals that promise too little; true: enough of them.
bool Search::State::stop_now(std::size_t proposals) {
  const auto rule = stop_rule(options.effort);
  if (!rule || !gain) return false;
  without_promise = *gain < rule->gain ? without_promise + proposals : 0;
  if (without_promise < rule->times) return false;
  ended = "the expected gain stayed below " + std::string(rule->text);
  return true;
}

Search::Search(const Space& space, SearchOptions options)
    : state_(std::make_unique<State>(space, std::move(options))) {}
Search::~Search() = default;
Search::Search(Search&&) noexcept = default;

std::vector<Proposal> Search::propose(std::size_t count) {
  State& state = *state_;
  if (finished() || count == 0) return {};
  state.take_in();
  std::vector<Proposal> proposals;
  bool modelled = false;
  while (proposals.size() < count) {
    const auto next = state.next();
    if (!next) break;
    modelled = modelled || next->kind == ProposalKind::model || next->kind == ProposalKind::local;
    state.taken[next->id] = true;
    state.waiting.push_back(next->id);
    proposals.push_back(*next);
  }
  if (proposals.empty() && std::ranges::find(state.taken, false) != state.taken.end())
    state.ended = "the model rules out every configuration that is left";
  // The rule is looked at after the proposals are made: they are the last ones.
  if (modelled) state.stop_now(proposals.size());
  return proposals;
}

void Search::tell(ConfigId id, Outcome outcome, std::optional<double> value,
                  std::vector<std::optional<double>> metrics) {
  State& state = *state_;
  if (id >= state.space.size() || state.told[id]) return;
  if (outcome != Outcome::correct || (value && !std::isfinite(*value))) value.reset();
  if (outcome == Outcome::correct && !value) outcome = Outcome::run_failed;
  state.taken[id] = state.told[id] = true;
  const bool within = within_limits(metrics, state.options.metrics);
  const Told told{.id = id,
                  .outcome = outcome,
                  .value = value,
                  .within = within,
                  .metrics = std::move(metrics)};
  state.fresh.push_back(told);
  if (value && within && (!state.best || state.better(told, *state.best))) state.best = told;
}

void Search::tell_again(ConfigId id, double value) {
  State& state = *state_;
  if (!std::isfinite(value)) return;
  for (std::vector<Told>* some : {&state.results, &state.fresh})
    for (Told& one : *some)
      if (one.id == id && one.value) one.value = value;
  state.changed = true;
  state.best.reset();
  for (const std::vector<Told>* some : {&state.results, &state.fresh})
    for (const Told& one : *some)
      if (one.value && one.within && (!state.best || state.better(one, *state.best)))
        state.best = one;
}

void Search::drop(ConfigId id) {
  State& state = *state_;
  if (id >= state.space.size() || state.told[id]) return;
  state.taken[id] = state.told[id] = true;
  ++state.dropped;
  std::erase(state.waiting, id);
}

std::size_t Search::evaluated() const {
  return state_->told_count();
}

std::optional<ConfigId> Search::best() const {
  return state_->best ? std::optional(state_->best->id) : std::nullopt;
}

std::optional<double> Search::best_value() const {
  return state_->best ? state_->best->value : std::nullopt;
}

std::optional<double> Search::expected_gain() const {
  return state_->gain;
}

std::string budget_was_used(std::size_t budget) {
  return fmt::format("the budget of {} evaluation{} was used", budget, budget == 1 ? "" : "s");
}

bool Search::finished() const {
  return !why_finished().empty();
}

std::string Search::why_finished() const {
  if (state_->told_count() + state_->dropped == state_->space.size())
    return state_->dropped == 0 ? "every configuration was evaluated"
                                : "every configuration was evaluated or ruled out";
  return state_->ended;
}

ModelQuality Search::quality() const {
  if (state_->polynomial)
    return state_->polynomial->fitted() ? state_->polynomial->quality() : ModelQuality{};
  return state_->with_model(
      [](const Tgp& tgp) { return tgp.fitted() ? quality_of(tgp) : ModelQuality{}; });
}

PrunedByModel Search::pruned() const {
  const State& state = *state_;
  if (state.polynomial) return {.slow = state.polynomial->pruned(state.taken), .failing = 0};
  return state.with_model(
      [&](const Tgp& tgp) { return tgp.fitted() ? tgp.pruned(state.taken) : PrunedByModel{}; });
}

std::vector<PriorFigures> Search::priors() const {
  const State& state = *state_;
  std::vector<PriorFigures> figures;
  for (const auto& prior : state.options.priors)
    figures.push_back(ranked(*prior, state.all_results(), state.options.maximize));
  state.with_model([&](const Tgp& tgp) {
    if (!tgp.fitted()) return 0;
    const std::vector<double> weights = tgp.posterior().prior_weights();
    for (std::size_t p = 0; p < figures.size(); ++p) figures[p].weight = weights[p];
    return 0;
  });
  return figures;
}

std::optional<double> Search::prior_odds() const {
  return state_->with_model([](const Tgp& tgp) { return tgp.prior_odds(); });
}

std::vector<Importance> Search::importance() const {
  const State& state = *state_;
  if (state.polynomial || !state.best || state.two_objectives()) return {};
  return state.with_model([&](const Tgp& tgp) {
    return tgp.fitted()
               ? importance_of(state.encoding, tgp.without_priors(), tgp.targets(), state.best->id)
               : std::vector<Importance>{};
  });
}

std::vector<BuiltCandidate> Search::choose_built(std::span<const ConfigId> candidates,
                                                 std::span<const CompiledKernel> compiled,
                                                 std::size_t keep) {
  const State& state = *state_;
  std::vector<BuiltCandidate> built;
  for (const ConfigId id : candidates) built.push_back({.id = id});
  const auto corrected = state.with_model([&](const Tgp& tgp) {
    std::vector<double> means;
    if (state.polynomial || !tgp.fitted()) return means;
    const CompiledCorrection with_mix(tgp.posterior(), state.compiled, true);
    const CompiledCorrection without_mix(tgp.posterior(), state.compiled, false);
    const CompiledCorrection& correction =
        with_mix.left_out() < without_mix.left_out() ? with_mix : without_mix;
    const Targets& targets = tgp.targets();
    for (std::size_t i = 0; correction.exists() && i < built.size(); ++i) {
      const double plain = tgp.posterior().predict(built[i].id).mean;
      means.push_back(plain + correction.at(compiled[i]));
      if (state.two_objectives()) continue;
      built[i].predicted = targets.scale.value(targets.loss(plain));
      built[i].corrected = targets.scale.value(targets.loss(means.back()));
      if (compiled[i].mix)
        built[i].without_mix =
            targets.scale.value(targets.loss(plain + without_mix.at(compiled[i])));
    }
    return means;
  });
  if (keep >= built.size()) return built;
  std::vector<std::size_t> order(built.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (!corrected.empty())
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return corrected[i]; });
  order.resize(keep);
  std::ranges::sort(order);
  std::vector<BuiltCandidate> kept;
  for (const std::size_t i : order) kept.push_back(built[i]);
  return kept;
}

void Search::tell_compiled(ConfigId id, const CompiledKernel& compiled) {
  state_->compiled.insert_or_assign(id, compiled);
}

}  // namespace perflab::tune
