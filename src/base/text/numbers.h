// Numbers out of text, without locale and leading blanks.
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
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
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The number that the whole text is, "inf" and "nan" too.
inline std::optional<double> real_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The finite number that the whole text is: "1.5", "-2e9".
inline std::optional<double> finite_number(std::string_view text) {
  const std::optional<double> value = real_number(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// Takes the whole number off that the text begins with; missing: it begins with none, or with one
/// too large for T.
template <class T = std::uint64_t>
std::optional<T> take_number(std::string_view& text, int base = 10) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
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
