// How `rocm-perf isolate` tells the tools library what to capture: environment variables, because
// the library is loaded by a runtime that knows no arguments. Both sides take the names from here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"

namespace perflab::isolate {

// The library leaves the runtime alone when kStatusVariable is not set.
inline constexpr const char* kKernelVariable = "PERFLAB_ISOLATE_KERNEL";      ///< RE2 pattern
inline constexpr const char* kDispatchVariable = "PERFLAB_ISOLATE_DISPATCH";  ///< from 1
inline constexpr const char* kFolderVariable = "PERFLAB_ISOLATE_OUT";         ///< absolute
inline constexpr const char* kStatusVariable = "PERFLAB_ISOLATE_STATUS";      ///< a folder
/// For tests: how long draining may take, in milliseconds; a minute unless given.
inline constexpr const char* kPatienceVariable = "PERFLAB_ISOLATE_PATIENCE_MS";

// Files in the status folder (status.h).
inline constexpr const char* kEventsFile = "events.jsonl";
inline constexpr const char* kLockFile = "capture.lock";
inline constexpr const char* kCountsPrefix = "counts.";  ///< and the process id

/// What the library is asked for.
struct Settings {
  std::string kernel;
  std::uint64_t dispatch = 1;
  std::string folder;
  std::string status;
  std::uint64_t patience_ms = 60'000;
};

/// The settings in the environment; missing when there are none. Error (usage): one is not usable.
Result<std::optional<Settings>> settings_from_environment();

}  // namespace perflab::isolate
