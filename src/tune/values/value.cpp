// Values of tuning parameters: text, equality as Python has it (a whole number and a real are
// compared exactly: https://docs.python.org/3/library/stdtypes.html), JSON.
#include "tune/values/value.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>

namespace perflab::tune {
namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;

/// bool and int as a whole number; nothing for the others.
std::optional<std::int64_t> whole_of(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole;
  return std::nullopt;
}

std::string real_text(double value) {
  std::array<char, 40> buffer{};
  const auto* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  // A real stays one when it is read back; "inf" and "nan" have letters of their own.
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

std::string to_text(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *whole);
  if (const auto* real = std::get_if<double>(&value)) return real_text(*real);
  return std::get<std::string>(value);
}

std::partial_ordering compare_exactly(std::int64_t whole, double real) {
  if (std::isnan(real)) return std::partial_ordering::unordered;
  if (real >= kTwoTo63) return std::partial_ordering::less;
  if (real < -kTwoTo63) return std::partial_ordering::greater;
  const double floor = std::floor(real);
  const auto floor_whole = static_cast<std::int64_t>(floor);
  if (whole != floor_whole) return whole <=> floor_whole;
  return floor == real ? std::partial_ordering::equivalent : std::partial_ordering::less;
}

bool same_value(const Value& a, const Value& b) {
  const auto* text_a = std::get_if<std::string>(&a);
  const auto* text_b = std::get_if<std::string>(&b);
  if (text_a != nullptr || text_b != nullptr)
    return text_a != nullptr && text_b != nullptr && *text_a == *text_b;
  const std::optional<std::int64_t> whole_a = whole_of(a);
  const std::optional<std::int64_t> whole_b = whole_of(b);
  if (whole_a && whole_b) return *whole_a == *whole_b;
  if (whole_a) return compare_exactly(*whole_a, std::get<double>(b)) == 0;
  if (whole_b) return compare_exactly(*whole_b, std::get<double>(a)) == 0;
  return std::get<double>(a) == std::get<double>(b);
}

std::size_t ValueHash::operator()(const Value& value) const {
  if (const auto* text = std::get_if<std::string>(&value)) return std::hash<std::string>{}(*text);
  if (const std::optional<std::int64_t> whole = whole_of(value))
    return std::hash<std::int64_t>{}(*whole);
  const double real = std::get<double>(value);
  if (real >= -kTwoTo63 && real < kTwoTo63 && std::floor(real) == real)
    return std::hash<std::int64_t>{}(static_cast<std::int64_t>(real));
  return std::hash<double>{}(real);
}

std::optional<double> number_of(const Value& value) {
  if (const std::optional<std::int64_t> whole = whole_of(value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

Json to_json(const Value& value) {
  return std::visit([](const auto& alternative) { return Json(alternative); }, value);
}

Result<Value> value_from_json(const Json& json, std::string_view what) {
  if (json.is_boolean()) return Value(json.get<bool>());
  if (json.is_number_unsigned()) {
    const auto number = json.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return fail(ErrorCode::bad_input, fmt::format("{}: {} does not fit 64 bits", what, number));
    return Value(static_cast<std::int64_t>(number));
  }
  if (json.is_number_integer()) return Value(json.get<std::int64_t>());
  if (json.is_number_float()) {
    const auto number = json.get<double>();
    if (!std::isfinite(number))
      return fail(ErrorCode::bad_input, fmt::format("{}: a number that is not finite", what));
    return Value(number);
  }
  if (json.is_string()) return Value(json.get<std::string>());
  return fail(ErrorCode::bad_input, fmt::format("{}: {} where a number, a string, true or false "
                                                "belongs",
                                                what, json.type_name()));
}

}  // namespace perflab::tune
