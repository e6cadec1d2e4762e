// Memory from pools and regions, and memory that is not the GPU's but was shown to it. Recorded
// after the runtime gave it, taken out before it is given back. Facts: docs/facts/hsa_runtime.md
// "Memory of HIP".
#include "isolate/machine/address.h"
#include "isolate/tool/hooks.h"
#include "isolate/tool/tool_state.h"

namespace perflab::isolate {
namespace {

using capture::Origin;
using hsa::Status;

Status on_pool_allocate(hsa::MemoryPool pool, std::size_t size, std::uint32_t flags,
                        void** pointer) noexcept {
  Tool& running = tool();
  const Status status = running.api.amd.memory_pool_allocate(pool, size, flags, pointer);
  if (status == Status::success)
    running.memory.add({.base = address_of(*pointer),
                        .bytes = size,
                        .reservation_base = 0,
                        .reservation_bytes = 0,
                        .pool = pool.handle,
                        .added = 0,
                        .flags = flags,
                        .uses = 1,
                        .origin = Origin::pool,
                        .unreadable = Unreadable::no});
  return status;
}

Status on_memory_allocate(hsa::Region region, std::size_t size, void** pointer) noexcept {
  Tool& running = tool();
  const Status status = running.api.core.memory_allocate(region, size, pointer);
  if (status == Status::success)
    running.memory.add({.base = address_of(*pointer),
                        .bytes = size,
                        .reservation_base = 0,
                        .reservation_bytes = 0,
                        .pool = region.handle,
                        .added = 0,
                        .flags = 0,
                        .uses = 1,
                        .origin = Origin::region,
                        .unreadable = Unreadable::no});
  return status;
}

// Calls what gives the memory at `pointer` back; a call that fails leaves it recorded.
template <class Call>
Status give_back(void* pointer, const Call& call) {
  Tool& running = tool();
  const Gate::Taking taking(running.gate);
  const auto known = running.memory.take(address_of(pointer));
  const Status status = call();
  if (status != Status::success && known) running.memory.add(*known);
  return status;
}

Status on_pool_free(void* pointer) noexcept {
  return give_back(pointer, [&] { return tool().api.amd.memory_pool_free(pointer); });
}

Status on_memory_free(void* pointer) noexcept {
  return give_back(pointer, [&] { return tool().api.core.memory_free(pointer); });
}

// Memory whose contents are not ours to take.
Allocation noted(const void* pointer, std::size_t size, Origin origin, Unreadable why) {
  return {.base = address_of(pointer),
          .bytes = size,
          .reservation_base = 0,
          .reservation_bytes = 0,
          .pool = 0,
          .added = 0,
          .flags = 0,
          .uses = 1,
          .origin = origin,
          .unreadable = why};
}

Status on_memory_lock(void* host, std::size_t size, hsa::Agent* agents, int count,
                      void** agent_pointer) noexcept {
  Tool& running = tool();
  const Status status = running.api.amd.memory_lock(host, size, agents, count, agent_pointer);
  if (status == Status::success)
    running.memory.lock(address_of(host),
                        noted(*agent_pointer, size, Origin::locked, Unreadable::host_memory));
  return status;
}

Status on_memory_lock_to_pool(void* host, std::size_t size, hsa::Agent* agents, int count,
                              hsa::MemoryPool pool, std::uint32_t flags,
                              void** agent_pointer) noexcept {
  Tool& running = tool();
  const Status status =
      running.api.amd.memory_lock_to_pool(host, size, agents, count, pool, flags, agent_pointer);
  if (status == Status::success)
    running.memory.lock(address_of(host),
                        noted(*agent_pointer, size, Origin::locked, Unreadable::host_memory));
  return status;
}

Status on_memory_unlock(void* host) noexcept {
  Tool& running = tool();
  const Status status = running.api.amd.memory_unlock(host);
  if (status == Status::success) running.memory.unlock(address_of(host));
  return status;
}

Status on_ipc_attach(const hsa::IpcMemory* handle, std::size_t size, std::uint32_t count,
                     const hsa::Agent* agents, void** pointer) noexcept {
  Tool& running = tool();
  const Status status = running.api.amd.ipc_memory_attach(handle, size, count, agents, pointer);
  if (status == Status::success)
    running.memory.add(noted(*pointer, size, Origin::ipc, Unreadable::other_process));
  return status;
}

Status on_ipc_detach(void* pointer) noexcept {
  return give_back(pointer, [&] { return tool().api.amd.ipc_memory_detach(pointer); });
}

Status on_interop_map(std::uint32_t count, hsa::Agent* agents, int handle, std::uint32_t flags,
                      std::size_t* size, void** pointer, std::size_t* metadata_size,
                      const void** metadata) noexcept {
  Tool& running = tool();
  const Status status = running.api.amd.interop_map_buffer(count, agents, handle, flags, size,
                                                           pointer, metadata_size, metadata);
  if (status == Status::success)
    running.memory.add(noted(*pointer, *size, Origin::interop, Unreadable::driver_memory));
  return status;
}

Status on_interop_unmap(void* pointer) noexcept {
  return give_back(pointer, [&] { return tool().api.amd.interop_unmap_buffer(pointer); });
}

// Attributes of managed memory. HIP reserves its range first; then it is known when it ends.
Status on_svm_attributes_set(void* pointer, std::size_t size, hsa::SvmAttribute* attributes,
                             std::size_t count) noexcept {
  Tool& running = tool();
  const Status status = running.api.amd.svm_attributes_set(pointer, size, attributes, count);
  if (status != Status::success) return status;
  const auto reservation = running.memory.reservation_of(address_of(pointer));
  Allocation managed = noted(pointer, size, Origin::managed, Unreadable::not_reserved);
  if (reservation && (reservation->flags & hsa::vmem_no_register) != 0) {
    managed.base = reservation->base;
    managed.bytes = reservation->bytes;
    managed.unreadable = Unreadable::no;
  }
  running.memory.add_if_new(managed);
  return status;
}

}  // namespace

std::vector<Hook> memory_hooks() {
  return {
      PERFLAB_AMD_HOOK(memory_pool_allocate, on_pool_allocate),
      PERFLAB_AMD_HOOK(memory_pool_free, on_pool_free),
      PERFLAB_CORE_HOOK(memory_allocate, on_memory_allocate),
      PERFLAB_CORE_HOOK(memory_free, on_memory_free),
      PERFLAB_AMD_HOOK(memory_lock, on_memory_lock),
      PERFLAB_AMD_HOOK(memory_lock_to_pool, on_memory_lock_to_pool),
      PERFLAB_AMD_HOOK(memory_unlock, on_memory_unlock),
      PERFLAB_AMD_HOOK(ipc_memory_attach, on_ipc_attach),
      PERFLAB_AMD_HOOK(ipc_memory_detach, on_ipc_detach),
      PERFLAB_AMD_HOOK(interop_map_buffer, on_interop_map),
      PERFLAB_AMD_HOOK(interop_unmap_buffer, on_interop_unmap),
      PERFLAB_AMD_HOOK(svm_attributes_set, on_svm_attributes_set),
  };
}

}  // namespace perflab::isolate
