// Racing: which configurations are run once more, because a further run of them is worth more than
// a new configuration. Pure, as the search is. docs/models/autotuning.md "Racing".
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "tune/space/space.h"

namespace perflab::tune {

class Racing {
 public:
  /// `most_runs`: of one configuration.
  Racing(bool maximize, std::size_t most_runs) : maximize_(maximize), most_runs_(most_runs) {}

  /// The value of one more run.
  void add(ConfigId id, double value);
  /// It is not run again from now on: it failed, say.
  void leave(ConfigId id) { left_.insert(id); }

  /// At most `most` configurations whose next run is expected to gain more than `expected_gain`
  /// (of a new configuration, as a share of the best value), the most worth first; equals by
  /// number. None while fewer than two were run, or a value is not positive.
  [[nodiscard]] std::vector<ConfigId> next(double expected_gain, std::size_t most) const;

  /// Median over its runs; missing: it has none.
  [[nodiscard]] std::optional<double> value(ConfigId id) const;
  [[nodiscard]] std::size_t runs(ConfigId id) const;
  /// Standard deviation of one run among the best configurations, as a share: pooled over those
  /// that ran more than once, together with an assumption; missing: none did.
  [[nodiscard]] std::optional<double> spread() const;

 private:
  struct Rival {
    ConfigId id = 0;
    double loss = 0;  ///< logarithm of the median, less is better
    std::size_t runs = 0;
  };
  struct Pooled {
    double spread = 0;
    bool measured = false;
  };

  bool maximize_;
  std::size_t most_runs_;
  std::map<ConfigId, std::vector<double>> runs_;
  std::set<ConfigId> left_;

  [[nodiscard]] std::vector<Rival> ranked() const;
  [[nodiscard]] Pooled pooled(const std::vector<Rival>& ranked) const;
};

}  // namespace perflab::tune
