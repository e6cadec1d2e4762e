// The verdict over two sets of samples. Equivalence: Schuirmann, A comparison of the two one-sided
// tests procedure, 1987. Effect: Cliff, Dominance statistics, 1993. Drift: Theil 1950, Sen 1968;
// its significance: Kendall's tau, normal approximation with ties (Kendall, Rank Correlation
// Methods). Outliers: Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993.
#include "stats/comparison.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/enum_names.h"
#include "stats/few_samples.h"
#include "stats/median.h"
#include "stats/summary.h"

namespace perflab::stats {
namespace {

// In standard deviations. Iglewicz and Hoaglin flag from 3.5 on; times are skewed to the right, and
// at 3.5 every long tail would be a warning.
constexpr double kOutlierDistance = 5;
// To standard deviations of a normal distribution: 1 / (its 3/4 quantile) from the MAD, sqrt(pi /
// 2) from the mean absolute deviation.
constexpr double kScaleOfMad = 1.4826;
constexpr double kScaleOfMean = 1.253314;
// From here on the test of Kendall's tau below can find a drift: at 8 samples its 1 % are 0.55 % by
// the exact distribution, at 5 and fewer no order of the samples is significant.
constexpr std::size_t kFewestForDrift = 8;
// Theil and Sen look at all pairs: 500 samples make 125,000 of them, and they grow with the square.
constexpr std::size_t kMostForDrift = 500;
constexpr double kLeastDrift = 0.02;       // the default margin of SAME: less decides nothing
constexpr double kDriftQuantile = 2.5758;  // normal, two-sided 1 %
constexpr double kMostToDecide = 1e6;      // nobody measures more; on a border no number decides
// With fewer resamples beyond it, an end of the interval would be their extreme, which is noise.
constexpr double kResamplesInTail = 5;
constexpr int kMostResamples = 20'000;  // that many in each tail for 100 comparisons at 95 %

std::vector<double> finite_of(std::span<const double> samples) {
  std::vector<double> finite;
  finite.reserve(samples.size());
  std::ranges::copy_if(samples, std::back_inserter(finite),
                       [](double sample) { return std::isfinite(sample); });
  return finite;
}

std::size_t outliers_of(const std::vector<double>& samples, double median, double mad) {
  double scale = kScaleOfMad * mad;
  if (!(scale > 0)) {
    // More than half of the samples are the same (a coarse clock): the mean deviation it is then.
    double sum = 0;
    for (const double sample : samples)
      sum += std::abs(sample - median) / static_cast<double>(samples.size());
    scale = kScaleOfMean * sum;
  }
  return static_cast<std::size_t>(std::ranges::count_if(samples, [&](double sample) {
    return std::abs(sample - median) > kOutlierDistance * scale;
  }));
}

/// The samples in order, at most kMostForDrift: of more, the medians of as many groups of
/// neighbours.
std::vector<double> thinned(const std::vector<double>& samples) {
  if (samples.size() <= kMostForDrift) return samples;
  std::vector<double> groups, group;
  for (std::size_t i = 0; i < kMostForDrift; ++i) {
    const auto place = [&](std::size_t part) {
      return samples.begin() + static_cast<std::ptrdiff_t>(samples.size() * part / kMostForDrift);
    };
    group.assign(place(i), place(i + 1));
    groups.push_back(middle_of(group));
  }
  return groups;
}

/// Whether Kendall's tau of the values against their places differs from 0. `concordance`: pairs
/// that rise less pairs that fall.
bool significant_trend(const std::vector<double>& values, double concordance) {
  const auto term = [](double n) { return n * (n - 1) * (2 * n + 5); };
  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  double variance = term(static_cast<double>(values.size()));
  for (std::size_t i = 0, end = 0; i < sorted.size(); i = end) {
    while (end < sorted.size() && sorted[end] == sorted[i]) ++end;
    variance -= term(static_cast<double>(end - i));
  }
  variance /= 18;
  return variance > 0 && (std::abs(concordance) - 1) / std::sqrt(variance) > kDriftQuantile;
}

void find_drift(const std::vector<double>& samples, double median, SampleHealth& health) {
  if (samples.size() < kFewestForDrift || !(median > 0)) return;
  const std::vector<double> values = thinned(samples);
  const std::size_t size = values.size();
  std::vector<double> slopes;
  slopes.reserve(size * (size - 1) / 2);
  double concordance = 0;
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = i + 1; j < size; ++j) {
      const double rise = values[j] - values[i];
      concordance += rise > 0 ? 1 : rise < 0 ? -1 : 0;
      slopes.push_back(rise / static_cast<double>(j - i));
    }
  const double drift = middle_of(slopes) * static_cast<double>(size) / median;
  if (!std::isfinite(drift)) return;
  health.drift = drift;
  health.drifting = std::abs(drift) > kLeastDrift && significant_trend(values, concordance);
}

SampleHealth health_of(const std::vector<double>& samples, const Summary& summary) {
  SampleHealth health;
  if (!summary.median || !summary.mad) return health;
  health.outliers = outliers_of(samples, *summary.median, *summary.mad);
  find_drift(samples, *summary.median, health);
  return health;
}

/// P(b > a) - P(b < a) over all pairs of sorted samples.
double cliffs_delta(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  std::size_t below = 0, upto = 0;  // samples of a below, and below or equal to, the one of b
  for (const double sample : b) {
    while (below < a.size() && a[below] < sample) ++below;
    while (upto < a.size() && a[upto] <= sample) ++upto;
    sum += static_cast<double>(below) - static_cast<double>(a.size() - upto);
  }
  return sum / static_cast<double>(a.size()) / static_cast<double>(b.size());
}

/// The interval of median(b) / median(a). Which side is resampled first depends on the samples
/// alone: exchanging the sides inverts the interval exactly.
std::optional<Interval> interval_of(const std::vector<double>& a, const std::vector<double>& b,
                                    const ComparisonOptions& options) {
  const double wanted = 2 * kResamplesInTail / (1 - options.confidence);
  const int resamples =
      wanted > options.resamples
          ? std::max(options.resamples, static_cast<int>(std::min<double>(wanted, kMostResamples)))
          : options.resamples;
  if (!std::ranges::lexicographical_compare(b, a))
    return ratio_of_medians(b, a, options.confidence, options.seed, resamples);
  const auto inverse = ratio_of_medians(a, b, options.confidence, options.seed, resamples);
  if (!inverse || !(inverse->low > 0)) return std::nullopt;
  return Interval{.low = 1 / inverse->high, .high = 1 / inverse->low};
}

std::optional<std::size_t> samples_to_decide(const Comparison& found,
                                             const ComparisonOptions& options) {
  if (!found.interval || !found.ratio || !(found.interval->low > 0)) return std::nullopt;
  const double centre = std::log(*found.ratio), border = std::log1p(options.margin);
  const double below = std::max(0.0, centre - std::log(found.interval->low));
  const double above = std::max(0.0, std::log(found.interval->high) - centre);
  // The part of today's width that would decide: as the same, or as on one side of 1.
  const double same = std::min((border - centre) / above, (border + centre) / below);
  const double differs = centre > 0 ? centre / below : -centre / above;
  const double part = std::max(std::isnan(same) ? 0 : same, std::isnan(differs) ? 0 : differs);
  if (!(part > 0)) return std::nullopt;
  const auto a = static_cast<double>(found.samples_a), b = static_cast<double>(found.samples_b);
  const double needed = std::ceil(2 / (1 / a + 1 / b) / (part * part));
  if (!(needed <= kMostToDecide)) return std::nullopt;
  std::size_t samples = static_cast<std::size_t>(needed);
  samples = std::max(samples, std::min(found.samples_a, found.samples_b) + 1);
  while (!can_decide(samples, samples, options.confidence)) ++samples;
  return samples;
}

SpeedVerdict verdict_of(const Interval& interval, const ComparisonOptions& options) {
  const double border = 1 + options.margin;
  if (interval.low >= 1 / border && interval.high <= border) return SpeedVerdict::same;
  const bool larger = interval.low > 1;
  if (!larger && !(interval.high < 1)) return SpeedVerdict::undecided;
  return larger == options.larger_is_better ? SpeedVerdict::faster : SpeedVerdict::slower;
}

/// The looks of a rule, ascending, each once.
std::vector<std::size_t> looks_of(const StoppingRule& rule) {
  std::vector<std::size_t> looks;
  if (rule.looks > 1 && rule.fewest > 0 && rule.fewest < rule.most) {
    const double growth = static_cast<double>(rule.most) / static_cast<double>(rule.fewest);
    for (std::size_t i = 0; i + 1 < rule.looks; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(rule.looks - 1);
      looks.push_back(static_cast<std::size_t>(
          std::llround(static_cast<double>(rule.fewest) * std::pow(growth, share))));
    }
  }
  looks.push_back(rule.most);
  looks.erase(std::ranges::unique(looks).begin(), looks.end());
  return looks;
}

}  // namespace

