// Reads rocpd databases (rocprofv3, rocprofiler-systems; schema 3) into one Trace. Facts:
// facts/rocpd.md.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

#include "base/error.h"
#include "trace/trace.h"

namespace perflab::trace::rocpd {

struct ReadOptions {
  unsigned threads = 0;  ///< 0: as many as the process may run on; the result does not depend on it
};

/// Reads all recordings of all files and merges them on the trace clock. Errors (bad_input) name
/// the file: not SQLite, no rocpd tables, truncated, damaged, being written, a recording given
/// twice, …. A trace without dispatches is no error here.
Result<Trace> read(std::span<const std::filesystem::path> files, const ReadOptions& options = {});

}  // namespace perflab::trace::rocpd
