// A queue of the stand-in: the ring that its user sees, and the thread that executes packets. The
// packets of an intercept queue come from its handlers' writer, through `submitted`.
#pragma once

#include <array>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "sim.h"

namespace perflab::hsa::sim {

inline constexpr std::size_t packet_bytes = 64;
using Packet = std::array<std::uint64_t, packet_bytes / 8>;

struct SimQueue {
  Queue user{};  ///< first: its address is the queue's
  int agent = 0;
  bool intercepted = false;
  bool cooperative = false;
  QueueCallback callback = nullptr;
  void* callback_data = nullptr;
  SimSignal doorbell;  ///< its value: the last index that was rung
  std::atomic<std::uint64_t> read{0}, write{0};

  std::mutex handlers_lock;  ///< held while handlers run
  std::vector<std::pair<PacketHandler, void*>> handlers;
  std::uint64_t next_to_hand_over = 0;

  std::mutex submitted_lock;
  std::deque<Packet> submitted;
  std::atomic<std::uint64_t> submitted_count{0};

  std::atomic<bool> stop{false};
  std::atomic<int> running{0};  ///< kernels that run beside the queue's thread (HSA_SIM_OVERLAP)
  std::thread thread;
};

inline SimQueue& queue_of(const Queue* queue) {
  return *reinterpret_cast<SimQueue*>(const_cast<Queue*>(queue));
}
/// The packet with that index in the user's ring.
inline Packet& ring_slot(const SimQueue& queue, std::uint64_t index) {
  return static_cast<Packet*>(queue.user.base_address)[index & (queue.user.size - 1)];
}
/// Type of the packet in a slot, read as what the user's release store of the header wrote.
std::uint16_t slot_type(Packet& slot);
/// Makes the slot free for its user.
void invalidate_slot(Packet& slot);

Status create_queue(Agent agent, std::uint32_t size, QueueCallback callback, void* data,
                    bool intercepted, Queue** queue);
/// An intercept queue over the one that the runtime keeps for cooperative launches.
Status intercept_cooperative(Agent agent, std::uint32_t size, QueueCallback callback, void* data,
                             Queue** queue);
/// Executes packets until the queue is stopped.
void run_queue(SimQueue& queue);

}  // namespace perflab::hsa::sim
