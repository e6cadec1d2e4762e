// Timing the kernel of a command by rocprofv3: the GPU's own durations of its dispatches.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "measure/backend.h"

namespace perflab::measure {

struct Rocprofv3BackendOptions {
  /// Kernels whose dispatches count (RE2, on demangled or mangled names). Empty: the kernel with
  /// the most time in all, which need not be the same one for two variants: better named.
  std::string kernel_pattern{};
  std::optional<std::chrono::milliseconds> time_limit{};  ///< of one run
  std::filesystem::path scratch{};  ///< for rocprofv3's databases; empty: the temporary folder
};

/// One measurement is one run of Variant::command under rocprofv3, its samples are the durations of
/// the dispatches in ns. Errors: missing_tool (no rocprofv3), usage (the pattern). Those of
/// measure(): the same, interrupted, internal.
Result<std::unique_ptr<Backend>> make_rocprofv3_backend(const Rocprofv3BackendOptions& options);

}  // namespace perflab::measure
