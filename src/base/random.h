// Random numbers that are the same everywhere: SplitMix64 (Steele, Lea, Flood: "Fast splittable
// pseudorandom number generators", OOPSLA 2014). The distributions of <random> differ between
// standard libraries.
#pragma once

#include <cstdint>

namespace perflab {

/// Spreads the bits of a number: SplitMix64's finaliser, one to one.
constexpr std::uint64_t mixed_bits(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31U);
}

/// The generator; as one step of it, a random number that belongs to `seed`.
class SplitMix64 {
 public:
  explicit constexpr SplitMix64(std::uint64_t seed) : state_(seed) {}
  constexpr std::uint64_t next() { return mixed_bits(state_ += 0x9e3779b97f4a7c15U); }

 private:
  std::uint64_t state_;
};

}  // namespace perflab
