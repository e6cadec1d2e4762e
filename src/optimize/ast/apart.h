// Running a piece of our own code in a child process: a source that makes clang crash, run for ever
// or eat all memory must not take us with it. Linux: fork(2), prctl(2), setrlimit(2).
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "base/error.h"

namespace perflab::optimize {

struct ApartResult {
  std::optional<std::string> text;  ///< what `work` returned; missing: it did not come to that
  std::string ending;               ///< "crashed (SIGSEGV)", "took longer than 60 s"; with no text
};

/// Calls `work` in a forked copy of this process, whose stderr goes nowhere, and hands back its
/// text. The copy ends with us. `work` may start threads but must not rely on those of the parent.
/// Errors: internal (no process, no pipe).
Result<ApartResult> run_apart(const std::function<std::string()>& work,
                              std::chrono::milliseconds limit = std::chrono::seconds{60});

}  // namespace perflab::optimize
