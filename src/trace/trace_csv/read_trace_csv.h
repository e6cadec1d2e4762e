// Reads rocprofv3's set of CSV tables (-f csv): <prefix>_kernel_trace.csv,
// <prefix>_hip_api_trace.csv and their siblings are one recording (docs/facts/rocprofv3_outputs.md
// "CSV"). Its <prefix>_counter_collection.csv is read by counter_csv/ and joined here.
#pragma once

#include <compare>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "trace/load_state.h"

namespace perflab::trace::trace_csv {

/// The tables of one recording: those of a folder whose names begin the same.
struct TableSet {
  std::filesystem::path folder;
  std::string prefix;  ///< "4242_"; empty: the tables have their bare names
  friend auto operator<=>(const TableSet&, const TableSet&) = default;
};

/// The set that a file belongs to, by its name; nullopt: none, or it is a table of counters without
/// a trace beside it (counter_csv/ reads that alone).
std::optional<TableSet> set_of(const std::filesystem::path& file);

/// All sets of a folder, in order; none where it is no folder.
std::vector<TableSet> sets_in(const std::filesystem::path& folder);

/// The tables of a set that are there and are read, in the order of reading.
std::vector<std::filesystem::path> files_of(const TableSet& set);

/// Appends a set to the state's Trace. Errors (bad_input) name the file: a column is missing, rows
/// of several processes, a broken table, a recording that was given before.
Result<void> load(LoadState& state, const TableSet& set);

/// A table as text, for callers that have no file.
struct NamedTable {
  std::string name;  ///< "kernel_trace", "hip_api_trace", ...: what stands behind the prefix
  std::string text;
};
Result<void> load_tables(LoadState& state, const std::vector<NamedTable>& tables,
                         const std::string& file);

}  // namespace perflab::trace::trace_csv
