// Holds the program back while a capture is taken: submissions to the agent's queues, and whatever
// takes memory away. Nobody is held in a callback that the capture itself waits for.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "hsa/types.h"

namespace perflab::isolate {

/// open -> queues_held -> draining -> reading -> running -> reading -> queues_held -> open. One
/// capture at a time.
class Gate {
 public:
  /// What is held grows with the phase. While queues are held, they may not come or go. While the
  /// dispatch runs, memory may be freed: the kernel may be served by a thread of the host that does
  /// so.
  enum class Phase : std::uint32_t { open, queues_held, draining, running, reading };

  [[nodiscard]] Phase phase() const { return phase_.load(std::memory_order_acquire); }
  /// Whether submissions to this agent are affected.
  [[nodiscard]] bool concerns(hsa::Agent agent) const {
    return phase() >= Phase::draining && agent_.load(std::memory_order_acquire) == agent.handle;
  }

  /// No queue comes or goes from now on; packets pass. False: a call that makes or ends a queue did
  /// not come back within `patience`.
  bool hold_queues(std::chrono::milliseconds patience);
  /// Submissions to an agent's queues are drained from now on.
  void start_draining(hsa::Agent agent);
  /// Nothing is submitted or freed from now on. False: a call that takes memory away did not come
  /// back within `patience`.
  bool start_reading(std::chrono::milliseconds patience);
  /// The dispatch runs now.
  void start_running();
  /// Packets and memory pass again, queues are still held: threads of the capture use them.
  void let_packets_pass();
  void open();

  /// Waits until packets may go on.
  void wait_for_packets();

  /// Around a call that takes memory away (held while a capture reads), or makes or ends a queue
  /// (held during all of it). The capture waits for those that are under way.
  class Taking {
   public:
    explicit Taking(Gate& gate, Phase held_from = Phase::reading)
        : gate_(gate), held_from_(held_from) {
      gate_.enter(held_from_);
    }
    Taking(const Taking&) = delete;
    Taking& operator=(const Taking&) = delete;
    ~Taking() { gate_.leave(held_from_); }

   private:
    Gate& gate_;
    Phase held_from_;
  };

 private:
  using Counter = std::atomic<std::uint32_t>;
  void lower(Phase phase);
  void wait_until_below(Phase phase);
  void enter(Phase held_from);
  void leave(Phase held_from);
  Counter& under_way(Phase held_from) {
    return held_from == Phase::queues_held ? taking_queues_ : taking_memory_;
  }
  static bool becomes_zero(const Counter& counter, std::chrono::milliseconds patience);

  std::atomic<Phase> phase_{Phase::open};
  std::atomic<std::uint64_t> agent_{0};
  Counter taking_queues_{0}, taking_memory_{0};
  std::mutex mutex_;
  std::condition_variable lowered_;
};

}  // namespace perflab::isolate
