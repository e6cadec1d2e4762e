// Queues: every one that a program creates becomes one whose packets pass through us. Other doors
// than hsa_queue_create (docs/facts/hsa_runtime.md "Other doors") are noted.
//
// Cooperative launches have one queue for each agent, which the runtime owns, counts the users of
// and gives to all who ask. An intercept queue over it believes that it owns it too: its end would
// destroy it without counting, and ~GpuAgent once more; never ended, it would outlive the runtime's
// signals (ROCr 1.21). So it is asked for once more, and given back by its own handle.
#include <memory>
#include <new>

#include "isolate/tool/hooks.h"
#include "isolate/tool/tool_state.h"

namespace perflab::isolate {
namespace {

using hsa::Status;

// The queue's error callback: remembered for a capture that waits for this queue, then passed on.
void on_queue_error(Status status, hsa::Queue* source, void* data) {
  auto* const queue = static_cast<InterceptedQueue*>(data);
  queue->failure.store(static_cast<std::uint32_t>(status));
  if (queue->callback != nullptr) queue->callback(status, source, queue->callback_data);
}

struct QueueRequest {
  hsa::Agent agent;
  std::uint32_t size, type;
  hsa::QueueCallback callback;
  void* data;
  std::uint32_t private_segment, group_segment;
};

Status create_plain(const QueueRequest& asked, hsa::Queue** queue) {
  return tool().api.core.queue_create(asked.agent, asked.size, asked.type, asked.callback,
                                      asked.data, asked.private_segment, asked.group_segment,
                                      queue);
}

// Null when the queue cannot be intercepted; nothing is left behind then.
std::unique_ptr<InterceptedQueue> create_intercepted(const QueueRequest& asked,
                                                     hsa::Queue** queue) {
  const hsa::Api& api = tool().api;
  std::unique_ptr<InterceptedQueue> made(new (std::nothrow) InterceptedQueue);
  if (made == nullptr) return nullptr;
  made->agent = asked.agent;
  made->type = asked.type;
  made->callback = asked.callback;
  made->callback_data = asked.data;
  if (api.amd.queue_intercept_create(asked.agent, asked.size, asked.type, on_queue_error,
                                     made.get(), asked.private_segment, asked.group_segment,
                                     queue) != Status::success)
    return nullptr;
  made->queue = *queue;
  if (api.amd.queue_intercept_register(*queue, on_packets, made.get()) == Status::success)
    return made;
  api.core.queue_destroy(*queue);
  *queue = nullptr;
  return nullptr;
}

Status create_queue(const QueueRequest& asked, hsa::Queue** queue) {
  Tool& running = tool();
  if (auto made = create_intercepted(asked, queue)) {
    if (!running.queues.add(std::move(made)))
      running.limit("There was no memory to remember a queue: it would not be waited for.");
    return Status::success;
  }
  const Status status = create_plain(asked, queue);
  if (status == Status::success)
    running.limit("A queue could not be intercepted: its dispatches were not seen.");
  return status;
}

// Twice for the runtime: once for its own queue, by which it can be given back, and once below
// ours.
Status create_cooperative(const QueueRequest& asked, hsa::Queue** queue) {
  Tool& running = tool();
  const std::lock_guard lock(running.queues.cooperative());
  if (hsa::Queue* const there = running.queues.share(asked.agent)) {
    *queue = there;
    return Status::success;
  }
  hsa::Queue* below = nullptr;
  if (const Status status = create_plain(asked, &below); status != Status::success) return status;
  auto made = create_intercepted(asked, queue);
  if (made == nullptr) {
    *queue = below;
    running.limit("A queue could not be intercepted: its dispatches were not seen.");
    return Status::success;
  }
  made->below = below;
  if (!running.queues.add(std::move(made)))
    running.limit("There was no memory to remember a queue: it would not be waited for.");
  return Status::success;
}

// Gives back the runtime's queue for both, and leaves ours, with what it points to, for ever.
Status end_cooperative(std::unique_ptr<InterceptedQueue> ended) {
  Tool& running = tool();
  hsa::Queue* const below = ended->below;
  running.queues.keep(std::move(ended));
  running.api.core.queue_destroy(below);
  return running.api.core.queue_destroy(below);
}

Status on_queue_create(hsa::Agent agent, std::uint32_t size, std::uint32_t type,
                       hsa::QueueCallback callback, void* data, std::uint32_t private_segment,
                       std::uint32_t group_segment, hsa::Queue** queue) noexcept {
  Tool& running = tool();
  const QueueRequest asked{.agent = agent,
                           .size = size,
                           .type = type,
                           .callback = callback,
                           .data = data,
                           .private_segment = private_segment,
                           .group_segment = group_segment};
  if (queue == nullptr || !running.machine.is_gpu(agent)) return create_plain(asked, queue);
  const Gate::Taking taking(running.gate, Gate::Phase::queues_held);
  return type == hsa::queue_cooperative ? create_cooperative(asked, queue)
                                        : create_queue(asked, queue);
}

Status on_queue_destroy(hsa::Queue* queue) noexcept {
  Tool& running = tool();
  const Gate::Taking taking(running.gate, Gate::Phase::queues_held);
  std::unique_ptr<InterceptedQueue> known;
  {
    const std::lock_guard lock(running.queues.cooperative());
    if (running.queues.leave(queue)) return Status::success;
    known = running.queues.take(queue);
  }
  if (known != nullptr && known->below != nullptr) return end_cooperative(std::move(known));
  const Status status = running.api.core.queue_destroy(queue);
  if (known == nullptr) return status;
  if (status != Status::success) {
    known->users = 1;
    running.queues.add(std::move(known));
    return status;
  }
  if (const hsa::Signal drained{known->drained.load()}; drained.handle != 0)
    running.api.core.signal_destroy(drained);
  return status;
}

Status on_soft_queue_create(hsa::Region region, std::uint32_t size, std::uint32_t type,
                            std::uint32_t features, hsa::Signal doorbell,
                            hsa::Queue** queue) noexcept {
  tool().limit("A queue was made by hsa_soft_queue_create: its packets were not seen.");
  return tool().api.core.soft_queue_create(region, size, type, features, doorbell, queue);
}

Status on_counted_queue_acquire(hsa::Agent agent, std::uint32_t type, std::uint32_t priority,
                                hsa::QueueCallback callback, void* data, std::uint64_t flags,
                                hsa::Queue** queue) noexcept {
  tool().limit("A queue was made by hsa_amd_counted_queue_acquire: its packets were not seen.");
  return tool().api.amd.counted_queue_acquire(agent, type, priority, callback, data, flags, queue);
}

Status on_amd_queue_create(hsa::Agent agent, void* descriptions, std::uint32_t count) noexcept {
  tool().limit("Queues were made by hsa_amd_queue_create: their packets were not seen.");
  return tool().api.amd.queue_create(agent, descriptions, count);
}

}  // namespace

std::vector<Hook> queue_hooks() {
  return {
      PERFLAB_CORE_HOOK(queue_create, on_queue_create),
      PERFLAB_CORE_HOOK(queue_destroy, on_queue_destroy),
      PERFLAB_CORE_HOOK(soft_queue_create, on_soft_queue_create),
      PERFLAB_AMD_HOOK(counted_queue_acquire, on_counted_queue_acquire),
      PERFLAB_AMD_HOOK(queue_create, on_amd_queue_create),
  };
}

}  // namespace perflab::isolate
