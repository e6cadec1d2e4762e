// Allocations of the stand-in libcuda.so.1: memory of this process. Small ones share blocks of
// 2 MiB, those of the pool lie where the real driver's were seen, managed and pinned ones anywhere.
#include <sys/mman.h>

#include <map>

#include "cuda_sim/machine.h"
#include "cuda_sim/memory_map.h"

namespace perflab::cuda_sim {
namespace {

constexpr std::uint64_t kPoolAddress = 0x3'0200'0000;
constexpr std::uint64_t kGranule = 512;
constexpr std::uint64_t kLeastOwnBlock = std::uint64_t{1} << 20U;

void tell(Call& call, cuda::MemoryOperation operation, const Block& block,
          const StreamState* stream) {
  Machine& machine = Machine::get();
  const ContextState* const context = Machine::current();
  if (Listener* const told = machine.listener)
    told->allocated(call, {.operation = operation,
                           .kind = block.kind,
                           .address = block.base,
                           .bytes = block.bytes,
                           .device = context == nullptr ? 0 : context->device,
                           .context = context == nullptr ? 0 : context->id,
                           .stream = stream == nullptr ? cuda::no_stream : stream->id,
                           .async = stream != nullptr});
}

constexpr int kReadWrite = PROT_READ | PROT_WRITE;

/// Memory that is handed out in pieces, one behind the other, and never taken back.
class Pieces {
 public:
  Pieces(std::uint64_t wish, std::uint64_t bytes) : wish_(wish), bytes_(bytes) {}
  /// 0: no room.
  std::uint64_t take(std::uint64_t bytes) {
    const std::uint64_t size = rounded_up(bytes, kGranule);
    if (size > bytes_) return 0;
    if (base_ == 0 || next_ + size > base_ + bytes_) {
      const bool at_wish = wish_ != 0 && map_memory_at(wish_, bytes_, kReadWrite);
      next_ = base_ = at_wish ? wish_ : map_memory(bytes_, large_page, kReadWrite);
      wish_ = 0;
      if (base_ == 0) return 0;
    }
    next_ += size;
    return next_ - size;
  }

