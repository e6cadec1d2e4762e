// The command that compiles and links a HIP program, host and device code in one step.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "code/tools/compiler.h"

namespace perflab::code {

/// What compiles and links a HIP source in one step, without the source and `-o`. `folder`: where
/// device libraries go when the user's cache cannot be written. Errors: those of
/// device_library_folder().
Result<std::vector<std::string>> hip_compile_command(const Compiler& compiler,
                                                     const std::string& architecture,
                                                     const std::filesystem::path& folder);

}  // namespace perflab::code
