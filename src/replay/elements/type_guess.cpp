// Finding an element type by looking at the values (the rule stands at TypeGuess). No outside facts
// but the bit layouts of the types; the thresholds are ours, tested on random data of every type.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "replay/elements/element_type.h"

namespace perflab::replay {
namespace {

constexpr std::uint64_t kLeastSamples = 64;
/// Two distributions over 16 bins are alike below this total variation distance. Noise: about
/// sqrt(16 / (pi n)), 0.28 for the least number of samples.
constexpr double kAlike = 0.5;
constexpr double kLeastShare = 0.05;  ///< of values that are not zero, to compare these
constexpr double kEvenBits = 2.8, kUnevenBits = 2.6;  ///< entropy of three bits
constexpr double kLeastMantissaBits = 2;              ///< of bf16's seven
constexpr int kSaneExponent = 40;                     ///< magnitudes from 2^-40 to 2^40

std::uint64_t load_word(const std::byte* from, std::size_t bytes) {
  std::uint64_t out = 0;
  std::memcpy(&out, from, bytes);
  return out;
}

/// How differently two byte positions are filled, 0 to 1. Zeros (padding, ReLU) are compared by
/// their share, the rest by its distribution.
double distance_of(const std::array<std::uint64_t, 16>& a, const std::array<std::uint64_t, 16>& b,
                   std::uint64_t samples) {
  double all_a = 0, all_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    all_a += static_cast<double>(a.at(i));
    all_b += static_cast<double>(b.at(i));
  }
  const double shares = std::fabs(all_a - all_b) / static_cast<double>(samples);
  if (std::min(all_a, all_b) < kLeastShare * static_cast<double>(samples)) return shares;
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += std::fabs(static_cast<double>(a.at(i)) / all_a - static_cast<double>(b.at(i)) / all_b);
  return std::max(shares, sum / 2);
}

template <std::size_t N>
double entropy_of(const std::array<std::uint64_t, N>& counts) {
  std::uint64_t all = 0;
  for (const std::uint64_t count : counts) all += count;
  double bits = 0;
  for (const std::uint64_t count : counts) {
    if (count == 0) continue;
    const double share = static_cast<double>(count) / static_cast<double>(all);
    bits -= share * std::log2(share);
  }
  return bits;
}

bool nearly_all(std::uint64_t part, std::uint64_t all) {
  return all > 0 && part * 100 >= all * 99;
}

/// Whether an exponent field stands for a magnitude within 2^-most .. 2^most.
bool sane_exponent(std::uint64_t field, int bias, int most) {
  const int exponent = static_cast<int>(field) - bias;
  return exponent >= -most && exponent <= most;
}

/// Whether the upper quarter of an integer is nothing but its sign.
bool is_small(std::uint64_t bits, std::size_t bytes) {
  const auto shift = static_cast<int>(64 - 8 * bytes);
  const auto value = static_cast<std::int64_t>(bits << shift) >> shift;
  const auto limit = std::int64_t{1} << (bytes * 6 - 1);
  return value >= -limit && value < limit;
}

}  // namespace

void TypeGuess::add(std::span<const std::byte> bytes) {
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    const std::byte* const block = bytes.data() + at;
    const std::uint64_t whole = load_word(block, 8);
    if (whole == 0) continue;
    ++samples_;
    low_words_ += load_word(block, 4) != 0;
    low_halves_ += load_word(block, 2) != 0;
    for (std::size_t i = 0; i < 8; i += 2) {
      const std::uint64_t half = load_word(block + i, 2);
      if ((half & 0x7fffU) == 0) continue;
      for (std::size_t j = i; j < i + 2; ++j)
        ++nibbles_[j][std::to_integer<unsigned>(block[j]) >> 4U];
      ++values_[0], ++values_[1];
      const std::uint64_t f16_exponent = half >> 10U & 0x1fU;
      sane_[0] += f16_exponent >= 3 && f16_exponent <= 23;
      sane_[1] += sane_exponent(half >> 7U & 0xffU, 127, kSaneExponent);
      ++below_exponent_[f16_exponent][half >> 7U & 7U];
      ++mantissas_[half & 0x7fU];
    }
    for (std::size_t i = 0; i < 8; i += 4) {
      const std::uint64_t word = load_word(block + i, 4);
      if (word == 0) continue;
      ++words_;
      small_words_ += is_small(word, 4);
      if ((word & 0x7fffffffU) == 0) continue;
      ++values_[2];
      sane_[2] += sane_exponent(word >> 23U & 0xffU, 127, kSaneExponent);
    }
    ++longs_;
    small_longs_ += is_small(whole, 8);
    ++values_[3];
    sane_[3] += sane_exponent(whole >> 52U & 0x7ffU, 1023, kSaneExponent);
  }
}

int TypeGuess::period() const {
  for (const std::size_t stride : {1U, 2U, 4U}) {
    bool alike = true;
    for (std::size_t i = 0; i + stride < 8; ++i)
      alike = alike && distance_of(nibbles_[i], nibbles_[i + stride], samples_) < kAlike;
    if (alike) return static_cast<int>(stride);
  }
  return 8;
}

std::optional<ElementType> TypeGuess::half_type() const {
  // The median over all values of the entropy beside their exponent: the largest values of a range
  // end within their octave and are less even than the rest.
  std::vector<std::pair<double, std::uint64_t>> octaves;
  for (const auto& counts : below_exponent_) {
    std::uint64_t all = 0;
    for (const std::uint64_t count : counts) all += count;
    if (all > 0) octaves.emplace_back(entropy_of(counts), all);
  }
  std::ranges::sort(octaves);
  double even = 0;
  std::uint64_t seen = 0;
  for (const auto& [bits, values] : octaves) {
    even = bits;
    seen += values;
    if (seen * 2 >= values_[0]) break;
  }
  if (nearly_all(sane_[0], values_[0]) && even >= kEvenBits) return ElementType::f16;
  if (nearly_all(sane_[1], values_[1]) && even <= kUnevenBits &&
      entropy_of(mantissas_) >= kLeastMantissaBits)
    return ElementType::bf16;
  return std::nullopt;
}

std::optional<ElementType> TypeGuess::type() const {
  if (samples_ < kLeastSamples) return std::nullopt;
  switch (period()) {
    case 2:
      return half_type();
    case 4:
      // Pairs of halves of unlike sizes: the lower half of an f32 is no half.
      if ((nearly_all(sane_[0], values_[0]) || nearly_all(sane_[1], values_[1])) &&
          low_halves_ * 10 > samples_)
        return half_type();
      if (nearly_all(sane_[2], values_[2])) return ElementType::f32;
      if (nearly_all(small_words_, words_)) return ElementType::i32;
      return std::nullopt;
    case 8:
      // Likewise pairs of f32.
      if (nearly_all(sane_[2], values_[2]) && low_words_ * 10 > samples_) return ElementType::f32;
      if (nearly_all(sane_[3], values_[3])) return ElementType::f64;
      if (nearly_all(small_longs_, longs_)) return ElementType::i64;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace perflab::replay
