// Order of the calls: reserve, create, map, set access; backwards: unmap, release, free
// (docs/facts/hsa_runtime.md "Mappings"). The offset of a map is ignored by the runtime: one handle
// per map.
#include "replay/hsa/hsa_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "replay/failures.h"

namespace perflab::replay {
namespace {

constexpr std::uint64_t kLeastArea = std::uint64_t{64} << 30U;
constexpr std::size_t kStagingBytes = std::size_t{16} << 20U;
/// Copies that are under way at a time.
constexpr std::size_t kMostCopies = 512;
constexpr std::uint32_t kKinds =
    hsa::pool_fine_grained | hsa::pool_coarse_grained | hsa::pool_extended_scope_fine_grained;

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}

std::string call_text(const char* name, const Span& span) {
  return fmt::format("{}({:#x}, {:#x})", name, span.base, span.bytes);
}

/// The mappings of this process in the span, but for the runtime's own area around it.
std::string foreign_holders(const std::vector<Mapping>& mappings, const Span& span,
                            const Span& area) {
  if (span.base >= area.base && span.end() <= area.end()) return {};
  return who_holds(mappings, span.base, span.end());
}

/// The pool that memory like the range's comes from.
Result<hsa::MemoryPool> pool_for(const HsaRuntime& runtime, const FixedRange& range) {
  const HsaAgent* agent = &runtime.cpus().front();
  if (range.on_gpu) {
    PERFLAB_TRY(agent, runtime.gpu(range.agent_index));
  }
  // Managed memory has no pool of its own: coarse-grained on a GPU, fine-grained on the host.
  std::uint32_t kind = range.pool_flags & kKinds;
  if (kind == 0) kind = range.on_gpu ? hsa::pool_coarse_grained : hsa::pool_fine_grained;
  for (const std::uint32_t kernarg : {range.pool_flags & hsa::pool_kernarg, 0U, hsa::pool_kernarg})
    for (const HsaPool& pool : agent->pools)
      if (pool.flags == (kind | kernarg)) return pool.handle;
  return fail(Failure::not_replayable,
              fmt::format("{} has no memory pool with the flags {:#x} of the range at {:#x}",
                          agent->name, kind, range.base));
}

}  // namespace

Span svm_area(const std::vector<Mapping>& before_init, const std::vector<Mapping>& after_init) {
  std::uint64_t first = UINT64_MAX, last = 0;
  for (const Mapping& mapping : after_init) {
    if (mapping.last - mapping.first < kLeastArea || !mapping.permissions.starts_with("---"))
      continue;
    const bool is_old = std::ranges::any_of(before_init, [&](const Mapping& old) {
      return old.first < mapping.last && old.last > mapping.first;
    });
    if (is_old) continue;
    first = std::min(first, mapping.first);
    last = std::max(last, mapping.last);
  }
  return last == 0 ? Span{} : Span{.base = first, .bytes = last - first};
}

Result<void> reserve_exactly(const HsaRuntime& runtime, const Span& span, const Span& area) {
  PERFLAB_TRY(const std::vector<Mapping> mappings, own_mappings());
  if (const std::string holder = foreign_holders(mappings, span, area); !holder.empty())
    return fail(
        Failure::occupied,
        fmt::format("{:#x}-{:#x} is taken in this process by {}", span.base, span.end(), holder),
        "run it again: addresses are random");
  void* got = nullptr;
  PERFLAB_TRY_VOID(check_call(runtime.amd().vmem_address_reserve(&got, span.bytes, span.base, 0),
                              call_text("hsa_amd_vmem_address_reserve", span)));
  if (got == pointer(span.base)) return {};
  // The map as it is now: the runtime's threads may have taken the place in between.
  PERFLAB_TRY(const std::vector<Mapping> now, own_mappings());
  runtime.amd().vmem_address_free(got, span.bytes);
  const std::string holder = who_holds(now, span.base, span.end());
  return fail(
      Failure::relocated,
      fmt::format("asked for {:#x}-{:#x}, and the runtime gave {}; {}", span.base, span.end(),
                  fmt::ptr(got),
                  holder.empty() ? "no mapping of this process is there" : "in the way: " + holder),
      "run it again, or capture with HSA_RESERVE_SVM=1");
}