 private:
  std::uint64_t wish_, bytes_, base_ = 0, next_ = 0;
};

/// Where an allocation of a kind lies; its block's base is 0 when there is no room.
Block placed(std::uint64_t bytes, cuda::MemoryKind kind, bool from_pool) {
  static auto* small = new Pieces(0, large_page);
  static auto* pool = new Pieces(kPoolAddress, envelope);
  Block block{.bytes = bytes, .kind = kind};
  const bool own = kind != cuda::MemoryKind::device || bytes >= kLeastOwnBlock;
  if (from_pool) block.base = pool->take(bytes);
  if (!from_pool && !own) block.base = small->take(bytes);
  if (block.base != 0) return block;
  const std::uint64_t granule = kind == cuda::MemoryKind::pinned ? small_page : large_page;
  block.mapped_bytes = rounded_up(bytes, granule);
  block.base = block.mapped_base = map_memory(block.mapped_bytes, granule, kReadWrite);
  return block;
}

DriverResult allocate(Call& call, std::uint64_t* address, std::uint64_t bytes,
                      cuda::MemoryKind kind, const StreamState* stream = nullptr) {
  Machine& machine = Machine::get();
  const ContextState* const context = Machine::current();
  if (context == nullptr) return DriverResult::invalid_context;
  if (machine.is_dead(*context)) return context->fault;
  if (bytes == 0) return DriverResult::invalid_value;
  constexpr std::uint64_t kAllMemory = std::uint64_t{81'559} << 20U;
  if (bytes > kAllMemory) return DriverResult::out_of_memory;
  Block block;
  {
    const std::lock_guard held(machine.lock);
    block = placed(bytes, kind, stream != nullptr);
    if (block.base == 0) return DriverResult::out_of_memory;
    block.device = context->device;
    add_block(block);
    *address = block.base;
    ++machine.counts.allocations;
  }
  tell(call, cuda::MemoryOperation::allocation, block, stream);
  return DriverResult::success;
}

DriverResult release(Call& call, std::uint64_t address, const StreamState* stream = nullptr) {
  Machine& machine = Machine::get();
  Block block{};
  if (stream != nullptr) Machine::sleep_until(machine.end_of(*stream));
  {
    const std::lock_guard held(machine.lock);
    const auto found = take_block(address);
    if (!found) return DriverResult::invalid_value;
    block = *found;
    if (block.mapped_bytes != 0) unmap_memory(block.mapped_base, block.mapped_bytes);
    ++machine.counts.releases;
  }
  tell(call, cuda::MemoryOperation::release, block, stream);
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
  return called_with(
      driver_calls::cuMemAlloc_v2, cuda::AllocateParameters{address},
      [&](Call& call) { return allocate(call, address, bytes, cuda::MemoryKind::device); });
}

DriverResult cuMemFree_v2(cuda::DevicePointer address) {
  return called_with(driver_calls::cuMemFree_v2, cuda::FreeParameters{address},
                     [&](Call& call) { return release(call, address); });
}

DriverResult cuMemAllocHost_v2(void** address, std::size_t bytes) {
  return called_with(
      driver_calls::cuMemAllocHost_v2, cuda::HostAllocateParameters{address, bytes},
      [&](Call& call) {
        std::uint64_t made = 0;
        const DriverResult answer = allocate(call, &made, bytes, cuda::MemoryKind::pinned);
        *address = reinterpret_cast<void*>(made);  // NOLINT(performance-no-int-to-ptr)
        return answer;
      });
}

DriverResult cuMemFreeHost(void* address) {
  return called_with(
      driver_calls::cuMemFreeHost, cuda::FreeParameters{reinterpret_cast<std::uint64_t>(address)},
      [&](Call& call) { return release(call, reinterpret_cast<std::uint64_t>(address)); });
}

DriverResult cuMemHostAlloc(void** address, std::size_t bytes, std::uint32_t /*flags*/) {
  return called_with(
      driver_calls::cuMemHostAlloc, cuda::HostAllocateParameters{address, bytes}, [&](Call& call) {
        std::uint64_t made = 0;
        const DriverResult answer = allocate(call, &made, bytes, cuda::MemoryKind::pinned);
        *address = reinterpret_cast<void*>(made);  // NOLINT(performance-no-int-to-ptr)
        return answer;
      });
}

DriverResult cuMemHostRegister_v2(void* address, std::size_t bytes, std::uint32_t flags) {
  return called_with(driver_calls::cuMemHostRegister_v2,
                     cuda::HostRegisterParameters{address, bytes, flags}, [&](Call&) {
                       const ContextState* const context = Machine::current();
                       if (context == nullptr) return DriverResult::invalid_context;
                       const auto base = reinterpret_cast<std::uint64_t>(address);
                       if (bytes == 0) return DriverResult::invalid_value;
                       const std::lock_guard held(Machine::get().lock);
                       if (block_at(base)) return DriverResult::host_memory_already_registered;
                       add_block({.base = base,
                                  .bytes = bytes,
                                  .kind = cuda::MemoryKind::pinned,
                                  .device = context->device});
                       return DriverResult::success;
                     });
}

DriverResult cuMemHostUnregister(void* address) {
  return called_with(driver_calls::cuMemHostUnregister,
                     cuda::FreeParameters{reinterpret_cast<std::uint64_t>(address)}, [&](Call&) {
                       const std::lock_guard held(Machine::get().lock);
                       const auto block = take_block(reinterpret_cast<std::uint64_t>(address));
                       if (!block) return DriverResult::host_memory_not_registered;
                       if (block->kind == cuda::MemoryKind::pinned && block->mapped_bytes == 0)
                         return DriverResult::success;
                       add_block(*block);
                       return DriverResult::host_memory_not_registered;
                     });
}

DriverResult cuMemHostGetDevicePointer_v2(cuda::DevicePointer* device, void* host,
                                          std::uint32_t /*flags*/) {
  return called(driver_calls::cuMemHostGetDevicePointer_v2, [&](Call&) {
    const std::lock_guard held(Machine::get().lock);
    const auto block = block_at(reinterpret_cast<std::uint64_t>(host));
    if (!block || block->kind != cuda::MemoryKind::pinned) return DriverResult::invalid_value;
    *device = reinterpret_cast<std::uint64_t>(host);
    return DriverResult::success;
  });
}

DriverResult cuMemGetAddressRange_v2(cuda::DevicePointer* base, std::size_t* bytes,
                                     cuda::DevicePointer address) {
  return called(driver_calls::cuMemGetAddressRange_v2, [&](Call&) {
    const std::lock_guard held(Machine::get().lock);
    const auto block = block_at(address);
    if (!block) return DriverResult::not_found;
    if (base != nullptr) *base = block->base;
    if (bytes != nullptr) *bytes = block->bytes;
    return DriverResult::success;
  });
}

DriverResult cuPointerGetAttribute(void* value, cuda::PointerAttribute attribute,
                                   cuda::DevicePointer address) {
  return called(driver_calls::cuPointerGetAttribute, [&](Call&) {
    const std::lock_guard held(Machine::get().lock);
    const auto block = block_at(address);
    if (!block) return DriverResult::invalid_value;
    switch (attribute) {
      case cuda::PointerAttribute::memory_type:
        *static_cast<cuda::MemoryType*>(value) = block->kind == cuda::MemoryKind::pinned
                                                     ? cuda::MemoryType::host
                                                     : cuda::MemoryType::device;
        return DriverResult::success;
      case cuda::PointerAttribute::is_managed:
        *static_cast<std::uint32_t*>(value) = block->kind == cuda::MemoryKind::managed ? 1 : 0;
        return DriverResult::success;
      case cuda::PointerAttribute::device_ordinal:
        *static_cast<std::int32_t*>(value) = static_cast<std::int32_t>(block->device);
        return DriverResult::success;
    }
    return DriverResult::invalid_value;
  });
}

DriverResult cuMemAllocManaged(cuda::DevicePointer* address, std::size_t bytes,
                               std::uint32_t /*flags*/) {
  return called_with(
      driver_calls::cuMemAllocManaged, cuda::AllocateParameters{address},
      [&](Call& call) { return allocate(call, address, bytes, cuda::MemoryKind::managed); });
}

DriverResult cuMemAllocAsync(cuda::DevicePointer* address, std::size_t bytes, cuda::Stream stream) {
  return called_with(driver_calls::cuMemAllocAsync, cuda::AllocateParameters{address},
                     [&](Call& call) {
                       const StreamState* const on = Machine::get().stream_of(stream);
                       if (on == nullptr) return DriverResult::invalid_context;
                       if (!Machine::get().has_pool.exchange(true))
                         tell_pool(call, cuda::MemoryPoolOperation::created);
                       return allocate(call, address, bytes, cuda::MemoryKind::device, on);
                     });
}

DriverResult cuMemFreeAsync(cuda::DevicePointer address, cuda::Stream stream) {
  return called_with(driver_calls::cuMemFreeAsync, cuda::FreeParameters{address}, [&](Call& call) {
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
