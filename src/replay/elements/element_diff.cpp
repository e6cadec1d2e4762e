// Comparison of two memories element by element. Equal blocks are skipped with memcmp; only what
// differs is decoded.
#include "replay/elements/element_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace perflab::replay {
namespace {

constexpr std::size_t kMostExamples = 5;
constexpr std::size_t kBlock = 64;  ///< bytes skipped at a time when nothing changed
/// The bucket of distance 0: +0 and -0.
constexpr int kZeroBucket = std::numeric_limits<int>::min();
constexpr int kLeastPower = -323, kMostPower = 308;  ///< of ten, in a double

std::uint64_t load_bits(std::span<const std::byte> bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), std::min(bytes.size(), sizeof(bits)));
  return bits;
}

std::uint64_t different_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i];
  return count;
}

/// 10^power, correctly rounded.
double power_of_ten(int power) {
  static const auto* const kTable = [] {
    auto* const powers = new std::array<double, kMostPower - kLeastPower + 1>{};
    for (int i = kLeastPower; i <= kMostPower; ++i) {
      const std::string text = fmt::format("1e{}", i);
      std::from_chars(text.data(), text.data() + text.size(),
                      powers->at(static_cast<std::size_t>(i - kLeastPower)));
    }
    return powers;
  }();
  return kTable->at(static_cast<std::size_t>(power - kLeastPower));
}

/// The least power of ten that is not below the distance.
int decade_of(double distance) {
  if (distance == 0) return kZeroBucket;
  int power =
      std::clamp(static_cast<int>(std::ceil(std::log10(distance))), kLeastPower, kMostPower);
  while (power > kLeastPower && power_of_ten(power - 1) >= distance) --power;
  while (power < kMostPower && power_of_ten(power) < distance) ++power;
  // Between 1e308 and the largest double there is one decade more, without a bound of its own.
  return power_of_ten(power) < distance ? kMostPower + 1 : power;
}

std::vector<Bucket> decades(const std::map<int, std::uint64_t>& counts) {
  std::vector<Bucket> out;
  for (const auto& [power, elements] : counts)
    out.push_back(
        {.upto = power == kZeroBucket ? "0" : fmt::format("1e{}", power), .elements = elements});
  return out;
}

std::vector<Bucket> doublings(const std::map<int, std::uint64_t>& counts) {
  std::vector<Bucket> out;
  for (const auto& [power, elements] : counts) {
    std::string upto = "0";
    if (power == 64) upto = "18446744073709551616";  // 2^64
    if (power >= 0 && power < 64) upto = fmt::format("{}", std::uint64_t{1} << power);
    out.push_back({.upto = std::move(upto), .elements = elements});
  }
  return out;
}

/// A quotient or difference that does not fit a double is the largest one: JSON has no infinity.
double within_double(long double value) {
  constexpr double kMost = std::numeric_limits<double>::max();
  return value > static_cast<long double>(kMost) ? kMost : static_cast<double>(value);
}

template <class T>
void raise_to(std::optional<T>& largest, T value) {
  if (!largest || *largest < value) largest = value;
}

std::string bytes_text(std::span<const std::byte> bytes) {
  std::string out = "0x";
  for (const std::byte one : bytes) out += fmt::format("{:02x}", std::to_integer<unsigned>(one));
  return out;
}

}  // namespace

struct ElementDiffer::Judgement {
  bool within = false;
  bool nan_expected = false, nan_found = false, infinity_mismatch = false;
  std::optional<std::uint64_t> ulp;
  std::optional<double> relative, absolute;
};

ElementDiffer::ElementDiffer(std::optional<ElementType> type, std::string type_from,
                             const DiffOptions& options)
    : options_(options) {
  counts_.type = type;
  counts_.type_from = std::move(type_from);
  if (type) element_bytes_ = bytes_of(*type);
}

