// Reads rocpd databases (rocprofv3, rocprofiler-systems; schema 3) into one Trace. Facts:
// docs/facts/rocpd.md.
#pragma once

#include <filesystem>
#include <span>

#include "base/error.h"
#include "trace/load_state.h"
#include "trace/read_options.h"
#include "trace/trace.h"

namespace perflab::trace::rocpd {

/// Appends all recordings of a database to the state's Trace; `options.threads` as given to
/// thread_count().
/// Errors (bad_input) name the file: not SQLite, no rocpd tables, truncated, damaged, being
/// written, a recording given twice, ….
Result<void> load(LoadState& state, const std::filesystem::path& file, const ReadOptions& options);

/// Reads all recordings of all databases and merges them on the trace clock: trace::read() for
/// databases only. A trace without dispatches is no error here.
Result<Trace> read(std::span<const std::filesystem::path> files, const ReadOptions& options = {});

}  // namespace perflab::trace::rocpd