Result<HostLock> lock_host_memory(const HsaRuntime& runtime, const HsaAgent& gpu,
                                  const FixedRange& range) {
  const hsa::AmdExt& amd = runtime.amd();
  PERFLAB_TRY(const hsa::MemoryPool pool, pool_for(runtime, range));
  if (amd.memory_lock_to_pool == nullptr || amd.memory_unlock == nullptr)
    return fail(Failure::hsa_call_failed, "the runtime has no hsa_amd_memory_lock_to_pool",
                "install ROCm 6.0 or later");
  void* const wish = pointer(range.base);
  void* const held =
      ::mmap(wish, range.bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (held != wish) {
    if (held != MAP_FAILED) ::munmap(held, range.bytes);
    const std::uint64_t end = range.base + range.bytes;
    PERFLAB_TRY(const std::vector<Mapping> mappings, own_mappings());
    return fail(Failure::occupied,
                fmt::format("{:#x}-{:#x} is taken in this process by {}", range.base, end,
                            who_holds(mappings, range.base, end)),
                "run it again: addresses are random");
  }
  // A child process would get a copy of its own, and the GPU go on with one of the two.
  ::madvise(held, range.bytes, MADV_DONTFORK);
  hsa::Agent agent = gpu.handle;
  void* got = nullptr;
  HostLock lock;
  lock.status = amd.memory_lock_to_pool(held, range.bytes, &agent, 1, pool, 0, &got);
  if (lock.status == hsa::Status::success) lock.returned = reinterpret_cast<std::uint64_t>(got);
  if (lock.exact(range)) return lock;
  if (lock.status == hsa::Status::success) amd.memory_unlock(held);
  ::munmap(held, range.bytes);
  return lock;
}

void unlock_host_memory(const HsaRuntime& runtime, const FixedRange& range) {
  runtime.amd().memory_unlock(pointer(range.base));
  ::munmap(pointer(range.base), range.bytes);
}

Result<hsa::Status> try_virtual_memory(const HsaRuntime& runtime, const FixedRange& range) {
  PERFLAB_TRY(const hsa::MemoryPool pool, pool_for(runtime, range));
  hsa::VmemHandle handle{};
  const hsa::Status status =
      runtime.amd().vmem_handle_create(pool, range.bytes, hsa::MemoryType::pinned, 0, &handle);
  if (status == hsa::Status::success) runtime.amd().vmem_handle_release(handle);
  return status;
}

HsaMemory::~HsaMemory() {
  if (abandoned_) return;
  const hsa::AmdExt& amd = runtime_.amd();
  for (const Placed& placed : placed_) {
    if (placed.locked) unlock_host_memory(runtime_, placed.range);
    if (placed.mapped) amd.vmem_unmap(pointer(placed.range.base), placed.range.bytes);
    if (placed.handle.handle != 0) amd.vmem_handle_release(placed.handle);
  }
  for (const Span& span : reserved_) amd.vmem_address_free(pointer(span.base), span.bytes);
  for (void* const buffer : buffers_) amd.memory_pool_free(buffer);
  if (copied_.handle != 0) runtime_.core().signal_destroy(copied_);
}

Result<void> HsaMemory::place(const FixedRange& range) {
  if (range.on_gpu) return place_virtual(range);
  placeholders_.release(planned_around(range));
  PERFLAB_TRY(std::optional<Error> not_locked, lock(range));
  if (!not_locked) {
    insert(range).locked = true;
    return {};
  }
  const auto placed = place_virtual(range);
  if (placed) return {};
  return std::unexpected(
      std::move(*not_locked).with_note("as virtual memory: " + placed.error().message));
}

Result<void> HsaMemory::place_virtual(const FixedRange& range) {
  PERFLAB_TRY_VOID(reserve_around(range));
  return back(insert(range));
}

HsaMemory::Placed& HsaMemory::insert(const FixedRange& range) {
  const auto at = std::ranges::upper_bound(placed_, range.base, {},
                                           [](const Placed& one) { return one.range.base; });
  return *placed_.insert(at, Placed{.range = range});
}

Result<std::optional<Error>> HsaMemory::lock(const FixedRange& range) {
  PERFLAB_TRY(const HostLock lock, lock_host_memory(runtime_, gpu_, range));
  if (lock.exact(range)) return std::optional<Error>{};
  const Span span{.base = range.base, .bytes = range.bytes};
  const auto called =
      check_call(lock.status, call_text("hsa_amd_memory_lock_to_pool", span) + " for host memory");
  if (!called) return std::optional(called.error());
  return std::optional(
      fail(Failure::relocated,
           fmt::format("host memory at {:#x}-{:#x}: the runtime gave it to the GPU at {:#x}",
                       span.base, span.end(), lock.returned),
           "replay where the driver shares the addresses of the process with the GPU (SVM; "
           "HSA_USE_SVM is not 0)")
          .error());
}

Span HsaMemory::planned_around(const FixedRange& range) const {
  const auto planned = std::ranges::find_if(planned_, [&](const Span& span) {
    return span.base <= range.base && range.base + range.bytes <= span.end();
  });
  return planned != planned_.end() ? *planned : Span{.base = range.base, .bytes = range.bytes};
}

Result<void> HsaMemory::reserve_around(const FixedRange& range) {
  const auto contains = [&](const Span& span) {
    return span.base <= range.base && range.base + range.bytes <= span.end();
  };
  if (std::ranges::any_of(reserved_, contains)) return {};
  const Span span = planned_around(range);
  placeholders_.release(span);
  PERFLAB_TRY_VOID(reserve_exactly(runtime_, span, area_));
  reserved_.push_back(span);
  return {};
}

Result<void> HsaMemory::back(Placed& placed) {
  const hsa::AmdExt& amd = runtime_.amd();
  const FixedRange& range = placed.range;
  const Span span{.base = range.base, .bytes = range.bytes};
  PERFLAB_TRY(const hsa::MemoryPool pool, pool_for(runtime_, range));
  PERFLAB_TRY_VOID(check_call(
      amd.vmem_handle_create(pool, range.bytes, hsa::MemoryType::pinned, 0, &placed.handle),
      fmt::format("hsa_amd_vmem_handle_create({:#x} bytes for {:#x})", range.bytes, range.base)));
  PERFLAB_TRY_VOID(check_call(amd.vmem_map(pointer(range.base), range.bytes, 0, placed.handle, 0),
                              call_text("hsa_amd_vmem_map", span)));
  placed.mapped = true;
  std::vector<hsa::AccessDescription> access{{hsa::Access::read_write, gpu_.handle}};
  if (!range.on_gpu) access.push_back({hsa::Access::read_write, runtime_.cpus().front().handle});
  if (range.on_gpu && agent_at(range.base) != gpu_.handle)
    access.push_back({hsa::Access::read_write, agent_at(range.base)});
  return check_call(
      amd.vmem_set_access(pointer(range.base), range.bytes, access.data(), access.size()),
      call_text("hsa_amd_vmem_set_access", span));
}

bool HsaMemory::on_host(std::uint64_t address) const {
  const auto behind = std::ranges::upper_bound(placed_, address, {},
                                               [](const Placed& one) { return one.range.base; });
  if (behind == placed_.begin()) return false;
  const FixedRange& range = std::prev(behind)->range;
  return !range.on_gpu && address < range.base + range.bytes;
}

hsa::Agent HsaMemory::agent_at(std::uint64_t address) const {
  const auto behind = std::ranges::upper_bound(placed_, address, {},
                                               [](const Placed& one) { return one.range.base; });
  if (behind == placed_.begin()) return gpu_.handle;
  const FixedRange& range = std::prev(behind)->range;
  if (address >= range.base + range.bytes) return gpu_.handle;
  if (!range.on_gpu) return runtime_.cpus().front().handle;
  return runtime_.gpus()[range.agent_index].handle;  // place() checked the index
}

Result<std::optional<std::uint64_t>> HsaMemory::allocate(std::uint64_t bytes) {
  for (const HsaPool& own : gpu_.pools) {
    if ((own.flags & kKinds) != hsa::pool_coarse_grained) continue;
    const std::uint64_t granule = std::max<std::uint64_t>(own.granule, 1);
    void* buffer = nullptr;
    const hsa::Status status = runtime_.amd().memory_pool_allocate(
        own.handle, (bytes + granule - 1) / granule * granule, 0, &buffer);
    if (status == hsa::Status::out_of_resources || status == hsa::Status::invalid_allocation)
      return std::optional<std::uint64_t>{};
    PERFLAB_TRY_VOID(check_call(status, fmt::format("hsa_amd_memory_pool_allocate({:#x})", bytes)));
    buffers_.push_back(buffer);
    PERFLAB_TRY_VOID(check_apart(buffer, bytes));
    return std::optional(reinterpret_cast<std::uint64_t>(buffer));
  }
  return fail(Failure::not_replayable, "the GPU has no coarse-grained memory pool");
}

Result<void> HsaMemory::check_apart(const void* buffer, std::uint64_t bytes) const {
  const auto first = reinterpret_cast<std::uint64_t>(buffer);
  std::vector<Span> taken = reserved_;
  for (const Placed& placed : placed_)
    if (placed.locked) taken.push_back({.base = placed.range.base, .bytes = placed.range.bytes});
  for (const Span& span : taken)
    if (first < span.end() && span.base < first + bytes)
      return fail(Failure::occupied,
                  fmt::format("the runtime put a buffer of its own at {:#x}, over the reserved "
                              "range {:#x}-{:#x}",
                              first, span.base, span.end()),
                  "capture without HSA_RESERVE_SVM");
  return {};
}

Result<void> HsaMemory::make_staging() {
  if (staging_ != nullptr) return {};
  const HsaAgent& cpu = runtime_.cpus().front();
  const auto pool = std::ranges::find_if(
      cpu.pools, [](const HsaPool& one) { return (one.flags & kKinds) == hsa::pool_fine_grained; });
  if (pool == cpu.pools.end())
    return fail(Failure::not_replayable, "the host has no fine-grained memory pool");
  void* buffer = nullptr;
  PERFLAB_TRY_VOID(
      check_call(runtime_.amd().memory_pool_allocate(pool->handle, kStagingBytes, 0, &buffer),
                 fmt::format("hsa_amd_memory_pool_allocate({:#x})", kStagingBytes)));
  buffers_.push_back(buffer);
  PERFLAB_TRY_VOID(check_apart(buffer, kStagingBytes));
  std::vector<hsa::Agent> gpus;
  for (const HsaAgent& gpu : runtime_.gpus()) gpus.push_back(gpu.handle);
  PERFLAB_TRY_VOID(
      check_call(runtime_.amd().agents_allow_access(static_cast<std::uint32_t>(gpus.size()),
                                                    gpus.data(), nullptr, buffer),
                 "hsa_amd_agents_allow_access()"));
  PERFLAB_TRY_VOID(
      check_call(runtime_.core().signal_create(0, 0, nullptr, &copied_), "hsa_signal_create()"));
  staging_ = static_cast<std::byte*>(buffer);
  return {};
}

Result<void> HsaMemory::start_copy(const CopyRun& run, hsa::Agent to, hsa::Agent from) {
  return check_call(
      runtime_.amd().memory_async_copy(pointer(run.to), to, pointer(run.from), from, run.bytes, 0,
                                       nullptr, copied_),
      fmt::format("hsa_amd_memory_async_copy({:#x}, {:#x}, {:#x})", run.to, run.from, run.bytes));
}

template <class Start>
Result<void> HsaMemory::and_wait(hsa::SignalValue copies, Start start) {
  const hsa::Core& core = runtime_.core();
  core.signal_store_relaxed(copied_, copies);
  PERFLAB_TRY_VOID(start());
  const auto deadline = std::chrono::steady_clock::now() + kCopyLimit;
  // The wait may come back early: its answer says whether the time is over.
  while (core.signal_wait_scacquire(copied_, hsa::Condition::lt, 1, runtime_.frequency(),
                                    hsa::WaitState::blocked) > 0)
    if (std::chrono::steady_clock::now() > deadline)
      return fail(Failure::timed_out,
                  fmt::format("a copy of the runtime did not end within {} s", kCopyLimit.count()));
  return {};
}

Result<void> HsaMemory::write(std::uint64_t address, std::span<const std::byte> bytes) {
  if (on_host(address)) {
    std::memcpy(pointer(address), bytes.data(), bytes.size());
    return {};
  }
  PERFLAB_TRY_VOID(make_staging());
  for (std::size_t at = 0; at < bytes.size(); at += kStagingBytes) {
    const auto piece = bytes.subspan(at, std::min(kStagingBytes, bytes.size() - at));
    std::memcpy(staging_, piece.data(), piece.size());
    const CopyRun run{address + at, reinterpret_cast<std::uint64_t>(staging_), piece.size()};
    PERFLAB_TRY_VOID(and_wait(
        1, [&] { return start_copy(run, agent_at(address), runtime_.cpus().front().handle); }));
  }
  return {};
}

Result<void> HsaMemory::read(std::uint64_t address, std::span<std::byte> bytes) {
  if (on_host(address)) {
    std::memcpy(bytes.data(), pointer(address), bytes.size());
    return {};
  }
  PERFLAB_TRY_VOID(make_staging());
  for (std::size_t at = 0; at < bytes.size(); at += kStagingBytes) {
    const auto piece = bytes.subspan(at, std::min(kStagingBytes, bytes.size() - at));
    const CopyRun run{reinterpret_cast<std::uint64_t>(staging_), address + at, piece.size()};
    PERFLAB_TRY_VOID(and_wait(
        1, [&] { return start_copy(run, runtime_.cpus().front().handle, agent_at(address)); }));
    std::memcpy(piece.data(), staging_, piece.size());
  }
  return {};
}

Result<void> HsaMemory::zero(std::uint64_t address, std::uint64_t bytes) {
  if (on_host(address)) {
    std::memset(pointer(address), 0, bytes);
    return {};
  }
  constexpr std::uint64_t kWord = 4;  // what the runtime fills by
  static constexpr std::byte kZeros[kWord]{};
  const std::uint64_t head = std::min(bytes, (kWord - address % kWord) % kWord);
  if (head != 0) PERFLAB_TRY_VOID(write(address, std::span(kZeros).first(head)));
  address += head;
  bytes -= head;
  if (const std::uint64_t words = bytes / kWord; words != 0)
    PERFLAB_TRY_VOID(
        check_call(runtime_.amd().memory_fill(pointer(address), 0, words),
                   fmt::format("hsa_amd_memory_fill({:#x}, 0, {:#x})", address, words)));
  const std::uint64_t tail = bytes % kWord;
  if (tail == 0) return {};
  return write(address + bytes - tail, std::span(kZeros).first(tail));
}

Result<void> HsaMemory::copy(std::span<const CopyRun> runs) {
  PERFLAB_TRY_VOID(make_staging());
  while (!runs.empty()) {
    const auto batch = runs.first(std::min(kMostCopies, runs.size()));
    runs = runs.subspan(batch.size());
    // A copy of nothing never touches its signal.
    const auto copies =
        batch.size() - static_cast<std::size_t>(std::ranges::count(batch, 0U, &CopyRun::bytes));
    const auto start = [&]() -> Result<void> {
      for (const CopyRun& run : batch)
        if (run.bytes != 0) PERFLAB_TRY_VOID(start_copy(run, agent_at(run.to), agent_at(run.from)));
      return {};
    };
    PERFLAB_TRY_VOID(and_wait(static_cast<hsa::SignalValue>(copies), start));
  }
  return {};
}

}  // namespace perflab::replay