/// Two elements of different bits.
ElementDiffer::Judgement ElementDiffer::judge(std::uint64_t expected, std::uint64_t found) const {
  Judgement out;
  if (!counts_.type) return out;
  if (!is_float(*counts_.type)) {
    const auto shift = static_cast<int>(64 - 8 * element_bytes_);
    const bool is_signed = to_string(*counts_.type).front() == 'i';
    // Both moved to the top, so that the order of the full width is theirs.
    const std::uint64_t flip = is_signed ? std::uint64_t{1} << 63U : 0;
    const std::uint64_t a = expected << shift ^ flip, b = found << shift ^ flip;
    out.absolute = static_cast<double>((a > b ? a - b : b - a) >> shift);
    return out;
  }
  const FloatValue a = decode_float(*counts_.type, expected);
  const FloatValue b = decode_float(*counts_.type, found);
  out.nan_expected = a.what == FloatClass::nan;
  out.nan_found = b.what == FloatClass::nan;
  if (out.nan_expected || out.nan_found) {
    out.within = out.nan_expected && out.nan_found && options_.nan_equal;
    return out;
  }
  if (a.what == FloatClass::infinite || b.what == FloatClass::infinite) {
    out.infinity_mismatch = true;
    return out;
  }
  out.ulp = a.place > b.place
                ? static_cast<std::uint64_t>(a.place) - static_cast<std::uint64_t>(b.place)
                : static_cast<std::uint64_t>(b.place) - static_cast<std::uint64_t>(a.place);
  const long double difference =
      std::fabs(static_cast<long double>(a.value) - static_cast<long double>(b.value));
  const long double size = std::fabs(static_cast<long double>(a.value));
  out.absolute = within_double(difference);
  if (size > 0) out.relative = within_double(difference / size);
  if (options_.max_ulp && *out.ulp <= *options_.max_ulp) out.within = true;
  if ((options_.max_absolute || options_.max_relative) &&
      difference <= static_cast<long double>(options_.max_absolute.value_or(0)) +
                        static_cast<long double>(options_.max_relative.value_or(0)) * size)
    out.within = true;
  return out;
}

bool ElementDiffer::accepts(std::span<const std::byte> expected,
                            std::span<const std::byte> found) const {
  if (same_bytes(expected, found)) return true;
  if (expected.size() != element_bytes_) return false;
  return judge(load_bits(expected), load_bits(found)).within;
}

void ElementDiffer::count(std::uint64_t offset, std::span<const std::byte> expected,
                          std::span<const std::byte> found) {
  tally_.compared_bytes += expected.size();
  ++counts_.elements;
  if (!same_bytes(expected, found)) count_difference(offset, expected, found);
}

void ElementDiffer::count_difference(std::uint64_t offset, std::span<const std::byte> expected,
                                     std::span<const std::byte> found) {
  ++counts_.different;
  const bool whole = expected.size() == element_bytes_;
  const Judgement judged = whole ? judge(load_bits(expected), load_bits(found)) : Judgement{};
  counts_.nan_expected += judged.nan_expected;
  counts_.nan_found += judged.nan_found;
  counts_.infinity_mismatches += judged.infinity_mismatch;
  if (judged.ulp) {
    raise_to(counts_.largest_ulp, *judged.ulp);
    // 1 -> 0, 2 -> 1, 3 and 4 -> 2, 5 to 8 -> 3: the least power of two that is not below it.
    ++ulp_[*judged.ulp == 0 ? kZeroBucket : static_cast<int>(std::bit_width(*judged.ulp - 1))];
  }
  if (judged.relative) {
    raise_to(counts_.largest_relative, *judged.relative);
    ++relative_[decade_of(*judged.relative)];
  }
  if (judged.absolute) {
    raise_to(counts_.largest_absolute, *judged.absolute);
    ++absolute_[decade_of(*judged.absolute)];
  }
  if (judged.within) return;
  ++counts_.beyond_tolerance;
  const bool typed = whole && counts_.type.has_value();
  auto& examples = counts_.examples;
  const auto place = std::ranges::upper_bound(examples, offset, {}, &ElementDiff::Example::offset);
  if (examples.size() == kMostExamples && place == examples.end()) return;
  examples.insert(
      place,
      {.offset = offset,
       .expected = typed ? element_text(*counts_.type, load_bits(expected)) : bytes_text(expected),
       .found = typed ? element_text(*counts_.type, load_bits(found)) : bytes_text(found)});
  if (examples.size() > kMostExamples) examples.pop_back();
}

