// Field texts as numbers.
#include "trace/counter_csv/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text/numbers.h"
#include "base/text/text.h"
#include "trace/load_state.h"

namespace perflab::trace::counter_csv {
namespace {

/// The largest double that still is a 64-bit integer.
constexpr double kLargestWhole = 9.2e18;
constexpr std::size_t kMostQuoted = 60;

/// Whether a number in exponent form still has all digits down to the ones.
bool has_all_digits(std::string_view text) {
  const std::size_t e = text.find_first_of("eE");
  if (e == std::string_view::npos) return true;
  std::string_view power = text.substr(e + 1);
  if (power.starts_with('+')) power.remove_prefix(1);
  const auto exponent = whole_number<std::int64_t>(power);
  if (!exponent) return false;
  const std::size_t dot = text.substr(0, e).find('.');
  const std::size_t fraction = dot == std::string_view::npos ? 0 : e - dot - 1;
  return *exponent <= static_cast<std::int64_t>(fraction);
}

}  // namespace

std::unexpected<Error> bad_field(const Place& place, std::string_view text, std::string_view what) {
  std::string shown(text.substr(0, kMostQuoted));
  std::ranges::replace_if(shown, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return fail(ErrorCode::bad_input,
              fmt::format("{}: line {}, column {}: \"{}\" {}", place.file, place.line, place.column,
                          shown, what),
              "give the table as the profiler wrote it");
}

Result<std::int64_t> read_whole(const Place& place, std::string_view field) {
  const std::string_view text = trimmed(field);
  std::optional<std::int64_t> whole = whole_number<std::int64_t>(text);
  if (!whole) {
    const auto real = finite_number(text);
    if (!real) return bad_field(place, field, "is not a number");
    if (std::abs(*real) > kLargestWhole || *real != std::floor(*real))
      return bad_field(place, field, "is not a whole number");
    whole = static_cast<std::int64_t>(*real);
  }
  if (*whole < 0) return bad_field(place, field, "is below 0");
  return *whole;
}

Result<double> read_value(const Place& place, std::string_view field) {
  const auto value = finite_number(trimmed(field));
  if (!value) return bad_field(place, field, "is not a number");
  if (*value < 0) return bad_field(place, field, "is below 0");
  if (*value > kLargestCounter) return bad_field(place, field, "is more than any counter can hold");
  return *value;
}

Result<Time> read_time(const Place& place, std::string_view field) {
  const std::string_view text = trimmed(field);
  if (const auto whole = whole_number<std::int64_t>(text)) {
    if (*whole < 0) return bad_field(place, field, "is below 0");
    return Time{.ns = *whole};
  }
  const auto real = finite_number(text);
  if (!real) return bad_field(place, field, "is not a number");
  if (*real < 0) return bad_field(place, field, "is below 0");
  if (*real > kLargestWhole) return bad_field(place, field, "is not a time in nanoseconds");
  return Time{.ns = std::llround(*real), .exact = has_all_digits(text)};
}

}  // namespace perflab::trace::counter_csv
