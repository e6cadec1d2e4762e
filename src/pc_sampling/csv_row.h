// Fields of a row of rocprofv3's CSV, whose texts stand between quotes with quotes inside as they
// are (docs/facts/pc_sampling.md "CSV"). Internal to src/pc_sampling and its tests.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace perflab::pc_sampling {

class CsvRow {
 public:
  /// `texts`: the first of two columns, one behind the other, that may hold quotes; npos: none may.
  CsvRow(std::size_t columns, std::size_t texts) : columns_(columns), texts_(texts) {}
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  /// Splits a line; false: it has not these columns. Fields are valid as long as the line.
  bool split(std::string_view line);
  [[nodiscard]] std::string_view operator[](std::size_t column) const { return fields_[column]; }

 private:
  bool split_quoted(std::string_view line);
  bool split_raw(std::string_view line);

  std::size_t columns_, texts_;
  std::vector<std::string_view> fields_;
  std::vector<std::string> unescaped_;  ///< of fields with doubled quotes
};

/// Fields of a header line, whose names have no quotes inside.
std::vector<std::string> csv_header(std::string_view line);

}  // namespace perflab::pc_sampling
