// Medians by selection, which reorders the values and takes O(n). Of an even number of them, the
// two in the middle are both medians: which one is meant, the name says. Whole numbers whose median
// is to be a value that occurred take one of these; else summary.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <ranges>

namespace perflab::stats {

/// The value of a rank, counted from 0. Precondition: there is such a rank.
template <std::ranges::random_access_range Values>
std::ranges::range_value_t<Values> value_of_rank(Values&& values, std::size_t rank) {
  const auto place =
      std::ranges::begin(values) + static_cast<std::ranges::range_difference_t<Values>>(rank);
  std::ranges::nth_element(values, place);
  return *place;
}

/// The lower one of the two in the middle. Precondition: not empty.
template <std::ranges::random_access_range Values>
std::ranges::range_value_t<Values> lower_median(Values&& values) {
  return value_of_rank(values, (std::ranges::size(values) - 1) / 2);
}

/// The upper one. Precondition: not empty.
template <std::ranges::random_access_range Values>
std::ranges::range_value_t<Values> upper_median(Values&& values) {
  return value_of_rank(values, std::ranges::size(values) / 2);
}

/// The mean of both, rounded towards the lower one. Precondition: not empty.
template <std::ranges::random_access_range Values>
std::ranges::range_value_t<Values> middle_of(Values&& values) {
  const auto half = static_cast<std::ptrdiff_t>(std::ranges::size(values) / 2);
  const auto low = lower_median(values);
  if (std::ranges::size(values) % 2 == 1) return low;
  return std::midpoint(low, std::ranges::min(std::views::drop(values, half)));
}

}  // namespace perflab::stats
