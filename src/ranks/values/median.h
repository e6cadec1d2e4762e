// The median that is one of the values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace perflab::ranks {

/// The lower one of the two in the middle. Reorders the values, of which there is at least one.
template <typename Value>
Value lower_median(std::vector<Value>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace perflab::ranks
