// Canonical text of values; a whole real below 2^63 is written as the whole number that it equals.
#include "tune/records/keys.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <variant>
#include <vector>

#include "tune/records/journal_text.h"

namespace perflab::tune {
namespace {

template <class Number>
void append_digits(std::string& out, Number number) {
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  out.append(buffer.data(), end);
}

void append_real(std::string& out, double number) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (std::trunc(number) == number && number >= -kTwoTo63 && number < kTwoTo63)
    append_digits(out, static_cast<std::int64_t>(number));
  else
    append_digits(out, number);
}

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

void append_key(std::string& out, const Value& value) {
  if (const auto* const truth = std::get_if<bool>(&value))
    out += *truth ? '1' : '0';
  else if (const auto* const whole = std::get_if<std::int64_t>(&value))
    append_digits(out, *whole);
  else if (const auto* const real = std::get_if<double>(&value))
    append_real(out, *real);
  else
    append_quoted(out, std::get<std::string>(value));
}

std::string configuration_key(std::vector<Binding> configuration) {
  std::ranges::sort(configuration, {}, &Binding::first);
  std::string key;
  for (const auto& [name, value] : configuration) {
    if (!key.empty()) key += ',';
    append_quoted(key, name);
    key += '=';
    append_key(key, value);
  }
  return key;
}

}  // namespace perflab::tune
