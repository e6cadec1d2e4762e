// Guards on cubins: check_object() for code of NVIDIA's GPUs. Inside src/optimize/objects only.
#pragma once

#include <string_view>

#include "base/error.h"
#include "optimize/guards/guards.h"

namespace perflab::optimize {

/// Guards of the same names as on AMD, on cubins in whatever file they are (cubin_files.h): the
/// parameters, the other kernels and their needs, variables, the architecture, launch bounds and
/// clusters, and what the kernel needs: "registers", "shared_bytes", "local_bytes", "spills",
/// "occupancy". Errors (bad_input): a file cannot be read, the original has no such kernel.
Result<ObjectGuards> check_cubin(std::string_view original, std::string_view candidate,
                                 const ObjectGuardOptions& options);

}  // namespace perflab::optimize
