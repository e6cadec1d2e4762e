// Copies of the runtime: docs/facts/hsa_runtime.md "Copies" (async_copy to pinned memory works
// inside a packet handler; a copy of size 0 never signals) and "Bad addresses" (one that is not
// there kills).
#include "isolate/machine/memory_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/system/files.h"

namespace perflab::isolate {
namespace {

constexpr std::uint64_t kNanosOfMilli = 1'000'000;

// Host memory for staging: fine-grained, not the pool of kernel arguments.
const Pool* staging_pool(const Topology& machine) {
  const Pool* best = nullptr;
  for (const Pool& pool : machine.pools) {
    if (pool.on_gpu) continue;
    if ((pool.flags & (hsa::pool_fine_grained | hsa::pool_kernarg)) == hsa::pool_fine_grained)
      return &pool;
    if (best == nullptr) best = &pool;
  }
  return best;
}

}  // namespace

Result<std::unique_ptr<MemoryReader>> MemoryReader::create(const hsa::Api& api,
                                                           const Topology& machine,
                                                           std::chrono::milliseconds patience) {
  if (machine.cpus.empty()) return fail(ErrorCode::refused, "the runtime has no CPU agent");
  std::unique_ptr<MemoryReader> reader(new MemoryReader(api, machine.cpus.front(), patience));
  PERFLAB_TRY_VOID(reader->allocate(machine));
  return reader;
}

Result<void> MemoryReader::allocate(const Topology& machine) {
  const Pool* const pool = staging_pool(machine);
  if (pool == nullptr) return fail(ErrorCode::refused, "the CPU agent has no memory pool");
  PERFLAB_TRY_VOID(
      checked("hsa_amd_memory_pool_allocate (staging)",
              api_.amd.memory_pool_allocate({pool->handle}, 2 * kPiece, 0, &staging_)));
  PERFLAB_TRY_VOID(
      checked("hsa_amd_agents_allow_access (staging)",
              api_.amd.agents_allow_access(static_cast<std::uint32_t>(machine.gpus.size()),
                                           machine.gpus.data(), nullptr, staging_)));
  for (std::size_t i = 0; i < 2; ++i) {
    buffers_[i].memory = static_cast<std::byte*>(staging_) + i * kPiece;
    PERFLAB_TRY_VOID(
        checked("hsa_signal_create", api_.core.signal_create(0, 0, nullptr, &buffers_[i].done)));
  }
  return {};
}

MemoryReader::~MemoryReader() {
  for (Buffer& buffer : buffers_)
    if (buffer.bytes != 0 && !finish(buffer)) stuck_ = true;
  if (stuck_) return;
  for (const Buffer& buffer : buffers_)
    if (buffer.done.handle != 0) api_.core.signal_destroy(buffer.done);
  if (staging_ != nullptr) api_.amd.memory_pool_free(staging_);
}

Result<void> MemoryReader::start(Buffer& buffer, hsa::Agent owner, std::uint64_t base,
                                 std::size_t bytes) {
  api_.core.signal_store_relaxed(buffer.done, 1);
  PERFLAB_TRY_VOID(
      checked("hsa_amd_memory_async_copy",
              api_.amd.memory_async_copy(buffer.memory, host_, reinterpret_cast<const void*>(base),
                                         owner, bytes, 0, nullptr, buffer.done)));
  buffer.bytes = bytes;
  return {};
}

Result<void> MemoryReader::finish(Buffer& buffer) {
  const auto ticks = static_cast<std::uint64_t>(patience_.count()) * kNanosOfMilli;
  const hsa::SignalValue left = api_.core.signal_wait_scacquire(buffer.done, hsa::Condition::lt, 1,
                                                                ticks, hsa::WaitState::blocked);
  if (left >= 1) {
    stuck_ = true;
    return fail(ErrorCode::refused, "a copy out of GPU memory did not end");
  }
  buffer.bytes = 0;
  if (left < 0) return fail(ErrorCode::refused, "a copy out of GPU memory failed");
  return {};
}

Result<void> MemoryReader::from_gpu(hsa::Agent owner, std::uint64_t base, std::uint64_t bytes,
                                    const ByteSink& sink) {
  const auto size_at = [&](std::uint64_t offset) {
    return static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, bytes - offset));
  };
  if (bytes == 0) return {};
  PERFLAB_TRY_VOID(start(buffers_[0], owner, base, size_at(0)));
  std::size_t number = 0;
  for (std::uint64_t offset = 0; offset < bytes; ++number) {
    Buffer& now = buffers_[number % 2];
    const std::size_t size = now.bytes;
    PERFLAB_TRY_VOID(finish(now));
    const std::uint64_t behind = offset + size;
    if (behind < bytes)
      PERFLAB_TRY_VOID(start(buffers_[(number + 1) % 2], owner, base + behind, size_at(behind)));
    PERFLAB_TRY_VOID(sink({now.memory, size}));
    offset = behind;
  }
  return {};
}

Result<void> MemoryReader::from_host(std::uint64_t base, std::uint64_t bytes,
                                     const ByteSink& sink) {
  for (std::uint64_t offset = 0; offset < bytes; offset += kPiece) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, bytes - offset));
    std::memcpy(buffers_[0].memory, reinterpret_cast<const void*>(base + offset), size);
    PERFLAB_TRY_VOID(sink({buffers_[0].memory, size}));
  }
  return {};
}

Result<void> MemoryReader::from_process(std::uint64_t base, std::uint64_t bytes,
                                        const ByteSink& sink) {
  const int file = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail(ErrorCode::refused, "cannot open /proc/self/mem: " + errno_text(errno));
  Result<void> result;
  for (std::uint64_t offset = 0; offset < bytes && result; offset += kPiece) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, bytes - offset));
    std::byte* const piece = buffers_[0].memory;
    for (std::size_t at = 0; at < size && result;) {
      const ssize_t got =
          ::pread(file, piece + at, size - at, static_cast<off_t>(base + offset + at));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0)
        result = fail(ErrorCode::refused,
                      fmt::format("memory at {:#x} cannot be read: {}", base + offset + at,
                                  errno_text(got == 0 ? EIO : errno)));
      else
        at += static_cast<std::size_t>(got);
    }
    if (result) result = sink({piece, size});
  }
  ::close(file);
  return result;
}

}  // namespace perflab::isolate
