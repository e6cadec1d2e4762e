// What the header of a record says: where the wanted columns are and what they hold
// (https://www.sqlite.org/fileformat2.html section 2.1). Records that follow each other mostly have
// one of a few headers: those are remembered, so that a row costs a comparison of its header.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/equal_bytes.h"
#include "base/sqlite_pages/bytes.h"
#include "base/sqlite_pages/layout.h"

namespace perflab::sqlite_pages {

enum class Held : std::uint8_t { null, integer, real, whole_real, bytes, text, rowid };

/// One wanted value of a record.
struct Place {
  std::uint32_t begin = 0, end = 8;  ///< from the record's first byte
  std::int8_t mask = 0;              ///< of integers: all bits, none for the constants 0 and 1
  std::int8_t constant = 0;          ///< of integers: 1 for the constant 1
  std::uint8_t shift = 0;            ///< of integers: 64 - 8 * their bytes
  Held held = Held::null;

  /// The integer. 8 bytes are read that end with its last one: no page begins so late, and the
  /// constants need no branch.
  [[nodiscard]] std::int64_t integer(const std::uint8_t* record) const {
    const auto bits = big_endian<std::uint64_t>(record + end - 8);
    return ((static_cast<std::int64_t>(bits << shift) >> shift) & mask) + constant;
  }
};

/// Where a scan wants at most so many columns.
inline constexpr std::size_t kMostColumns = 24;

struct Shape {
  std::uint64_t payload = 0;  ///< bytes of the record
  std::uint64_t needed = 0;   ///< of them, up to the last wanted value
  std::array<Place, kMostColumns> places{};
};

/// Shapes of one table's records, for one thread.
class Shapes {
 public:
  /// Precondition: at most kMostColumns columns.
  explicit Shapes(const std::vector<WantedColumn>& columns) : columns_(columns), known_(kKnown) {}

  /// The shape of a record of which `local` bytes are there, and kSlack bytes more can be read;
  /// valid until the next call.
  FromPages<const Shape*> of(const std::uint8_t* record, std::uint32_t local) {
    const std::uint32_t size = record[0];
    if (size > kLongest || size < 8 || size > local) return unusual(record, local);
    // Two places for each hash: tables of some hundred shapes are usual.
    const std::size_t place = hash(record, size) >> kHashShift;
    Known& known = known_[place];
    if (equal_bytes(known.header.data(), record, size)) return &known.shape;
    Known& other = known_[place ^ 1];
    if (equal_bytes(other.header.data(), record, size)) return &other.shape;
    Known& made = known.header[0] == 0 ? known : other;
    if (const auto done = make(record, local, made.shape); !done) {
      made.header[0] = 0;
      return std::unexpected(done.error());
    }
    std::memcpy(made.header.data(), record, size);
    return &made.shape;
  }

 private:
  static constexpr std::uint32_t kLongest = 64;
  static constexpr std::size_t kKnown = 512;
  static constexpr int kHashShift = 55;

  struct Known {
    std::array<std::uint8_t, kLongest> header{};  ///< begins with its size; 0: none
    Shape shape;
  };

  static std::uint64_t eight_bytes(const std::uint8_t* bytes) {
    std::uint64_t value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }

  static std::uint64_t hash(const std::uint8_t* bytes, std::uint32_t size) {
    constexpr std::uint64_t kFactor = 0x9E37'79B9'7F4A'7C15;
    std::uint64_t sum = 0;
    for (std::uint32_t at = 0; at + 8 < size; at += 8)
      sum = (sum ^ eight_bytes(bytes + at)) * kFactor;
    sum ^= sum >> 32;
    return (sum ^ eight_bytes(bytes + size - 8)) * kFactor;
  }

  FromPages<const Shape*> unusual(const std::uint8_t* record, std::uint32_t local);
  FromPages<void> make(const std::uint8_t* record, std::uint32_t local, Shape& shape) const;

  std::vector<WantedColumn> columns_;
  std::vector<Known> known_;
  Shape unusual_;
};

}  // namespace perflab::sqlite_pages
