// Reads traces of PyTorch's profiler (Kineto): Chrome trace events as JSON, plain or gzip, of CUDA
// and of ROCm. Facts: docs/facts/kineto.md.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "trace/load_state.h"

namespace perflab::trace::kineto {

/// Appends the recording of a file to the state's Trace. Errors (bad_input) name the file: no JSON,
/// cut off, no event of the profiler's, more than 4 GiB, given twice, ….
Result<void> load(LoadState& state, const std::filesystem::path& path);

/// The same of a text, for callers that have no file; `name` is its path for messages and Source.
Result<void> load_text(LoadState& state, std::string text, std::string_view name);

}  // namespace perflab::trace::kineto
