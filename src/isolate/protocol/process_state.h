// What the library knows of its process, whichever runtime loaded it: what to capture, whom to
// tell, the kernels it has seen. Lives until the process is gone.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/error.h"
#include "isolate/protocol/kernels.h"
#include "isolate/protocol/settings.h"
#include "isolate/protocol/status.h"

namespace perflab::isolate {

/// What outlives a shut-down of the runtime: a program may start it again.
struct ProcessState {
  Settings settings;
  StatusLog& status;
  Kernels kernels;
  std::atomic<std::uint64_t> matches{0};  ///< dispatches of wanted kernels so far

  /// Counts a dispatch of a wanted kernel. Whether it is the one that was asked for, by this
  /// process first.
  bool is_target() {
    return matches.fetch_add(1, std::memory_order_relaxed) + 1 == settings.dispatch &&
           status.claim_capture();
  }
};

/// The state, made by the first call from the environment, which says "loaded" then. Null: the
/// library is not asked for anything. Error: what it is asked for cannot be used; the status says
/// so.
Result<ProcessState*> process_state();

}  // namespace perflab::isolate
