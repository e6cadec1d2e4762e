// The published model, kept as the baseline: a polynomial of degree 2 on ACC = BLOCK_M x BLOCK_N,
// ACC^2, BLOCK_K, num_warps, num_stages and threads_per_block, fitted by least squares to the
// values themselves. Source: kalowery/rocm-perf-lab f9ff67a4 (tuner.py, regression.py, pruning.py);
// nothing of it is copied.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tune/model/model_figures.h"
#include "tune/model/targets.h"
#include "tune/space/space.h"

namespace perflab::tune {

class Polynomial {
 public:
  /// The space must outlive it. Features are those of the published names that are parameters or
  /// derived values; when there is none, every numeric parameter with more than one value.
  Polynomial(const Space& space, bool maximize, double prune_factor);

  /// Fits once, to the correct results, ranks all configurations, and rules out those predicted
  /// slower than prune_factor x the best prediction (none when that is not positive).
  void fit(std::span<const Told> results);
  [[nodiscard]] bool fitted() const { return !ranking_.empty(); }

  /// The best predicted configuration that is not taken; nothing: none is left but ruled-out ones.
  /// `allow_pruned`: these too, in order of prediction.
  std::optional<ConfigId> next(const std::vector<bool>& taken, bool allow_pruned);
  [[nodiscard]] double predicted(ConfigId id) const { return predictions_[id]; }
  [[nodiscard]] std::size_t pruned(const std::vector<bool>& taken) const;
  /// Leave-one-out R2 of the values, missing when a result decides its own prediction.
  [[nodiscard]] ModelQuality quality() const { return quality_; }
  [[nodiscard]] const std::vector<std::string>& features() const { return names_; }

 private:
  const Space* space_;
  bool maximize_;
  double prune_factor_;
  std::vector<std::string> names_;
  std::vector<ConfigId> ranking_;  ///< best first
  std::vector<double> predictions_;
  std::size_t kept_ = 0;  ///< of the ranking; the rest is ruled out
  std::size_t at_ = 0;    ///< of the ranking; all before are taken
  ModelQuality quality_;

  [[nodiscard]] std::vector<double> terms(ConfigId id) const;
};

}  // namespace perflab::tune
