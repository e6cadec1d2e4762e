// Holds the program's other threads back while a capture is taken: those that give the GPU work or
// take memory away wait at the beginning of the call, where the driver holds nothing for them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace perflab::isolate {

/// Any thread. Calls of one thread may nest; only the outermost counts.
class Hold {
 public:
  /// A call that can be held begins; waits while the hold is closed.
  void enter();
  void leave();

  /// By a thread that is in such a call: from now on others wait. False: one that was under way
  /// did not come back within `patience`; the hold stays closed.
  bool close(std::chrono::milliseconds patience);
  void open();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  int under_way_ = 0;  ///< threads in a call that can be held
};

}  // namespace perflab::isolate
