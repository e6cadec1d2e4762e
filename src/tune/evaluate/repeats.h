// How often a configuration is run: warm-up, clock ramps, and when its figures are steady
// (docs/facts/tuning.md "Noise").
#pragma once

#include <cstddef>
#include <vector>

#include "tune/evaluate/job.h"
#include "tune/values/outcome.h"

namespace perflab::tune {

/// The samples that count, and those at the beginning that do not: a slow start of monotone falling
/// repeats (clock ramp) is cut as long as at least half of the samples stay.
std::size_t clock_ramp(const std::vector<double>& samples, bool maximize);

/// The samples of a configuration's runs as they come.
class Repeats {
 public:
  explicit Repeats(const Job& job)
      : rule_(job.repeats), exact_runs_(job.exact_runs), maximize_(job.objective.maximize) {}

  /// Samples of one more run, in order; at least one.
  void add(std::vector<double> samples);
  /// No further run is needed, or allowed.
  [[nodiscard]] bool enough() const;
  /// Sets value, samples, warm-up, cv and whether it is unstable.
  void finish(Evaluation& evaluation) const;

 private:
  [[nodiscard]] std::size_t ramp_over_runs() const;

  RepeatRule rule_;
  std::size_t exact_runs_;
  bool maximize_;
  std::size_t runs_ = 0;      ///< all
  std::size_t measured_ = 0;  ///< those that were no warm-up
  bool many_ = false;         ///< a run gave so many samples that it has its own warm-up
  std::vector<double> samples_, warm_up_;
};

}  // namespace perflab::tune
