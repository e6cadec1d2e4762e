// What was tried on the recorded spaces beyond the study is said at the constants. Without gain
// (24 to 60 seeds on the hardest spaces, standard error about 0.004): powers of the reciprocal as
// target instead of the logarithm, cutting at the 75th percentile, deviations scaled by 0.7 to 2,
// fits from two starts or always from the priors, expected improvement averaged over 4 or 8 drawn
// sets of hyper-parameters, votes of other widths, products of every two parameters as coordinates
// (better on conv, worse on gemm), sums over the parameters and over their pairs beside the product
// of the covariance (additive Gaussian processes), longer lengths in spaces with more parameters,
// another number of first samples or of local steps, Student's t, trust regions, hyper-parameters
// known beforehand, more noise of failed configurations (bench/README.md "Without gain"). Worse:
// leaving failed configurations out of the process (0.02).
#include "tune/model/tgp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <tuple>
#include <utility>

#include "stats/shares.h"
#include "tune/model/search_random.h"

namespace perflab::tune {
namespace {

/// Spaces up to here are predicted whole.
constexpr std::size_t kMostListed = 20'000;
/// Most results that hyper-parameters are fitted to: the best ones for one half, others at random.
/// The study had 120; from there to 200 it makes no difference beyond the noise.
constexpr std::size_t kFitPoints = 160;
/// Evaluations of a fit with the gradient; 12 and 50 scored the same.
constexpr std::size_t kFitEvaluations = 25;
/// Every so many evaluations a neighbour of one of so many best configurations is taken. Every 3rd,
/// 8th or none, around the best alone or four of them made no difference beyond the noise (0.004).
constexpr std::size_t kLocalEvery = 5;
constexpr std::size_t kLocalAround = 2;
/// Below this probability a configuration is not tried.
constexpr double kLeastValid = 0.1;
constexpr double kPruneDeviations = 2;
/// A neighbour that is less likely within a limit is left to the expected improvement.
constexpr double kLikelyWithin = 0.5;
/// With priors the hyper-parameters are fitted after every result up to here: what they are worth
/// is learned early. So much must speak for them (log of the odds), late more. At 0 early, wrong
/// ones cost .015 at 25 evaluations instead of .007, and good ones gain .002 more at 50.
constexpr std::size_t kOftenUntil = 20;
constexpr std::size_t kLate = 24;
constexpr double kEarlyOdds = 0.5;
constexpr double kLateOdds = 1;
/// Odds (logarithm) from which targets are compressed. Always: shuffled priors cost .013 at 25; as
/// soon as priors have a say: .011; only while they have: .978 instead of .980 after 50.
constexpr double kSureOdds = 3;
/// Where priors have a say, every so many picks of this part of the search are made without them:
/// what they hide is found.
constexpr std::size_t kDoubtEvery = 3;
constexpr std::size_t kDoubtFrom = 20;
constexpr std::size_t kDoubtUntil = 80;
/// The pool of a large space: neighbours of the best results and of the most promising candidates,
/// the promising candidates themselves, and random configurations; drawn anew every few results.
constexpr std::size_t kPoolBest = 10;
constexpr std::size_t kPoolPromising = 10;
constexpr std::size_t kPoolKept = 300;
constexpr std::size_t kPoolRandom = 4000;
constexpr std::size_t kPoolAge = 5;

double normal_density(double z) {
  return std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
}

/// Expected improvement of a normal loss on `best`.
double expected_improvement(double best, const Prediction& prediction) {
  const double sd = std::sqrt(prediction.variance);
  const double z = (best - prediction.mean) / sd;
  return sd * (z * stats::normal_share(z) + normal_density(z));
}

/// Expected improvement of the value as a share of the best value.
std::optional<double> gain_of(const Targets& targets, const Prediction& prediction) {
  if (!targets.scale.logarithmic) {
    const double best = std::abs(targets.loss(targets.best));
    if (!(best > 0)) return std::nullopt;
    return std::max(0.0, expected_improvement(targets.best, prediction)) * targets.slope() / best;
  }
  // E[max(0, 1 - exp(y - b))] of a normal y: the loss is a logarithm below the best. When more is
  // better it is the share of the reciprocal.
  const double s = std::sqrt(prediction.variance) * targets.slope();
  const double d = (targets.best - prediction.mean) * targets.slope();
  return std::max(
      0.0, stats::normal_share(d / s) - std::exp(-d + s * s / 2) * stats::normal_share(d / s - s));
}

}  // namespace

Tgp::Tgp(const Encoding& encoding, std::uint64_t seed, double prune_factor,
         std::span<const Metric> metrics)
    : encoding_(&encoding),
      seed_(seed),
      prune_factor_(prune_factor),
      hyper_(Hyper::prior(encoding)),
      with_priors_(hyper_),
      without_priors_(hyper_),
      feasibility_(encoding) {
  without_priors_.spread.clear();
  hyper_ = without_priors_;
  for (std::size_t i = 0; i < metrics.size(); ++i)
    if (metrics[i].limited()) limits_.emplace_back(encoding, metrics[i], i);
}

void Tgp::learn(std::span<const Told> results, const Targets& targets,
                const std::vector<bool>& taken) {
  targets_ = targets;
  vote(results);
  results_.assign(results.begin(), results.end());
  if (!posterior_) posterior_.emplace(*encoding_, hyper_);
  // A batch was believed in the order of its results: then nothing has to be forgotten.
  const auto& known = posterior_->observations();
  std::size_t same = 0;
  while (same < known.size() && same < results.size() && known[same] == results[same].id) ++same;
  posterior_->truncate(same);
  if (results.size() >= next_fit_) fit_hyper();
  for (; same < results.size(); ++same) posterior_->append(results[same].id);
  posterior_->set_targets(targets_.standardised);
  for (LimitModel& limit : limits_) limit.learn(results);
  refresh_pool(taken);
}

/// Brings the votes on feasibility up to the results.
void Tgp::vote(std::span<const Told> results) {
  std::size_t same = 0;
  while (same < results_.size() && same < results.size() && results_[same].id == results[same].id)
    ++same;
  if (same < results_.size()) {
    feasibility_.clear();
    same = 0;
  }
  for (; same < results.size(); ++same)
    feasibility_.add(results[same].id, !is_failure(results[same].outcome));
}

void Tgp::fit_hyper() {
  const std::size_t count = results_.size();
  std::vector<std::size_t> chosen(count);
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  if (count > kFitPoints) {
    std::ranges::stable_sort(chosen, {}, [&](std::size_t i) { return targets_.standardised[i]; });
    const std::vector<std::size_t> ranked = chosen;
    chosen.resize(kFitPoints / 2);
    Random random(seed_ ^ count);
    for (const std::size_t pick : random.sample(count - kFitPoints / 2, kFitPoints / 2))
      chosen.push_back(ranked[kFitPoints / 2 + pick]);
  }
  Observations data;
  for (const std::size_t i : chosen) {
    data.ids.push_back(results_[i].id);
    data.targets.push_back(targets_.standardised[i]);
  }
  const bool due = count >= next_usual_;
  if (due) {
    without_priors_ = fit(*encoding_, data, without_priors_, kFitEvaluations);
    next_usual_ = std::max(count + 4, static_cast<std::size_t>(1.3 * static_cast<double>(count)));
  }
  next_fit_ = count < kOftenUntil && encoding_->priors() > 0 ? count + 1 : next_usual_;
  const bool believed = believes_priors_;
  weigh_priors(data, count);
  hyper_ = believes_priors_ ? with_priors_ : without_priors_;
  if (due || believed || believes_priors_) posterior_->set_hyper(hyper_);
  ++fits_;
}

/// Whether the results are more probable with the priors than without: as a whole they have a say,
/// or none.
void Tgp::weigh_priors(const Observations& data, std::size_t count) {
  if (encoding_->priors() == 0) return;
  with_priors_ = fit(*encoding_, data, with_priors_, kFitEvaluations);
  // What priors leave over is small, and a few results make it seem smooth: with its own lengths
  // the search is too sure that nothing else is there (.976 instead of .978 after 50, 120 seeds).
  // It is no smoother over two values than over more: the usual length prior holds for all (.979
  // instead of .976, 60 seeds). Lengths that were not fitted say nothing for or against priors.
  with_priors_.length = without_priors_.length;
  with_priors_.valuation = without_priors_.valuation;
  for (std::size_t d = 0; d < encoding_->dimensions().size(); ++d)
    with_priors_.length[d] += kLengthPrior.mean - length_prior(*encoding_, d).mean;
  const auto evidence = [&](const Hyper& hyper) {
    return log_posterior(*encoding_, data, hyper) - log_prior_of_lengths(*encoding_, hyper);
  };
  prior_odds_ = evidence(with_priors_) - evidence(without_priors_);
  believes_priors_ = *prior_odds_ > (count < kLate ? kEarlyOdds : kLateOdds);
  sure_of_priors_ = sure_of_priors_ || *prior_odds_ > kSureOdds;
}

/// Whether a pick is made without the priors though they have a say.
bool Tgp::doubts_priors(std::size_t position) const {
  return believes_priors_ && position >= kDoubtFrom && position < kDoubtUntil &&
         position % kDoubtEvery == kDoubtEvery - 1;
}

/// The same results without the priors.
Posterior Tgp::without_priors(bool with_pool) const {
  Posterior plain(*encoding_, without_priors_);
  for (const ConfigId id : posterior_->observations()) plain.append(id);
  if (with_pool) plain.set_pool(posterior_->pool());
  plain.set_targets(targets_.standardised);
  return plain;
}

void Tgp::refresh_pool(const std::vector<bool>& taken) {
  const std::size_t size = encoding_->space().size();
  const bool whole = size <= kMostListed;
  if (!posterior_->pool().empty() && (whole || results_.size() < next_pool_)) return;
  std::vector<ConfigId> pool;
  if (whole) {
    pool.resize(size);
    std::iota(pool.begin(), pool.end(), ConfigId{0});
  } else {
    pool = drawn_pool(taken);
    next_pool_ = results_.size() + kPoolAge;
  }
  feasibility_.set_pool(pool);
  for (LimitModel& limit : limits_) limit.set_pool(pool);
  posterior_->set_pool(std::move(pool));
}

std::vector<ConfigId> Tgp::drawn_pool(const std::vector<bool>& taken) const {
  const std::size_t size = encoding_->space().size();
  std::vector<ConfigId> pool;
  const auto add_around = [&](ConfigId id) {
    const auto neighbours = encoding_->neighbours(id);
    pool.insert(pool.end(), neighbours.begin(), neighbours.end());
  };
  for (std::size_t rank = 0; rank < std::min(kPoolBest, targets_.ranking.size()); ++rank)
    add_around(results_[targets_.ranking[rank]].id);

  const std::vector<ConfigId>& old = posterior_->pool();
  std::vector<std::pair<double, ConfigId>> promising;
  for (std::size_t i = 0; i < old.size(); ++i)
    if (!taken[old[i]]) promising.emplace_back(-merit(i, posterior_->at(i)), old[i]);
  const std::size_t kept = std::min(kPoolKept, promising.size());
  std::ranges::partial_sort(promising, promising.begin() + static_cast<std::ptrdiff_t>(kept));
  for (std::size_t i = 0; i < kept; ++i) {
    pool.push_back(promising[i].second);
    if (i < kPoolPromising) add_around(promising[i].second);
  }

  Random random(seed_ + results_.size());
  for (const std::size_t id : random.sample(size, kPoolRandom))
    pool.push_back(static_cast<ConfigId>(id));
  std::erase_if(pool, [&](ConfigId id) { return taken[id]; });
  std::ranges::sort(pool);
  const auto repeated = std::ranges::unique(pool);
  pool.erase(repeated.begin(), repeated.end());
  if (!pool.empty()) return pool;
  // Nearly everything is taken.
  for (std::size_t id = 0; id < size; ++id)
    if (!taken[id]) pool.push_back(static_cast<ConfigId>(id));
  return pool;
}

/// Probability that a candidate keeps every limit.
double Tgp::within(std::size_t index) const {
  double share = 1;
  for (const LimitModel& limit : limits_) share *= limit.at(index);
  return share;
}

/// Expected improvement times the probability of being valid and within the limits. Before anything
/// is within them there is nothing to improve on: only those probabilities count (Gelbart et al.).
double Tgp::merit(std::size_t index, const Prediction& prediction) const {
  const double allowed = feasibility_.at(index) * within(index);
  return targets_.ranking.empty() ? allowed
                                  : allowed * expected_improvement(targets_.best, prediction);
}

/// A standardised loss: what is surely above it is ruled out. Ratios of values that are not all
/// positive mean nothing: then nothing is.
double Tgp::slow_limit() const {
  if (!targets_.scale.logarithmic || targets_.ranking.empty())
    return std::numeric_limits<double>::infinity();
  return targets_.standardised_of(targets_.loss(targets_.best) + std::log(prune_factor_));
}

std::optional<std::size_t> Tgp::most_promising(const Posterior& posterior,
                                               const std::vector<bool>& taken,
                                               bool allow_pruned) const {
  const double slow = slow_limit();
  const auto& pool = posterior.pool();
  std::optional<std::size_t> best;
  // Not ruled out before ruled out; then expected improvement; where that is 0, deviations.
  std::tuple<bool, double, double> best_score;
  for (std::size_t i = 0; i < pool.size(); ++i) {
    if (taken[pool[i]]) continue;
    const Prediction prediction = posterior.at(i);
    const double sd = std::sqrt(prediction.variance);
    const double valid = feasibility_.at(i);
    const bool kept = valid >= kLeastValid && prediction.mean - kPruneDeviations * sd <= slow;
    if (!kept && !allow_pruned) continue;
    const std::tuple score(kept, merit(i, prediction), (targets_.best - prediction.mean) / sd);
    if (best && score <= best_score) continue;
    best = i;
    best_score = score;
  }
  return best;
}

/// The lowest mean - 1 sd among the neighbours of the two best configurations.
std::optional<Pick> Tgp::local_pick(const std::vector<bool>& taken) const {
  const double slow = slow_limit();
  std::optional<Pick> best;
  double best_bound = std::numeric_limits<double>::infinity();
  for (std::size_t rank = 0; rank < std::min(kLocalAround, targets_.ranking.size()); ++rank)
    for (const ConfigId id : encoding_->neighbours(results_[targets_.ranking[rank]].id)) {
      if (taken[id]) continue;
      const Prediction prediction = posterior_->predict(id);
      const double sd = std::sqrt(prediction.variance);
      const double bound = prediction.mean - sd;
      if (prediction.mean - kPruneDeviations * sd > slow || bound >= best_bound) continue;
      if (std::ranges::any_of(
              limits_, [id](const LimitModel& limit) { return limit.of(id) < kLikelyWithin; }))
        continue;
      best_bound = bound;
      best = Pick{.id = id,
                  .local = true,
                  .prediction = prediction,
                  .expected_gain = gain_of(targets_, prediction)};
    }
  return best;
}

std::optional<Pick> Tgp::pick(const std::vector<bool>& taken, std::size_t position,
                              bool allow_pruned) {
  gain_.reset();
  auto found = most_promising(*posterior_, taken, allow_pruned);
  if (!found && encoding_->space().size() > kMostListed) {
    // The pool is used up, not the space.
    next_pool_ = 0;
    refresh_pool(taken);
    found = most_promising(*posterior_, taken, allow_pruned);
  }
  if (doubts_priors(position)) {
    if (const auto other = most_promising(without_priors(true), taken, allow_pruned)) found = other;
  }
  if (!found) return std::nullopt;
  Pick pick{.id = posterior_->pool()[*found],
            .local = false,
            .prediction = posterior_->at(*found),
            .expected_gain = {}};
  pick.expected_gain = gain_of(targets_, pick.prediction);
  if (targets_.ranking.empty()) pick.expected_gain.reset();
  if (pick.expected_gain) *pick.expected_gain *= feasibility_.at(*found) * within(*found);
  gain_ = pick.expected_gain;
  if (position % kLocalEvery == kLocalEvery - 1)
    if (const auto local = local_pick(taken)) pick = *local;
  posterior_->append(pick.id);
  return pick;
}

PrunedByModel Tgp::pruned(const std::vector<bool>& taken) const {
  const double slow = slow_limit();
  PrunedByModel pruned;
  const auto& pool = posterior_->pool();
  for (std::size_t i = 0; i < pool.size(); ++i) {
    if (taken[pool[i]]) continue;
    const Prediction prediction = posterior_->at(i);
    if (feasibility_.at(i) < kLeastValid)
      ++pruned.failing;
    else if (prediction.mean - kPruneDeviations * std::sqrt(prediction.variance) > slow)
      ++pruned.slow;
  }
  return pruned;
}

}  // namespace perflab::tune
