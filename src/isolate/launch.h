// Running a program with the library in its HSA runtime or in its CUDA driver, and what came of it.
// Facts: docs/facts/hsa_runtime.md "Load and unload of tools", "HSA_TOOLS_LIB";
// docs/facts/cuda_cupti.md "Injection, exit, forks".
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/system/subprocess.h"
#include "capture/model.h"
#include "isolate/protocol/status_events.h"

namespace perflab::isolate {

/// What to capture, and of which program.
struct LaunchPlan {
  std::vector<std::string> command;
  std::string kernel;          ///< RE2, tried on the demangled name
  std::uint64_t dispatch = 1;  ///< which of the matching dispatches, from 1
  std::filesystem::path folder;
  bool stop = false;                               ///< end the program when the capture is there
  std::optional<std::filesystem::path> library{};  ///< else find_library()
  /// Whose runtime the program uses; missing: whichever it turns out to be.
  std::optional<capture::Platform> platform{};
};

/// How it went.
struct LaunchOutcome {
  Events events;
  ProcessResult process;
  std::filesystem::path folder;  ///< absolute; the capture's
};

/// The library: PERFLAB_ISOLATE_LIBRARY, or ../lib/rocm-perf-lab/ from the folder of this
/// program. Errors (missing_tool): not there; (usage): its path has a space, at which the runtime
/// would split it.
Result<std::filesystem::path> find_library();

/// Runs the program; its output goes to our stderr. Errors: usage (the pattern; the folder exists
/// or cannot be made), missing_tool (the library; the program cannot be started), interrupted.
Result<LaunchOutcome> launch(const LaunchPlan& plan);

/// Nothing when the dispatch was captured. Else why not: refused (the reason, or the kernels that
/// there were), target_failed (the program failed before), missing_tool (the library was never
/// loaded, or could not work).
Result<void> judge(const LaunchOutcome& outcome, const LaunchPlan& plan);

}  // namespace perflab::isolate
