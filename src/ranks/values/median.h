// Medians of times and sizes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace perflab::ranks {

/// The median that is one of the values: the lower one of the two in the middle. Reorders the
/// values, of which there is at least one.
template <typename Value>
Value lower_median(std::vector<Value>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// The median: of an even number, the mean of the two in the middle (rounded towards the lower).
/// Reorders the values, of which there is at least one.
inline std::int64_t middle_of(std::vector<std::int64_t>& values) {
  const std::int64_t low = lower_median(values);
  if (values.size() % 2 == 1) return low;
  const auto above = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  return std::midpoint(low, *std::ranges::min_element(above, values.end()));
}

}  // namespace perflab::ranks
