// A bit per byte of a page, and questions to eight bytes at once: pages of a gigabyte are compared
// word by word, and byte by byte only where they differ.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "capture/model.h"

namespace perflab::replay {

/// The eight bytes from `at` on as a word, that of the first byte lowest. Precondition: they are
/// there.
inline std::uint64_t eight_at(std::span<const std::byte> bytes, std::size_t at) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof(word));
  return word;
}

/// A bit for each byte of the word that is not zero, that of the lowest byte first.
inline std::uint8_t nonzero_bytes(std::uint64_t word) {
  constexpr std::uint64_t kSevenBits = 0x7f7f7f7f7f7f7f7f;
  const std::uint64_t tops = (((word & kSevenBits) + kSevenBits) | word) & ~kSevenBits;
  // Bit 8k moves to bit 56 + k; no two of the sum's other terms meet.
  return static_cast<std::uint8_t>(((tops >> 7U) * 0x0102040810204080) >> 56U);
}

/// These bits, and those of the other bytes of their elements of 1, 2, 4 or 8 bytes.
inline std::uint8_t whole_elements(std::uint8_t bits, std::size_t element_bytes) {
  const unsigned b = bits;
  unsigned out = b;
  if (element_bytes == 2) out = ((b | b >> 1U) & 0x55U) * 3U;
  if (element_bytes == 4) out = ((b & 0x0fU) != 0 ? 0x0fU : 0U) | ((b & 0xf0U) != 0 ? 0xf0U : 0U);
  if (element_bytes == 8) out = b != 0 ? 0xffU : 0U;
  return static_cast<std::uint8_t>(out);
}

/// A bit per byte of a page.
class ByteMask {
 public:
  using Words = std::array<std::uint64_t, capture::kPageBytes / 64>;

  [[nodiscard]] bool test(std::size_t at) const { return (words_[at / 64] >> at % 64 & 1U) != 0; }
  void set(std::size_t at) { words_[at / 64] |= std::uint64_t{1} << at % 64; }
  void reset(std::size_t at) { words_[at / 64] &= ~(std::uint64_t{1} << at % 64); }

  /// Those of the eight bytes from `at` on, which is a multiple of 8.
  [[nodiscard]] std::uint8_t eight(std::size_t at) const {
    return static_cast<std::uint8_t>(words_[at / 64] >> at % 64);
  }
  void set_eight(std::size_t at, std::uint8_t bits) {
    words_[at / 64] |= std::uint64_t{bits} << at % 64;
  }
  /// Sets the bits of the bytes in which two stretches of a page differ.
  void set_differences(std::span<const std::byte> a, std::span<const std::byte> b) {
    std::size_t at = 0;
    for (; at + 8 <= a.size(); at += 8)
      set_eight(at, nonzero_bytes(eight_at(a, at) ^ eight_at(b, at)));
    for (; at < a.size(); ++at)
      if (a[at] != b[at]) set(at);
  }

  [[nodiscard]] bool none() const { return words_ == Words{}; }
  [[nodiscard]] bool any() const { return !none(); }
  [[nodiscard]] std::size_t count() const {
    std::size_t bits = 0;
    for (const std::uint64_t word : words_) bits += static_cast<std::size_t>(std::popcount(word));
    return bits;
  }
  [[nodiscard]] const Words& words() const { return words_; }
  [[nodiscard]] Words& words() { return words_; }
  bool operator==(const ByteMask&) const = default;

 private:
  Words words_{};
};

}  // namespace perflab::replay
