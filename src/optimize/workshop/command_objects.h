// Device code in what a build command left: which file has it, and the guards on code objects over
// all of the kernel's instances in it.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "optimize/guards/guards.h"

namespace perflab::optimize {

/// The first file (by name) below a folder that holds device code: an AMDGPU code object, a bundle,
/// a cubin, a fat binary, or a host file with some in it. Nothing: a build for the host alone.
/// Error (usage): the folder cannot be read.
Result<std::optional<std::filesystem::path>> file_with_device_code(
    const std::filesystem::path& folder);

/// check_object() for every kernel of the original's file that is the named function (qualified
/// name; every instance of a template). A guard is said once: the first of its failures, or that it
/// passed. Errors (bad_input): a file cannot be read, the original's has no such kernel.
Result<ObjectGuards> check_device_files(const std::filesystem::path& original,
                                        const std::filesystem::path& candidate,
                                        std::string_view function);

}  // namespace perflab::optimize
