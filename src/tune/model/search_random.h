// Random choices of the search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace perflab::tune {

class Random {
 public:
  explicit Random(std::uint64_t seed) : random_(seed) {}

  std::uint64_t next() { return random_.next(); }

  /// In [0, count), count > 0: the upper half of a 32 x 32 bit product, whose bias is below 1e-3
  /// for a million values.
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(((next() >> 32U) * std::uint64_t{count}) >> 32U);
  }

  /// Up to `count` different numbers below `size`, in random order (Floyd's method, then shuffled).
  std::vector<std::size_t> sample(std::size_t size, std::size_t count);

 private:
  SplitMix64 random_;
};

}  // namespace perflab::tune
