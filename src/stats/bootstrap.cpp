// The median of a resample depends on the ranks that were drawn only: the samples are sorted once,
// and a resample is a count per rank. Of many samples not even the counts are needed: how many of n
// draws fall into the lower half of the ranks is the number of ones among n random bits, and so on
// within the half that the median is in. Random numbers are SplitMix64 (Steele, Lea, Flood: Fast
// Splittable Pseudorandom Number Generators, 2014), integers only.
#include "stats/bootstrap.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "base/random.h"

namespace perflab::stats {
namespace {

class Bits {
 public:
  explicit Bits(std::uint64_t seed) : random_(seed) {}

  /// Below `limit`, which is below 2^32.
  std::size_t below(std::uint64_t limit) {
    return static_cast<std::size_t>(((next() >> 32) * limit) >> 32);
  }

  /// Ones among `count` random bits.
  std::size_t ones(std::size_t count) {
    constexpr std::size_t kWord = 64;
    std::size_t sum = 0;
    for (; count >= kWord; count -= kWord) sum += static_cast<std::size_t>(std::popcount(next()));
    if (count > 0) sum += static_cast<std::size_t>(std::popcount(next() >> (kWord - count)));
    return sum;
  }

 private:
  std::uint64_t next() { return random_.next(); }

  SplitMix64 random_;
};

/// Draws resamples of one set of samples and gives their medians.
class Resampler {
 public:
  explicit Resampler(std::span<const double> samples)
      : sorted_(samples.begin(), samples.end()), counts_(samples.size()) {
    std::ranges::sort(sorted_);
  }

  double median(Bits& bits) {
    const std::size_t size = sorted_.size();
    if (size > kMostCounted) return median_of_many(bits);
    std::ranges::fill(counts_, 0U);
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

  /// Resamples of more samples are not counted rank by rank.
  static constexpr std::size_t kMostCounted = 32;
  /// Bits of a place: one of 2^32 equal parts of the ranks.
  static constexpr unsigned kPlaceBits = 32;

  /// A part of the places, and how many draws fell into it.
  struct Part {
    std::uint64_t first = 0;
    unsigned bits = kPlaceBits;  ///< it has 2^bits places
    std::size_t draws = 0;
  };

  [[nodiscard]] double at_place(std::uint64_t place) const {
    return sorted_[static_cast<std::size_t>((place * sorted_.size()) >> kPlaceBits)];
  }

  /// Halves the part; the draw of that number (from 0, in the order of places) is in what is left,
  /// as number `draw`.
  static void halve(Part& part, std::size_t& draw, std::size_t in_lower) {
    --part.bits;
    if (draw < in_lower) {
      part.draws = in_lower;
    } else {
      part.first += std::uint64_t{1} << part.bits;
      part.draws -= in_lower;
      draw -= in_lower;
    }
  }

  double find(Part part, std::size_t draw, Bits& bits) const {
    while (part.bits > 0) halve(part, draw, bits.ones(part.draws));
    return at_place(part.first);
  }

  double median_of_many(Bits& bits) const {
    const std::size_t size = sorted_.size();
    Part part{.draws = size};
    std::size_t draw = (size - 1) / 2;
    if (size % 2 == 1) return find(part, draw, bits);
    while (part.bits > 0) {
      const std::size_t in_lower = bits.ones(part.draws);
      if (draw + 1 == in_lower) {  // the two in the middle part
        Part upper = part;
        std::size_t next = draw + 1;
        halve(part, draw, in_lower);
        halve(upper, next, in_lower);
        const double lower = find(part, draw, bits);
        return std::midpoint(lower, find(upper, next, bits));
      }
      halve(part, draw, in_lower);
    }
    return at_place(part.first);
  }

  std::vector<double> sorted_;
  std::vector<unsigned> counts_;
};

bool usable(std::span<const double> samples) {
  constexpr std::size_t kFewest = 3;
  return samples.size() >= kFewest &&
         std::ranges::all_of(samples, [](double sample) { return std::isfinite(sample); });
}

}  // namespace

double quantile_of_sorted(std::span<const double> sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

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
  return Interval{.low = quantile_of_sorted(ratios, tail),
                  .high = quantile_of_sorted(ratios, 1 - tail)};
}

}  // namespace perflab::stats
