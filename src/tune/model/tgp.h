// The default model of the search: Gaussian process, feasibility and the choice of what to measure
// next. docs/models/autotuning.md "Gaussian process", "Choice".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tune/model/covariance.h"
#include "tune/model/encoding.h"
#include "tune/model/feasibility.h"
#include "tune/model/fit.h"
#include "tune/model/limit_model.h"
#include "tune/model/model_figures.h"
#include "tune/model/posterior.h"
#include "tune/model/targets.h"

namespace perflab::tune {

/// A configuration that the model chose.
struct Pick {
  ConfigId id = 0;
  bool local = false;
  Prediction prediction;                ///< standardised
  std::optional<double> expected_gain;  ///< its expected improvement, share of the best value
};

class Tgp {
 public:
  /// The encoding must outlive it. A space above 20,000 configurations is seen through a pool.
  Tgp(const Encoding& encoding, std::uint64_t seed, double prune_factor,
      std::span<const Metric> metrics = {});

  /// Takes in all results, in the order of the search; `targets` are those of `results`. Fits the
  /// hyper-parameters when it is time (never within a batch).
  void learn(std::span<const Told> results, const Targets& targets, const std::vector<bool>& taken);

  /// The next configuration that is not `taken`, the `position`-th of the search; nothing when none
  /// is left. `allow_pruned`: those that the model rules out count as left when no other is. The
  /// pick is then believed until learn().
  std::optional<Pick> pick(const std::vector<bool>& taken, std::size_t position, bool allow_pruned);

  [[nodiscard]] bool fitted() const { return fits_ > 0; }
  [[nodiscard]] std::size_t fits() const { return fits_; }
  /// Expected improvement of the candidate that had the largest at the last pick(), as a share of
  /// the best value; missing when that is 0.
  [[nodiscard]] std::optional<double> expected_gain() const { return gain_; }
  /// Candidates that are ruled out and not taken.
  [[nodiscard]] PrunedByModel pruned(const std::vector<bool>& taken) const;
  [[nodiscard]] const Posterior& posterior() const { return *posterior_; }
  [[nodiscard]] const Targets& targets() const { return targets_; }
  /// The same results, for the same candidates if `with_pool`, without what priors say.
  [[nodiscard]] Posterior without_priors(bool with_pool = false) const;
  /// Log of how much more probable the results are with the priors than without, both with the most
  /// probable hyper-parameters; missing: no priors, or no fit yet.
  [[nodiscard]] std::optional<double> prior_odds() const { return prior_odds_; }
  /// Priors are or once were far more probable than none: from then on targets are compressed.
  [[nodiscard]] bool sure_of_priors() const { return sure_of_priors_; }

 private:
  const Encoding* encoding_;
  std::uint64_t seed_;
  double prune_factor_;
  Hyper hyper_, with_priors_, without_priors_;
  bool believes_priors_ = false, sure_of_priors_ = false;
  std::optional<double> prior_odds_;
  std::optional<Posterior> posterior_;
  Feasibility feasibility_;
  std::vector<LimitModel> limits_;  ///< of the metrics that have any
  Targets targets_;
  std::vector<Told> results_;
  std::size_t fits_ = 0, next_fit_ = 0, next_usual_ = 0, next_pool_ = 0;
  std::optional<double> gain_;

  void vote(std::span<const Told> results);
  void fit_hyper();
  void weigh_priors(const Observations& data, std::size_t count);
  [[nodiscard]] bool doubts_priors(std::size_t position) const;
  void refresh_pool(const std::vector<bool>& taken);
  [[nodiscard]] std::vector<ConfigId> drawn_pool(const std::vector<bool>& taken) const;
  [[nodiscard]] double slow_limit() const;
  [[nodiscard]] double within(std::size_t index) const;
  [[nodiscard]] double merit(std::size_t index, const Prediction& prediction) const;
  [[nodiscard]] std::optional<std::size_t> most_promising(const Posterior& posterior,
                                                          const std::vector<bool>& taken,
                                                          bool allow_pruned) const;
  [[nodiscard]] std::optional<Pick> local_pick(const std::vector<bool>& taken) const;
};

}  // namespace perflab::tune
