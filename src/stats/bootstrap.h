// Bootstrap intervals of ratios of medians, with a fixed seed: the same samples give the same
// interval everywhere. Percentile method (Efron and Tibshirani, An Introduction to the Bootstrap,
// chapter 13).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace perflab::stats {

struct Interval {
  double low = 0, high = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Between the two nearest of ascending values, in proportion: `share` 0 is the first, 1 the last.
/// Precondition: not empty.
double quantile_of_sorted(std::span<const double> sorted, double share);

/// Interval of median(numerator) / median(denominator) at `confidence`, resampling both
/// independently `resamples` times. Missing: fewer than 3 samples of either, a sample that is not
/// finite, a resampled median of the denominator that is not positive, a ratio that no double
/// holds, a confidence outside (0, 1), or no resamples.
std::optional<Interval> ratio_of_medians(std::span<const double> numerator,
                                         std::span<const double> denominator,
                                         double confidence = 0.95, std::uint64_t seed = 1,
                                         int resamples = 2000);

}  // namespace perflab::stats
