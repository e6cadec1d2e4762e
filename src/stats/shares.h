// How sure a share of samples is. Wilson's score interval (Wilson 1927; Brown, Cai, DasGupta 2001)
// for samples that are independent; for samples that come in clusters (the ticks of a profiler, in
// which whole GPUs sample at once) a bootstrap over whole clusters (Davison and Hinkley, Bootstrap
// Methods and their Application, 3.8) and the design effect (Kish 1965).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stats/bootstrap.h"

namespace perflab::stats {

/// Of `hits` of `samples` independent samples; both may be fractions of samples (an effective
/// number). Never below 0 nor above 1. Missing: no samples, hits outside [0, samples], a confidence
/// outside (0, 1).
std::optional<Interval> wilson(double hits, double samples, double confidence = 0.95);

/// How much larger the variance of a share is than that of as many independent samples:
/// `hits[i]` of `samples[i]` of each cluster, by the linearised ratio. 1: clusters say nothing of
/// their samples; the mean cluster size: all samples of a cluster are equal. Missing: fewer than
/// two clusters, or the share is 0 or 1, whose variance is not seen.
std::optional<double> design_effect(std::span<const double> hits, std::span<const double> samples);

struct ClusterOptions {
  double confidence = 0.95;
  std::uint64_t seed = 1;
  std::size_t resamples = 1000;
};

/// A sum over clusters divided by another one, like samples of an instruction by all samples.
struct ClusterRatio {
  std::span<const double> numerator, denominator;  ///< by cluster
};

/// Draws resamples of whole clusters once; intervals of any number of ratios over the same clusters
/// are then sums. The tails are widened for few clusters as Student's t is against the normal
/// distribution (Hesterberg 2015, "expanded percentile"). The same seed gives the same intervals
/// everywhere. Memory: 4 bytes x clusters x resamples: merge clusters beyond some hundreds.
class ClusterBootstrap {
 public:
  explicit ClusterBootstrap(std::size_t clusters, const ClusterOptions& options = {});

  /// Missing: fewer than two clusters, or a twentieth of the resamples has a denominator of 0.
  [[nodiscard]] std::optional<Interval> ratio(const ClusterRatio& of) const;

  /// Of a - b, both of the same resample. Missing: as of ratio(), for either.
  [[nodiscard]] std::optional<Interval> difference(const ClusterRatio& a,
                                                   const ClusterRatio& b) const;

  /// The sum of each resample: for many ratios with one denominator. Clusters with 0 cost nothing.
  [[nodiscard]] std::vector<double> resampled(std::span<const double> by_cluster) const;
  /// ratio() of two sums by resample.
  [[nodiscard]] std::optional<Interval> ratio_of_sums(std::span<const double> above,
                                                      std::span<const double> below) const;

 private:
  [[nodiscard]] std::optional<Interval> percentiles(std::vector<double> values) const;

  std::size_t clusters_, resamples_;
  double tail_ = 0;                   ///< of the sorted resamples, on each side
  std::vector<std::uint32_t> drawn_;  ///< how often, by cluster and resample
};

/// P(Z <= z) of a standard normal variable.
double normal_share(double z);
/// z with P(Z <= z) = `below` of a normal distribution, t likewise of Student's with so many
/// degrees of freedom. Preconditions: 0 < below < 1, degrees >= 1.
double normal_quantile(double below);
double student_quantile(double below, std::size_t degrees);

}  // namespace perflab::stats
