// Doubles are sorted first, so that every sum runs in one order; they are added with Neumaier's
// compensation. Durations are added in 128-bit integers and selected with nth_element.
#include "stats/summary.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <vector>

#include "base/enum_names.h"

namespace perflab::stats {
namespace {

constexpr double kStableCv = 0.05;
constexpr double kModerateCv = 0.10;

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

/// Sum of f(x) over the values, with the rounding error of every addition carried along.
template <class F>
double compensated_sum(std::span<const double> values, F f) {
  double sum = 0;
  double error = 0;
  for (const double value : values) {
    const double term = f(value);
    const double next = sum + term;
    error += std::abs(sum) >= std::abs(term) ? (sum - next) + term : (term - next) + sum;
    sum = next;
  }
  return std::isfinite(error) ? sum + error : sum;
}

std::optional<double> if_finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

double median_of_sorted(std::span<const double> sorted) {
  const std::size_t middle = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return sorted[middle];
  return std::midpoint(sorted[middle - 1], sorted[middle]);
}

double mean_of_sorted(std::span<const double> sorted, double sum) {
  const auto n = static_cast<double>(sorted.size());
  const double mean = std::isfinite(sum)
                          ? sum / n
                          : compensated_sum(sorted, [n](double value) { return value / n; });
  // Rounding must not push the mean of equal samples off their value.
  return std::clamp(mean, sorted.front(), sorted.back());
}

/// Deviations are scaled by a power of two (without rounding), so that squares stay in range.
double stddev_of_sorted(std::span<const double> sorted, double mean) {
  const double farthest = std::max(mean - sorted.front(), sorted.back() - mean);
  if (farthest == 0 || !std::isfinite(farthest)) return farthest;
  const int exponent = std::ilogb(farthest);
  const double squares = compensated_sum(sorted, [&](double value) {
    const double deviation = std::scalbn(value - mean, -exponent);
    return deviation * deviation;
  });
  return std::scalbn(std::sqrt(squares / static_cast<double>(sorted.size() - 1)), exponent);
}

std::optional<double> variation(std::optional<double> stddev, std::optional<double> mean) {
  if (!stddev || !mean || *mean == 0) return std::nullopt;
  return if_finite(*stddev / std::abs(*mean));
}

/// The distance of two ordered integers, which a signed type might not hold.
std::uint64_t distance(std::int64_t low, std::int64_t high) {
  return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
}

/// The middle sample, or the middle two; `low` and `high` are equal for an odd count.
struct Middle {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

/// Selects the middle of the values by `less`; reorders them. Precondition: not empty.
template <class Less>
Middle select_middle(std::span<std::int64_t> values, Less less) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end(), less);
  if (values.size() % 2 == 1) return {.low = *middle, .high = *middle};
  return {.low = *std::max_element(values.begin(), middle, less), .high = *middle};
}

/// Halfway between the two, whose sum a signed type might not hold.
double halfway(Middle middle) {
  return static_cast<double>(middle.low) +
         static_cast<double>(distance(middle.low, middle.high)) / 2;
}

/// Median of |value - median|. Every value lies at or outside the middle two, so its deviation is
/// an exact distance to the nearer one plus half their gap, the same for all. Reorders the values.
double mad_of(std::span<std::int64_t> values, Middle middle) {
  const auto beyond = [middle](std::int64_t value) {
    return value <= middle.low ? distance(value, middle.low) : distance(middle.high, value);
  };
  const Middle by_deviation =
      select_middle(values, [&](std::int64_t a, std::int64_t b) { return beyond(a) < beyond(b); });
  const auto half_gap = static_cast<double>(distance(middle.low, middle.high)) / 2;
  const auto low = static_cast<double>(beyond(by_deviation.low));
  const auto high = static_cast<double>(beyond(by_deviation.high));
  return std::midpoint(low, high) + half_gap;
}

/// Sample standard deviation from the exact sum of squares about the whole number nearest to the
/// mean. Sorts the values when that sum could overflow 128 bits, and then adds doubles.
double stddev_of(std::span<std::int64_t> values, Int128 sum, std::uint64_t range) {
  const auto n = static_cast<Int128>(values.size());
  Int128 centre = sum / n;
  Int128 rest = sum - centre * n;
  if (2 * rest > n) ++centre;
  if (-2 * rest > n) --centre;
  rest = sum - centre * n;
  const auto count = static_cast<double>(n);
  const auto rest_squared = static_cast<double>(rest) * static_cast<double>(rest) / count;
  const int bits =
      2 * static_cast<int>(std::bit_width(range)) + static_cast<int>(std::bit_width(values.size()));
  if (bits <= 128) {
    Uint128 squares = 0;
    for (const std::int64_t value : values) {
      const Int128 deviation = value - centre;
      squares += static_cast<Uint128>(deviation * deviation);
    }
    return std::sqrt((static_cast<double>(squares) - rest_squared) / (count - 1));
  }
  std::ranges::sort(values);
  double squares = 0;
  for (const std::int64_t value : values) {
    const auto deviation = static_cast<double>(value - centre);
    squares += deviation * deviation;
  }
  return std::sqrt((squares - rest_squared) / (count - 1));
}

}  // namespace

