// Streams, events, launches, copies, fills and graphs of the stand-in libcuda.so.1. Facts:
// docs/facts/cuda_cupti.md "Calls and correlation", "Events", "Graphs".
#include <algorithm>

#include "cuda_sim/machine.h"

namespace perflab::cuda_sim {
namespace {

/// A stand-in function: its description, and whether it was loaded (lazily, at its first launch).
struct FunctionState {
  KernelDescription kernel;
  std::atomic<bool> loaded = false;
};

// Bytes of a copy or fill in a nanosecond: about what an H100 takes over PCIe, and within itself.
constexpr std::uint64_t kHostRate = 25;
constexpr std::uint64_t kDeviceRate = 1'500;
constexpr std::uint64_t kShortestCopy = 1'200;
constexpr std::uint64_t kLazyLoading = 200'000;

// What a module's kImage begins with: an ELF header of a GPU, 64-bit, machine 190.
constexpr char kImage[64] = {
    0x7f, 'E', 'L', 'F', 2, 1, 1, 0x41, 8, 0, 0, 0, 0, 0, 0, 0, 2, 0, static_cast<char>(190)};

std::uint32_t duration(std::uint64_t bytes, std::uint64_t rate) {
  return static_cast<std::uint32_t>(std::max(bytes / rate, kShortestCopy));
}

// The first launch of a function loads its module and takes longer.
void load(FunctionState& function, const Call& call, const ContextState& context) {
  if (function.loaded.exchange(true)) return;
  const Machine& machine = Machine::get();
  const std::uint64_t since = Machine::now();
  Machine::sleep_until(since + kLazyLoading);
  if (Listener* const told = machine.listener) {
    cuda::ModuleData module{.module_id = 1, .cubin_size = sizeof kImage, .cubin = kImage};
    told->resource(cuda::resource_callback::module_loaded, call.context, context.id, context.device,
                   nullptr, 0, &module);
    // Its stream is 0, not "none": docs/facts/cuda_cupti.md "Records".
    if (machine.settings.variables)
      told->allocated(call, {.operation = cuda::MemoryOperation::allocation,
                             .kind = cuda::MemoryKind::device_static,
                             .address = 0x7f3b'0000'0000,
                             .bytes = 256,
                             .device = context.device,
                             .context = context.id,
                             .stream = 0,
                             .async = false});
    told->loaded_lazily(call, since);
  }
}

DriverResult submit(Call& call, Work work, cuda::Stream stream) {
  StreamState* const state = Machine::get().stream_of(stream);
  if (state == nullptr) return DriverResult::invalid_context;
  if (Machine::get().is_dead(*state->context)) return DriverResult::illegal_address;
  work.correlation = call.correlation;
  Machine::get().submit(work, *state);
  return DriverResult::success;
}

DriverResult launch(const CallName& as, cuda::Function function, const Launch& shape,
                    cuda::Stream stream) {
  auto* const state = reinterpret_cast<FunctionState*>(function);
  if (state == nullptr) return DriverResult::invalid_handle;
  return called(
      as,
      [&](Call& call) {
        const StreamState* const on = Machine::get().stream_of(stream);
        if (on == nullptr) return DriverResult::invalid_context;
        load(*state, call, *on->context);
        Work work{.kind = WorkKind::kernel, .nanoseconds = state->kernel.nanoseconds};
        work.kernel = &state->kernel;
        work.launch = shape;
        return submit(call, work, stream);
      },
      state->kernel.name, &shape, stream);
}

DriverResult copy(const CallName& as, cuda::CopyKind kind, cuda::MemoryKind from,
                  cuda::MemoryKind to, std::uint64_t bytes, cuda::Stream stream) {
  return called(as, [&](Call& call) {
    Work work{.kind = WorkKind::copy};
    work.nanoseconds =
        duration(bytes, kind == cuda::CopyKind::device_to_device ? kDeviceRate : kHostRate);
    work.copy_kind = kind;
    work.source = from;
    work.destination = to;
    work.bytes = bytes;
    return submit(call, work, stream);
  });
}

void count_wait() {
  Machine& machine = Machine::get();
  const std::lock_guard held(machine.lock);
  ++machine.counts.waits;
}

}  // namespace

extern "C" {

cuda::Function cuda_sim_function(const KernelDescription* kernel) {
  Machine& machine = Machine::get();
  const std::lock_guard held(machine.lock);
  return reinterpret_cast<cuda::Function>(machine.keep(new FunctionState{.kernel = *kernel}));
}

DriverResult cuda_sim_launch(const CallName* as, cuda::Function function, const Launch* shape,
                             cuda::Stream stream) {
  return launch(*as, function, *shape, stream);
}

DriverResult cuLaunchKernel(cuda::Function function, std::uint32_t grid_x, std::uint32_t grid_y,
                            std::uint32_t grid_z, std::uint32_t block_x, std::uint32_t block_y,
                            std::uint32_t block_z, std::uint32_t shared, cuda::Stream stream,
                            void** /*parameters*/, void** /*extra*/) {
  Launch shape;
  shape.grid = {
      .x = static_cast<int>(grid_x), .y = static_cast<int>(grid_y), .z = static_cast<int>(grid_z)};
  shape.block = {.x = static_cast<int>(block_x),
                 .y = static_cast<int>(block_y),
                 .z = static_cast<int>(block_z)};
  shape.dynamic_shared_memory = static_cast<int>(shared);
  return launch(driver_calls::cuLaunchKernel, function, shape, stream);
}

DriverResult cuKernelGetName(const char** name, cuda::Function kernel) {
  return called(driver_calls::cuKernelGetName, [&](Call&) {
    if (kernel == nullptr) return DriverResult::invalid_handle;
    *name = reinterpret_cast<FunctionState*>(kernel)->kernel.name;
    return DriverResult::success;
  });
}

DriverResult cuMemcpyHtoDAsync_v2(cuda::DevicePointer /*to*/, const void* /*from*/,
                                  std::size_t bytes, cuda::Stream stream) {
  return copy(driver_calls::cuMemcpyHtoDAsync_v2, cuda::CopyKind::host_to_device,
              cuda::MemoryKind::pinned, cuda::MemoryKind::device, bytes, stream);
}

DriverResult cuMemcpyDtoHAsync_v2(void* /*to*/, cuda::DevicePointer /*from*/, std::size_t bytes,
                                  cuda::Stream stream) {
  return copy(driver_calls::cuMemcpyDtoHAsync_v2, cuda::CopyKind::device_to_host,
              cuda::MemoryKind::device, cuda::MemoryKind::pinned, bytes, stream);
}

DriverResult cuMemcpyDtoDAsync_v2(cuda::DevicePointer /*to*/, cuda::DevicePointer /*from*/,
                                  std::size_t bytes, cuda::Stream stream) {
  return copy(driver_calls::cuMemcpyDtoDAsync_v2, cuda::CopyKind::device_to_device,
              cuda::MemoryKind::device, cuda::MemoryKind::device, bytes, stream);
}

DriverResult cuMemcpyPeerAsync(cuda::DevicePointer /*to*/, cuda::Context to_context,
                               cuda::DevicePointer /*from*/, cuda::Context /*from_context*/,
                               std::size_t bytes, cuda::Stream stream) {
  return called(driver_calls::cuMemcpyPeerAsync, [&](Call& call) {
    Work work{.kind = WorkKind::peer_copy};
    work.nanoseconds = duration(bytes, kHostRate);
    work.copy_kind = cuda::CopyKind::peer_to_peer;
    work.source = work.destination = cuda::MemoryKind::device;
    work.bytes = bytes;
    if (to_context == nullptr) return DriverResult::invalid_context;
    work.destination_device = reinterpret_cast<ContextState*>(to_context)->device;
    return submit(call, work, stream);
  });
}

DriverResult cuMemsetD8Async(cuda::DevicePointer /*to*/, std::uint8_t value, std::size_t bytes,
                             cuda::Stream stream) {
  return called(driver_calls::cuMemsetD8Async, [&](Call& call) {
    Work work{.kind = WorkKind::fill};
    work.nanoseconds = duration(bytes, kDeviceRate);
    work.bytes = bytes;
    work.value = value;
    work.destination = cuda::MemoryKind::device;
    return submit(call, work, stream);
  });
}

DriverResult cuStreamCreate(cuda::Stream* stream, std::uint32_t flags) {
  return called(driver_calls::cuStreamCreate, [&](Call&) {
    constexpr std::uint32_t kNonBlocking = 1;
    *stream =
        reinterpret_cast<cuda::Stream>(Machine::get().create_stream((flags & kNonBlocking) == 0));
    return *stream == nullptr ? DriverResult::invalid_context : DriverResult::success;
  });
}

DriverResult cuStreamDestroy_v2(cuda::Stream stream) {
  return called(driver_calls::cuStreamDestroy_v2, [&](Call&) {
    Machine::get().destroy_stream(reinterpret_cast<StreamState*>(stream));
    return DriverResult::success;
  });
}

DriverResult cuStreamSynchronize(cuda::Stream stream) {
  return called(driver_calls::cuStreamSynchronize, [&](Call& call) {
    Machine& machine = Machine::get();
    const StreamState* const state = machine.stream_of(stream);
    if (state == nullptr) return DriverResult::invalid_context;
    if (state->captured != nullptr) return DriverResult::stream_capture_unsupported;
    const std::uint64_t since = Machine::now();
    std::uint64_t end = 0;
    {
      const std::lock_guard held(machine.lock);
      end = state->free_at;
    }
    Machine::sleep_until(end);
    if (machine.is_dead(*state->context)) return DriverResult::illegal_address;
    count_wait();
    if (Listener* const told = machine.listener) {
      told->waited(call,
                   {.type = cuda::SynchronizationType::stream_synchronize,
                    .context = state->context->id,
                    .stream = state->id,
                    .event = cuda::no_event,
                    .event_sync = 0},
                   since);
      told->synchronized(cuda::synchronize_callback::stream_synchronized, call.context, stream);
    }
    return DriverResult::success;
  });
}

DriverResult cuStreamQuery(cuda::Stream stream) {
  return called(driver_calls::cuStreamQuery, [&](Call&) {
    Machine& machine = Machine::get();
    const StreamState* const state = machine.stream_of(stream);
    if (state == nullptr) return DriverResult::invalid_context;
    const std::lock_guard held(machine.lock);
    return state->free_at <= Machine::now() ? DriverResult::success : DriverResult::not_ready;
  });
}

DriverResult cuEventCreate(cuda::Event* event, std::uint32_t /*flags*/) {
  return called(driver_calls::cuEventCreate, [&](Call&) {
    Machine& machine = Machine::get();
    const std::lock_guard held(machine.lock);
    auto* const made = machine.keep(new EventState{.id = machine.next_event++});
    *event = reinterpret_cast<cuda::Event>(made);
    return DriverResult::success;
  });
}

DriverResult cuEventRecord(cuda::Event event, cuda::Stream stream) {
  return called(driver_calls::cuEventRecord, [&](Call& call) {
    Machine& machine = Machine::get();
    auto* const state = reinterpret_cast<EventState*>(event);
    const StreamState* const on = machine.stream_of(stream);
    if (on == nullptr) return DriverResult::invalid_context;
    if (on->captured != nullptr) return DriverResult::success;
    Recorded recorded{};
    {
      const std::lock_guard held(machine.lock);
      state->at = on->free_at;
      state->sync_id = machine.next_sync++;
      ++machine.counts.events;
      recorded = {.device = on->context->device,
                  .context = on->context->id,
                  .stream = on->id,
                  .event = state->id,
                  .event_sync = state->sync_id,
                  .at = state->at};
    }
    if (Listener* const told = machine.listener) told->recorded(call, recorded);
    return DriverResult::success;
  });
}

DriverResult cuStreamWaitEvent(cuda::Stream stream, cuda::Event event, std::uint32_t /*flags*/) {
  return called(driver_calls::cuStreamWaitEvent, [&](Call& call) {
    Machine& machine = Machine::get();
    EventState state;
    StreamState* const on = machine.stream_of(stream);
    if (on == nullptr) return DriverResult::invalid_context;
    if (on->captured != nullptr) return DriverResult::success;
    {
      const std::lock_guard held(machine.lock);
      state = *reinterpret_cast<const EventState*>(event);
      on->free_at = std::max(on->free_at, state.at);
      ++machine.counts.waits;
    }
    if (Listener* const told = machine.listener)
      told->waited(call,
                   {.type = cuda::SynchronizationType::stream_wait_event,
                    .context = on->context->id,
                    .stream = on->id,
                    .event = state.id,
                    .event_sync = state.sync_id},
                   Machine::now());
    return DriverResult::success;
  });
}

DriverResult cuEventSynchronize(cuda::Event event) {
  return called(driver_calls::cuEventSynchronize, [&](Call& call) {
    Machine& machine = Machine::get();
    EventState state;
    {
      const std::lock_guard held(machine.lock);
      state = *reinterpret_cast<const EventState*>(event);
    }
    const std::uint64_t since = Machine::now();
    Machine::sleep_until(state.at);
    if (const ContextState* const context = Machine::current();
        context != nullptr && machine.is_dead(*context))
      return DriverResult::illegal_address;
    count_wait();
    if (Listener* const told = machine.listener)
      told->waited(call,
                   {.type = cuda::SynchronizationType::event_synchronize,
                    .context = call.context_id,
                    .stream = cuda::no_stream,
                    .event = state.id,
                    .event_sync = state.sync_id},
                   since);
    return DriverResult::success;
  });
}

DriverResult cuEventDestroy_v2(cuda::Event event) {
  return called(driver_calls::cuEventDestroy_v2, [&](Call&) {
    const std::lock_guard held(Machine::get().lock);
    Machine::get().forget(event);
    delete reinterpret_cast<EventState*>(event);
    return DriverResult::success;
  });
}

DriverResult cuStreamIsCapturing(cuda::Stream stream, std::uint32_t* status) {
  return called(driver_calls::cuStreamIsCapturing, [&](Call&) {
    const StreamState* const state = Machine::get().stream_of(stream);
    if (state == nullptr) return DriverResult::invalid_context;
    *status = state->captured == nullptr ? 0 : 1;
    return DriverResult::success;
  });
}

DriverResult cuStreamBeginCapture_v2(cuda::Stream stream, std::uint32_t /*mode*/) {
  return called(driver_calls::cuStreamBeginCapture_v2, [&](Call&) {
    StreamState* const state = Machine::get().stream_of(stream);
    if (state == nullptr || stream == nullptr) return DriverResult::stream_capture_unsupported;
    const std::lock_guard held(Machine::get().lock);
    state->captured = Machine::get().keep(new GraphState);
    return DriverResult::success;
  });
}

DriverResult cuStreamEndCapture(cuda::Stream stream, Graph* graph) {
  return called(driver_calls::cuStreamEndCapture, [&](Call&) {
    StreamState* const state = Machine::get().stream_of(stream);
    if (state == nullptr || state->captured == nullptr) return DriverResult::invalid_value;
    const std::lock_guard held(Machine::get().lock);
    GraphState* const captured = state->captured;
    state->captured = nullptr;
    if (!captured->valid) {
      Machine::get().forget(captured);
      delete captured;
      constexpr auto kCaptureInvalidated = DriverResult{901};
      return kCaptureInvalidated;
    }
    *graph = reinterpret_cast<Graph>(captured);
    return DriverResult::success;
  });
}

DriverResult cuGraphInstantiateWithFlags(cuda::GraphExec* executable, Graph graph,
                                         std::uint64_t /*flags*/) {
  return called(driver_calls::cuGraphInstantiateWithFlags, [&](Call&) {
    Machine& machine = Machine::get();
    const std::lock_guard held(machine.lock);
    auto* const made = machine.keep(new GraphExecState{
        .id = machine.next_graph++, .nodes = reinterpret_cast<const GraphState*>(graph)->nodes});
    for (std::size_t i = 0; i < made->nodes.size(); ++i) {
      made->nodes[i].graph = made->id;
      made->nodes[i].graph_node = (std::uint64_t{made->id} << 32U) + i;
    }
    *executable = reinterpret_cast<cuda::GraphExec>(made);
    return DriverResult::success;
  });
}

DriverResult cuGraphLaunch(cuda::GraphExec executable, cuda::Stream stream) {
  return called(driver_calls::cuGraphLaunch, [&](Call& call) {
    Machine& machine = Machine::get();
    StreamState* const on = machine.stream_of(stream);
    if (on == nullptr) return DriverResult::invalid_context;
    const auto* const graph = reinterpret_cast<const GraphExecState*>(executable);
    Work first;
    Work last;
    bool any = false;
    for (Work node : graph->nodes) {
      node.correlation = call.correlation;
      machine.submit(node, *on);
      if (!any) first = node;
      any = true;
      last = node;
    }
    {
      const std::lock_guard held(machine.lock);
      ++machine.counts.graph_launches;
    }
    if (Listener* const told = machine.listener; told != nullptr && any)
      told->graph_launched(first, last);
    return DriverResult::success;
  });
}

DriverResult cuGraphExecDestroy(cuda::GraphExec executable) {
  return called(driver_calls::cuGraphExecDestroy, [&](Call&) {
    const std::lock_guard held(Machine::get().lock);
    Machine::get().forget(executable);
    delete reinterpret_cast<GraphExecState*>(executable);
    return DriverResult::success;
  });
}

}  // extern "C"

}  // namespace perflab::cuda_sim
