// One database with every quirk that a reader of rocpd has to survive, and the counts of what
// stands in it. Three processes in one file: `a` (real spelling, loose constraints, odd rows), `b`
// (as rocprofiler-systems writes), and a third whose rows lie in the tables of `a`. The views lie.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/error.h"

namespace perflab::test {

/// Stands in the process environment of the quirks database; no output may ever hold it.
inline constexpr std::string_view kSecret = "hunter2-never-print-this";

/// What stands in the quirks database, counted while it was written.
struct QuirkCounts {
  std::int64_t processes = 0;
  std::int64_t dispatches = 0;             ///< rows, the unfinished ones included
  std::int64_t unfinished_dispatches = 0;  ///< start > end, or a timestamp of 0
  std::int64_t zero_length_dispatches = 0;
  std::int64_t dispatches_without_symbol = 0;
  std::int64_t null_queue_or_stream = 0;  ///< dispatches with a NULL queue or stream
  std::int64_t text_times = 0;            ///< dispatches whose times are whole numbers as TEXT
  std::int64_t real_times = 0;            ///< dispatches whose times are REAL (whole numbers)
  std::int64_t without_event = 0;         ///< dispatches with event NULL or no event row
  std::int64_t launched = 0;              ///< finished dispatches joined to a region by stack id
  std::int64_t regions = 0;
  std::int64_t unfinished_regions = 0;
  std::int64_t copies = 0;
  std::int64_t allocations = 0;
  std::int64_t counter_values = 0;        ///< rows of pmc_event
  std::int64_t stray_counter_values = 0;  ///< of these, rows that belong to no dispatch
};

/// Writes the database.
Result<QuirkCounts> write_quirks(const std::filesystem::path& path);

}  // namespace perflab::test