void ElementDiffer::element(const Piece& piece, std::size_t at, std::size_t bytes,
                            ByteMask* unexpected) {
  const auto before = piece.before.subspan(at, bytes), expected = piece.expected.subspan(at, bytes),
             found = piece.found.subspan(at, bytes);
  const bool changed = !same_bytes(before, expected);
  if (changed) tally_.changed_bytes += different_bytes(before, expected);
  const bool equal = same_bytes(expected, found);
  if (!changed && equal) return;
  bool excluded = false;
  if (piece.excluded != nullptr)
    for (std::size_t i = 0; i < bytes; ++i) excluded = excluded || piece.excluded->test(at + i);
  if (excluded) {
    tally_.excluded_bytes += bytes;
    return;
  }
  count(piece.offset + at, expected, found);
  if (changed) return;
  tally_.unexpected_bytes += different_bytes(before, found);
  if (unexpected == nullptr) return;
  for (std::size_t i = 0; i < bytes; ++i)
    if (before[i] != found[i]) unexpected->set(at + i);
}

/// Counts a block in which what was found is what was expected. False: it has to be looked at
/// element by element.
bool ElementDiffer::feed_equal(const Piece& piece, std::size_t begin, std::size_t end) {
  const auto of = [&](std::span<const std::byte> all) { return all.subspan(begin, end - begin); };
  if ((end - begin) % 8 != 0 || !same_bytes(of(piece.expected), of(piece.found))) return false;
  Tally fresh;
  for (std::size_t at = begin; at < end; at += 8) {
    const std::uint8_t changed =
        nonzero_bytes(eight_at(piece.before, at) ^ eight_at(piece.expected, at));
    const std::uint8_t compared = whole_elements(changed, element_bytes_);
    if (piece.excluded != nullptr && (piece.excluded->eight(at) & compared) != 0) return false;
    fresh.changed_bytes += static_cast<std::uint64_t>(std::popcount(changed));
    fresh.compared_bytes += static_cast<std::uint64_t>(std::popcount(compared));
  }
  tally_.changed_bytes += fresh.changed_bytes;
  tally_.compared_bytes += fresh.compared_bytes;
  counts_.elements += fresh.compared_bytes / element_bytes_;
  return true;
}

void ElementDiffer::feed(const Piece& piece, ByteMask* unexpected) {
  const std::size_t size = piece.expected.size();
  for (std::size_t block = 0; block < size; block += kBlock) {
    const std::size_t end = std::min(block + kBlock, size);
    const auto of = [&](std::span<const std::byte> all) { return all.subspan(block, end - block); };
    if (same_bytes(of(piece.before), of(piece.expected)) &&
        same_bytes(of(piece.expected), of(piece.found)))
      continue;
    if (feed_equal(piece, block, end)) continue;
    for (std::size_t at = block; at < end; at += element_bytes_) {
      if (end - at >= element_bytes_) {
        element(piece, at, element_bytes_, unexpected);
        continue;
      }
      for (std::size_t i = at; i < end; ++i) element(piece, i, 1, unexpected);
    }
  }
}

ElementDiff ElementDiffer::result() const {
  ElementDiff out = counts_;
  out.ulp = doublings(ulp_);
  out.relative = decades(relative_);
  out.absolute = decades(absolute_);
  return out;
}

}  // namespace perflab::replay
