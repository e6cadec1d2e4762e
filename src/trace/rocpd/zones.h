// What of each range of rows of a table is known before the rows are read: when they begin and
// which events they name. Of a part of a run only the ranges are then read that can have rows of
// it, and of the events only those that they name.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "trace/part.h"

namespace perflab::trace::rocpd {

class File;
struct Table;

/// Of a range of rows of a table with times: of its finished ones.
struct Zone {
  static constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

  std::int64_t first_start = kMost, last_start = kLeast;
  std::int64_t first_event = kMost, last_event = kLeast;
  std::uint64_t rows = 0;  ///< with those that are not finished
};

/// Zones of the ranges of dispatches, regions and copies (scan_ranges()), by the table's name.
struct Zones {
  std::map<std::string, std::vector<Zone>> of;

  /// The earliest start of all; Zone::kMost: there is none.
  [[nodiscard]] std::int64_t earliest() const;
};

/// Looks at the times of all rows.
Result<Zones> find_zones(File& file);

/// Lets scans of the file read only the ranges that have rows of the window, or events of such
/// rows. Returns how many rows are in the other ranges, by the table's base name.
std::map<std::string, std::uint64_t> read_only(const Window& window, const Zones& zones,
                                               File& file);

}  // namespace perflab::trace::rocpd