std::string_view to_string(SpeedVerdict verdict) {
  using enum SpeedVerdict;
  static constexpr auto kNames = enum_names<SpeedVerdict>(
      {{same, "SAME"}, {faster, "FASTER"}, {slower, "SLOWER"}, {undecided, "UNDECIDED"}});
  return kNames[verdict];
}

Comparison compare(std::span<const double> a, std::span<const double> b,
                   const ComparisonOptions& options) {
  std::vector<double> of_a = finite_of(a), of_b = finite_of(b);
  Comparison found;
  found.samples_a = of_a.size();
  found.samples_b = of_b.size();
  found.rejected = a.size() - of_a.size() + b.size() - of_b.size();
  const Summary summary_a = summarize(of_a), summary_b = summarize(of_b);
  found.median_a = summary_a.median;
  found.median_b = summary_b.median;
  found.health_a = health_of(of_a, summary_a);
  found.health_b = health_of(of_b, summary_b);
  if (of_a.empty() || of_b.empty()) return found;
  std::ranges::sort(of_a);
  std::ranges::sort(of_b);
  found.effect = cliffs_delta(of_a, of_b);
  if (!found.median_a || !found.median_b || !(*found.median_a > 0) || !(*found.median_b > 0))
    return found;
  const double ratio = *found.median_b / *found.median_a;
  if (!std::isfinite(ratio) || !(ratio > 0)) return found;
  found.ratio = ratio;
  if (options.confidence > 0 && options.confidence < 1)
    found.interval = interval_of(of_a, of_b, options);
  if (!found.interval) return found;
  if (can_decide(of_a.size(), of_b.size(), options.confidence))
    found.verdict = verdict_of(*found.interval, options);
  if (found.verdict == SpeedVerdict::undecided)
    found.samples_to_decide = samples_to_decide(found, options);
  return found;
}

bool is_look(const StoppingRule& rule, std::size_t samples) {
  return std::ranges::binary_search(looks_of(rule), samples);
}

double confidence_of_look(const StoppingRule& rule, double confidence) {
  return 1 - (1 - confidence) / static_cast<double>(looks_of(rule).size());
}

}  // namespace perflab::stats
