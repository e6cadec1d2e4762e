// The median of a resample depends on the ranks that were drawn only: the samples are sorted once,
// and a resample is a count per rank. Random numbers are SplitMix64 (Steele, Lea, Flood: Fast
// Splittable Pseudorandom Number Generators, 2014), integers only.
#include "stats/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace perflab::stats {
namespace {

class Bits {
 public:
  explicit Bits(std::uint64_t seed) : state_(seed) {}

  /// Below `limit`, which is below 2^32.
  std::size_t below(std::uint64_t limit) {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t bits = state_;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    bits ^= bits >> 31;
    return static_cast<std::size_t>(((bits >> 32) * limit) >> 32);
  }

 private:
  std::uint64_t state_;
};

/// Draws resamples of one set of samples and gives their medians.
class Resampler {
 public:
  explicit Resampler(std::span<const double> samples)
      : sorted_(samples.begin(), samples.end()), counts_(samples.size()) {
    std::ranges::sort(sorted_);
  }

  double median(Bits& bits) {
    std::ranges::fill(counts_, 0U);
    const std::size_t size = sorted_.size();
    for (std::size_t i = 0; i < size; ++i) ++counts_[bits.below(size)];
    const double lower = at_rank((size - 1) / 2);
    return size % 2 == 1 ? lower : std::midpoint(lower, at_rank(size / 2));
  }

 private:
  /// The sample that is at that place of the sorted resample.
  [[nodiscard]] double at_rank(std::size_t rank) const {
    std::size_t seen = 0, i = 0;
    while ((seen += counts_[i]) <= rank) ++i;
    return sorted_[i];
  }

  std::vector<double> sorted_;
  std::vector<unsigned> counts_;
};

/// Between the two nearest of sorted values, in proportion.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

bool usable(std::span<const double> samples) {
  constexpr std::size_t kFewest = 3;
  return samples.size() >= kFewest &&
         std::ranges::all_of(samples, [](double sample) { return std::isfinite(sample); });
}

}  // namespace

std::optional<Interval> ratio_of_medians(std::span<const double> numerator,
                                         std::span<const double> denominator, double confidence,
                                         std::uint64_t seed, int resamples) {
  if (!usable(numerator) || !usable(denominator) || resamples < 1 || !(confidence > 0) ||
      !(confidence < 1))
    return std::nullopt;
  Bits bits(seed);
  Resampler above(numerator), below(denominator);
  std::vector<double> ratios;
  ratios.reserve(static_cast<std::size_t>(resamples));
  for (int i = 0; i < resamples; ++i) {
    const double top = above.median(bits);
    const double bottom = below.median(bits);
    if (!(bottom > 0)) return std::nullopt;
    const double ratio = top / bottom;
    if (!std::isfinite(ratio)) return std::nullopt;
    ratios.push_back(ratio);
  }
  std::ranges::sort(ratios);
  const double tail = (1 - confidence) / 2;
  return Interval{.low = quantile(ratios, tail), .high = quantile(ratios, 1 - tail)};
}

}  // namespace perflab::stats
