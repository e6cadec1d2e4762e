// Reads rocprofv3's own JSON (-f json, <pid>_results.json, also gzip): the object
// rocprofiler-sdk-tool with metadata, agents, names and buffer records
// (docs/facts/rocprofv3_outputs.md "JSON"). By simdjson's on-demand parser: beside the text and its
// index of marks only the Trace itself is held.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "trace/load_state.h"
#include "trace/read_options.h"

namespace perflab::trace::rocprofv3_json {

/// The key of the outermost object that says what the file is.
inline constexpr std::string_view kRootKey = "rocprofiler-sdk-tool";

/// Appends all recordings of a file to the state's Trace. Errors (bad_input) name the file: no such
/// JSON, damaged, larger than 4 GiB, a recording that was given before.
Result<void> load(LoadState& state, const std::filesystem::path& path,
                  const ReadOptions& options = {});

/// The same for a text; `name` is for messages, and where a pass number may stand.
Result<void> load_text(LoadState& state, std::string text, const std::string& name,
                       const ReadOptions& options = {});

}  // namespace perflab::trace::rocprofv3_json
