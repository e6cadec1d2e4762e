// The clock, streams and contexts of the stand-in GPUs.
#include "cuda_sim/machine.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <utility>

namespace perflab::cuda_sim {
namespace {

constexpr std::uint64_t kLaunchLatency = 2'000;  // ns from the call to the first start
constexpr std::uint64_t kKernelGap = 1'000;      // ns between two operations of a stream
constexpr std::uint64_t kTick = 32;              // docs/facts/cuda_cupti.md "Clock"
constexpr std::size_t kQueueDepth = 1'024;       // a launch waits when so many are outstanding
constexpr std::uint32_t kDefaultStreamId = 7;    // of the first context, as on the H100
constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;

thread_local ContextState* current_context = nullptr;
thread_local StreamState* thread_stream = nullptr;

/// The last task of each stream that the next operation of `stream` has to wait for.
std::vector<std::shared_ptr<Task>> tasks_before(const StreamState& stream) {
  std::vector<std::shared_ptr<Task>> tasks;
  const auto add = [&](const StreamState& other) {
    if (!other.tasks.empty()) tasks.push_back(other.tasks.back());
  };
  const ContextState& context = *stream.context;
  if (&stream == &context.default_stream) {
    for (const StreamState* const other : context.streams)
      if (other->blocking) add(*other);
  } else if (stream.blocking) {
    add(context.default_stream);
  }
  return tasks;
}

bool is_behind_tasks(const StreamState& stream) {
  return !stream.tasks.empty() || !tasks_before(stream).empty() ||
         std::ranges::any_of(stream.waited_for, [](const auto& task) { return !task->done; });
}

int number_of(const char* variable, int otherwise) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? otherwise : std::atoi(value);
}

}  // namespace

Machine& Machine::get() {
  static auto* machine = new Machine;
  return *machine;
}

Machine::Machine() {
  settings.devices = number_of("CUDA_SIM_DEVICES", 1);
  settings.nameless = number_of("CUDA_SIM_NAMELESS", 0) != 0;
  settings.variables = number_of("CUDA_SIM_VARIABLES", 0) != 0;
  settings.driver_version = number_of("CUDA_SIM_DRIVER_VERSION", 13000);
}

std::uint64_t Machine::now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * kNanosecondsPerSecond +
         static_cast<std::uint64_t>(time.tv_nsec);
}

void Machine::sleep_until(std::uint64_t when) {
  if (when <= now()) return;
  const timespec until{.tv_sec = static_cast<time_t>(when / kNanosecondsPerSecond),
                       .tv_nsec = static_cast<long>(when % kNanosecondsPerSecond)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0) {
  }
}

void Machine::schedule(Work& work, StreamState& stream) {
  std::uint64_t start = std::max(now() + kLaunchLatency, stream.free_at + kKernelGap);
  ContextState& context = *stream.context;
  if (&stream == &context.default_stream) {
    for (const StreamState* const other : context.streams)
      if (other->blocking) start = std::max(start, other->free_at);
  } else if (stream.blocking) {
    start = std::max(start, context.default_stream.free_at);
  }
  work.start = (start + kTick - 1) / kTick * kTick;
  work.end = work.start + std::max<std::uint64_t>(work.nanoseconds, 1);
  work.device = context.device;
  work.context = context.id;
  work.stream = stream.id;
  stream.free_at = work.end;
  stream.outstanding.push_back(work.end);
  if (work.kernel != nullptr && work.kernel->faults)
    context.dies_at = std::min(context.dies_at, work.end);
  if (work.end >= context.dies_at) work.end = never;
}

void Machine::tell(const Work& work) {
  switch (work.kind) {
    case WorkKind::kernel:
      ++counts.kernels;
      break;
    case WorkKind::copy:
      ++counts.copies;
      break;
    case WorkKind::peer_copy:
      ++counts.peer_copies;
      break;
    case WorkKind::fill:
      ++counts.fills;
      break;
    case WorkKind::mark:
      return;
  }
  if (Listener* const told = listener) told->submitted(work);
}

