// Our own calls of the driver, which call back like the program's, and calls that may never come
// back: made on a thread of their own and waited for with a limit (docs/facts/cuda_cupti.md
// "Capture").
#pragma once

#include <chrono>
#include <functional>

#include "base/error.h"

namespace perflab::isolate {

/// While one lives, callbacks of this thread's calls are not the program's.
class OwnCalls {
 public:
  OwnCalls() { ++depth_; }
  OwnCalls(const OwnCalls&) = delete;
  OwnCalls& operator=(const OwnCalls&) = delete;
  ~OwnCalls() { --depth_; }
  /// Whether the calling thread makes calls of ours.
  [[nodiscard]] static bool any() { return depth_ != 0; }

 private:
  static thread_local int depth_;
};

/// Runs `body` on a thread of its own as calls of ours, and waits for it. False: it was not back
/// within `patience`; the thread goes on, so `body` must own what it uses. Error: what it returned,
/// or no thread can be started.
Result<bool> run_within(std::chrono::milliseconds patience, std::function<Result<void>()> body);

}  // namespace perflab::isolate
