// CSV tables (RFC 4180: quoted fields, doubled quotes, line breaks inside quotes, CRLF) as rows of
// fields. The parser is libcsv; this is a thin, bounded wrapper.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/error.h"

namespace perflab {

/// A table with a header line. Every row has as many fields as the header.
struct CsvTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  ///< in file order; empty lines are left out

  /// Column of that exact name; nullopt when there is none. The first of several.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
};

/// Parses a table. `name` is the file's, for messages. Errors (bad_input): no header line, a row
/// with another number of fields (line given), a quote that is never closed, a NUL byte, a row of
/// more than 16 MiB.
Result<CsvTable> parse_csv(std::string_view text, std::string_view name);

/// A row as it is read: its fields (valid during the call only) and the line that it begins in,
/// counted from 1. An error ends the reading.
using CsvRowVisitor =
    std::function<Result<void>(std::span<const std::string_view> fields, std::size_t line)>;

/// Hands over row by row, the header line first, without keeping them. Errors: those of parse_csv,
/// the visitor's, and those of reading the bytes. With two `threads` (0: as many as the process may
/// run on) the next rows are cut while the visitor, called by either of them, has the last ones.
Result<void> for_each_csv_row(const ReadBytes& read, std::string_view name,
                              const CsvRowVisitor& visit, unsigned threads);
Result<void> for_each_csv_row(std::string_view text, std::string_view name,
                              const CsvRowVisitor& visit);

}  // namespace perflab
