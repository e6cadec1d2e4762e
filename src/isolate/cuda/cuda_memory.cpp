// Calls that make memory and take it away, by their ids: docs/facts/cuda_cupti.md "Capture".
#include "isolate/cuda/cuda_memory.h"

#include "cuda/launch_parameters.h"
#include "isolate/machine/address.h"

namespace perflab::isolate {
namespace {

namespace calls = cuda::driver_call;
using capture::Origin;

constexpr std::string_view kOtherProcess = "memory of another process";
constexpr std::string_view kOtherDriver = "a buffer of another driver";

template <class Parameters>
const Parameters& as(const void* given) {
  return *static_cast<const Parameters*>(given);
}

/// What a call that says where it put memory has made; missing: it is no such call.
std::optional<CudaAllocation> made(cuda::CallbackId id) {
  switch (id) {
    case calls::memory_allocate:
    case calls::memory_allocate_pitch:
      return CudaAllocation{.origin = Origin::pool};
    case calls::memory_allocate_managed:
      return CudaAllocation{.origin = Origin::managed};
    case calls::memory_allocate_async:
    case calls::memory_allocate_async_ptsz:
    case calls::memory_allocate_from_pool:
    case calls::memory_allocate_from_pool_ptsz:
      return CudaAllocation{.origin = Origin::stream_ordered};
    case calls::ipc_open:
    case calls::ipc_open_v2:
    case calls::pool_import_pointer:
      return CudaAllocation{.origin = Origin::ipc, .not_captured = kOtherProcess};
    case calls::external_memory_map:
      return CudaAllocation{.origin = Origin::interop, .not_captured = kOtherDriver};
    default:
      return std::nullopt;
  }
}

}  // namespace

void CudaMemory::add(CudaAllocation allocation) {
  if (allocation.base != 0) live_.insert_or_assign(allocation.base, allocation);
}

void CudaMemory::take(std::uint64_t base) {
  live_.erase(base);
}

void CudaMemory::take_mappings(std::uint64_t base, std::uint64_t bytes) {
  auto at = live_.lower_bound(base);
  while (at != live_.end() && at->first - base < bytes) at = live_.erase(at);
}

void CudaMemory::map(std::uint64_t base, std::uint64_t bytes, cuda::MemoryHandle handle) {
  CudaAllocation mapping{.base = base, .bytes = bytes, .origin = Origin::vmem};
  auto holder = reservations_.upper_bound(base);
  if (holder != reservations_.begin() &&
      base - std::prev(holder)->first < std::prev(holder)->second) {
    mapping.reservation_base = std::prev(holder)->first;
    mapping.reservation_bytes = std::prev(holder)->second;
  }
  if (imported_.contains(handle)) mapping.not_captured = kOtherProcess;
  add(mapping);
}

void CudaMemory::called(cuda::CallbackId id, const void* given) {
  if (given == nullptr) return;
  const std::lock_guard lock(mutex_);
  if (auto allocation = made(id)) {
    allocation->base = *as<cuda::AllocateParameters>(given).address;
    return add(*allocation);
  }
  switch (id) {
    case calls::host_allocate:
    case calls::host_allocate_v2:
    case calls::memory_allocate_host: {
      const auto& host = as<cuda::HostAllocateParameters>(given);
      return add(
          {.base = address_of(*host.address), .bytes = host.bytes, .origin = Origin::pinned});
    }
    case calls::host_register: {
      const auto& host = as<cuda::HostRegisterParameters>(given);
      const bool is_device = (host.flags & cuda::host_memory::io_memory) != 0;
      return add({.base = address_of(host.address),
                  .bytes = host.bytes,
                  .origin = is_device ? Origin::interop : Origin::pinned,
                  .not_captured = is_device ? kOtherDriver : std::string_view()});
    }
    case calls::memory_free:
    case calls::memory_free_async:
    case calls::memory_free_async_ptsz:
    case calls::memory_free_host:
    case calls::host_unregister:
    case calls::ipc_close:
      return take(as<cuda::FreeParameters>(given).address);
    case calls::address_reserve: {
      const auto& reserved = as<cuda::ReserveParameters>(given);
      reservations_.insert_or_assign(*reserved.address, reserved.bytes);
      return;
    }
    case calls::address_free:
      reservations_.erase(as<cuda::UnmapParameters>(given).address);
      return;
    case calls::memory_map: {
      const auto& mapped = as<cuda::MapParameters>(given);
      return map(mapped.address, mapped.bytes, mapped.handle);
    }
    case calls::memory_unmap: {
      const auto& unmapped = as<cuda::UnmapParameters>(given);
      return take_mappings(unmapped.address, unmapped.bytes);
    }
    case calls::memory_import:
      ++imported_[*as<cuda::ImportHandleParameters>(given).handle];
      return;
    case calls::memory_release: {
      const auto found = imported_.find(as<cuda::ReleaseHandleParameters>(given).handle);
      if (found != imported_.end() && --found->second == 0) imported_.erase(found);
      return;
    }
    default:
      return;
  }
}

std::vector<CudaAllocation> CudaMemory::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<CudaAllocation> out;
  out.reserve(live_.size());
  for (const auto& [base, allocation] : live_) out.push_back(allocation);
  return out;
}

}  // namespace perflab::isolate
