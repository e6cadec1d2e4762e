// Placing and giving back. Physical memory has 2 MiB pages, registered host memory pages of 4 KiB.
#include "replay/cuda/cuda_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/system/files.h"
#include "replay/failures.h"

namespace perflab::replay {
namespace {

void* host_pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}

}  // namespace

CudaMemory::~CudaMemory() {
  if (abandoned_) return;
  const cuda::Driver& driver = runtime_.driver();
  for (const std::uint64_t buffer : buffers_) driver.memory_free(buffer);
  for (const Mapped& one : mapped_) {
    if (driver.memory_unmap != nullptr) driver.memory_unmap(one.span.base, one.span.bytes);
    driver.memory_release(one.handle);
  }
  for (const Span& span : registered_) {
    driver.host_unregister(host_pointer(span.base));
    ::munmap(host_pointer(span.base), span.bytes);
  }
  for (const CudaReservation& one : reservations_)
    if (one.exact()) driver.address_free(one.envelope.span.base, one.envelope.span.bytes);
}

void CudaMemory::abandon() {
  abandoned_ = true;
  copies_.abandon();
}

Result<void> CudaMemory::open(cuda::Stream stream) {
  stream_ = stream;
  return copies_.open(stream);
}

const CudaReservation* CudaMemory::around(const FixedRange& range) const {
  const auto found = std::ranges::find_if(reservations_, [&](const CudaReservation& one) {
    const Span& span = one.envelope.span;
    return range.base >= span.base && range.base + range.bytes <= span.end();
  });
  return found == reservations_.end() ? nullptr : &*found;
}

Result<void> CudaMemory::place(const FixedRange& range) {
  const CudaReservation* const reservation = around(range);
  if (range.on_gpu && reservation == nullptr)
    return fail(Failure::not_replayable,
                fmt::format("{:#x}-{:#x} was not reserved when the device was opened", range.base,
                            range.base + range.bytes));
  if (reservation == nullptr) return place_on_host(range);
  if (!reservation->exact()) return reservation_failed(*reservation);
  if (!range.on_gpu)
    notes_.push_back(
        fmt::format("host memory at {:#x} lies within 32 MiB of memory of the GPU, and becomes "
                    "memory of the GPU: a kernel that uses it is faster than it was",
                    range.base));
  return place_on_gpu(range);
}

Result<void> CudaMemory::place_on_gpu(const FixedRange& range) {
  constexpr std::uint64_t kGranule = kCudaGranules.device;
  const std::uint64_t first = range.base / kGranule * kGranule;
  const std::uint64_t last = (range.base + range.bytes + kGranule - 1) / kGranule * kGranule;
  if (range.on_gpu) return map({.base = first, .bytes = last - first});
  // Host memory is planned by pages, and some of its blocks may be there already.
  for (std::uint64_t at = first; at < last; at += kGranule) {
    const bool there = std::ranges::any_of(
        mapped_, [&](const Mapped& one) { return at >= one.span.base && at < one.span.end(); });
    if (!there) PERFLAB_TRY_VOID(map({.base = at, .bytes = kGranule}));
  }
  return {};
}

Result<void> CudaMemory::map(const Span& span) {
  const cuda::Driver& driver = runtime_.driver();
  cuda::AllocationProperties properties{};
  properties.type = cuda::allocation_pinned;
  properties.location = {.type = cuda::LocationType::device, .id = runtime_.device()};
  Mapped mapped{.span = span};
  PERFLAB_TRY_VOID(runtime_.check(driver.memory_create(&mapped.handle, span.bytes, &properties, 0),
                                  fmt::format("cuMemCreate({:#x})", span.bytes)));
  const cuda::DriverResult answer = driver.memory_map(span.base, span.bytes, 0, mapped.handle, 0);
  if (answer != cuda::DriverResult::success) driver.memory_release(mapped.handle);
  PERFLAB_TRY_VOID(
      runtime_.check(answer, fmt::format("cuMemMap({:#x}, {:#x})", span.base, span.bytes)));
  mapped_.push_back(mapped);
  const cuda::AccessDescription access{.location = properties.location,
                                       .flags = cuda::access_read_write};
  return runtime_.check(driver.memory_set_access(span.base, span.bytes, &access, 1),
                        fmt::format("cuMemSetAccess({:#x}, {:#x})", span.base, span.bytes));
}

Result<void> CudaMemory::place_on_host(const FixedRange& range) {
  const cuda::Driver& driver = runtime_.driver();
  const std::uint64_t last = range.base + range.bytes;
  PERFLAB_TRY(const std::vector<Mapping> mappings, own_mappings());
  void* const wish = host_pointer(range.base);
  void* const got = ::mmap(wish, range.bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (got != wish) {
    if (got != MAP_FAILED) ::munmap(got, range.bytes);
    return fail(Failure::occupied,
                fmt::format("host memory of the capture, {:#x}-{:#x}, is taken in this process by "
                            "{}",
                            range.base, last, who_holds(mappings, range.base, last)),
                "run it again: addresses are random");
  }
  registered_.push_back({.base = range.base, .bytes = range.bytes});
  PERFLAB_TRY_VOID(runtime_.check(
      driver.host_register(wish, range.bytes,
                           cuda::host_memory::portable | cuda::host_memory::device_map),
      fmt::format("cuMemHostRegister({:#x}, {:#x})", range.base, range.bytes)));
  cuda::DevicePointer seen = 0;
  PERFLAB_TRY_VOID(runtime_.check(driver.host_get_device_pointer(&seen, wish, 0),
                                  fmt::format("cuMemHostGetDevicePointer({:#x})", range.base)));
  if (seen == range.base) return {};
  return fail(Failure::relocated,
              fmt::format("the GPU sees host memory at {:#x} at {:#x}", range.base, seen),
              "replay on a machine whose GPU shares the addresses of the host");
}

Result<std::optional<std::uint64_t>> CudaMemory::allocate(std::uint64_t bytes) {
  std::uint64_t made = 0;
  const cuda::DriverResult answer = runtime_.driver().memory_allocate(&made, bytes);
  if (answer == cuda::DriverResult::out_of_memory) return std::optional<std::uint64_t>{};
  PERFLAB_TRY_VOID(runtime_.check(answer, fmt::format("cuMemAlloc({:#x})", bytes)));
  buffers_.push_back(made);
  return std::optional(made);
}

bool CudaMemory::on_host(std::uint64_t address) const {
  return std::ranges::any_of(
      registered_, [&](const Span& span) { return address >= span.base && address < span.end(); });
}

Result<void> CudaMemory::write(std::uint64_t address, std::span<const std::byte> bytes) {
  if (!on_host(address)) return copies_.write(address, bytes);
  PERFLAB_TRY_VOID(copies_.wait());
  std::memcpy(host_pointer(address), bytes.data(), bytes.size());
  return {};
}

Result<void> CudaMemory::read(std::uint64_t address, std::span<std::byte> bytes) {
  if (!on_host(address)) return copies_.read(address, bytes);
  PERFLAB_TRY_VOID(copies_.wait());
  std::memcpy(bytes.data(), host_pointer(address), bytes.size());
  return {};
}

Result<void> CudaMemory::zero(std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return {};
  if (on_host(address)) {
    PERFLAB_TRY_VOID(copies_.wait());
    std::memset(host_pointer(address), 0, bytes);
    return {};
  }
  return runtime_.check(runtime_.driver().fill_async(address, 0, bytes, stream_),
                        fmt::format("cuMemsetD8Async({:#x}, 0, {:#x})", address, bytes));
}

}  // namespace perflab::replay
