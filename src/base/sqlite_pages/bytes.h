// Big-endian numbers, varints and page kinds of SQLite's file format
// (https://www.sqlite.org/fileformat2.html sections 1.6 and 2.1).
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace perflab::sqlite_pages {

/// What may be read behind the last byte of a page: a buffer of pages has so many bytes more.
inline constexpr std::size_t kSlack = 16;

/// First byte of a page of a table's tree.
inline constexpr std::uint8_t kTableInterior = 0x05, kTableLeaf = 0x0D;

/// SQLite takes a page with more cells for damaged.
constexpr std::uint32_t most_cells(std::uint32_t page_size) {
  return (page_size - 8) / 6;
}

template <class T>
T big_endian(const std::uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  if constexpr (std::endian::native == std::endian::big || sizeof(T) == 1)
    return value;
  else if constexpr (sizeof(T) == 2)
    return __builtin_bswap16(value);
  else if constexpr (sizeof(T) == 4)
    return __builtin_bswap32(value);
  else
    return __builtin_bswap64(value);
}

/// Reads a varint of 1 to 9 bytes, all of which must be readable, and returns how many it has.
inline std::uint32_t read_varint(const std::uint8_t* bytes, std::uint64_t& value) {
  if (bytes[0] < 0x80) {
    value = bytes[0];
    return 1;
  }
  std::uint64_t sum = bytes[0] & 0x7FU;
  for (std::uint32_t i = 1; i < 8; ++i) {
    sum = (sum << 7) | (bytes[i] & 0x7FU);
    if (bytes[i] < 0x80) {
      value = sum;
      return i + 1;
    }
  }
  value = (sum << 8) | bytes[8];
  return 9;
}

}  // namespace perflab::sqlite_pages
