// Wilson by its closed form; quantiles by bisection of exact distribution functions, which are few
// and need not be fast.
#include "stats/shares.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/random.h"

namespace perflab::stats {
namespace {

/// P(T <= t), t >= 0: Abramowitz and Stegun 26.7.3 and 26.7.4.
double student_below(double t, std::size_t degrees) {
  const auto nu = static_cast<double>(degrees);
  const double theta = std::atan(t / std::sqrt(nu));
  const double cosine = std::cos(theta), square = cosine * cosine;
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1, sum = degrees == 1 ? 0 : term;
  for (std::size_t k = odd ? 3 : 2; k + 1 < degrees; k += 2) {
    term *= square * static_cast<double>(k - 1) / static_cast<double>(k);
    sum += term;
  }
  const double within =
      odd ? (theta + std::sin(theta) * sum) * 2 / std::numbers::pi : std::sin(theta) * sum;
  return (1 + within) / 2;
}

/// Where a rising function has that value.
template <class Function>
double solve(double low, double high, double value, const Function& function) {
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = std::midpoint(low, high);
    if (middle == low || middle == high) break;
    (function(middle) < value ? low : high) = middle;
  }
  return std::midpoint(low, high);
}

double sum(std::span<const double> values) {
  double out = 0;
  for (const double value : values) out += value;
  return out;
}

}  // namespace

double normal_share(double z) {
  return std::erfc(-z / std::numbers::sqrt2) / 2;
}

double normal_quantile(double below) {
  PERFLAB_CHECK(below > 0 && below < 1);
  constexpr double kFar = 40;
  return solve(-kFar, kFar, below, normal_share);
}

double student_quantile(double below, std::size_t degrees) {
  PERFLAB_CHECK(below > 0 && below < 1 && degrees >= 1);
  if (below < 0.5) return -student_quantile(1 - below, degrees);
  constexpr double kFar = 1e6;
  return solve(0, kFar, below, [&](double t) { return student_below(t, degrees); });
}

std::optional<Interval> wilson(double hits, double samples, double confidence) {
  if (!(samples > 0) || !(hits >= 0) || !(hits <= samples) || !(confidence > 0) ||
      !(confidence < 1))
    return std::nullopt;
  const double z = normal_quantile((1 + confidence) / 2), share = hits / samples;
  const double square = z * z, whole = 1 + square / samples;
  const double centre = (share + square / (2 * samples)) / whole;
  const double half =
      z / whole * std::sqrt(share * (1 - share) / samples + square / (4 * samples * samples));
  return Interval{.low = hits == 0 ? 0 : std::max(0.0, centre - half),
                  .high = hits == samples ? 1 : std::min(1.0, centre + half)};
}

std::optional<double> design_effect(std::span<const double> hits, std::span<const double> samples) {
  PERFLAB_CHECK(hits.size() == samples.size());
  const double all = sum(samples), share = all > 0 ? sum(hits) / all : 0;
  const auto clusters = static_cast<double>(hits.size());
  if (hits.size() < 2 || !(share > 0) || !(share < 1)) return std::nullopt;
  double squares = 0;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const double off = hits[i] - share * samples[i];
    squares += off * off;
  }
  return clusters / (clusters - 1) * squares / (all * share * (1 - share));
}

ClusterBootstrap::ClusterBootstrap(std::size_t clusters, const ClusterOptions& options)
    : clusters_(clusters), resamples_(clusters < 2 ? 0 : options.resamples) {
  PERFLAB_CHECK(options.confidence > 0 && options.confidence < 1);
  PERFLAB_CHECK(clusters < UINT32_MAX);
  if (resamples_ == 0) return;
  const auto size = static_cast<double>(clusters);
  const double t = student_quantile((1 + options.confidence) / 2, clusters - 1);
  tail_ = normal_share(-std::sqrt(size / (size - 1)) * t);
  drawn_.resize(clusters * resamples_);
  SplitMix64 random(options.seed);
  for (std::size_t i = 0; i < resamples_; ++i)
    for (std::size_t k = 0; k < clusters; ++k)
      ++drawn_[static_cast<std::size_t>(((random.next() >> 32U) * std::uint64_t{clusters}) >> 32U) *
                   resamples_ +
               i];
}

std::vector<double> ClusterBootstrap::resampled(std::span<const double> by_cluster) const {
  PERFLAB_CHECK(by_cluster.size() == clusters_);
  std::vector<double> sums(resamples_, 0);
  if (resamples_ == 0) return sums;
  for (std::size_t k = 0; k < clusters_; ++k) {
    const double value = by_cluster[k];
    if (value == 0) continue;
    const std::uint32_t* const times = &drawn_[k * resamples_];
    for (std::size_t i = 0; i < resamples_; ++i) sums[i] += times[i] * value;
  }
  return sums;
}

std::optional<Interval> ClusterBootstrap::percentiles(std::vector<double> values) const {
  constexpr std::size_t kFewestOf = 20;
  if (resamples_ == 0 || values.size() + resamples_ / kFewestOf < resamples_) return std::nullopt;
  std::ranges::sort(values);
  return Interval{.low = quantile_of_sorted(values, tail_),
                  .high = quantile_of_sorted(values, 1 - tail_)};
}

std::optional<Interval> ClusterBootstrap::ratio_of_sums(std::span<const double> above,
                                                        std::span<const double> below) const {
  PERFLAB_CHECK(above.size() == resamples_ && below.size() == resamples_);
  std::vector<double> values;
  values.reserve(resamples_);
  for (std::size_t i = 0; i < resamples_; ++i)
    if (below[i] > 0) values.push_back(above[i] / below[i]);
  return percentiles(std::move(values));
}

std::optional<Interval> ClusterBootstrap::ratio(const ClusterRatio& of) const {
  return ratio_of_sums(resampled(of.numerator), resampled(of.denominator));
}

std::optional<Interval> ClusterBootstrap::difference(const ClusterRatio& a,
                                                     const ClusterRatio& b) const {
  const std::vector<double> above_a = resampled(a.numerator), below_a = resampled(a.denominator);
  const std::vector<double> above_b = resampled(b.numerator), below_b = resampled(b.denominator);
  std::vector<double> values;
  values.reserve(resamples_);
  for (std::size_t i = 0; i < resamples_; ++i)
    if (below_a[i] > 0 && below_b[i] > 0)
      values.push_back(above_a[i] / below_a[i] - above_b[i] / below_b[i]);
  return percentiles(std::move(values));
}

}  // namespace perflab::stats
