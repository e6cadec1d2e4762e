// Virtual memory: reservations, handles, maps and access (docs/facts/hsa_runtime.md "Reservations",
// "Mappings"). A handle is a range of a memory file; a map shows its start, whatever offset is
// asked for.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <mutex>

#include "sim.h"

namespace perflab::hsa::sim {
namespace {

constexpr std::uint64_t kVmemPage = 4096;
// Between handles in the file, which is sparse: a map may be larger than its handle.
constexpr std::uint64_t kHandleDistance = std::uint64_t{1} << 40;

struct Handle {
  const Pool* pool = nullptr;
  MemoryType type = MemoryType::none;
  std::size_t bytes = 0;
  int file = -1;
  std::uint64_t offset = 0;
  int maps = 0;
  bool released = false;
};

struct Reservation {
  std::size_t bytes = 0;
  int maps = 0;
  bool registered = true;
};

struct Map {
  std::size_t bytes = 0;
  std::uint64_t handle = 0;
  std::uint64_t reservation = 0;
  std::map<int, Access> access;  ///< by agent
};

struct Vmem {
  std::mutex mutex;
  std::map<std::uint64_t, Reservation> reservations;
  std::map<std::uint64_t, Map> maps;
  std::map<std::uint64_t, Handle> handles;
  std::uint64_t next_handle = 1;
  int file = -1;
};

Vmem& vmem() {
  static Vmem& instance = *new Vmem;
  return instance;
}

void* vmem_pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}
std::uint64_t vmem_address(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

// The entry of a map by address whose range holds the address; end() when there is none.
template <class Ranges>
auto range_at(Ranges& ranges, std::uint64_t address) {
  auto found = ranges.upper_bound(address);
  if (found == ranges.begin()) return ranges.end();
  --found;
  return address < found->first + found->second.bytes ? found : ranges.end();
}

bool overlaps_map(std::uint64_t start, std::uint64_t end) {
  auto& maps = vmem().maps;
  const auto next = maps.lower_bound(start);
  return range_at(maps, start) != maps.end() || (next != maps.end() && next->first < end);
}

Status reserve(void** address, std::size_t size, std::uint64_t wish, std::uint64_t alignment,
               std::uint64_t flags) {
  const bool elsewhere = relocation_is_injected();
  if (address == nullptr || size == 0) return Status::invalid_argument;
  if (alignment == 0) alignment = kVmemPage;
  if (size % kVmemPage != 0 || (alignment & (alignment - 1)) != 0 || alignment < kVmemPage)
    return Status::out_of_resources;
  const bool registered = (flags & vmem_no_register) == 0;
  std::uint64_t at = 0;
  if (registered) {
    at = take_addresses(wish, size, alignment, elsewhere).value_or(0);
  } else {
    void* const got = ::mmap(vmem_pointer(wish), size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    at = got == MAP_FAILED ? 0 : vmem_address(got);
  }
  if (at == 0) return Status::out_of_resources;
  const std::lock_guard lock(vmem().mutex);
  vmem().reservations[at] = {.bytes = size, .maps = 0, .registered = registered};
  *address = vmem_pointer(at);
  return Status::success;
}

// The maps that fill exactly this range, first to past-the-last; empty when they do not.
auto maps_filling(std::uint64_t start, std::uint64_t end) {
  auto& maps = vmem().maps;
  const auto first = maps.find(start);
  auto next = first;
  std::uint64_t at = start;
  for (; next != maps.end() && next->first == at && at < end; ++next) at += next->second.bytes;
  if (at != end) return std::pair(maps.end(), maps.end());
  return std::pair(first, next);
}

void drop_handle_if_unused(std::uint64_t id) {
  auto& handles = vmem().handles;
  const auto found = handles.find(id);
  if (found == handles.end() || !found->second.released || found->second.maps > 0) return;
  const Handle& handle = found->second;
  if (handle.file != vmem().file)
    ::close(handle.file);
  else
    ::fallocate(handle.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                static_cast<off_t>(handle.offset), static_cast<off_t>(kHandleDistance));
  handles.erase(found);
}

void take_down(std::uint64_t base, const Map& map) {
  clear_addresses(base, map.bytes);
  Vmem& all = vmem();
  if (const auto found = all.handles.find(map.handle); found != all.handles.end())
    --found->second.maps;
  --all.reservations[map.reservation].maps;
  drop_handle_if_unused(map.handle);
}

// What the process may do there is what any agent may: kernels are functions of this process.
bool apply_access(std::uint64_t base, const Map& map) {
  bool readable = false, writable = false;
  for (const auto& [agent, access] : map.access) {
    readable = readable || access != Access::none;
    writable = writable || access == Access::read_write || access == Access::write_only;
  }
  const int protection = (readable ? PROT_READ : PROT_NONE) | (writable ? PROT_WRITE : PROT_NONE);
  return ::mprotect(vmem_pointer(base), map.bytes, protection) == 0;
}

Status add_handle(Handle handle, VmemHandle* out) {
  Vmem& all = vmem();
  const std::uint64_t id = all.next_handle++;
  if (handle.file < 0) {
    if (all.file < 0) all.file = ::memfd_create("hsa_sim", MFD_CLOEXEC);
    handle.file = all.file;
    handle.offset = id * kHandleDistance;
    if (::ftruncate(all.file, static_cast<off_t>((id + 1) * kHandleDistance)) != 0)
      return Status::out_of_resources;
  }
  all.handles.emplace(id, handle);
  out->handle = id;
  return Status::success;
}

// A handle that has not been released.
Handle* open_handle(VmemHandle handle) {
  const auto found = vmem().handles.find(handle.handle);
  return found == vmem().handles.end() || found->second.released ? nullptr : &found->second;
}

}  // namespace

bool vmem_pointer_info(std::uint64_t address, PointerInfo& info) {
  Vmem& all = vmem();
  const std::lock_guard lock(all.mutex);
  const auto reservation = range_at(all.reservations, address);
  if (reservation == all.reservations.end()) return false;
  const auto map = range_at(all.maps, address);
  if (map == all.maps.end()) {
    info.type = PointerType::reserved_address;
    info.host_base = vmem_pointer(reservation->first);
    info.bytes = reservation->second.bytes;
    return true;
  }
  // "Pointer queries": the queried pointer with the whole map's size.
  info.type = PointerType::vmem;
  info.agent_base = info.host_base = vmem_pointer(address);
  info.bytes = map->second.bytes;
  if (const auto handle = all.handles.find(map->second.handle);
      handle != all.handles.end() && handle->second.pool != nullptr) {
    info.owner = agent_of(handle->second.pool->agent);
    info.global_flags = handle->second.pool->flags;
  }
  return true;
}

void stop_vmem() {
  Vmem& all = vmem();
  const std::lock_guard lock(all.mutex);
  for (const auto& [base, map] : all.maps) clear_addresses(base, map.bytes);
  for (const auto& [base, reservation] : all.reservations) {
    if (reservation.registered)
      give_addresses(base, reservation.bytes);
    else
      ::munmap(vmem_pointer(base), reservation.bytes);
  }
  for (const auto& [id, handle] : all.handles)
    if (handle.file != all.file) ::close(handle.file);
  if (all.file >= 0) ::close(all.file);
  all.file = -1;
  all.maps.clear();
  all.reservations.clear();
  all.handles.clear();
  all.next_handle = 1;
}

namespace amd_calls {

Status vmem_address_reserve(void** address, std::size_t size, std::uint64_t wish,
                            std::uint64_t flags) {
  return reserve(address, size, wish, 0, flags);
}
Status vmem_address_reserve_align(void** address, std::size_t size, std::uint64_t wish,
                                  std::uint64_t alignment, std::uint64_t flags) {
  return reserve(address, size, wish, alignment, flags);
}

Status vmem_address_free(void* address, std::size_t size) {
  Vmem& all = vmem();
  const std::lock_guard lock(all.mutex);
  const auto found = all.reservations.find(vmem_address(address));
  if (found == all.reservations.end()) return Status::invalid_allocation;
  if (found->second.bytes != size) return Status::invalid_argument;
  if (found->second.maps > 0) return Status::resource_free;
  if (found->second.registered)
    give_addresses(found->first, size);
  else
    ::munmap(address, size);
  all.reservations.erase(found);
  return Status::success;
}

Status vmem_handle_create(MemoryPool handle, std::size_t size, MemoryType type, std::uint64_t,
                          VmemHandle* out) {
  const Pool* pool = pool_of(handle.handle);
  if (pool == nullptr) return Status::invalid_memory_pool;
  if (out == nullptr || size == 0 || size % pool->granule != 0) return Status::invalid_argument;
  if (type != MemoryType::none && type != MemoryType::pinned) return Status::invalid_argument;
  if (!pool->allocatable || size > pool->bytes) return Status::invalid_allocation;
  // Seen on ROCr 1.21: host memory is then no buffer of the driver, and cannot be shared.
  if (!pool->on_gpu && in_reserved_mode()) return Status::error;
  const std::lock_guard lock(vmem().mutex);
  return add_handle({.pool = pool, .type = type, .bytes = size}, out);
}

Status vmem_handle_release(VmemHandle handle) {
  const std::lock_guard lock(vmem().mutex);
  Handle* const found = open_handle(handle);
  if (found == nullptr) return Status::invalid_allocation;
  found->released = true;
  drop_handle_if_unused(handle.handle);
  return Status::success;
}

Status vmem_map(void* address, std::size_t size, std::size_t, VmemHandle handle, std::uint64_t) {
  Vmem& all = vmem();
  const std::uint64_t base = vmem_address(address);
  const std::lock_guard lock(all.mutex);
  const auto reservation = range_at(all.reservations, base);
  if (reservation == all.reservations.end() || size == 0 ||
      base + size > reservation->first + reservation->second.bytes)
    return Status::invalid_argument;
  if (overlaps_map(base, base + size)) return Status::invalid_argument;
  Handle* const found = open_handle(handle);
  if (found == nullptr) return Status::invalid_argument;
  if (::mmap(address, size, PROT_NONE, MAP_SHARED | MAP_FIXED, found->file,
             static_cast<off_t>(found->offset)) == MAP_FAILED)
    return Status::out_of_resources;
  all.maps[base] = {
      .bytes = size, .handle = handle.handle, .reservation = reservation->first, .access = {}};
  ++found->maps;
  ++reservation->second.maps;
  return Status::success;
}

Status vmem_unmap(void* address, std::size_t size) {
  Vmem& all = vmem();
  const std::uint64_t base = vmem_address(address);
  const std::lock_guard lock(all.mutex);
  const auto [first, last] = maps_filling(base, base + size);
  if (first == last) return Status::invalid_allocation;
  for (auto map = first; map != last; ++map) take_down(map->first, map->second);
  all.maps.erase(first, last);
  return Status::success;
}

// "Mappings": applies to whole maps; agents that are not listed keep what they have.
Status vmem_set_access(void* address, std::size_t size, const AccessDescription* descriptions,
                       std::size_t count) {
  if (descriptions == nullptr || count == 0) return Status::invalid_argument;
  const std::span wanted(descriptions, count);
  for (const AccessDescription& one : wanted)
    if (!index_of(one.agent)) return Status::invalid_agent;
  Vmem& all = vmem();
  const std::uint64_t base = vmem_address(address);
  const std::lock_guard lock(all.mutex);
  const auto reservation = range_at(all.reservations, base);
  if (reservation == all.reservations.end() ||
      base + size > reservation->first + reservation->second.bytes)
    return Status::invalid_argument;
  for (std::uint64_t at = base; at < base + size;) {
    const auto map = all.maps.find(at);
    if (map == all.maps.end()) return Status::invalid_allocation;
    at += map->second.bytes;
  }
  for (auto map = all.maps.find(base); map != all.maps.end() && map->first < base + size; ++map) {
    for (const AccessDescription& one : wanted)
      map->second.access[*index_of(one.agent)] = one.permissions;
    if (!apply_access(map->first, map->second)) return Status::error;
  }
  return Status::success;
}

Status vmem_get_access(void* address, Access* permissions, Agent agent) {
  const auto index = index_of(agent);
  if (permissions == nullptr) return Status::invalid_argument;
  if (!index) return Status::invalid_agent;
  Vmem& all = vmem();
  const std::lock_guard lock(all.mutex);
  const auto map = range_at(all.maps, vmem_address(address));
  if (map == all.maps.end()) return Status::invalid_allocation;
  const auto access = map->second.access.find(*index);
  *permissions = access == map->second.access.end() ? Access::none : access->second;
  return Status::success;
}

Status vmem_import_shareable_handle(int file, VmemHandle* handle) {
  struct stat about{};
  if (handle == nullptr || ::fstat(file, &about) != 0 || about.st_size <= 0)
    return Status::invalid_argument;
  const int own = ::fcntl(file, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return Status::out_of_resources;
  const std::lock_guard lock(vmem().mutex);
  return add_handle({.bytes = static_cast<std::size_t>(about.st_size), .file = own}, handle);
}

Status vmem_get_alloc_properties_from_handle(VmemHandle handle, MemoryPool* pool,
                                             MemoryType* type) {
  if (pool == nullptr || type == nullptr) return Status::invalid_argument;
  const std::lock_guard lock(vmem().mutex);
  const Handle* const found = open_handle(handle);
  if (found == nullptr || found->pool == nullptr) return Status::invalid_allocation;
  pool->handle = handle_of(*found->pool);
  *type = found->type;
  return Status::success;
}

}  // namespace amd_calls
}  // namespace perflab::hsa::sim
