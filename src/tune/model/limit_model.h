// How probable it is that a configuration keeps the limit on a metric: a Gaussian process over the
// metric, of its own (Gardner, Kusner, Xu, Weinberger and Cunningham, ICML 2014; Gelbart, Snoek and
// Adams, UAI 2014). docs/models/autotuning.md "Limits".
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tune/model/fit.h"
#include "tune/model/posterior.h"
#include "tune/model/targets.h"
#include "tune/values/metrics.h"

namespace perflab::tune {

class LimitModel {
 public:
  /// `index`: the metric's place in Told::metrics. The encoding must outlive it.
  LimitModel(const Encoding& encoding, Metric metric, std::size_t index);

  void set_pool(const std::vector<ConfigId>& pool);
  /// Takes in all results, in the order of the search.
  void learn(std::span<const Told> results);
  /// Probability that pool[i] keeps the limit; 1 as long as nothing is known.
  [[nodiscard]] double at(std::size_t i) const;
  /// The same for any configuration.
  [[nodiscard]] double of(ConfigId id) const;

 private:
  [[nodiscard]] double within(const Prediction& prediction) const;
  void fit_hyper(const std::vector<ConfigId>& ids, const std::vector<double>& targets);

  const Encoding* encoding_;
  Metric metric_;
  std::size_t index_;
  Hyper hyper_;
  Posterior posterior_;
  bool known_ = false;                      ///< two results, or more, have the metric
  std::optional<double> lowest_, highest_;  ///< limits, standardised
  std::size_t next_fit_ = 0;
};

}  // namespace perflab::tune
