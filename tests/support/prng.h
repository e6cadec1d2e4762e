// A tiny random number generator (SplitMix64) with whole-number draws only: the same seed gives the
// same database on every machine and standard library.
#pragma once

#include <cstdint>

#include "base/random.h"

namespace perflab::test {

class Prng {
 public:
  explicit Prng(std::uint64_t seed) : random_(seed) {}

  /// The next 64 random bits.
  std::uint64_t next() { return random_.next(); }

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
  SplitMix64 random_;
};

}  // namespace perflab::test
