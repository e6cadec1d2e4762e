// Reads tables of counters (CSV): rocprofv3's counter_collection.csv and rocprof-compute's long and
// wide tables (docs/facts/counters.md "Tables"), with the file about the machine beside them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "trace/counter_csv/csv_recording.h"
#include "trace/load_state.h"
#include "trace/trace.h"

namespace perflab::trace::counter_csv {

/// A table as text, for callers that have no file.
struct TableText {
  std::string_view text;
  std::string_view name;          ///< for messages
  std::string_view machine_text;  ///< sysinfo.csv or agent_info.csv; empty: there is none
  std::string_view machine_name;
};

/// The recordings of a table. Errors (bad_input) name the file: no table of a known kind, a missing
/// column, a field that is no number (line and column named), a broken file about the machine, ….
Result<std::vector<Recording>> parse(const TableText& table);

/// The recordings of a file, with the file about the machine that stands beside it. `threads`: 0
/// for as many as the process may run on.
Result<std::vector<Recording>> read_file(const std::filesystem::path& path, unsigned threads = 0);

/// Appends recordings to the state's Trace, in an order that the order of files does not change.
/// Error (bad_input): a recording is given twice.
Result<void> load(LoadState& state, std::vector<Recording> recordings);

}  // namespace perflab::trace::counter_csv
