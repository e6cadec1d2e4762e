// What an accepted source becomes: files in the folder, and with --apply the user's file.
#pragma once

#include <filesystem>

#include "base/error.h"
#include "optimize/loop/loop.h"

namespace perflab::optimize {

/// The accepted source as a diff of the user's file; empty: nothing was accepted.
std::string accepted_diff(const Optimization& optimization);

/// Writes accepted.EXT and accepted.diff into the folder, or removes those of an earlier run when
/// nothing was accepted. Error (usage): the place cannot be written.
Result<void> write_accepted(const Optimization& optimization);

/// Puts the accepted source in the place of the user's file. The original is kept beside it as
/// NAME.orig (.orig.1, ... when that exists); it is complete before the file is replaced by one
/// rename. Returns where it is kept. Errors: refused (the file is not what it was at the start),
/// usage (it cannot be written). Precondition: something was accepted.
Result<std::filesystem::path> apply_accepted(const Optimization& optimization);

}  // namespace perflab::optimize
