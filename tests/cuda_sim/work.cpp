// Streams, events, launches, copies and fills of the stand-in libcuda.so.1. Facts:
// docs/facts/cuda_cupti.md "Calls and correlation", "Events".
#include <algorithm>
#include <cstring>

#include "cuda_sim/given_launch.h"
#include "cuda_sim/memory_map.h"
#include "cuda_sim/modules.h"

namespace perflab::cuda_sim {
namespace {

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

DriverResult submit(Call& call, Work work, cuda::Stream stream, Body body = {}) {
  StreamState* const state = Machine::get().stream_of(stream);
  if (state == nullptr) return DriverResult::invalid_context;
  if (Machine::get().is_dead(*state->context)) return state->context->fault;
  work.correlation = call.correlation;
  Machine::get().submit(work, *state, std::move(body));
  return DriverResult::success;
}

// What the driver refuses of a launch of a module's function.
bool fits(const FunctionState& function, const Launch& shape) {
  if (function.image == nullptr) return true;
  const auto threads = std::int64_t{shape.block.x} * shape.block.y * shape.block.z;
  return threads > 0 && threads <= function.image->max_threads && shape.grid.x > 0 &&
         shape.grid.y > 0 && shape.grid.z > 0 &&
         shape.dynamic_shared_memory <= function.max_dynamic_shared;
}

std::shared_ptr<NodeKernel> node_of(const FunctionState& function, cuda::Function handle,
                                    const Launch& shape, const std::vector<std::byte>& arguments) {
  if (function.image == nullptr) return nullptr;
  auto node = std::make_shared<NodeKernel>(
      NodeKernel{.function = handle, .shape = shape, .arguments = arguments, .parameters = {}});
  for (const auto& [offset, bytes] : function.image->parameters)
    node->parameters.push_back(node->arguments.data() + offset);
  return node;
}

DriverResult launch(const CallName& as, cuda::Function handle, const Launch& shape,
                    cuda::Stream stream, void** parameters, void** extra) {
  if (handle == nullptr) return DriverResult::invalid_handle;
  const GivenLaunch given(handle, shape, stream, parameters, extra);
  const auto* const plain = reinterpret_cast<const FunctionState*>(handle);
  const char* const name = plain->is_function
                               ? plain->kernel.name
                               : reinterpret_cast<const KernelState*>(handle)->name.c_str();
  return called(
      as,
      [&](Call& call) {
        const StreamState* const on = Machine::get().stream_of(stream);
        if (on == nullptr) return DriverResult::invalid_context;
        FunctionState* const state = function_of(handle);
        if (state == nullptr) return DriverResult::invalid_handle;
        load(*state, call, *on->context);
        std::vector<std::byte> arguments;
        if (!fits(*state, shape) || !take_arguments(*state, parameters, extra, arguments))
          return DriverResult::invalid_value;
        Work work{.kind = WorkKind::kernel, .nanoseconds = state->kernel.nanoseconds};
        work.kernel = &state->kernel;
        work.launch = shape;
        const std::shared_ptr<NodeKernel> node =
            on->captured == nullptr ? nullptr : node_of(*state, handle, shape, arguments);
        const DriverResult answer =
            submit(call, work, stream, body_of_launch(*state, shape, std::move(arguments)));
        const std::lock_guard held(Machine::get().lock);
        if (on->captured != nullptr && answer == DriverResult::success)
          on->captured->nodes.back().kernel = node;
        return answer;
      },
      name, &shape, stream, given.of(as));
}

/// One copy: what lies behind 0 is not copied, so that tests of recording need no memory.
struct Copy {
  cuda::CopyKind kind;
  std::uint64_t to, from, bytes;
};

bool is_memory(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard held(Machine::get().lock);
  const auto block = block_at(address);
  return block && address + bytes <= block->base + rounded_up(block->bytes, 1);
}

// Null: nothing to copy; invalid_value: a device's address is none.
DriverResult body_of_copy(const Copy& copy, Body& body) {
  if (copy.to == 0 || copy.from == 0 || copy.bytes == 0) return DriverResult::success;
  using enum cuda::CopyKind;
  const bool to_device = copy.kind == host_to_device || copy.kind == device_to_device;
  const bool from_device = copy.kind == device_to_host || copy.kind == device_to_device;
  if ((to_device && !is_memory(copy.to, copy.bytes)) ||
      (from_device && !is_memory(copy.from, copy.bytes)))
    return DriverResult::invalid_value;
  body = [copy](const std::atomic<bool>&) {
    std::memmove(reinterpret_cast<void*>(copy.to), reinterpret_cast<const void*>(copy.from),
                 copy.bytes);
    return Outcome{};
  };
  return DriverResult::success;
}

// `waits`: the call ends when the copy has.
DriverResult copy(const CallName& as, const Copy& what, cuda::Stream stream, bool waits = false) {
  using enum cuda::CopyKind;
  return called(as, [&](Call& call) {
    Work work{.kind = WorkKind::copy};
    work.nanoseconds =
        duration(what.bytes, what.kind == device_to_device ? kDeviceRate : kHostRate);
    work.copy_kind = what.kind;
    work.source = what.kind == host_to_device ? cuda::MemoryKind::pinned : cuda::MemoryKind::device;
    work.destination =
        what.kind == device_to_host ? cuda::MemoryKind::pinned : cuda::MemoryKind::device;
    work.bytes = what.bytes;
    work.async = !waits;
    Body body;
    if (const DriverResult answer = body_of_copy(what, body); answer != DriverResult::success)
      return answer;
    const DriverResult answer = submit(call, work, stream, std::move(body));
    if (answer != DriverResult::success || !waits) return answer;
    const StreamState* const on = Machine::get().stream_of(stream);
    Machine::sleep_until(Machine::get().end_of(*on));
    return Machine::get().is_dead(*on->context) ? on->context->fault : DriverResult::success;
  });
}

std::uint64_t number(const void* address) {
  return reinterpret_cast<std::uint64_t>(address);
}

DriverResult fill(const CallName& as, std::uint64_t to, std::uint8_t value, std::uint64_t bytes,
                  cuda::Stream stream) {
  return called(as, [&](Call& call) {
    Work work{.kind = WorkKind::fill};
    work.nanoseconds = duration(bytes, kDeviceRate);
    work.bytes = bytes;
    work.value = value;
    work.destination = cuda::MemoryKind::device;
    if (to == 0 || bytes == 0) return submit(call, work, stream);
    if (!is_memory(to, bytes)) return DriverResult::invalid_value;
    return submit(call, work, stream, [=](const std::atomic<bool>&) {
      std::memset(reinterpret_cast<void*>(to), value, bytes);
      return Outcome{};
    });
  });
}

Launch shape_of(const cuda::LaunchConfiguration& configuration) {
  const auto dimensions = [](const std::uint32_t(&sizes)[3]) {
    return Dimensions{.x = static_cast<int>(sizes[0]),
                      .y = static_cast<int>(sizes[1]),
                      .z = static_cast<int>(sizes[2])};
  };
  Launch shape{.grid = dimensions(configuration.grid), .block = dimensions(configuration.block)};
  shape.dynamic_shared_memory = static_cast<int>(configuration.shared_bytes);
  for (std::uint32_t i = 0; i < configuration.attribute_count; ++i) {
    const cuda::LaunchAttribute& one = configuration.attributes[i];
    if (one.id == cuda::LaunchAttributeId::cluster_dimension)
      shape.cluster = dimensions(one.value.cluster);
    if (one.id == cuda::LaunchAttributeId::cooperative && one.value.cooperative != 0)
      shape.type = cuda::launch_type::cooperative;
  }
  return shape;
}

void count_wait() {
  Machine& machine = Machine::get();
  const std::lock_guard held(machine.lock);
  ++machine.counts.waits;
}

FunctionState* described(const KernelDescription& kernel) {
  auto* const function = new FunctionState;
  function->kernel = kernel;
  return function;
}

}  // namespace

extern "C" {

cuda::Function cuda_sim_function(const KernelDescription* kernel) {
  Machine& machine = Machine::get();
  const std::lock_guard held(machine.lock);
  return reinterpret_cast<cuda::Function>(machine.keep(described(*kernel)));
}

DriverResult cuda_sim_launch(const CallName* as, cuda::Function function, const Launch* shape,
                             cuda::Stream stream, void** parameters, void** extra) {
  return launch(*as, function, *shape, stream, parameters, extra);
}

DriverResult cuLaunchKernel(cuda::Function function, std::uint32_t grid_x, std::uint32_t grid_y,
                            std::uint32_t grid_z, std::uint32_t block_x, std::uint32_t block_y,
                            std::uint32_t block_z, std::uint32_t shared, cuda::Stream stream,
                            void** parameters, void** extra) {
  Launch shape;
  shape.grid = {
      .x = static_cast<int>(grid_x), .y = static_cast<int>(grid_y), .z = static_cast<int>(grid_z)};
  shape.block = {.x = static_cast<int>(block_x),
                 .y = static_cast<int>(block_y),
                 .z = static_cast<int>(block_z)};
  shape.dynamic_shared_memory = static_cast<int>(shared);
  return launch(driver_calls::cuLaunchKernel, function, shape, stream, parameters, extra);
}

DriverResult cuLaunchCooperativeKernel(cuda::Function function, std::uint32_t grid_x,
                                       std::uint32_t grid_y, std::uint32_t grid_z,
                                       std::uint32_t block_x, std::uint32_t block_y,
                                       std::uint32_t block_z, std::uint32_t shared,
                                       cuda::Stream stream, void** parameters) {
  cuda::LaunchConfiguration configuration{.grid = {grid_x, grid_y, grid_z},
                                          .block = {block_x, block_y, block_z},
                                          .shared_bytes = shared,
                                          .stream = stream,
                                          .attributes = nullptr,
                                          .attribute_count = 0};
  Launch shape = shape_of(configuration);
  shape.type = cuda::launch_type::cooperative;
  return launch(driver_calls::cuLaunchCooperativeKernel, function, shape, stream, parameters,
                nullptr);
}

DriverResult cuLaunchKernelEx(const cuda::LaunchConfiguration* configuration,
                              cuda::Function function, void** parameters, void** extra) {
  if (configuration == nullptr) return DriverResult::invalid_value;
  return launch(driver_calls::cuLaunchKernelEx, function, shape_of(*configuration),
                configuration->stream, parameters, extra);
}

DriverResult cuMemcpyHtoD_v2(cuda::DevicePointer to, const void* from, std::size_t bytes) {
  return copy(driver_calls::cuMemcpyHtoD_v2,
              {cuda::CopyKind::host_to_device, to, number(from), bytes}, nullptr, true);
}

DriverResult cuMemcpyDtoH_v2(void* to, cuda::DevicePointer from, std::size_t bytes) {
  return copy(driver_calls::cuMemcpyDtoH_v2,
              {cuda::CopyKind::device_to_host, number(to), from, bytes}, nullptr, true);
}

DriverResult cuMemcpyDtoD_v2(cuda::DevicePointer to, cuda::DevicePointer from, std::size_t bytes) {
  return copy(driver_calls::cuMemcpyDtoD_v2, {cuda::CopyKind::device_to_device, to, from, bytes},
              nullptr);
}

DriverResult cuMemcpyHtoDAsync_v2(cuda::DevicePointer to, const void* from, std::size_t bytes,
                                  cuda::Stream stream) {
  return copy(driver_calls::cuMemcpyHtoDAsync_v2,
              {cuda::CopyKind::host_to_device, to, number(from), bytes}, stream);
}

DriverResult cuMemcpyDtoHAsync_v2(void* to, cuda::DevicePointer from, std::size_t bytes,
                                  cuda::Stream stream) {
  return copy(driver_calls::cuMemcpyDtoHAsync_v2,
              {cuda::CopyKind::device_to_host, number(to), from, bytes}, stream);
}

DriverResult cuMemcpyDtoDAsync_v2(cuda::DevicePointer to, cuda::DevicePointer from,
                                  std::size_t bytes, cuda::Stream stream) {
  return copy(driver_calls::cuMemcpyDtoDAsync_v2,
              {cuda::CopyKind::device_to_device, to, from, bytes}, stream);
}

DriverResult cuMemsetD8_v2(cuda::DevicePointer to, std::uint8_t value, std::size_t bytes) {
  return fill(driver_calls::cuMemsetD8_v2, to, value, bytes, nullptr);
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

DriverResult cuMemsetD8Async(cuda::DevicePointer to, std::uint8_t value, std::size_t bytes,
                             cuda::Stream stream) {
  return fill(driver_calls::cuMemsetD8Async, to, value, bytes, stream);
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
    Machine::sleep_until(machine.end_of(*state));
    if (machine.is_dead(*state->context)) return state->context->fault;
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
    bool ended = false;
    {
      const std::lock_guard held(machine.lock);
      ended = state->tasks.empty() && state->free_at <= Machine::now();
    }
    // Asked last: a kernel that faults meanwhile has not ended well.
    if (machine.is_dead(*state->context)) return state->context->fault;
    return ended ? DriverResult::success : DriverResult::not_ready;
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
    StreamState* const on = machine.stream_of(stream);
    if (on == nullptr) return DriverResult::invalid_context;
    if (on->captured != nullptr) return DriverResult::success;
    const std::shared_ptr<Task> behind = machine.mark(*on);
    Recorded recorded{};
    {
      const std::lock_guard held(machine.lock);
      state->at = std::max(on->free_at, Machine::now());
      state->task = behind;
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
      if (state.task != nullptr && !state.task->done) on->waited_for.push_back(state.task);
      on->free_at = std::max(on->free_at, state.when());
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
    machine.wait_for(state.task);
    Machine::sleep_until(state.when());
    if (const ContextState* const context = Machine::current();
        context != nullptr && machine.is_dead(*context))
      return context->fault;
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

DriverResult cuEventQuery(cuda::Event event) {
  return called(driver_calls::cuEventQuery, [&](Call&) {
    Machine& machine = Machine::get();
    bool ended = false;
    {
      const std::lock_guard held(machine.lock);
      const auto& state = *reinterpret_cast<const EventState*>(event);
      const bool done = state.task == nullptr || state.task->done;
      ended = done && state.when() <= Machine::now();
    }
    // Asked last: a kernel that faults meanwhile has not ended well.
    if (const ContextState* const context = Machine::current();
        context != nullptr && machine.is_dead(*context))
      return context->fault;
    return ended ? DriverResult::success : DriverResult::not_ready;
  });
}

DriverResult cuEventElapsedTime_v2(float* milliseconds, cuda::Event start, cuda::Event end) {
  return called(driver_calls::cuEventElapsedTime_v2, [&](Call&) {
    const std::lock_guard held(Machine::get().lock);
    const auto& first = *reinterpret_cast<const EventState*>(start);
    const auto& last = *reinterpret_cast<const EventState*>(end);
    if (first.sync_id == 0 || last.sync_id == 0) return DriverResult::invalid_handle;
    for (const EventState* const one : {&first, &last})
      if ((one->task != nullptr && !one->task->done) || one->when() > Machine::now())
        return DriverResult::not_ready;
    constexpr float kNanoseconds = 1e6F;
    *milliseconds = static_cast<float>(last.when() - first.when()) / kNanoseconds;
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

}  // extern "C"

}  // namespace perflab::cuda_sim
