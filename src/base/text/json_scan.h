// Where a JSON value ends, and whether brackets, commas, colons and keys stand where JSON has them.
// What is between them (numbers, words, escapes) is for who reads it.
#pragma once

namespace perflab {

struct JsonScan {
  const char* end = nullptr;  ///< behind the value; null: it does not end
  bool malformed = false;
};

/// Scans the value that begins at `at`, space in front of it allowed. A space must stand at `end`.
/// A number or word that reaches `end` does not end: more of it may follow. A loop over a table: a
/// quarter of the time in which simdjson makes its DOM (bench/README.md).
JsonScan scan_json_value(const char* at, const char* end);

constexpr bool is_json_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

}  // namespace perflab
