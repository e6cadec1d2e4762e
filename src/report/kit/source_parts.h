// The parts of a source file that a document shows: all of a small one, else the surroundings of
// the lines that matter.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace perflab::report {

/// A file is shown as a whole up to so many lines, else this many around each line that matters.
inline constexpr std::int64_t kWholeFileLines = 300, kLinesAround = 12;
/// A longer line is cut at a character and ends in "…".
inline constexpr std::size_t kMostLineBytes = 300;

/// Lines in a row, without their ends.
struct SourcePart {
  std::int64_t first_line = 1;
  std::vector<std::string> text;
};

struct SourceParts {
  std::int64_t line_count = 0;  ///< of the whole file
  std::vector<SourcePart> parts;

  [[nodiscard]] std::size_t lines_shown() const;
};

/// `lines`: those that matter, from 1; lines that the file does not have are left out.
SourceParts source_parts(std::string_view text, const std::set<std::int64_t>& lines);

}  // namespace perflab::report