void Machine::submit(Work& work, StreamState& stream, Body body,
                     std::function<void(const Work&)> then) {
  std::uint64_t wait_for = 0;
  std::unique_lock held(lock);
  if (stream.captured != nullptr) {
    const bool is_first = stream.captured->nodes.empty();
    stream.captured->nodes.push_back({.work = work, .body = std::move(body)});
    stream.captured->nodes.back().is_first = is_first;
    return;
  }
  const bool is_kernel = body != nullptr && work.kind == WorkKind::kernel;
  if (is_kernel || is_behind_tasks(stream)) {
    enqueue({.work = work, .body = std::move(body)}, stream, std::move(then));
    return;
  }
  if (body != nullptr) {
    held.unlock();
    body(stop_);
    held.lock();
  }
  schedule(work, stream);
  const std::uint64_t time = now();
  while (!stream.outstanding.empty() && stream.outstanding.front() <= time)
    stream.outstanding.pop_front();
  if (stream.outstanding.size() > kQueueDepth) wait_for = stream.outstanding.front();
  tell(work);
  if (then) then(work);
  held.unlock();
  if (wait_for != 0) sleep_until(wait_for);
}

void Machine::enqueue(Operation operation, StreamState& stream,
                      std::function<void(const Work&)> then) {
  auto task = std::make_shared<Task>();
  task->operation = std::move(operation);
  task->then = std::move(then);
  task->after = tasks_before(stream);
  std::ranges::move(stream.waited_for, std::back_inserter(task->after));
  stream.waited_for.clear();
  stream.tasks.push_back(std::move(task));
  if (!stream.worker.joinable()) stream.worker = std::thread([this, &stream] { work_off(stream); });
  changed_.notify_all();
}

std::shared_ptr<Task> Machine::mark(StreamState& stream) {
  const std::lock_guard held(lock);
  if (!is_behind_tasks(stream)) return nullptr;
  enqueue({.work = {.kind = WorkKind::mark}, .body = {}}, stream, {});
  return stream.tasks.back();
}

void Machine::work_off(StreamState& stream) {
  std::unique_lock held(lock);
  for (;;) {
    changed_.wait(held, [&] { return stream.closing || !stream.tasks.empty(); });
    if (stream.tasks.empty()) return;
    const std::shared_ptr<Task> task = stream.tasks.front();
    changed_.wait(held, [&] { return std::ranges::all_of(task->after, &Task::done); });
    const std::uint64_t began = now();
    Outcome outcome;
    if (began < stream.context->dies_at && task->operation.body != nullptr) {
      held.unlock();
      outcome = task->operation.body(stop_);
      held.lock();
    }
    finish(*task, outcome, began, stream);
    stream.tasks.pop_front();
    changed_.notify_all();
  }
}

// The times of a body that has run: from when it began, as long as it counted or took.
void Machine::finish(Task& task, const Outcome& outcome, std::uint64_t began, StreamState& stream) {
  Work& work = task.operation.work;
  ContextState& context = *stream.context;
  const std::uint64_t start =
      (std::max(began, stream.free_at + kKernelGap) + kTick - 1) / kTick * kTick;
  const std::uint64_t took =
      std::max<std::uint64_t>(work.nanoseconds, task.operation.body == nullptr ? 0 : now() - began);
  work.start = start;
  work.end = start + (work.kind == WorkKind::mark ? 0 : outcome.nanoseconds.value_or(took));
  work.device = context.device;
  work.context = context.id;
  work.stream = stream.id;
  if (work.kind == WorkKind::mark) work.end = stream.free_at;
  stream.free_at = std::max(stream.free_at, work.end);
  const bool faults =
      outcome.answer != DriverResult::success || (work.kernel != nullptr && work.kernel->faults);
  if (faults && context.dies_at == never) {
    context.dies_at = std::min(now(), work.end);
    if (outcome.answer != DriverResult::success) context.fault = outcome.answer;
  }
  if (work.end >= context.dies_at) work.end = never;
  task.operation.body = nullptr;
  task.after.clear();
  task.done = true;
  task.end = work.end == never ? 0 : work.end;
  tell(work);
  if (task.then) task.then(work);
}

void Machine::close(StreamState& stream) {
  {
    std::unique_lock held(lock);
    changed_.wait(held, [&] { return stream.tasks.empty(); });
    stream.closing = true;
    changed_.notify_all();
  }
  if (stream.worker.joinable()) stream.worker.join();
}

void Machine::wait_for(const std::shared_ptr<Task>& task) {
  std::unique_lock held(lock);
  changed_.wait(held, [&] { return task == nullptr || task->done; });
}

std::uint64_t Machine::end_of(const StreamState& stream) {
  std::unique_lock held(lock);
  const std::shared_ptr<Task> last = stream.tasks.empty() ? nullptr : stream.tasks.back();
  changed_.wait(held, [&] { return last == nullptr || last->done; });
  return stream.free_at;
}

