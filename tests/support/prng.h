// A tiny random number generator (SplitMix64) with whole-number draws only: the same seed gives the
// same database on every machine and standard library.
#pragma once

#include <cstdint>

namespace perflab::test {

class Prng {
 public:
  explicit Prng(std::uint64_t seed) : state_(seed) {}

  /// The next 64 random bits.
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  /// A number in [0, limit); limit > 0. (The modulo's bias is far below what matters here.)
  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>((next() >> 1) % static_cast<std::uint64_t>(limit));
  }

  /// `value` spread by up to +-`permille`/1000, denser in the middle.
  std::int64_t spread(std::int64_t value, std::int64_t permille) {
    const std::int64_t parts = below(1001) + below(1001) - 1000;  // triangular, -1000..1000
    return value + value * permille / 1000 * parts / 1000;
  }

 private:
  std::uint64_t state_;
};

}  // namespace perflab::test
