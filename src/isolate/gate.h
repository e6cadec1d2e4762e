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

/// open -> draining -> reading -> running -> reading -> open. One capture at a time.
class Gate {
 public:
  /// What is held grows with the phase. While the dispatch runs, memory may be freed: the kernel
  /// may be served by a thread of the host that does so.
  enum class Phase : std::uint32_t { open, draining, running, reading };

  [[nodiscard]] Phase phase() const { return phase_.load(std::memory_order_acquire); }
  /// Whether submissions to this agent are affected.
  [[nodiscard]] bool concerns(hsa::Agent agent) const {
    return phase() != Phase::open && agent_.load(std::memory_order_acquire) == agent.handle;
  }

  /// Submissions to an agent's queues are drained from now on, no queue ends. False: a call that
  /// ends a queue did not come back within `patience`.
  bool start_draining(hsa::Agent agent, std::chrono::milliseconds patience);
  /// Nothing is submitted or freed from now on. False: a call that takes memory away did not come
  /// back within `patience`.
  bool start_reading(std::chrono::milliseconds patience);
  /// The dispatch runs now.
  void start_running();
  void open();

  /// Waits until the gate is open.
  void wait_until_open();

  /// Around a call that takes something away: memory (held while a capture reads) or a queue (held
  /// from draining on). The capture waits for those that are under way.
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
    return held_from == Phase::draining ? taking_queues_ : taking_memory_;
  }
  static bool becomes_zero(const Counter& counter, std::chrono::milliseconds patience);

  std::atomic<Phase> phase_{Phase::open};
  std::atomic<std::uint64_t> agent_{0};
  Counter taking_queues_{0}, taking_memory_{0};
  std::mutex mutex_;
  std::condition_variable lowered_;
};

}  // namespace perflab::isolate
