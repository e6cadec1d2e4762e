// Numbers of a table's fields, with messages that name file, line and column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"

namespace perflab::trace::counter_csv {

/// Where a field stands.
struct Place {
  std::string_view file;
  std::size_t line = 0;
  std::string_view column;
};

/// A point in time as far as the text still knows it.
struct Time {
  std::int64_t ns = 0;
  bool exact = true;  ///< false: digits were lost ("8.1097E+14")
};

/// The error (bad_input) for a field: "results.csv: line 3, column Grid_Size: "abc" is no number".
[[nodiscard]] std::unexpected<Error> bad_field(const Place& place, std::string_view text,
                                               std::string_view what);

/// A whole number from 0 on; "16.0" is one too (tables that went through pandas).
Result<std::int64_t> read_whole(const Place& place, std::string_view text);

/// A counter's value: finite, from 0 on, at most 2^64 (counters are registers of 64 bits).
Result<double> read_value(const Place& place, std::string_view text);

/// Nanoseconds from 0 on, rounded when they have a fraction. Not exact when the text is in
/// exponent form and has fewer digits than the exponent takes.
Result<Time> read_time(const Place& place, std::string_view text);

}  // namespace perflab::trace::counter_csv
