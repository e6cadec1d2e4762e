// The GPU's own time of a kernel, for the autotuner: one run of a command under rocprofv3's kernel
// tracing gives the durations of its dispatches.
#pragma once

#include <filesystem>

#include "base/error.h"
#include "tune/evaluate/evaluator.h"

namespace perflab::measure {

/// Whether a rocprofv3 is on this machine; asks for nothing but the file.
bool rocprofv3_available();

/// A timer that may be called from several threads. Every call writes to a folder of its own below
/// `scratch` (empty: the system's temporary folder) and removes it. Durations are in ns, in the
/// order in which the dispatches began, of the kernels whose name Objective::kernel_pattern finds;
/// without a pattern, of the kernel with the most time in all (by name; helpers of the HIP runtime
/// only when there is nothing else). Errors: missing_tool (no rocprofv3), interrupted. The timer's
/// own errors: missing_tool (it cannot be started, or knows none of the options), usage (the
/// pattern), interrupted, internal; what the command does wrong is ProfiledRun::problem.
Result<tune::GpuTimer> make_gpu_timer(std::filesystem::path scratch = {});

}  // namespace perflab::measure
