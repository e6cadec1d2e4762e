// Random numbers of the search. The distributions of <random> differ between standard libraries;
// these do not. Generator: splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
// generators", OOPSLA 2014).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace perflab::tune {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

  /// In [0, count), count > 0: the upper half of a 32 x 32 bit product, whose bias is below 1e-3
  /// for a million values.
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(((next() >> 32U) * std::uint64_t{count}) >> 32U);
  }

  /// Up to `count` different numbers below `size`, in random order (Floyd's method, then shuffled).
  std::vector<std::size_t> sample(std::size_t size, std::size_t count);

 private:
  std::uint64_t state_;
};

}  // namespace perflab::tune
