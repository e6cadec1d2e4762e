// Bits by number, 64 in a word. As std::vector<bool>, but g++ reads those out of line, and passes
// over millions ask for each one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace perflab {

/// Threads may set bits side by side where they share no word: ranges that begin at multiples
/// of 64.
class Bits {
 public:
  Bits() = default;
  /// So many, none of them set.
  explicit Bits(std::size_t count) : words_((count + 63) / 64, 0) {}

  [[nodiscard]] bool empty() const { return words_.empty(); }
  /// Precondition of this and the next one: the bit is there.
  [[nodiscard, gnu::always_inline]] bool operator[](std::size_t bit) const {
    return (words_[bit / 64] >> (bit % 64) & 1) != 0;
  }
  [[gnu::always_inline]] void set(std::size_t bit) {
    words_[bit / 64] |= std::uint64_t{1} << (bit % 64);
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace perflab
