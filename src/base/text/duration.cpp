// A number and an optional unit.
#include "base/text/duration.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

namespace perflab {

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 5> kUnits = {
      {{"", 1e3}, {"ms", 1}, {"s", 1e3}, {"m", 6e4}, {"h", 3.6e6}}};
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (parsed.ec == std::errc{}) {
    const std::string_view unit(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
    for (const auto& [name, milliseconds] : kUnits)
      if (unit == name && number * milliseconds >= 1 && number * milliseconds < 1e12)
        return std::chrono::milliseconds(static_cast<std::int64_t>(number * milliseconds));
  }
  return fail(ErrorCode::usage, fmt::format("'{}' is not a duration", text),
              "write it as 90s, 10m, 1.5h or 500ms");
}

Result<std::chrono::nanoseconds> parse_short_time(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits = {
      {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  constexpr double kMost = 3.6e12;
  if (text == "0") return std::chrono::nanoseconds(0);
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (parsed.ec == std::errc{}) {
    const std::string_view unit(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
    for (const auto& [name, nanoseconds] : kUnits)
      if (unit == name && number >= 0 && number * nanoseconds <= kMost)
        return std::chrono::nanoseconds(static_cast<std::int64_t>(number * nanoseconds + 0.5));
  }
  return fail(ErrorCode::usage, fmt::format("'{}' is not a time", text),
              "write it as 0, 500ns, 5us, 1.5ms or 2s");
}

}  // namespace perflab
