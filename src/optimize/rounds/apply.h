// What an accepted source becomes: files in the folder, and with --apply the user's file.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/error.h"
#include "optimize/rounds/loop.h"

namespace perflab::optimize {

/// The accepted source as a diff of the user's file; empty: nothing was accepted.
std::string accepted_diff(const Optimization& optimization);

/// Writes accepted.EXT and accepted.diff into the folder, or removes those of an earlier run when
/// nothing was accepted. Error (usage): the place cannot be written.
Result<void> write_accepted(const Optimization& optimization);

/// How two files change places: RENAME_EXCHANGE of renameat2(2) unless given. Both are arguments
/// for tests.
struct ApplyTools {
  std::function<int(const std::string& one, const std::string& other)> exchange;
  std::function<void()> before_replacing;  ///< behind the last look at the user's file
};

/// Puts the accepted source in the place of the user's file, with its mode, and its owner where
/// that is allowed. The original is kept beside it as NAME.orig (.orig.1, ... when that exists); it
/// is complete before the file is replaced. The two change places in one step, and what came out is
/// looked at: when somebody has saved the file just then, they change back. Where the file system
/// cannot do that, a rename follows the last look at the file at once; what is saved between the
/// two is lost then. Returns where the original is kept. Errors: refused (the file is not what it
/// was at the start), usage (it cannot be written). Precondition: something was accepted.
Result<std::filesystem::path> apply_accepted(const Optimization& optimization,
                                             const ApplyTools& tools = {});

}  // namespace perflab::optimize
