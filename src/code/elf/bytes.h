// Little-endian values and ranges out of bytes that may be too short. The formats here are little
// endian, and so are the hosts that this is built for.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

namespace perflab::code {

static_assert(std::endian::native == std::endian::little);

/// The `size` bytes at `offset`; missing when they are not all there, whatever the numbers are.
inline std::optional<std::string_view> range_of(std::string_view bytes, std::uint64_t offset,
                                                std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  return bytes.substr(offset, size);
}

/// The T (an integer or a plain struct) at `offset`; missing when the bytes end before.
template <class T>
  requires std::is_trivially_copyable_v<T>
std::optional<T> value_at(std::string_view bytes, std::uint64_t offset) {
  const auto range = range_of(bytes, offset, sizeof(T));
  if (!range) return std::nullopt;
  T value;
  std::memcpy(&value, range->data(), sizeof(T));
  return value;
}

}  // namespace perflab::code
