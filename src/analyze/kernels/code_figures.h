// What a kernel's code object says, over what the profiler decoded: registers, spills, wave size
// and mode, and the occupancy that follows.
#pragma once

#include "analyze/kernels/code_join.h"
#include "analyze/kernels/kernel.h"

namespace perflab::analyze {

/// Takes registers and occupancy of the kernel from its code object, records what the recording
/// had otherwise, and drops the reasons for figures that are no longer missing. Call after
/// resources and launch are filled from the recording. `object` and `code` belong together.
void apply_code(const JoinedObject& object, const code::KernelMetadata& code, Kernel& kernel);

}  // namespace perflab::analyze
