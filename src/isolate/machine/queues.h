// The queues whose packets pass through us, and draining them. How a queue is drained from inside a
// packet handler: docs/facts/hsa_runtime.md "Waiting in a handler".
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "hsa/api.h"

namespace perflab::isolate {

/// One intercepted queue.
struct InterceptedQueue {
  hsa::Queue* queue = nullptr;
  hsa::Agent agent{};
  std::uint32_t type = 0;           ///< as asked for: hsa::queue_*
  std::atomic<bool> used{false};    ///< packets came
  std::atomic<bool> sealed{false};  ///< its barrier of the running capture was passed on
  /// Signal of that barrier; 0: no capture yet. It lives until the queue ends: the packet that asks
  /// for the barrier may come late.
  std::atomic<std::uint64_t> drained{0};
  std::atomic<std::uint32_t> failure{0};  ///< the status that the queue's error callback was given
  hsa::QueueCallback callback = nullptr;  ///< the program's, for errors
  void* callback_data = nullptr;
  /// Of the one of cooperative launches: the runtime's own queue below it, and who has it.
  hsa::Queue* below = nullptr;
  int users = 1;
};

/// The packet that waits for everything before it and then takes 1 off `signal` (0: nothing).
hsa::BarrierPacket barrier_packet(hsa::Signal signal);

/// Whether a packet is one that drain() put into the queue.
bool is_request(const InterceptedQueue& queue, const void* packet);

/// The intercepted queues of the process. Any thread.
class Queues {
 public:
  explicit Queues(const hsa::Api& api) : api_(api) {}

  /// False: no memory to remember it. The runtime keeps using it, so that it stays.
  bool add(std::unique_ptr<InterceptedQueue> queue) noexcept;
  /// Takes a queue out before it is destroyed; null when it is none of ours.
  std::unique_ptr<InterceptedQueue> take(const hsa::Queue* queue);
  /// One more user of the agent's queue of cooperative launches; null: it is not made yet. The
  /// caller holds cooperative().
  hsa::Queue* share(hsa::Agent agent);
  /// One user less; true: it has others, and stays.
  bool leave(const hsa::Queue* queue);
  /// Keeps what the runtime may still point to.
  void keep(std::unique_ptr<InterceptedQueue> ended);
  /// Held by who makes, shares or ends a queue of cooperative launches.
  std::mutex& cooperative() { return cooperative_; }

  /// Gives every queue of the agent its signal, when queues are held and nothing is drained yet.
  /// Error: no signal.
  Result<void> prepare(hsa::Agent agent);
  /// Waits for all that was submitted to the agent's queues, `own` among them, whose barrier the
  /// caller has passed on. Others are asked through their own ring, each by a thread that is added
  /// to `askers`: it may not end before packets pass the gate, and uses the queue until it ends.
  /// Called inside a packet handler, the gate draining. Error (refused): not within `patience`.
  Result<void> drain(const InterceptedQueue& own, std::chrono::milliseconds patience,
                     std::vector<std::jthread>& askers) const;
  /// What draining the agent's queues does not reach, a sentence each.
  std::vector<std::string> not_drained(hsa::Agent agent) const;

 private:
  std::vector<InterceptedQueue*> queues_of(hsa::Agent agent) const;
  void request(const InterceptedQueue& queue, std::chrono::steady_clock::time_point until) const;

  const hsa::Api& api_;
  mutable std::mutex mutex_;
  std::mutex cooperative_;
  std::vector<std::unique_ptr<InterceptedQueue>> queues_, ended_;
};

}  // namespace perflab::isolate
