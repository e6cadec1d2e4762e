// Virtual memory of the stand-in libcuda.so.1: reserved addresses, memory without an address, and
// the two together. The rules are those that were measured: docs/facts/cuda_cupti.md "Addresses".
#include <sys/mman.h>
#include <unistd.h>

#include <map>

#include "cuda_sim/driver_faults.h"
#include "cuda_sim/machine.h"
#include "cuda_sim/memory_map.h"

namespace perflab::cuda_sim {
namespace {

struct Memory {
  std::uint64_t bytes = 0;
  int file = -1;
  std::uint32_t device = 0;
  int mappings = 0;
  bool released = false;
};
struct Mapped {
  std::uint64_t bytes = 0;
  cuda::MemoryHandle handle = 0;
  bool accessible = false;
};

std::map<std::uint64_t, std::uint64_t>& reservations() {
  static auto* all = new std::map<std::uint64_t, std::uint64_t>;
  return *all;
}
std::map<cuda::MemoryHandle, Memory>& memories() {
  static auto* all = new std::map<cuda::MemoryHandle, Memory>;
  return *all;
}
std::map<std::uint64_t, Mapped>& mappings() {
  static auto* all = new std::map<std::uint64_t, Mapped>;
  return *all;
}

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// The wish, rounded up to 32 MiB, when nothing is there; else other addresses.
std::uint64_t reserved_at(std::uint64_t wish, std::uint64_t bytes) {
  const std::uint64_t rounded = rounded_up(wish, envelope);
  if (wish != 0 && !relocation_is_injected() && !is_hole(rounded, bytes) &&
      map_memory_at(rounded, bytes, PROT_NONE))
    return rounded;
  return map_memory(bytes, envelope, PROT_NONE);
}

bool in_reservation(std::uint64_t address, std::uint64_t bytes) {
  auto at = reservations().upper_bound(address);
  if (at == reservations().begin()) return false;
  --at;
  return address + bytes <= at->first + at->second;
}

void drop_if_unused(std::map<cuda::MemoryHandle, Memory>::iterator memory) {
  if (!memory->second.released || memory->second.mappings != 0) return;
  close(memory->second.file);
  memories().erase(memory);
}

bool is_whole(std::uint64_t value) {
  return value % large_page == 0;
}

}  // namespace

extern "C" {

DriverResult cuMemGetAllocationGranularity(std::size_t* granularity,
                                           const cuda::AllocationProperties* /*properties*/,
                                           std::uint32_t /*recommended*/) {
  return called(driver_calls::cuMemGetAllocationGranularity, [&](Call&) {
    *granularity = large_page;
    return DriverResult::success;
  });
}

DriverResult cuMemAddressReserve(cuda::DevicePointer* address, std::size_t bytes,
                                 std::size_t alignment, cuda::DevicePointer wish,
                                 unsigned long long flags) {
  return called_with(driver_calls::cuMemAddressReserve,
                     cuda::ReserveParameters{address, bytes, alignment, wish, flags}, [&](Call&) {
                       if (bytes == 0 || !is_whole(bytes) || flags != 0)
                         return DriverResult::invalid_value;
                       const std::lock_guard held(Machine::get().lock);
                       const std::uint64_t base = reserved_at(wish, bytes);
                       if (base == 0) return DriverResult::out_of_memory;
                       reservations().emplace(base, bytes);
                       *address = base;
                       return DriverResult::success;
                     });
}

DriverResult cuMemAddressFree(cuda::DevicePointer address, std::size_t bytes) {
  return called_with(driver_calls::cuMemAddressFree, cuda::UnmapParameters{address, bytes},
                     [&](Call&) {
                       const std::lock_guard held(Machine::get().lock);
                       const auto at = reservations().find(address);
                       if (at == reservations().end() || at->second != bytes)
                         return DriverResult::invalid_value;
                       for (const auto& [base, mapped] : mappings())
                         if (base < address + bytes && address < base + mapped.bytes)
                           return DriverResult::invalid_value;
                       unmap_memory(address, bytes);
                       reservations().erase(at);
                       return DriverResult::success;
                     });
}

DriverResult cuMemCreate(cuda::MemoryHandle* handle, std::size_t bytes,
                         const cuda::AllocationProperties* properties, unsigned long long flags) {
  return called(driver_calls::cuMemCreate, [&](Call&) {
    if (bytes == 0 || !is_whole(bytes) || flags != 0 || properties == nullptr ||
        properties->type != cuda::allocation_pinned ||
        properties->location.type != cuda::LocationType::device || properties->location.id < 0 ||
        properties->location.id >= Machine::get().settings.devices)
      return DriverResult::invalid_value;
    const int file = memfd_create("cuda_sim", MFD_CLOEXEC);
    if (file < 0) return DriverResult::out_of_memory;
    if (ftruncate(file, static_cast<off_t>(bytes)) != 0) {
      close(file);
      return DriverResult::out_of_memory;
    }
    const std::lock_guard held(Machine::get().lock);
    static cuda::MemoryHandle next = 0x1000;
    *handle = next++;
    memories()[*handle] = {.bytes = bytes,
                           .file = file,
                           .device = static_cast<std::uint32_t>(properties->location.id)};
    return DriverResult::success;
  });
}

DriverResult cuMemRelease(cuda::MemoryHandle handle) {
  return called_with(driver_calls::cuMemRelease, cuda::ReleaseHandleParameters{handle}, [&](Call&) {
    const std::lock_guard held(Machine::get().lock);
    const auto at = memories().find(handle);
    if (at == memories().end() || at->second.released) return DriverResult::invalid_value;
    at->second.released = true;
    drop_if_unused(at);
    return DriverResult::success;
  });
}

DriverResult cuMemMap(cuda::DevicePointer address, std::size_t bytes, std::size_t offset,
                      cuda::MemoryHandle handle, unsigned long long flags) {
  return called_with(
      driver_calls::cuMemMap, cuda::MapParameters{address, bytes, offset, handle, flags},
      [&](Call&) {
        const std::lock_guard held(Machine::get().lock);
        const auto memory = memories().find(handle);
        if (memory == memories().end() || offset != 0 || flags != 0 ||
            bytes > memory->second.bytes || !is_whole(bytes) || !is_whole(address) ||
            !in_reservation(address, bytes))
          return DriverResult::invalid_value;
        for (const auto& [base, mapped] : mappings())
          if (base < address + bytes && address < base + mapped.bytes)
            return DriverResult::invalid_value;
        if (mmap(pointer(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, memory->second.file,
                 0) == MAP_FAILED)
          return DriverResult::out_of_memory;
        ++memory->second.mappings;
        mappings()[address] = {.bytes = bytes, .handle = handle};
        add_block({.base = address, .bytes = bytes, .device = memory->second.device});
        return DriverResult::success;
      });
}

DriverResult cuMemUnmap(cuda::DevicePointer address, std::size_t bytes) {
  return called_with(driver_calls::cuMemUnmap, cuda::UnmapParameters{address, bytes}, [&](Call&) {
    const std::lock_guard held(Machine::get().lock);
    const auto at = mappings().find(address);
    if (at == mappings().end() || at->second.bytes != bytes) return DriverResult::invalid_value;
    mmap(pointer(address), bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    const auto memory = memories().find(at->second.handle);
    mappings().erase(at);
    take_block(address);
    --memory->second.mappings;
    drop_if_unused(memory);
    return DriverResult::success;
  });
}

DriverResult cuMemSetAccess(cuda::DevicePointer address, std::size_t bytes,
                            const cuda::AccessDescription* access, std::size_t count) {
  return called(driver_calls::cuMemSetAccess, [&](Call&) {
    const std::lock_guard held(Machine::get().lock);
    if (count == 0 || access == nullptr || access->flags != cuda::access_read_write)
      return DriverResult::invalid_value;
    // One mapping after the other, without a gap.
    for (std::uint64_t at = address; at < address + bytes;) {
      const auto mapped = mappings().find(at);
      if (mapped == mappings().end()) return DriverResult::invalid_value;
      mapped->second.accessible = true;
      at += mapped->second.bytes;
    }
    return mprotect(pointer(address), bytes, PROT_READ | PROT_WRITE) == 0
               ? DriverResult::success
               : DriverResult::out_of_memory;
  });
}

DriverResult cuMemGetAccess(unsigned long long* flags, const cuda::MemoryLocation* location,
                            cuda::DevicePointer address) {
  return called(driver_calls::cuMemGetAccess, [&](Call&) {
    const std::lock_guard held(Machine::get().lock);
    const auto mapped = mappings().find(address);
    if (mapped == mappings().end() || location->type != cuda::LocationType::device)
      return DriverResult::invalid_value;
    *flags = mapped->second.accessible ? cuda::access_read_write : 0;
    return DriverResult::success;
  });
}

}  // extern "C"

}  // namespace perflab::cuda_sim
