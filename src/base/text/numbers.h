// Whole numbers out of text: all of the text, or none.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace perflab {

/// The number that the whole text is; missing: it is none, or too large for T.
template <class T = std::uint64_t>
std::optional<T> whole_number(std::string_view text, int base = 10) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "0x1f" alone; missing: it has no such beginning.
template <class T = std::uint64_t>
std::optional<T> hex_number(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  return whole_number<T>(text.substr(2), 16);
}

/// "31" or "0x1f".
template <class T = std::uint64_t>
std::optional<T> number_of(std::string_view text) {
  return text.starts_with("0x") ? hex_number<T>(text) : whole_number<T>(text);
}

}  // namespace perflab
