// Digits are added up with the place of the point beside them.
#include "trace/kineto/times.h"

#include <limits>

#include "base/text/numbers.h"

namespace perflab::trace::kineto {
namespace {

/// Digits that microseconds have behind the point until they are nanoseconds.
constexpr int kPlaces = 3;

/// `value` with `places` more digits behind it: zeros, or fewer of its own.
std::optional<std::int64_t> shifted(std::int64_t value, int places) {
  for (; places < 0 && value != 0; ++places) value /= 10;
  for (; places > 0 && value != 0; --places) {
    if (value > std::numeric_limits<std::int64_t>::max() / 10) return std::nullopt;
    value *= 10;
  }
  return value;
}

}  // namespace

std::optional<std::int64_t> microseconds(std::string_view number) {
  const bool negative = number.starts_with('-');
  if (negative) number.remove_prefix(1);
  std::int64_t value = 0;
  int places = kPlaces;
  bool digits = false, point = false;
  std::size_t i = 0;
  for (; i < number.size(); ++i) {
    const char c = number[i];
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (c < '0' || c > '9') break;
    digits = true;
    if (value > (std::numeric_limits<std::int64_t>::max() - 9) / 10) {
      if (point) continue;  // further digits are less than a nanosecond
      return std::nullopt;
    }
    value = value * 10 + (c - '0');
    if (point) --places;
  }
  if (!digits) return std::nullopt;
  if (i < number.size()) {
    if (number[i] != 'e' && number[i] != 'E') return std::nullopt;
    std::string_view exponent = number.substr(i + 1);
    if (exponent.starts_with('+')) exponent.remove_prefix(1);
    const auto power = whole_number<int>(exponent);
    if (!power || *power < -1000 || *power > 1000) return std::nullopt;
    places += *power;
  }
  const auto nanoseconds = shifted(value, places);
  if (!nanoseconds) return std::nullopt;
  return negative ? -*nanoseconds : *nanoseconds;
}

}  // namespace perflab::trace::kineto
