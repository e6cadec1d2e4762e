// Lists of rows of whole numbers, which nearly all of a wave's file is, read from the text itself:
// simdjson's DOM writes 16 bytes for each number, and reading them again takes as long as parsing.
// What is written in any other way than rocprofv3 writes it is left to the DOM. Internal to
// src/att.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace perflab::att {

/// The list of rows that stands behind `key` ("\"timeline\":"), from "[[" to "]]". Empty: the key
/// is not there exactly once, or something else stands behind it. Checks nothing within the list.
inline std::string_view rows_behind(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos || text.find(key, at + 1) != std::string_view::npos) return {};
  std::string_view rest = text.substr(at + key.size());
  if (!rest.starts_with("[[")) return {};
  // Numbers have no quotes: the list ends before the next key, or with the objects around it.
  rest = rest.substr(0, rest.find('"'));
  while (rest.ends_with(',') || rest.ends_with('}') || rest.ends_with('\n')) rest.remove_suffix(1);
  return rest.ends_with("]]") ? rest : std::string_view{};
}

/// Takes a whole number that a row holds; false: it is none, or may not fit 64 bits. Reads nothing
/// behind the first byte that belongs to no number.
[[gnu::always_inline]] inline bool take_whole(const char*& at, std::int64_t& value) {
  constexpr std::ptrdiff_t kMostDigits = 18;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool negative = *at == '-';
  if (negative) ++at;
  const char* const begin = at;
  std::int64_t digits = 0;
  while (is_digit(*at) && at - begin < kMostDigits) digits = 10 * digits + (*at++ - '0');
  if (at == begin || is_digit(*at) || (*begin == '0' && at - begin > 1)) return false;
  value = negative ? -digits : digits;
  return true;
}

/// Calls take(values, count) for each row of a list as rows_behind() gives it: its first N numbers,
/// and how many it has. False: it is not such a list; some rows may have been taken.
template <std::size_t N, class Take>
[[nodiscard]] bool for_each_row(std::string_view list, const Take& take) {
  // Every byte is looked at before the next one, and the last one ends any number and any row.
  const char* at = list.data() + 1;
  const char* const last = list.data() + list.size() - 1;
  while (*at == '[') {
    ++at;
    std::array<std::int64_t, N> values{};
    std::size_t count = 0;
    if (*at == ']') return false;
    while (true) {
      std::int64_t value = 0;
      if (!take_whole(at, value)) return false;
      if (count < N) values[count] = value;
      ++count;
      if (*at != ',') break;
      ++at;
    }
    if (*at != ']' || at == last) return false;
    ++at;
    take(values, count);
    if (at == last) return *at == ']';
    if (*at != ',') return false;
    ++at;
  }
  return false;
}

}  // namespace perflab::att
