// The clock, streams and contexts of the stand-in GPUs.
#include "cuda_sim/machine.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>

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

void Machine::submit(Work& work, StreamState& stream) {
  std::uint64_t wait_for = 0;
  {
    const std::lock_guard held(lock);
    if (stream.captured != nullptr) {
      stream.captured->nodes.push_back(work);
      return;
    }
    schedule(work, stream);
    const std::uint64_t time = now();
    while (!stream.outstanding.empty() && stream.outstanding.front() <= time)
      stream.outstanding.pop_front();
    if (stream.outstanding.size() > kQueueDepth) wait_for = stream.outstanding.front();
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
    }
    if (Listener* const told = listener) told->submitted(work);
  }
  if (wait_for != 0) sleep_until(wait_for);
}

std::uint64_t Machine::end_of(const ContextState& context) {
  const std::lock_guard held(lock);
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
  for (ContextState* const context : all) {
    sleep_until(end_of(*context));
    if (Listener* const told = listener)
      told->resource(cuda::resource_callback::context_destroy_starting,
                     reinterpret_cast<cuda::Context>(context), context->id, context->device,
                     nullptr, 0, nullptr);
    const std::lock_guard held(lock);
    for (StreamState* const stream : context->streams) delete stream;
    std::erase_if(contexts_, [&](const auto& one) { return one.get() == context; });
  }
  current_context = nullptr;
  thread_stream = nullptr;
}

}  // namespace perflab::cuda_sim
