// Reads ui_output folders and stats files of rocprofv3's thread trace (layouts 3.0.0 and 3.1.0).
// Facts: docs/facts/thread_trace.md. JSON goes through simdjson.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "att/thread_trace.h"
#include "base/error.h"

namespace perflab::att {

/// One traced dispatch on disk.
struct Found {
  std::filesystem::path folder;  ///< ui_output_*; empty: there is only the stats file
  std::filesystem::path stats;   ///< stats_ui_output_*.csv; empty: none
  std::string name;              ///< of the folder, or of the file without "stats_" and ".csv"
};

/// The traced dispatches in `place`: a ui_output folder, a stats file, or a folder that holds some,
/// at most three levels down. By name (agent and dispatch as numbers). Error (bad_input): it cannot
/// be read, or there are none; when raw .att files lie there the message says that they were never
/// decoded, and the remedy how that is done.
Result<std::vector<Found>> find(const std::filesystem::path& place);

/// Those of several places, each once and in the order that one place has, whatever the order of
/// the places. Errors: the first place's that has one.
Result<std::vector<Found>> find_all(const std::vector<std::filesystem::path>& places);

/// Everything but the waves' instructions. Falls back to the stats file when code.json is missing.
/// A malformed file is an error (bad_input); a missing one, a row that cannot be, or a negative
/// count is dropped and counted in ThreadTrace::dropped.
Result<ThreadTrace> read(const Found& found);

/// Larger copies of source files are not read.
inline constexpr std::uint64_t kMostSourceBytes = std::uint64_t{8} << 20;

/// Text of the trace's own copy of a source file; `path` as code rows name it, which may differ
/// from the copy's in "." and "..". Nothing outside the folder is read. Error (bad_input) without
/// any path in it, with its remedy: there is no copy, or it cannot be used.
Result<std::string> read_source(const Found& found, const ThreadTrace& trace,
                                const std::filesystem::path& path);

/// Called for each wave, from several threads at once, in any order. `index` is its place in
/// ThreadTrace::waves.
using WaveVisitor = std::function<void(std::size_t index, const Wave& wave)>;

/// Reads the wave files of a trace. Files that are missing are counted in `trace.dropped`; a
/// malformed one is an error (of the first in order), and nothing is counted then. Rows that cannot
/// be (negative cycles, a stall above the duration, times outside the wave, wrong types, numbers
/// beyond 64 bits) are dropped and counted. `threads` 0: all cores.
Result<void> read_waves(const Found& found, ThreadTrace& trace, const WaveVisitor& visit,
                        unsigned threads = 0);

}  // namespace perflab::att
