// What the compiler says of a configuration before it runs, as a correction of the model.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "tune/model/posterior.h"
#include "tune/values/outcome.h"

namespace perflab::tune {

using CompiledKernels = std::map<ConfigId, CompiledKernel>;

/// Ridge regression of the model's leave-one-out residuals on registers, LDS, scratch, spills and
/// occupancy, and of the instructions the logarithm of their number and the shares of vector
/// arithmetic, matrix arithmetic, memory and LDS (standardised). All weights are 0 where they do
/// not predict what is left out.
class CompiledCorrection {
 public:
  static constexpr std::size_t kLeastSamples = 8;

  /// From the observations of the posterior whose kernel is known; `with_mix`: with the
  /// instructions.
  CompiledCorrection(const Posterior& posterior, const CompiledKernels& kernels, bool with_mix);
  /// Fewer than kLeastSamples observations: there is no correction.
  [[nodiscard]] bool exists() const { return !weights_.empty(); }
  /// Sum of the squared errors on residuals that were left out; without a correction that of the
  /// residuals themselves.
  [[nodiscard]] double left_out() const { return left_out_; }
  /// What to add to a standardised prediction.
  [[nodiscard]] double at(const CompiledKernel& kernel) const;

 private:
  bool with_mix_;
  double left_out_ = 0;
  std::vector<double> weights_, centre_, width_;
};

}  // namespace perflab::tune
