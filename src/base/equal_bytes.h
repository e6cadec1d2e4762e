// Comparing a few dozen bytes in loops over millions of rows, without a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace perflab {

/// memcmp() == 0 of at least 8 bytes.
[[gnu::always_inline]] inline bool equal_bytes(const void* a, const void* b, std::size_t size) {
  const auto eight = [](const void* bytes, std::size_t at) {
    std::uint64_t value;
    std::memcpy(&value, static_cast<const char*>(bytes) + at, sizeof value);
    return value;
  };
  std::uint64_t different = eight(a, size - 8) ^ eight(b, size - 8);
  for (std::size_t at = 0; at + 8 < size; at += 8) different |= eight(a, at) ^ eight(b, at);
  return different == 0;
}

}  // namespace perflab
