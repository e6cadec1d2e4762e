// Reads recordings into one Trace, whatever they are: rocpd databases (trace/rocpd/) and tables of
// counters (trace/counter_csv/), told apart by their content.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "base/error.h"
#include "trace/read_options.h"
#include "trace/trace.h"

namespace perflab::trace {

/// Reads all recordings of all files and merges them on the trace clock. The order of the files
/// never changes what is concluded. Errors (bad_input) name the file. A trace without dispatches is
/// no error here.
Result<Trace> read(std::span<const std::filesystem::path> files, const ReadOptions& options = {});

/// The files that read() opens for one path: itself, or the tables that belong to a table.
std::vector<std::filesystem::path> files_of_recording(const std::filesystem::path& path);

}  // namespace perflab::trace
