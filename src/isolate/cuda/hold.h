// Holds the program's other threads back while a capture is taken: those that give the GPU work or
// take memory away wait at the beginning of the call, where the driver holds nothing for them.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace perflab::isolate {

/// Any thread. Calls of one thread may nest; only the outermost counts. A thread is not held for
/// ever: when the capture makes no progress for twice the patience, something that it waits for
/// waits for that thread.
class Hold {
 public:
  explicit Hold(std::chrono::milliseconds patience) : patience_(patience) {}

  /// A call that can be held begins; waits while the hold is closed.
  void enter();
  void leave();

  /// By a thread that is in such a call: from now on others wait. False: one that was under way
  /// did not come back within the patience; the hold stays closed.
  bool close();
  /// The capture goes on.
  void progress() { ++progress_; }
  void open();
  /// Whether a thread could not be held since close().
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  void wait_until_open(std::unique_lock<std::mutex>& lock);

  const std::chrono::milliseconds patience_;
  std::atomic<std::uint64_t> progress_ = 0;
  std::atomic<bool> broken_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  int under_way_ = 0;  ///< threads in a call that can be held
};

}  // namespace perflab::isolate
