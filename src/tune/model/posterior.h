// The Gaussian process at given hyper-parameters, and what it predicts for every candidate of a
// pool. It grows by one observation at a time: a row of the Cholesky factor L, and a row of
// V = L^-1 K(observations, pool), which costs observations x candidates. Rasmussen and Williams,
// algorithm 2.1; weights of priors: section 2.7. docs/models/autotuning.md "Gaussian process",
// "Priors".
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tune/model/covariance.h"
#include "tune/model/encoding.h"

namespace perflab::tune {

struct Prediction {
  double mean = 0, variance = 0;  ///< of the standardised target, without noise
};

class Posterior {
 public:
  /// The encoding must outlive it.
  Posterior(const Encoding& encoding, const Hyper& hyper);

  /// Candidates that are predicted from now on.
  void set_pool(std::vector<ConfigId> pool);
  /// Other hyper-parameters for the same observations and candidates.
  void set_hyper(const Hyper& hyper);
  /// One observation more. Its target is believed to be the prediction until set_targets: means
  /// stay, variances shrink (kriging believer).
  void append(ConfigId id);
  /// Forgets the observations from `count` on.
  void truncate(std::size_t count);
  /// Targets of all observations, in the order of append.
  void set_targets(std::span<const double> targets);

  [[nodiscard]] const std::vector<ConfigId>& observations() const { return observations_; }
  [[nodiscard]] const std::vector<ConfigId>& pool() const { return pool_; }
  /// Prediction for pool()[index].
  [[nodiscard]] Prediction at(std::size_t index) const;
  /// The same for any configuration; one that is not pool()[id] costs observations squared.
  [[nodiscard]] Prediction predict(ConfigId id) const;
  /// Weight of each prior after the targets, in standard deviations of the target for one of its
  /// own; all 0 when none has a say.
  [[nodiscard]] std::vector<double> prior_weights() const;
  /// Mean for any row of codes, also one that is no configuration; without what priors say.
  [[nodiscard]] double mean_at(std::span<const Level> codes) const;
  /// Per observation: its target minus what the others predict for it (equation 5.12; the same
  /// hyper-parameters). Needs set_targets for all.
  [[nodiscard]] std::vector<double> leave_one_out() const;

 private:
  /// Candidates are worked on so many at a time: their rows of V stay in the cache.
  static constexpr std::size_t kBlock = 256;
  /// Single precision: V is read once per observation, and its size is what costs time.
  struct Block {
    std::vector<float> rows;  ///< V: observations x kBlock
    std::vector<float> mean, explained;
  };

  const Encoding* encoding_;
  Covariance kernel_;
  std::vector<ConfigId> observations_;
  std::vector<std::vector<Level>> codes_;    ///< of the observations
  std::vector<std::vector<float>> priors_;   ///< what priors say of the observations
  std::vector<std::vector<double>> factor_;  ///< rows of L
  std::vector<double> targets_, whitened_;   ///< y, L^-1 y
  std::vector<double> weights_;              ///< K^-1 y
  std::vector<ConfigId> pool_;
  std::vector<std::vector<Level>> pool_codes_;    ///< by dimension
  std::vector<std::vector<float>> pool_priors_;   ///< by prior
  std::vector<float> pool_mean_, pool_variance_;  ///< of the weighted priors
  std::vector<Block> blocks_;

  void extend_factor(std::size_t row);
  void extend_block(std::size_t block, std::size_t from);
  void recompute_blocks();
  void weigh_pool();
  [[nodiscard]] double prior_mean(std::span<const float> priors) const;
  [[nodiscard]] double prior_covariance(std::span<const float> a, std::span<const float> b) const;
};

}  // namespace perflab::tune
