// Intercept queues (docs/facts/hsa_runtime.md "Handlers", "Writer", "Other doors"). Handlers run on
// the thread that rings the doorbell; a doorbell rung inside a handler is served by one other
// thread.
#include <algorithm>
#include <condition_variable>
#include <cstring>

#include "queues.h"

namespace perflab::hsa::sim {
namespace {

// Which handler of which queue runs on this thread; the writer has no argument that says it.
struct Cursor {
  SimQueue* queue = nullptr;
  std::size_t level = 0;  ///< number of handlers below the running one
  std::uint64_t index = 0;
};
thread_local Cursor cursor;

struct AsyncEvents {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<SimQueue*> rung;
  std::thread thread;
  bool stop = false;
};

AsyncEvents& async_events() {
  static AsyncEvents& instance = *new AsyncEvents;
  return instance;
}

void submit(SimQueue& queue, const void* packets, std::uint64_t count) {
  {
    const std::lock_guard lock(queue.submitted_lock);
    for (std::uint64_t i = 0; i < count; ++i) {
      Packet& copy = queue.submitted.emplace_back();
      std::memcpy(copy.data(), static_cast<const std::byte*>(packets) + i * packet_bytes,
                  packet_bytes);
    }
    queue.submitted_count += count;
  }
  wake_waiters();
}

void pass_down(SimQueue& queue, std::size_t level, std::uint64_t index, const void* packets,
               std::uint64_t count);

void write_packets(const void* packets, std::uint64_t count) {
  if (cursor.queue == nullptr) misuse("a packet writer was called outside of its handler");
  pass_down(*cursor.queue, cursor.level, cursor.index, packets, count);
}

// Hands packets to the handler with `level` - 1 handlers below it, or to the hardware.
void pass_down(SimQueue& queue, std::size_t level, std::uint64_t index, const void* packets,
               std::uint64_t count) {
  if (level == 0) {
    submit(queue, packets, count);
    return;
  }
  const Cursor outer = cursor;
  cursor = {.queue = &queue, .level = level - 1, .index = index};
  const auto [handler, data] = queue.handlers[level - 1];
  handler(packets, count, index, data, write_packets);
  cursor = outer;
}

void hand_over(SimQueue& queue, std::uint64_t first, std::uint64_t count) {
  const std::uint64_t until_end = queue.user.size - (first & (queue.user.size - 1));
  if (count <= until_end) {
    pass_down(queue, queue.handlers.size(), first, &ring_slot(queue, first), count);
  } else {
    std::vector<Packet> staging(count);
    for (std::uint64_t i = 0; i < count; ++i) staging[i] = ring_slot(queue, first + i);
    pass_down(queue, queue.handlers.size(), first, staging.data(), count);
  }
  for (std::uint64_t i = 0; i < count; ++i) invalidate_slot(ring_slot(queue, first + i));
}

void run_handlers(SimQueue& queue) {
  const std::lock_guard lock(queue.handlers_lock);
  const std::uint64_t first = queue.next_to_hand_over, limit = queue.write.load();
  std::uint64_t end = first;
  while (end < limit && slot_type(ring_slot(queue, end)) != packet_type::invalid) ++end;
  if (end == first) return;
  queue.next_to_hand_over = end;
  if (handlers_get_one_packet) {
    for (std::uint64_t i = first; i < end; ++i) hand_over(queue, i, 1);
  } else {
    hand_over(queue, first, end - first);
  }
  queue.read = end;
  wake_waiters();
}

void serve_async_events() {
  AsyncEvents& events = async_events();
  std::unique_lock lock(events.mutex);
  for (;;) {
    events.changed.wait(lock, [&] { return events.stop || !events.rung.empty(); });
    if (events.stop) return;
    SimQueue* const queue = events.rung.front();
    events.rung.pop_front();
    lock.unlock();
    run_handlers(*queue);
    lock.lock();
  }
}

}  // namespace

void ring_intercepted(SimQueue& queue) {
  if (cursor.queue == nullptr) {
    run_handlers(queue);
    return;
  }
  AsyncEvents& events = async_events();
  {
    const std::lock_guard lock(events.mutex);
    if (!events.thread.joinable()) events.thread = std::thread(serve_async_events);
    events.rung.push_back(&queue);
  }
  events.changed.notify_all();
}

void stop_async_events() {
  AsyncEvents& events = async_events();
  {
    const std::lock_guard lock(events.mutex);
    events.stop = true;
    events.rung.clear();
  }
  events.changed.notify_all();
  if (events.thread.joinable()) events.thread.join();
  events.stop = false;
}

namespace amd_calls {

Status queue_intercept_create(Agent agent, std::uint32_t size, std::uint32_t type,
                              QueueCallback callback, void* data, std::uint32_t, std::uint32_t,
                              Queue** queue) {
  if (type == queue_cooperative) return intercept_cooperative(agent, size, callback, data, queue);
  return create_queue(agent, size, callback, data, true, queue);
}

Status queue_intercept_register(Queue* queue, PacketHandler handler, void* data) {
  if (queue == nullptr || handler == nullptr) return Status::invalid_argument;
  SimQueue& of = queue_of(queue);
  if (!of.intercepted) return Status::invalid_queue;
  const std::lock_guard lock(of.handlers_lock);
  of.handlers.emplace_back(handler, data);
  return Status::success;
}

}  // namespace amd_calls
}  // namespace perflab::hsa::sim
