// Collecting a thread trace: `rocprofv3 --att` over one dispatch of one kernel, in a start of the
// target apart from all others. What it leaves is decoded by rocprofv3 itself into ui_output
// folders, which att/ reads; its times are never used. Facts: docs/facts/thread_trace.md "Taking a
// trace" and rocprofiler-sdk's rocprofv3.py, tool.cpp (July 2026).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/system/subprocess.h"
#include "collect/collect.h"

namespace perflab::collect {

/// What to trace.
struct AttRequest {
  std::string kernel;                           ///< its name as rocprofv3 records it
  std::uint64_t iteration = 1;                  ///< which of its dispatches, from 1
  int target_cu = 1;                            ///< CU (gfx10 and later: WGP) with instructions
  std::optional<std::uint64_t> shader_engines;  ///< bit mask; none: rocprofv3's own (the first)
  std::optional<std::uint64_t> buffer_bytes;    ///< per shader engine; none: rocprofv3's own
  std::filesystem::path decoder;                ///< folder of the decoder library (find_decoder)
};

/// One start of the target under the thread trace.
struct AttRun {
  AttRequest request;
  std::filesystem::path folder;  ///< ".rocpd_profile/NNNN/att/cu_N": place for att::find
  ProcessResult process;
  std::vector<std::string> losses;  ///< what the profiler said about lost data, each sentence once
  std::vector<std::string> notes;   ///< sentences for people: what was odd
  /// target_failed, interrupted, missing_tool (the decoder cannot be used). What was written until
  /// then is in the folder.
  std::optional<Error> problem;
};

/// A regular expression that finds this name alone, in the dialects of rocprofv3's versions (ROCm
/// 7.0: ECMAScript of std::regex; 2026: one of its own). It is searched for in the name as it is
/// recorded: demangled, with or without a tail for the kernel descriptor.
std::string exact_kernel_pattern(std::string_view name);

/// Runs the target once. Precondition: `base` is traced. Errors, with nothing to salvage: usage
/// (the place cannot be written, an option of the plan that is set here), missing_tool (rocprofv3
/// is gone, or knows no thread trace), interrupted (Ctrl-C before the start).
Result<AttRun> collect_thread_trace(const CollectPlan& plan, const Collection& base,
                                    const AttRequest& request);

}  // namespace perflab::collect
