// Draining. The own queue's barrier goes through the packet writer. Another queue is asked by a
// barrier packet in its ring: its handler passes on what came before and a barrier behind it, and
// holds later packets back until the capture is done. Each is asked from a thread of its own: a
// doorbell that is rung inside a handler is served by one thread of the runtime for all queues, and
// that one would wait for the first queue whose own thread is held.
#include "isolate/machine/queues.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "base/blocked_signals.h"
#include "isolate/machine/topology.h"

namespace perflab::isolate {
namespace {

// The runtime counts a timeout in its own ticks, of a nanosecond on every system known.
constexpr std::uint64_t kSlice = 20'000'000;

}  // namespace

hsa::BarrierPacket barrier_packet(hsa::Signal signal) {
  hsa::BarrierPacket packet{};
  packet.header =
      static_cast<std::uint16_t>(hsa::packet_type::barrier_and | 1U << hsa::header::barrier_bit |
                                 unsigned{hsa::header::scope_system} << hsa::header::acquire_shift |
                                 unsigned{hsa::header::scope_system} << hsa::header::release_shift);
  packet.completion_signal = signal;
  return packet;
}

bool is_request(const InterceptedQueue& queue, const void* packet) {
  hsa::BarrierPacket copy{};
  std::memcpy(&copy, packet, sizeof(copy));
  return hsa::type_of(copy.header) == hsa::packet_type::barrier_and &&
         copy.completion_signal.handle != 0 &&
         copy.completion_signal.handle == queue.drained.load(std::memory_order_acquire);
}

bool Queues::add(std::unique_ptr<InterceptedQueue> queue) noexcept try {
  const std::lock_guard lock(mutex_);
  queues_.emplace_back();
  queues_.back() = std::move(queue);
  return true;
} catch (const std::bad_alloc&) {
  (void)queue.release();
  return false;
}

std::unique_ptr<InterceptedQueue> Queues::take(const hsa::Queue* queue) {
  const std::lock_guard lock(mutex_);
  const auto at = std::ranges::find(queues_, queue, [](const auto& one) { return one->queue; });
  if (at == queues_.end()) return nullptr;
  std::unique_ptr<InterceptedQueue> taken = std::move(*at);
  queues_.erase(at);
  return taken;
}

hsa::Queue* Queues::share(hsa::Agent agent) {
  const std::lock_guard lock(mutex_);
  for (const auto& one : queues_) {
    if (one->agent != agent || one->below == nullptr) continue;
    ++one->users;
    return one->queue;
  }
  return nullptr;
}

bool Queues::leave(const hsa::Queue* queue) {
  const std::lock_guard lock(mutex_);
  const auto at = std::ranges::find(queues_, queue, [](const auto& one) { return one->queue; });
  return at != queues_.end() && --(*at)->users > 0;
}

void Queues::keep(std::unique_ptr<InterceptedQueue> ended) {
  const std::lock_guard lock(mutex_);
  ended_.push_back(std::move(ended));
}

std::vector<InterceptedQueue*> Queues::queues_of(hsa::Agent agent) const {
  std::vector<InterceptedQueue*> out;
  const std::lock_guard lock(mutex_);
  for (const auto& queue : queues_)
    if (queue->agent == agent) out.push_back(queue.get());
  return out;
}

Result<void> Queues::prepare(hsa::Agent agent) {
  for (InterceptedQueue* const queue : queues_of(agent)) {
    hsa::Signal signal{};
    PERFLAB_TRY_VOID(checked("hsa_signal_create", api_.core.signal_create(1, 0, nullptr, &signal)));
    queue->sealed.store(false);
    queue->drained.store(signal.handle, std::memory_order_release);
  }
  return {};
}

// A queue whose own thread came meanwhile has its barrier: that thread may be held at the gate, and
// then the ring can be full for as long as the capture takes.
void Queues::request(const InterceptedQueue& queue,
                     std::chrono::steady_clock::time_point until) const {
  const hsa::Queue* const ring = queue.queue;
  const auto has_room = [&](std::uint64_t index) {
    return index - api_.core.queue_load_read_index_scacquire(ring) < ring->size;
  };
  while (!has_room(api_.core.queue_load_write_index_scacquire(ring))) {
    if (queue.sealed.load() || std::chrono::steady_clock::now() > until) return;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  const std::uint64_t index = api_.core.queue_add_write_index_scacq_screl(ring, 1);
  while (!has_room(index)) std::this_thread::sleep_for(std::chrono::microseconds(50));
  hsa::BarrierPacket packet = barrier_packet({queue.drained.load(std::memory_order_acquire)});
  auto* const place =
      static_cast<std::byte*>(ring->base_address) + (index & (ring->size - 1)) * sizeof(packet);
  // The header makes a packet valid: the body first, then it, as one word of 32 bits.
  std::memcpy(place + 4, reinterpret_cast<const std::byte*>(&packet) + 4, sizeof(packet) - 4);
  std::atomic_ref<std::uint32_t>(*reinterpret_cast<std::uint32_t*>(place))
      .store(packet.header, std::memory_order_release);
  api_.core.signal_store_screlease(ring->doorbell_signal, static_cast<hsa::SignalValue>(index));
}

Result<void> Queues::drain(const InterceptedQueue& own, std::chrono::milliseconds patience,
                           std::vector<std::jthread>& askers) const {
  const auto until = std::chrono::steady_clock::now() + patience;
  std::vector<const InterceptedQueue*> waited_for = {&own};
  for (const InterceptedQueue* const queue : queues_of(own.agent)) {
    if (queue == &own || !queue->used.load(std::memory_order_acquire) ||
        queue->type == hsa::queue_single_producer)
      continue;
    waited_for.push_back(queue);
    const BlockedSignals on_the_new_thread;
    askers.emplace_back([this, queue, until] { request(*queue, until); });
  }
  for (const InterceptedQueue* const queue : waited_for) {
    const hsa::Signal signal{queue->drained.load(std::memory_order_acquire)};
    while (api_.core.signal_wait_scacquire(signal, hsa::Condition::lt, 1, kSlice,
                                           hsa::WaitState::blocked) >= 1)
      if (std::chrono::steady_clock::now() > until)
        return fail(ErrorCode::refused,
                    "the agent's queues were not empty in time: work that was submitted before the "
                    "dispatch did not end");
  }
  return {};
}

std::vector<std::string> Queues::not_drained(hsa::Agent agent) const {
  bool single = false, others = false;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& queue : queues_) {
      if (!queue->used.load(std::memory_order_acquire)) continue;
      others = others || queue->agent != agent;
    }
    const auto singles = std::ranges::count_if(queues_, [&](const auto& queue) {
      return queue->agent == agent && queue->used.load() &&
             queue->type == hsa::queue_single_producer;
    });
    single = singles > 1;
  }
  std::vector<std::string> out = {
      "Copies by the copy engines that were under way at the dispatch were not waited for."};
  if (single)
    out.emplace_back(
        "A queue that only one thread may fill was in use beside this one; it was not waited for.");
  if (others) out.emplace_back("Queues of other GPUs were in use; they were not waited for.");
  return out;
}

}  // namespace perflab::isolate