std::uint64_t Machine::end_of(const ContextState& context) {
  std::unique_lock held(lock);
  const auto idle = [&] {
    return context.default_stream.tasks.empty() &&
           std::ranges::all_of(context.streams,
                               [](const StreamState* stream) { return stream->tasks.empty(); });
  };
  changed_.wait(held, idle);
  std::uint64_t end = context.default_stream.free_at;
  for (const StreamState* const stream : context.streams) end = std::max(end, stream->free_at);
  return end;
}

bool Machine::is_dead(const ContextState& context) {
  const std::lock_guard held(lock);
  return now() >= context.dies_at;
}

bool Machine::spoils_capture(ContextState& context) {
  const std::lock_guard held(lock);
  bool spoilt = false;
  for (StreamState* const stream : context.streams) {
    if (stream->captured == nullptr) continue;
    stream->captured->valid = false;
    spoilt = true;
  }
  return spoilt;
}

ContextState* Machine::existing_context(std::uint32_t device) {
  const std::lock_guard held(lock);
  for (const auto& context : contexts_)
    if (context != nullptr && context->device == device) return context.get();
  return nullptr;
}

ContextState* Machine::context_of_device(std::uint32_t device) {
  if (ContextState* const there = existing_context(device)) return there;
  ContextState* made = nullptr;
  {
    const std::lock_guard held(lock);
    contexts_.push_back(std::make_unique<ContextState>());
    made = contexts_.back().get();
    made->id = next_context_++;
    made->device = device;
    made->default_stream.id = made->id == 1 ? kDefaultStreamId : next_stream_++;
    made->default_stream.context = made;
  }
  if (Listener* const told = listener) {
    auto* const context = reinterpret_cast<cuda::Context>(made);
    told->resource(cuda::resource_callback::context_created, context, made->id, device, nullptr,
                   made->default_stream.id, nullptr);
  }
  return made;
}

ContextState* Machine::current() {
  return current_context;
}
void Machine::set_current(ContextState* context) {
  current_context = context;
}

StreamState* Machine::stream_of(cuda::Stream stream) {
  if (stream == per_thread_stream) {
    if (thread_stream == nullptr) thread_stream = create_stream(true);
    return thread_stream;
  }
  if (stream != nullptr) return reinterpret_cast<StreamState*>(stream);
  return current_context == nullptr ? nullptr : &current_context->default_stream;
}

StreamState* Machine::create_stream(bool blocking) {
  ContextState* const context = current_context;
  if (context == nullptr) return nullptr;
  auto* const made = new StreamState;  // lives in the context's list
  {
    const std::lock_guard held(lock);
    made->id = next_stream_++;
    made->context = context;
    made->blocking = blocking;
    context->streams.push_back(made);
  }
  if (Listener* const told = listener)
    told->resource(cuda::resource_callback::stream_created,
                   reinterpret_cast<cuda::Context>(context), context->id, context->device,
                   reinterpret_cast<cuda::Stream>(made), made->id, nullptr);
  return made;
}

void Machine::destroy_stream(StreamState* stream) {
  ContextState* const context = stream->context;
  close(*stream);
  if (Listener* const told = listener)
    told->resource(cuda::resource_callback::stream_destroy_starting,
                   reinterpret_cast<cuda::Context>(context), context->id, context->device,
                   reinterpret_cast<cuda::Stream>(stream), stream->id, nullptr);
  const std::lock_guard held(lock);
  // What it still has to do goes on: the default stream keeps waiting for it.
  if (stream->blocking)
    context->default_stream.free_at = std::max(context->default_stream.free_at, stream->free_at);
  context->streams.remove(stream);
  delete stream;
}

void Machine::stop_contexts() {
  std::vector<ContextState*> all;
  {
    const std::lock_guard held(lock);
    for (const auto& context : contexts_) all.push_back(context.get());
  }
  stop_ = true;
  for (ContextState* const context : all) {
    sleep_until(end_of(*context));
    close(context->default_stream);
    for (StreamState* const stream : context->streams) close(*stream);
    if (Listener* const told = listener)
      told->resource(cuda::resource_callback::context_destroy_starting,
                     reinterpret_cast<cuda::Context>(context), context->id, context->device,
                     nullptr, 0, nullptr);
    const std::lock_guard held(lock);
    for (StreamState* const stream : context->streams) delete stream;
    std::erase_if(contexts_, [&](const auto& one) { return one.get() == context; });
  }
  stop_ = false;
  current_context = nullptr;
  thread_stream = nullptr;
}

}  // namespace perflab::cuda_sim