Summary summarize(std::span<const double> samples) {
  std::vector<double> sorted;
  sorted.reserve(samples.size());
  std::ranges::copy_if(samples, std::back_inserter(sorted),
                       [](double value) { return std::isfinite(value); });
  std::ranges::sort(sorted);

  Summary result;
  result.count = sorted.size();
  result.rejected = samples.size() - sorted.size();
  if (sorted.empty()) return result;
  const double sum = compensated_sum(sorted, [](double value) { return value; });
  const double mean = mean_of_sorted(sorted, sum);
  const double median = median_of_sorted(sorted);
  result.sum = if_finite(sum);
  result.mean = mean;
  result.median = median;
  result.min = sorted.front();
  result.max = sorted.back();
  if (sorted.size() > 1) result.stddev = if_finite(stddev_of_sorted(sorted, mean));
  result.cv = variation(result.stddev, result.mean);

  for (double& value : sorted) value = std::abs(value - median);
  std::ranges::sort(sorted);
  result.mad = if_finite(median_of_sorted(sorted));
  return result;
}

DurationSummary summarize_durations(std::span<std::int64_t> durations) {
  DurationSummary result;
  result.count = durations.size();
  if (durations.empty()) return result;

  Int128 sum = 0;
  std::int64_t least = durations.front();
  std::int64_t most = durations.front();
  for (const std::int64_t duration : durations) {
    sum += duration;
    least = std::min(least, duration);
    most = std::max(most, duration);
  }
  const auto as_int64 = static_cast<std::int64_t>(sum);
  if (as_int64 == sum) result.sum = as_int64;
  result.min = least;
  result.max = most;
  const auto n = static_cast<Int128>(durations.size());
  const Int128 whole = sum / n;
  result.mean = static_cast<double>(whole) + static_cast<double>(sum % n) / static_cast<double>(n);

  if (durations.size() > 1) result.stddev = stddev_of(durations, sum, distance(least, most));
  result.cv = variation(result.stddev, result.mean);
  const Middle middle = select_middle(durations, std::less<>{});
  result.median = halfway(middle);
  result.mad = mad_of(durations, middle);
  return result;
}

double median_duration(std::span<std::int64_t> durations) {
  return halfway(select_middle(durations, std::less<>{}));
}

Stability classify(double cv) {
  if (cv <= kStableCv) return Stability::stable;
  if (cv <= kModerateCv) return Stability::moderate;
  return Stability::unstable;
}

std::string_view to_string(Stability stability) {
  using enum Stability;
  static constexpr auto kNames =
      enum_names<Stability>({{stable, "stable"}, {moderate, "moderate"}, {unstable, "unstable"}});
  return kNames[stability];
}

}  // namespace perflab::stats
