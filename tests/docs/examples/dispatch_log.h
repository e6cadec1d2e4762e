// An example of a reader (docs/DEVELOPER_GUIDE.md): dispatch logs, one JSON object per line, with
// "kernel", "start" and "end" in ns, "grid" and "workgroup" in work-items.
#pragma once

#include <filesystem>

#include "base/error.h"
#include "trace/load_state.h"

namespace perflab::trace::dispatch_log {

/// Appends the recording of one file to the state's Trace. Errors (bad_input) name file and line.
Result<void> load(LoadState& state, const std::filesystem::path& path);

}  // namespace perflab::trace::dispatch_log
