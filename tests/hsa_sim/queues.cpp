// Queues: creation, indices, doorbells, and the thread that executes packets in order
// (docs/facts/hsa_runtime.md "Handlers", "Dispatch"). The read index passes a packet before the
// packet is executed: an empty ring does not mean an idle queue.
#include "queues.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "kernels.h"

namespace perflab::hsa::sim {
namespace {

constexpr std::uint32_t kSmallestQueue = 64, kLargestQueue = 131072;
constexpr std::uint32_t kKernelDispatchFeature = 1;

/// The one queue of an agent's cooperative launches: the runtime owns it, its users share it. An
/// intercept queue over it takes it along when it ends, and the runtime never learns that; with
/// users left it is destroyed after its signals.
struct Cooperative {
  Queue* queue = nullptr;
  int users = 0;
  bool lost = false;
};

struct Queues {
  std::mutex mutex;
  std::set<SimQueue*> live;
  std::uint64_t next_id = 0;
  std::map<int, Cooperative> cooperative;  ///< by agent
};

Queues& queues() {
  static Queues& instance = *new Queues;
  return instance;
}

void stop_queue(SimQueue& queue) {
  queue.stop = true;
  wake_waiters();
  if (queue.thread.joinable()) queue.thread.join();
  ::munmap(queue.user.base_address, queue.user.size * packet_bytes);
}

// The next packet in order; false when the queue is stopped.
bool next_packet(SimQueue& queue, Packet& packet) {
  if (queue.intercepted) {
    wait_for([&] { return queue.stop || queue.submitted_count.load() > 0; });
    if (queue.stop) return false;
    const std::lock_guard lock(queue.submitted_lock);
    packet = queue.submitted.front();
    queue.submitted.pop_front();
    --queue.submitted_count;
    return true;
  }
  const std::uint64_t index = queue.read.load();
  Packet& slot = ring_slot(queue, index);
  wait_for([&] {
    return queue.stop || (queue.doorbell.value.load() >= static_cast<SignalValue>(index) &&
                          slot_type(slot) != packet_type::invalid);
  });
  if (queue.stop) return false;
  packet = slot;
  invalidate_slot(slot);
  queue.read = index + 1;
  wake_waiters();
  return true;
}

void report_error(SimQueue& queue, Status status) {
  if (queue.callback != nullptr) queue.callback(status, &queue.user, queue.callback_data);
}

template <class T>
T packet_as(const Packet& packet) {
  T typed;
  std::memcpy(&typed, packet.data(), sizeof typed);
  return typed;
}

// Until the queue is stopped.
void hang(SimQueue& queue) {
  wait_for([&] { return queue.stop.load(); });
}

// Whether the queue goes on.
bool execute_kernel(SimQueue& queue, const KernelDispatchPacket& packet) {
  const DispatchFault fault = next_dispatch_fault(is_trap(packet.kernel_object));
  if (fault == DispatchFault::hang) hang(queue);
  if (queue.stop) return false;
  if (fault == DispatchFault::fault) {
    report_error(queue, Status::memory_fault);
    return false;
  }
  std::uint64_t start = now_ns();
  std::optional<std::uint64_t> work_ns;
  if (!run_kernel(packet, queue.stop, work_ns)) {
    report_error(queue, Status::exception);
    return false;
  }
  if (queue.stop) return false;
  const std::uint64_t end = std::max(now_ns(), start + 1);
  if (work_ns) start = end - std::max<std::uint64_t>(*work_ns, 1);
  complete(packet.completion_signal, start, end);
  return true;
}

// HSA_SIM_OVERLAP: a kernel without the barrier bit does not hold up what follows.
bool start_kernel(SimQueue& queue, const KernelDispatchPacket& packet) {
  if (!kernels_overlap || (packet.header >> header::barrier_bit & 1) != 0)
    return execute_kernel(queue, packet);
  ++queue.running;
  std::thread([&queue, packet] {
    execute_kernel(queue, packet);
    --queue.running;
    wake_waiters();
  }).detach();
  return true;
}

void execute_barrier(SimQueue& queue, const BarrierPacket& packet, bool all) {
  const auto done = [](Signal signal) { return signal_of(signal)->value.load() == 0; };
  const auto used = [](Signal signal) { return signal.handle != 0; };
  wait_for([&] {
    if (queue.stop) return true;
    if (std::ranges::none_of(packet.dep_signal, used)) return true;
    if (all)
      return std::ranges::all_of(packet.dep_signal,
                                 [&](Signal signal) { return !used(signal) || done(signal); });
    return std::ranges::any_of(packet.dep_signal,
                               [&](Signal signal) { return used(signal) && done(signal); });
  });
  if (queue.stop) return;
  const std::uint64_t now = now_ns();
  complete(packet.completion_signal, now, now);
}

// Whether the queue goes on.
bool execute(SimQueue& queue, const Packet& packet) {
  const auto generic = packet_as<KernelDispatchPacket>(packet);
  if ((generic.header >> header::barrier_bit & 1) != 0)
    wait_for([&] { return queue.running.load() == 0; });
  switch (type_of(generic.header)) {
    case packet_type::kernel_dispatch:
      return start_kernel(queue, generic);
    case packet_type::barrier_and:
    case packet_type::barrier_or:
      execute_barrier(queue, packet_as<BarrierPacket>(packet),
                      type_of(generic.header) == packet_type::barrier_and);
      return true;
    case packet_type::vendor:
    case packet_type::agent_dispatch: {
      const std::uint64_t now = now_ns();
      complete(generic.completion_signal, now, now);
      return true;
    }
    default:
      report_error(queue, Status::invalid_packet_format);
      return false;
  }
}

}  // namespace

std::uint16_t slot_type(Packet& slot) {
  auto& word = *reinterpret_cast<std::uint32_t*>(slot.data());
  return type_of(static_cast<std::uint16_t>(__atomic_load_n(&word, __ATOMIC_ACQUIRE)));
}

void invalidate_slot(Packet& slot) {
  auto& word = *reinterpret_cast<std::uint32_t*>(slot.data());
  __atomic_store_n(&word, std::uint32_t{packet_type::invalid}, __ATOMIC_RELEASE);
}

void run_queue(SimQueue& queue) {
  Packet packet{};
  while (next_packet(queue, packet) && execute(queue, packet)) {
  }
  wait_for([&] { return queue.running.load() == 0; });
}

Status create_queue(Agent agent, std::uint32_t size, QueueCallback callback, void* data,
                    bool intercepted, Queue** queue) {
  const auto index = index_of(agent);
  if (!index) return Status::invalid_agent;
  if (!is_gpu(*index)) return Status::error;
  if (queue == nullptr || size < kSmallestQueue || (size & (size - 1)) != 0)
    return Status::invalid_argument;
  if (size > kLargestQueue) return Status::out_of_resources;
  void* const ring = ::mmap(nullptr, size * packet_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (ring == MAP_FAILED) return Status::out_of_resources;
  auto made = std::make_unique<SimQueue>();
  made->user = {.type = queue_multi_producer,
                .features = kKernelDispatchFeature,
                .base_address = ring,
                .doorbell_signal = handle_of(made->doorbell),
                .size = size,
                .reserved = 0,
                .id = 0};
  made->agent = *index;
  made->intercepted = intercepted;
  made->callback = callback;
  made->callback_data = data;
  made->doorbell.doorbell_of = made.get();
  made->doorbell.value = -1;
  for (std::uint64_t i = 0; i < size; ++i) invalidate_slot(ring_slot(*made, i));
  Queues& all = queues();
  const std::lock_guard lock(all.mutex);
  // The queue below an intercept queue has an id too.
  made->user.id = all.next_id;
  all.next_id += intercepted ? 2 : 1;
  SimQueue* const raw = made.release();
  raw->thread = std::thread([raw] { run_queue(*raw); });
  all.live.insert(raw);
  *queue = &raw->user;
  return Status::success;
}

void ring_doorbell(SimQueue& queue, SignalValue value) {
  if (queue.intercepted) {
    ring_intercepted(queue);
    return;
  }
  SignalValue before = queue.doorbell.value.load();
  while (before < value && !queue.doorbell.value.compare_exchange_weak(before, value)) {
  }
  wake_waiters();
}

void stop_queues() {
  Queues& all = queues();
  const std::lock_guard lock(all.mutex);
  for (SimQueue* const queue : all.live) {
    stop_queue(*queue);
    delete queue;
  }
  all.live.clear();
  all.next_id = 0;
  for (const auto& [agent, one] : all.cooperative) {
    if (one.lost) misuse("the queue of cooperative launches is destroyed twice");
    if (one.users > 0) misuse("the queue of cooperative launches outlives the runtime's signals");
  }
  all.cooperative.clear();
}

namespace {

Cooperative& cooperative_of(Agent agent) {
  Queues& all = queues();
  const std::lock_guard lock(all.mutex);
  return all.cooperative[index_of(agent).value_or(0)];
}

Status share_cooperative(Agent agent, std::uint32_t size, Queue** queue) {
  Cooperative& shared = cooperative_of(agent);
  if (shared.lost) misuse("a queue of cooperative launches is asked for that is destroyed");
  if (shared.queue == nullptr) {
    const Status status = create_queue(agent, size, nullptr, nullptr, false, &shared.queue);
    if (status != Status::success) return status;
    queue_of(shared.queue).cooperative = true;
  }
  ++shared.users;
  *queue = shared.queue;
  return Status::success;
}

// Whether the queue is still used by others; one that is not may be destroyed.
bool leave_cooperative(const SimQueue& queue) {
  Cooperative& shared = cooperative_of(agent_of(queue.agent));
  if (queue.intercepted) {
    shared.lost = true;
    return false;
  }
  if (--shared.users > 0) return true;
  shared = {};
  return false;
}

}  // namespace

Status intercept_cooperative(Agent agent, std::uint32_t size, QueueCallback callback, void* data,
                             Queue** queue) {
  Queue* below = nullptr;
  if (const Status status = share_cooperative(agent, size, &below); status != Status::success)
    return status;
  const Status status = create_queue(agent, size, callback, data, true, queue);
  if (status != Status::success) return status;
  queue_of(*queue).cooperative = true;
  return status;
}

namespace core_calls {

Status queue_create(Agent agent, std::uint32_t size, std::uint32_t type, QueueCallback callback,
                    void* data, std::uint32_t, std::uint32_t, Queue** queue) {
  if (type == queue_cooperative) return share_cooperative(agent, size, queue);
  return create_queue(agent, size, callback, data, false, queue);
}

// No one executes a soft queue's packets but the program.
Status soft_queue_create(Region region, std::uint32_t size, std::uint32_t, std::uint32_t,
                         Signal doorbell, Queue** queue) {
  if (pool_of(region.handle) == nullptr) return Status::invalid_region;
  if (doorbell.handle == 0) return Status::invalid_signal;
  const Status status = create_queue(agent_of(1), size, nullptr, nullptr, false, queue);
  if (status == Status::success) (*queue)->doorbell_signal = doorbell;
  return status;
}

Status queue_destroy(Queue* queue) {
  if (queue == nullptr) return Status::invalid_queue;
  SimQueue* const old = &queue_of(queue);
  Queues& all = queues();
  {
    const std::lock_guard lock(all.mutex);
    if (!all.live.contains(old)) misuse("a queue is destroyed that is none, or not any more");
  }
  if (old->cooperative && leave_cooperative(*old)) return Status::success;
  {
    const std::lock_guard lock(all.mutex);
    all.live.erase(old);
  }
  stop_queue(*old);
  delete old;
  return Status::success;
}

std::uint64_t queue_load_read_index_scacquire(const Queue* queue) {
  return queue_of(queue).read.load();
}
std::uint64_t queue_load_read_index_relaxed(const Queue* queue) {
  return queue_of(queue).read.load();
}
std::uint64_t queue_load_write_index_scacquire(const Queue* queue) {
  return queue_of(queue).write.load();
}
std::uint64_t queue_load_write_index_relaxed(const Queue* queue) {
  return queue_of(queue).write.load();
}
void queue_store_write_index_relaxed(const Queue* queue, std::uint64_t value) {
  queue_of(queue).write = value;
}
void queue_store_write_index_screlease(const Queue* queue, std::uint64_t value) {
  queue_of(queue).write = value;
}
std::uint64_t queue_add_write_index_scacq_screl(const Queue* queue, std::uint64_t value) {
  return queue_of(queue).write.fetch_add(value);
}
std::uint64_t queue_add_write_index_scacquire(const Queue* queue, std::uint64_t value) {
  return queue_of(queue).write.fetch_add(value);
}
std::uint64_t queue_add_write_index_relaxed(const Queue* queue, std::uint64_t value) {
  return queue_of(queue).write.fetch_add(value);
}
std::uint64_t queue_add_write_index_screlease(const Queue* queue, std::uint64_t value) {
  return queue_of(queue).write.fetch_add(value);
}

}  // namespace core_calls

namespace amd_calls {

Status queue_get_info(Queue* queue, std::uint32_t attribute, void* value) {
  if (queue == nullptr) return Status::invalid_queue;
  if (value == nullptr) return Status::invalid_argument;
  if (attribute == queue_info::agent) {
    const Agent agent = agent_of(queue_of(queue).agent);
    std::memcpy(value, &agent, sizeof agent);
    return Status::success;
  }
  if (attribute != queue_info::doorbell_id) return Status::invalid_argument;
  std::memcpy(value, &queue->id, sizeof queue->id);
  return Status::success;
}

Status counted_queue_acquire(Agent agent, std::uint32_t, std::uint32_t, QueueCallback callback,
                             void* data, std::uint64_t, Queue** queue) {
  return create_queue(agent, kLargestQueue, callback, data, false, queue);
}

// Creating several queues from descriptions: their layout is not known here, so none is made.
Status queue_create(Agent, void*, std::uint32_t) {
  return Status::invalid_argument;
}

Status profiling_set_profiler_enabled(Queue* queue, int) {
  return queue == nullptr ? Status::invalid_queue : Status::success;
}

// "Times of dispatches": a signal that no dispatch completed answers with 0 and 0.
Status profiling_get_dispatch_time(Agent agent, Signal signal, DispatchTime* time) {
  const auto index = index_of(agent);
  if (signal.handle == 0 || time == nullptr) return Status::invalid_argument;
  if (!index || !is_gpu(*index)) return Status::invalid_agent;
  *time = {.start = signal_of(signal)->start.load(), .end = signal_of(signal)->end.load()};
  return Status::success;
}

Status profiling_convert_tick_to_system_domain(Agent agent, std::uint64_t agent_tick,
                                               std::uint64_t* system_tick) {
  if (!index_of(agent)) return Status::invalid_agent;
  if (system_tick == nullptr) return Status::invalid_argument;
  *system_tick = agent_tick;
  return Status::success;
}

}  // namespace amd_calls
}  // namespace perflab::hsa::sim
