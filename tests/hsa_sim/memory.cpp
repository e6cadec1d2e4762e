// Allocations from pools, what is known of a pointer, copies (docs/facts/hsa_runtime.md
// "Fragments", "Pointer queries", "Copies"). Small requests are carved out of blocks of 2 MiB,
// which stay mapped when a fragment is freed; a stale pointer reads what is there. Copies with a
// signal run on a thread of their own, as those of a copy engine do.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "sim.h"

namespace perflab::hsa::sim {
namespace {

constexpr std::uint64_t kPage = 4096, kBlock = std::uint64_t{2} << 20;

struct Allocation {
  std::size_t bytes = 0;  ///< as asked for
  const Pool* pool = nullptr;
  std::uint32_t flags = 0;
  std::vector<int> accessible;  ///< agents
  std::uint64_t block = 0;      ///< of which it is a fragment; 0: its own mapping
  PointerType type = PointerType::hsa;
};

struct Block {
  const Pool* pool = nullptr;
  std::map<std::uint64_t, std::uint64_t> free;  ///< start to end
};

struct Memory {
  std::mutex mutex;
  std::map<std::uint64_t, Allocation> live;
  std::map<std::uint64_t, Block> blocks;
};

Memory& memory() {
  static Memory& instance = *new Memory;
  return instance;
}

void* as_pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}
std::uint64_t as_address(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}
std::uint64_t pages_up(std::uint64_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

// A fragment out of this block; 0 when it has no room.
std::uint64_t carve(Block& block, std::uint64_t bytes) {
  for (auto gap = block.free.begin(); gap != block.free.end(); ++gap) {
    const auto [start, end] = *gap;
    if (end - start < bytes) continue;
    block.free.erase(gap);
    if (start + bytes < end) block.free.emplace(start + bytes, end);
    return start;
  }
  return 0;
}

void give_back_fragment(Block& block, std::uint64_t start, std::uint64_t bytes) {
  std::uint64_t end = start + bytes;
  auto next = block.free.lower_bound(start);
  if (next != block.free.end() && next->first == end) {
    end = next->second;
    next = block.free.erase(next);
  }
  if (next != block.free.begin() && std::prev(next)->second == start)
    std::prev(next)->second = end;
  else
    block.free.emplace(start, end);
}

// Address and block of a small allocation; {0, 0} when there is no memory.
std::pair<std::uint64_t, std::uint64_t> take_fragment(const Pool& pool, std::uint64_t bytes) {
  Memory& all = memory();
  for (auto& [base, block] : all.blocks)
    if (block.pool == &pool)
      if (const std::uint64_t at = carve(block, bytes)) return {at, base};
  const std::uint64_t base = take_memory(kBlock, kBlock, 0, pool.on_gpu);
  if (base == 0) return {0, 0};
  Block& block = all.blocks[base];
  block.pool = &pool;
  block.free.emplace(base, base + kBlock);
  return {carve(block, bytes), base};
}

Status allocate(const Pool& pool, std::size_t size, std::uint32_t flags, void** pointer) {
  if (size == 0 || pointer == nullptr) return Status::invalid_argument;
  if (!pool.allocatable || size > pool.bytes) return Status::invalid_allocation;
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  Allocation made{.bytes = size, .pool = &pool, .flags = flags, .accessible = {pool.agent}};
  const std::uint64_t bytes = pages_up(size);
  std::uint64_t at = 0;
  if (size < kBlock && !setting_is_on("HSA_DISABLE_FRAGMENT_ALLOCATOR"))
    std::tie(at, made.block) = take_fragment(pool, bytes);
  else if (size < kBlock)
    at = take_memory(bytes, kPage, kBlock, pool.on_gpu);
  else
    at = take_memory(bytes, kBlock, kBlock, pool.on_gpu);
  if (at == 0) return Status::out_of_resources;
  all.live.emplace(at, std::move(made));
  *pointer = as_pointer(at);
  return Status::success;
}

Status deallocate(void* pointer) {
  if (pointer == nullptr) return Status::success;
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  const auto found = all.live.find(as_address(pointer));
  if (found == all.live.end() || found->second.type != PointerType::hsa)
    return Status::invalid_allocation;
  const Allocation& old = found->second;
  if (old.block != 0)
    give_back_fragment(all.blocks[old.block], found->first, pages_up(old.bytes));
  else
    give_memory(found->first, pages_up(old.bytes), kBlock);
  all.live.erase(found);
  return Status::success;
}

// The live allocation that holds the address; end() when there is none.
auto allocation_at(std::uint64_t address) {
  auto& live = memory().live;
  auto found = live.upper_bound(address);
  if (found == live.begin()) return live.end();
  --found;
  return address < found->first + found->second.bytes ? found : live.end();
}

void fill_info(std::uint64_t address, PointerInfo& info, std::vector<Agent>& accessible) {
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  if (const auto found = allocation_at(address); found != all.live.end()) {
    const Allocation& is = found->second;
    info.type = is.type;
    info.agent_base = info.host_base = as_pointer(found->first);
    info.bytes = is.bytes;
    info.owner = agent_of(is.pool->agent);
    info.global_flags = is.pool->flags;
    info.registered = false;
    info.alloc_flags = is.flags;
    for (const int agent : is.accessible)
      if (is.pool->on_gpu || agent != is.pool->agent) accessible.push_back(agent_of(agent));
    return;
  }
  // In a block but in no fragment: the block's base and size, and a type of none.
  auto block = all.blocks.upper_bound(address);
  if (block == all.blocks.begin()) return;
  --block;
  if (address >= block->first + kBlock) return;
  info.agent_base = info.host_base = as_pointer(block->first);
  info.bytes = kBlock;
}

// --- the copy engine ---

struct Copy {
  void* to;
  const void* from;
  std::size_t bytes;
  std::vector<Signal> wait_for;
  Signal completion;
};

struct CopyEngine {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Copy> copies;
  std::thread thread;
  std::atomic<bool> stop{false};
};

CopyEngine& copy_engine() {
  static CopyEngine& instance = *new CopyEngine;
  return instance;
}

void run_copy(const Copy& copy) {
  for (const Signal signal : copy.wait_for)
    wait_for([signal] {
      return signal_of(signal)->value.load(std::memory_order_acquire) == 0 || copy_engine().stop;
    });
  if (copy_engine().stop) return;
  const std::uint64_t start = now_ns();
  std::memcpy(copy.to, copy.from, copy.bytes);
  complete(copy.completion, start, now_ns());
}

void run_copy_engine() {
  CopyEngine& engine = copy_engine();
  std::unique_lock lock(engine.mutex);
  for (;;) {
    engine.changed.wait(lock, [&] { return engine.stop || !engine.copies.empty(); });
    if (engine.stop) return;
    const Copy copy = std::move(engine.copies.front());
    engine.copies.pop_front();
    lock.unlock();
    run_copy(copy);
    lock.lock();
  }
}

// Registers memory that no pool gave, for pointer_info.
void register_memory(std::uint64_t base, std::size_t bytes, PointerType type) {
  const std::lock_guard lock(memory().mutex);
  memory().live.emplace(
      base,
      Allocation{
          .bytes = bytes, .pool = &first_host_pool(), .flags = 0, .accessible = {0}, .type = type});
}

Status unregister_memory(void* pointer, PointerType type) {
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  const auto found = all.live.find(as_address(pointer));
  if (found == all.live.end() || found->second.type != type) return Status::invalid_argument;
  ::munmap(pointer, pages_up(found->second.bytes));
  all.live.erase(found);
  return Status::success;
}

}  // namespace

void stop_copies() {
  CopyEngine& engine = copy_engine();
  {
    const std::lock_guard lock(engine.mutex);
    engine.stop = true;
    engine.copies.clear();
  }
  engine.changed.notify_all();
  wake_waiters();
  if (engine.thread.joinable()) engine.thread.join();
  engine.stop = false;
}

void stop_memory() {
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  for (const auto& [base, allocation] : all.live) {
    if (allocation.type != PointerType::hsa)
      ::munmap(as_pointer(base), pages_up(allocation.bytes));
    else if (allocation.block == 0)
      give_memory(base, pages_up(allocation.bytes), kBlock);
  }
  for (const auto& [base, block] : all.blocks) give_memory(base, kBlock, 0);
  all.live.clear();
  all.blocks.clear();
}

namespace core_calls {

Status memory_allocate(Region region, std::size_t size, void** pointer) {
  const Pool* pool = pool_of(region.handle);
  return pool == nullptr ? Status::invalid_region : allocate(*pool, size, 0, pointer);
}
Status memory_free(void* pointer) {
  return deallocate(pointer);
}
Status memory_register(void* pointer, std::size_t size) {
  return pointer == nullptr && size != 0 ? Status::invalid_argument : Status::success;
}
Status memory_deregister(void*, std::size_t) {
  return Status::success;
}
Status memory_copy(void* destination, const void* source, std::size_t size) {
  if (destination == nullptr || source == nullptr) return Status::invalid_argument;
  std::memmove(destination, source, size);
  return Status::success;
}

}  // namespace core_calls

namespace amd_calls {

Status memory_pool_allocate(MemoryPool handle, std::size_t size, std::uint32_t flags,
                            void** pointer) {
  const Pool* pool = pool_of(handle.handle);
  return pool == nullptr ? Status::invalid_memory_pool : allocate(*pool, size, flags, pointer);
}
Status memory_pool_free(void* pointer) {
  return deallocate(pointer);
}

Status agents_allow_access(std::uint32_t count, const Agent* agents, const std::uint32_t* flags,
                           const void* pointer) {
  if (count == 0 || agents == nullptr || flags != nullptr || pointer == nullptr)
    return Status::invalid_argument;
  std::vector<int> allowed;
  for (const Agent agent : std::span(agents, count)) {
    const auto index = index_of(agent);
    if (!index) return Status::invalid_agent;
    allowed.push_back(*index);
  }
  const std::lock_guard lock(memory().mutex);
  const auto found = allocation_at(as_address(pointer));
  if (found == memory().live.end()) return Status::invalid_allocation;
  const int owner = found->second.pool->agent;
  if (std::ranges::find(allowed, owner) == allowed.end()) allowed.push_back(owner);
  found->second.accessible = std::move(allowed);
  return Status::success;
}

// "Copies": one of nothing succeeds and leaves the signal alone.
Status memory_async_copy(void* destination, Agent destination_agent, const void* source,
                         Agent source_agent, std::size_t size, std::uint32_t dep_count,
                         const Signal* dep_signals, Signal completion) {
  if (destination == nullptr || source == nullptr) return Status::invalid_argument;
  if ((dep_count == 0) != (dep_signals == nullptr)) return Status::invalid_argument;
  if (!index_of(destination_agent) || !index_of(source_agent)) return Status::invalid_agent;
  if (completion.handle == 0) return Status::invalid_signal;
  if (size == 0) return Status::success;
  CopyEngine& engine = copy_engine();
  {
    const std::lock_guard lock(engine.mutex);
    if (!engine.thread.joinable()) engine.thread = std::thread(run_copy_engine);
    engine.copies.push_back({.to = destination,
                             .from = source,
                             .bytes = size,
                             .wait_for = {dep_signals, dep_signals + dep_count},
                             .completion = completion});
  }
  engine.changed.notify_all();
  return Status::success;
}

Status memory_fill(void* pointer, std::uint32_t value, std::size_t count) {
  if (pointer == nullptr || as_address(pointer) % sizeof value != 0)
    return Status::invalid_argument;
  std::fill_n(static_cast<std::uint32_t*>(pointer), count, value);
  return Status::success;
}

// The GPU uses it at the host's address, as with a driver that shares the address space; a runtime
// without gives another one (fault "relocate"). What lies in a reservation is not the program's.
Status memory_lock(void* host, std::size_t size, Agent*, int, void** agent_pointer) {
  const bool elsewhere = relocation_is_injected();
  if (host == nullptr || size == 0 || agent_pointer == nullptr) return Status::invalid_argument;
  PointerInfo info{};
  if (vmem_pointer_info(as_address(host), info)) return Status::error;
  *agent_pointer = elsewhere ? as_pointer(as_address(host) ^ (std::uint64_t{1} << 40U)) : host;
  return Status::success;
}
Status memory_lock_to_pool(void* host, std::size_t size, Agent* agents, int count,
                           MemoryPool handle, std::uint32_t, void** agent_pointer) {
  const Pool* pool = pool_of(handle.handle);
  if (pool == nullptr || pool->on_gpu) return Status::invalid_memory_pool;
  return memory_lock(host, size, agents, count, agent_pointer);
}
Status memory_unlock(void* host) {
  return host == nullptr ? Status::invalid_argument : Status::success;
}

// The file is any that can be mapped: a memfd in the tests.
Status interop_map_buffer(std::uint32_t count, Agent* agents, int handle, std::uint32_t,
                          std::size_t* size, void** pointer, std::size_t* metadata_size,
                          const void** metadata) {
  if (count == 0 || agents == nullptr || size == nullptr || pointer == nullptr)
    return Status::invalid_argument;
  struct stat file{};
  if (::fstat(handle, &file) != 0 || file.st_size <= 0) return Status::invalid_argument;
  const auto bytes = static_cast<std::size_t>(file.st_size);
  void* const at = ::mmap(nullptr, pages_up(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0);
  if (at == MAP_FAILED) return Status::out_of_resources;
  register_memory(as_address(at), bytes, PointerType::graphics);
  *size = bytes;
  *pointer = at;
  if (metadata_size != nullptr) *metadata_size = 0;
  if (metadata != nullptr) *metadata = nullptr;
  return Status::success;
}
Status interop_unmap_buffer(void* pointer) {
  return unregister_memory(pointer, PointerType::graphics);
}

// The handle names a range of this process; attaching gives memory with the same contents, which is
// enough for a tool that only has to notice it.
Status ipc_memory_create(void* pointer, std::size_t size, IpcMemory* handle) {
  if (handle == nullptr || size == 0) return Status::invalid_argument;
  {
    const std::lock_guard lock(memory().mutex);
    if (allocation_at(as_address(pointer)) == memory().live.end()) return Status::invalid_argument;
  }
  *handle = {};
  const std::uint64_t words[2] = {as_address(pointer), size};
  std::memcpy(handle, words, sizeof words);
  return Status::success;
}
Status ipc_memory_attach(const IpcMemory* handle, std::size_t size, std::uint32_t, const Agent*,
                         void** pointer) {
  if (handle == nullptr || pointer == nullptr) return Status::invalid_argument;
  std::uint64_t words[2];
  std::memcpy(words, handle, sizeof words);
  if (words[1] != size) return Status::invalid_argument;
  void* const at =
      ::mmap(nullptr, pages_up(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return Status::out_of_resources;
  std::memcpy(at, as_pointer(words[0]), size);
  register_memory(as_address(at), size, PointerType::ipc);
  *pointer = at;
  return Status::success;
}
Status ipc_memory_detach(void* pointer) {
  return unregister_memory(pointer, PointerType::ipc);
}

Status svm_attributes_set(void* pointer, std::size_t size, SvmAttribute* attributes,
                          std::size_t count) {
  if (pointer == nullptr || size == 0 || (attributes == nullptr && count != 0))
    return Status::invalid_argument;
  return Status::success;
}

Status pointer_info(const void* pointer, PointerInfo* info, void* (*allocate_list)(std::size_t),
                    std::uint32_t* accessible_count, Agent** accessible) {
  if (pointer == nullptr || info == nullptr || info->size == 0) return Status::invalid_argument;
  PointerInfo found{};
  found.size = std::min<std::uint32_t>(info->size, sizeof found);
  std::vector<Agent> agents;
  if (!vmem_pointer_info(as_address(pointer), found)) fill_info(as_address(pointer), found, agents);
  std::memcpy(info, &found, found.size);
  if (allocate_list != nullptr && accessible_count != nullptr && accessible != nullptr) {
    *accessible_count = static_cast<std::uint32_t>(agents.size());
    *accessible = static_cast<Agent*>(allocate_list(agents.size() * sizeof(Agent)));
    if (*accessible == nullptr) return Status::out_of_resources;
    std::ranges::copy(agents, *accessible);
  }
  return Status::success;
}

}  // namespace amd_calls
}  // namespace perflab::hsa::sim
