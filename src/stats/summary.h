// Robust summaries of samples and the stability verdict over runs (docs/models/times.md
// "Stability").
// What cannot be computed is missing, never 0. Results do not depend on the order of the samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace perflab::stats {

/// Figures over samples, in the samples' unit unless said otherwise. A figure is missing when there
/// are too few samples for it, or when it is too large for a double.
struct Summary {
  std::size_t count = 0;     ///< samples that the figures are over
  std::size_t rejected = 0;  ///< samples left out because they are infinite or not a number
  std::optional<double> sum;
  std::optional<double> mean;
  std::optional<double> median;  ///< of an even count: mean of the middle two
  std::optional<double> min;
  std::optional<double> max;
  std::optional<double> stddev;  ///< of the sample (n - 1): from two samples on
  std::optional<double> cv;      ///< stddev / |mean|, a ratio; missing when the mean is 0
  std::optional<double> mad;     ///< median of |sample - median|, not scaled
};

/// Figures over durations in nanoseconds. Sum and extremes are exact.
struct DurationSummary {
  std::size_t count = 0;
  std::optional<std::int64_t> sum;  ///< missing when it is too large for 64 bits
  std::optional<std::int64_t> min;
  std::optional<std::int64_t> max;
  std::optional<double> mean;
  std::optional<double> median;  ///< of an even count: mean of the middle two
  std::optional<double> stddev;  ///< of the sample (n - 1): from two samples on
  std::optional<double> cv;      ///< stddev / |mean|, a ratio; missing when the mean is 0
  std::optional<double> mad;     ///< median of |duration - median|, not scaled
};

/// Summary of samples that fit memory twice: O(n log n), copies them.
Summary summarize(std::span<const double> samples);

/// Summary of many durations: O(n), without memory of its own. Reorders `durations`.
DurationSummary summarize_durations(std::span<std::int64_t> durations);

/// Median of durations; of an even count the mean of the middle two. O(n); reorders `durations`.
/// Precondition: not empty.
double median_duration(std::span<std::int64_t> durations);

/// How far a measurement repeats.
enum class Stability { stable, moderate, unstable };

/// Verdict on a coefficient of variation: <= 0.05 stable, <= 0.10 moderate, else (also when it is
/// not a number) unstable.
Stability classify(double cv);

/// Stable name for documents: "stable", "moderate", "unstable".
std::string_view to_string(Stability stability);

}  // namespace perflab::stats
