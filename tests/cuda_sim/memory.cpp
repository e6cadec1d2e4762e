// Allocations of the stand-in libcuda.so.1: addresses are made up, nothing lies behind them.
#include <map>

#include "cuda_sim/machine.h"

namespace perflab::cuda_sim {
namespace {

struct Block {
  std::uint64_t bytes;
  cuda::MemoryKind kind;
};

std::map<std::uint64_t, Block>& blocks() {
  static auto* all = new std::map<std::uint64_t, Block>;
  return *all;
}

constexpr std::uint64_t kPoolAddress = 0x3'0200'0000;
constexpr std::uint64_t kGranule = 512;

void tell(Call& call, cuda::MemoryOperation operation, std::uint64_t address, const Block& block,
          const StreamState* stream) {
  Machine& machine = Machine::get();
  const ContextState* const context = Machine::current();
  if (Listener* const told = machine.listener)
    told->allocated(call, {.operation = operation,
                           .kind = block.kind,
                           .address = address,
                           .bytes = block.bytes,
                           .device = context == nullptr ? 0 : context->device,
                           .context = context == nullptr ? 0 : context->id,
                           .stream = stream == nullptr ? cuda::no_stream : stream->id,
                           .async = stream != nullptr});
}

DriverResult allocate(Call& call, std::uint64_t* address, std::uint64_t bytes,
                      cuda::MemoryKind kind, const StreamState* stream = nullptr) {
  Machine& machine = Machine::get();
  if (Machine::current() == nullptr) return DriverResult::invalid_context;
  if (bytes == 0) return DriverResult::invalid_value;
  constexpr std::uint64_t kAllMemory = std::uint64_t{81'559} << 20U;
  if (bytes > kAllMemory) return DriverResult::out_of_memory;
  const Block block{.bytes = bytes, .kind = kind};
  {
    const std::lock_guard held(machine.lock);
    *address = machine.next_address;
    machine.next_address += (bytes + kGranule - 1) / kGranule * kGranule;
    blocks().emplace(*address, block);
    ++machine.counts.allocations;
  }
  tell(call, cuda::MemoryOperation::allocation, *address, block, stream);
  return DriverResult::success;
}

DriverResult release(Call& call, std::uint64_t address, const StreamState* stream = nullptr) {
  Machine& machine = Machine::get();
  Block block{};
  {
    const std::lock_guard held(machine.lock);
    const auto at = blocks().find(address);
    if (at == blocks().end()) return DriverResult::invalid_value;
    block = at->second;
    blocks().erase(at);
    ++machine.counts.releases;
  }
  tell(call, cuda::MemoryOperation::release, address, block, stream);
  return DriverResult::success;
}

void tell_pool(Call& call, cuda::MemoryPoolOperation operation) {
  Machine& machine = Machine::get();
  const ContextState* const context = Machine::current();
  constexpr std::uint64_t kPoolBytes = std::uint64_t{32} << 20U;
  if (Listener* const told = machine.listener)
    told->pool(call, {.operation = operation,
                      .address = kPoolAddress,
                      .size = kPoolBytes,
                      .device = context == nullptr ? 0 : context->device});
}

}  // namespace

extern "C" {

DriverResult cuMemAlloc_v2(cuda::DevicePointer* address, std::size_t bytes) {
  return called(driver_calls::cuMemAlloc_v2, [&](Call& call) {
    return allocate(call, address, bytes, cuda::MemoryKind::device);
  });
}

DriverResult cuMemFree_v2(cuda::DevicePointer address) {
  return called(driver_calls::cuMemFree_v2, [&](Call& call) { return release(call, address); });
}

DriverResult cuMemAllocHost_v2(void** address, std::size_t bytes) {
  return called(driver_calls::cuMemAllocHost_v2, [&](Call& call) {
    std::uint64_t made = 0;
    const DriverResult answer = allocate(call, &made, bytes, cuda::MemoryKind::pinned);
    *address = reinterpret_cast<void*>(made);  // NOLINT(performance-no-int-to-ptr)
    return answer;
  });
}

DriverResult cuMemFreeHost(void* address) {
  return called(driver_calls::cuMemFreeHost, [&](Call& call) {
    return release(call, reinterpret_cast<std::uint64_t>(address));
  });
}

DriverResult cuMemAllocManaged(cuda::DevicePointer* address, std::size_t bytes,
                               std::uint32_t /*flags*/) {
  return called(driver_calls::cuMemAllocManaged, [&](Call& call) {
    return allocate(call, address, bytes, cuda::MemoryKind::managed);
  });
}

DriverResult cuMemAllocAsync(cuda::DevicePointer* address, std::size_t bytes, cuda::Stream stream) {
  return called(driver_calls::cuMemAllocAsync, [&](Call& call) {
    const StreamState* const on = Machine::get().stream_of(stream);
    if (on == nullptr) return DriverResult::invalid_context;
    if (!Machine::get().has_pool.exchange(true))
      tell_pool(call, cuda::MemoryPoolOperation::created);
    return allocate(call, address, bytes, cuda::MemoryKind::device, on);
  });
}

DriverResult cuMemFreeAsync(cuda::DevicePointer address, cuda::Stream stream) {
  return called(driver_calls::cuMemFreeAsync, [&](Call& call) {
    const StreamState* const on = Machine::get().stream_of(stream);
    return on == nullptr ? DriverResult::invalid_context : release(call, address, on);
  });
}

DriverResult cuMemPoolTrimTo(void* /*pool*/, std::size_t /*bytes*/) {
  return called(driver_calls::cuMemPoolTrimTo, [&](Call& call) {
    tell_pool(call, cuda::MemoryPoolOperation::trimmed);
    return DriverResult::success;
  });
}

}  // extern "C"

}  // namespace perflab::cuda_sim
