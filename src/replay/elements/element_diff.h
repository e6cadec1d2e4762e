// Comparing outputs: bitwise first, then by element type with distances in ULP, relative and
// absolute, and a policy for NaN and infinity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replay/elements/byte_mask.h"
#include "replay/elements/element_type.h"

namespace perflab::replay {

/// What counts as equal. Integers and unknown types: bitwise only. Floats: equal bits always;
/// otherwise at most `max_ulp` values apart, or |found - expected| <= max_absolute + max_relative *
/// |expected| (a missing one of the two counts as 0). Infinity equals only itself.
struct DiffOptions {
  std::optional<ElementType> type{};  ///< missing: found from the kernel's arguments and the data
  std::optional<std::uint64_t> max_ulp{};
  std::optional<double> max_relative{}, max_absolute{};
  bool nan_equal = true;  ///< a NaN equals any other NaN; else only one of the same bits

  [[nodiscard]] bool has_tolerance() const { return max_ulp || max_relative || max_absolute; }
};

/// Distances of the elements that differ. Buckets: ULP by powers of two (1, 2, 3-4, 5-8, ...),
/// relative and absolute by powers of ten. Buckets that are empty are left out.
struct Bucket {
  std::string upto;  ///< "0", "1", "2", "4", ...; "0", "1e-7", ...
  std::uint64_t elements = 0;
};

/// What a comparison found. NaN and infinity have no distance, nor has an expected zero a relative
/// one: those elements are in no bucket of that kind.
struct ElementDiff {
  std::optional<ElementType> type;
  std::string type_from;  ///< "given", "the kernel's arguments", "the data"; empty: no type found
  std::uint64_t elements = 0, different = 0, beyond_tolerance = 0;  ///< bytes without a type
  /// Among the elements that differ: NaN where it was expected or found, infinity on one side only
  /// or of the other sign.
  std::uint64_t nan_expected = 0, nan_found = 0, infinity_mismatches = 0;
  std::optional<std::uint64_t> largest_ulp;
  std::optional<double> largest_relative, largest_absolute;
  std::vector<Bucket> ulp, relative, absolute;
  /// The first elements that are beyond tolerance: offset in the region, expected, found.
  struct Example {
    std::uint64_t offset = 0;
    std::string expected, found;
  };
  std::vector<Example> examples;  ///< at most 5
};

/// Whether two pieces of memory of one size hold the same bytes.
inline bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::memcmp(a.data(), b.data(), a.size()) == 0;
}

/// At most a page of a region, three times. Offsets are whole elements, sizes too except at the
/// region's end, where the rest is compared byte by byte.
struct Piece {
  std::uint64_t offset = 0;  ///< in the region, bytes
  std::span<const std::byte> before, expected, found;
  const ByteMask* excluded = nullptr;  ///< elements with one of these bytes are counted apart
};

/// Counts over pieces.
struct Tally {
  std::uint64_t changed_bytes = 0;     ///< before and expected differ
  std::uint64_t compared_bytes = 0;    ///< of elements that changed on either side
  std::uint64_t unexpected_bytes = 0;  ///< found differs from before in an element that did not
                                       ///< change in what is expected
  std::uint64_t excluded_bytes = 0;    ///< of elements that are excluded
};

/// Compares one region piece by piece, in fixed memory. An element counts when its expected or its
/// found bytes differ from those before.
class ElementDiffer {
 public:
  ElementDiffer(std::optional<ElementType> type, std::string type_from, const DiffOptions& options);

  /// `unexpected`, when given, gets the bytes that are (numbers within the piece).
  void feed(const Piece& piece, ByteMask* unexpected = nullptr);
  /// Counts one element that is known to have been written though nothing changed.
  void count(std::uint64_t offset, std::span<const std::byte> expected,
             std::span<const std::byte> found);
  /// Whether two elements (bytes_of(type) bytes, or any number without a type) count as equal.
  [[nodiscard]] bool accepts(std::span<const std::byte> expected,
                             std::span<const std::byte> found) const;

  /// Bytes of an element; 1 without a type.
  [[nodiscard]] std::size_t element_bytes() const { return element_bytes_; }
  [[nodiscard]] const Tally& tally() const { return tally_; }
  [[nodiscard]] ElementDiff result() const;

 private:
  struct Judgement;
  [[nodiscard]] Judgement judge(std::uint64_t expected, std::uint64_t found) const;
  [[nodiscard]] bool feed_equal(const Piece& piece, std::size_t begin, std::size_t end);
  void element(const Piece& piece, std::size_t at, std::size_t bytes, ByteMask* unexpected);
  void count_difference(std::uint64_t offset, std::span<const std::byte> expected,
                        std::span<const std::byte> found);

  DiffOptions options_;
  std::size_t element_bytes_ = 1;
  ElementDiff counts_;
  Tally tally_;
  std::map<int, std::uint64_t> ulp_, relative_, absolute_;  ///< by exponent
};

}  // namespace perflab::replay
