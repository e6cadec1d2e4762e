// Virtual memory: what counts is what is mapped, not what is reserved. Facts:
// docs/facts/hsa_runtime.md "Mappings" (one unmap may take several mappings; a handle may be
// released while it is mapped).
#include "isolate/tool/hooks.h"
#include "isolate/tool/tool_state.h"

namespace perflab::isolate {
namespace {

using hsa::Status;

void note_reservation(Tool& running, const void* address, std::size_t size, std::uint64_t flags) {
  running.memory.reserve(
      {.base = reinterpret_cast<std::uint64_t>(address), .bytes = size, .flags = flags});
}

Status on_reserve(void** address, std::size_t size, std::uint64_t wish,
                  std::uint64_t flags) noexcept {
  Tool& running = tool();
  const Status status = running.api.amd.vmem_address_reserve(address, size, wish, flags);
  if (status == Status::success) note_reservation(running, *address, size, flags);
  return status;
}

Status on_reserve_align(void** address, std::size_t size, std::uint64_t wish,
                        std::uint64_t alignment, std::uint64_t flags) noexcept {
  Tool& running = tool();
  const Status status =
      running.api.amd.vmem_address_reserve_align(address, size, wish, alignment, flags);
  if (status == Status::success) note_reservation(running, *address, size, flags);
  return status;
}

// Managed memory lies in its reservation and ends with it.
Status on_address_free(void* address, std::size_t size) noexcept {
  Tool& running = tool();
  const Gate::Taking taking(running.gate);
  const auto base = reinterpret_cast<std::uint64_t>(address);
  const auto reservation = running.memory.release(base);
  const auto managed = running.memory.take_managed(base);
  const Status status = running.api.amd.vmem_address_free(address, size);
  if (status == Status::success) return status;
  if (reservation) running.memory.reserve(*reservation);
  if (managed) running.memory.add(*managed);
  return status;
}

Status on_handle_create(hsa::MemoryPool pool, std::size_t size, hsa::MemoryType type,
                        std::uint64_t flags, hsa::VmemHandle* handle) noexcept {
  Tool& running = tool();
  const Status status = running.api.amd.vmem_handle_create(pool, size, type, flags, handle);
  if (status == Status::success)
    running.memory.add_handle(handle->handle, {.pool = pool.handle, .imported = false});
  return status;
}

Status on_import_handle(int file, hsa::VmemHandle* handle) noexcept {
  Tool& running = tool();
  const Status status = running.api.amd.vmem_import_shareable_handle(file, handle);
  if (status == Status::success)
    running.memory.add_handle(handle->handle, {.pool = 0, .imported = true});
  return status;
}

Status on_handle_release(hsa::VmemHandle handle) noexcept {
  Tool& running = tool();
  const auto known = running.memory.handle(handle.handle);
  running.memory.drop_handle(handle.handle);
  const Status status = running.api.amd.vmem_handle_release(handle);
  if (status != Status::success && known) running.memory.add_handle(handle.handle, *known);
  return status;
}

Status on_map(void* address, std::size_t size, std::size_t offset, hsa::VmemHandle handle,
              std::uint64_t flags) noexcept {
  Tool& running = tool();
  const Status status = running.api.amd.vmem_map(address, size, offset, handle, flags);
  if (status != Status::success) return status;
  const auto base = reinterpret_cast<std::uint64_t>(address);
  const auto reservation = running.memory.reservation_of(base);
  const auto origin = running.memory.handle(handle.handle);
  const bool imported = origin && origin->imported;
  running.memory.add({.base = base,
                      .bytes = size,
                      .reservation_base = reservation ? reservation->base : base,
                      .reservation_bytes = reservation ? reservation->bytes : size,
                      .pool = origin ? origin->pool : 0,
                      .added = 0,
                      .flags = 0,
                      .uses = 1,
                      .origin = imported ? capture::Origin::ipc : capture::Origin::vmem,
                      .unreadable = imported ? Unreadable::other_process : Unreadable::no});
  return status;
}

// The runtime says whether there were mappings to unmap; until it has, they stay recorded.
Status on_unmap(void* address, std::size_t size) noexcept {
  Tool& running = tool();
  const Gate::Taking taking(running.gate);
  const std::uint64_t now = running.memory.moment();
  const Status status = running.api.amd.vmem_unmap(address, size);
  if (status == Status::success)
    running.memory.take_mappings(reinterpret_cast<std::uint64_t>(address), size, now);
  return status;
}

}  // namespace

std::vector<Hook> vmem_hooks() {
  return {
      PERFLAB_AMD_HOOK(vmem_address_reserve, on_reserve),
      PERFLAB_AMD_HOOK(vmem_address_reserve_align, on_reserve_align),
      PERFLAB_AMD_HOOK(vmem_address_free, on_address_free),
      PERFLAB_AMD_HOOK(vmem_handle_create, on_handle_create),
      PERFLAB_AMD_HOOK(vmem_import_shareable_handle, on_import_handle),
      PERFLAB_AMD_HOOK(vmem_handle_release, on_handle_release),
      PERFLAB_AMD_HOOK(vmem_map, on_map),
      PERFLAB_AMD_HOOK(vmem_unmap, on_unmap),
  };
}

}  // namespace perflab::isolate
