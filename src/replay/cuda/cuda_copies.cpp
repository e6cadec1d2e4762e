// Staging, and the kernel that copies all runs in one launch: a block of threads per piece of a
// run. A copy of the driver costs some 2 us each, however short it is. And it keeps in L2 what it
// reads, which no application has there: the kernel's loads make room first (.cs), so that what was
// warm stays (bench/README.md, "Capture and replay", has what that did to a time).
#include "replay/cuda/cuda_copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "replay/failures.h"

namespace perflab::replay {
namespace {

constexpr std::size_t kPinnedBytes = std::size_t{8} << 20U;
constexpr std::size_t kMostOfTable = 65'536;

/// Each block copies the run of its number: 16 bytes per thread and step where both addresses and
/// the size allow it, else single ones. Table: to, from, bytes, of 8 bytes each.
constexpr const char* kCopyPtx = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry perflab_copy_runs(.param .u64 table)
.maxntid 256, 1, 1
{
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .b64 %d<16>;
  .reg .b16 %h<2>;
  ld.param.u64 %d0, [table];
  cvta.to.global.u64 %d0, %d0;
  mov.u32 %r0, %ctaid.x;
  mul.wide.u32 %d1, %r0, 24;
  add.u64 %d0, %d0, %d1;
  ld.global.u64 %d2, [%d0];
  ld.global.u64 %d3, [%d0+8];
  ld.global.u64 %d4, [%d0+16];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ntid.x;
  or.b64 %d5, %d2, %d3;
  or.b64 %d5, %d5, %d4;
  and.b64 %d5, %d5, 15;
  setp.ne.u64 %p0, %d5, 0;
  @%p0 bra singles;
  mul.wide.u32 %d6, %r1, 16;
  mul.wide.u32 %d7, %r2, 16;
wide:
  setp.ge.u64 %p1, %d6, %d4;
  @%p1 bra done;
  add.u64 %d8, %d3, %d6;
  add.u64 %d9, %d2, %d6;
  ld.global.cs.v4.u32 {%r3, %r4, %r5, %r6}, [%d8];
  st.global.v4.u32 [%d9], {%r3, %r4, %r5, %r6};
  add.u64 %d6, %d6, %d7;
  bra wide;
singles:
  cvt.u64.u32 %d6, %r1;
  cvt.u64.u32 %d7, %r2;
single:
  setp.ge.u64 %p1, %d6, %d4;
  @%p1 bra done;
  add.u64 %d8, %d3, %d6;
  add.u64 %d9, %d2, %d6;
  ld.global.cs.u8 %h0, [%d8];
  st.global.u8 [%d9], %h0;
  add.u64 %d6, %d6, %d7;
  bra single;
done:
  ret;
}
)";

struct TableEntry {
  std::uint64_t to, from, bytes;
};
/// Longer runs are several entries: a block is to have about this much to do.
constexpr std::uint64_t kPieceBytes = 65'536;

}  // namespace

CudaCopies::~CudaCopies() {
  if (abandoned_) return;
  const cuda::Driver& driver = runtime_.driver();
  for (Staging& one : staging_) {
    if (one.free != nullptr) driver.event_destroy(one.free);
    if (one.bytes != nullptr) driver.host_free(one.bytes);
  }
  if (all_ != nullptr) driver.event_destroy(all_);
  if (table_ != 0) driver.memory_free(table_);
}

Result<void> CudaCopies::open(cuda::Stream stream) {
  constexpr std::uint32_t kNoTiming = 2;
  const cuda::Driver& driver = runtime_.driver();
  stream_ = stream;
  for (Staging& one : staging_) {
    void* bytes = nullptr;
    PERFLAB_TRY_VOID(runtime_.check(driver.host_allocate(&bytes, kPinnedBytes, 0),
                                    fmt::format("cuMemHostAlloc({:#x})", kPinnedBytes)));
    one.bytes = static_cast<std::byte*>(bytes);
    PERFLAB_TRY_VOID(runtime_.check(driver.event_create(&one.free, kNoTiming), "cuEventCreate()"));
  }
  return runtime_.check(driver.event_create(&all_, kNoTiming), "cuEventCreate()");
}

Result<void> CudaCopies::wait_for(cuda::Event event) const {
  const auto deadline = std::chrono::steady_clock::now() + kCopyLimit;
  for (;;) {
    const cuda::DriverResult answer = runtime_.driver().event_query(event);
    if (answer != cuda::DriverResult::not_ready) return runtime_.check(answer, "cuEventQuery()");
    if (std::chrono::steady_clock::now() > deadline)
      return fail(
          Failure::timed_out,
          fmt::format("a copy of the CUDA driver did not end within {} s", kCopyLimit.count()),
          "see nvidia-smi: something else may hold the GPU");
    std::this_thread::yield();
  }
}

Result<void> CudaCopies::make_free(Staging& staging) {
  if (!staging.busy) return {};
  PERFLAB_TRY_VOID(wait_for(staging.free));
  staging.busy = false;
  return {};
}

Result<void> CudaCopies::mark_busy(Staging& staging) {
  staging.busy = true;
  return runtime_.check(runtime_.driver().event_record(staging.free, stream_), "cuEventRecord()");
}

Result<void> CudaCopies::wait() {
  PERFLAB_TRY_VOID(
      runtime_.check(runtime_.driver().event_record(all_, stream_), "cuEventRecord()"));
  return wait_for(all_);
}

Result<void> CudaCopies::write(std::uint64_t address, std::span<const std::byte> bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += kPinnedBytes) {
    const auto piece = bytes.subspan(at, std::min(kPinnedBytes, bytes.size() - at));
    Staging& staging = staging_.at(turn_++ % staging_.size());
    PERFLAB_TRY_VOID(make_free(staging));
    std::memcpy(staging.bytes, piece.data(), piece.size());
    PERFLAB_TRY_VOID(runtime_.check(
        runtime_.driver().copy_to_device_async(address + at, staging.bytes, piece.size(), stream_),
        fmt::format("cuMemcpyHtoDAsync({:#x}, {:#x})", address + at, piece.size())));
    PERFLAB_TRY_VOID(mark_busy(staging));
  }
  return {};
}

Result<void> CudaCopies::read(std::uint64_t address, std::span<std::byte> bytes) {
  // While one piece is taken out of its buffer, the next one is on its way.
  struct Piece {
    Staging* staging = nullptr;
    std::span<std::byte> out;
  };
  Piece before;
  const auto take = [&](const Piece& piece) -> Result<void> {
    if (piece.staging == nullptr) return {};
    PERFLAB_TRY_VOID(make_free(*piece.staging));
    std::memcpy(piece.out.data(), piece.staging->bytes, piece.out.size());
    return {};
  };
  for (std::size_t at = 0; at < bytes.size(); at += kPinnedBytes) {
    const Piece piece{.staging = &staging_.at(turn_++ % staging_.size()),
                      .out = bytes.subspan(at, std::min(kPinnedBytes, bytes.size() - at))};
    PERFLAB_TRY_VOID(make_free(*piece.staging));
    PERFLAB_TRY_VOID(runtime_.check(
        runtime_.driver().copy_to_host_async(piece.staging->bytes, address + at, piece.out.size(),
                                             stream_),
        fmt::format("cuMemcpyDtoHAsync({:#x}, {:#x})", address + at, piece.out.size())));
    PERFLAB_TRY_VOID(mark_busy(*piece.staging));
    PERFLAB_TRY_VOID(take(before));
    before = piece;
  }
  return take(before);
}

void CudaCopies::load_kernel() {
  if (tried_kernel_) return;
  tried_kernel_ = true;
  const cuda::Driver& driver = runtime_.driver();
  cuda::Module module = nullptr;
  cuda::Function function = nullptr;
  constexpr auto kSuccess = cuda::DriverResult::success;
  if (driver.module_load_data(&module, kCopyPtx) != kSuccess ||
      driver.module_get_function(&function, module, kCopyKernel) != kSuccess ||
      driver.memory_allocate(&table_, kMostOfTable * sizeof(TableEntry)) != kSuccess)
    return;
  kernel_ = function;
}

Result<void> CudaCopies::copy_by_kernel(std::span<const CopyRun> runs) {
  std::vector<TableEntry> table;
  const auto launch = [&]() -> Result<void> {
    if (table.empty()) return {};
    PERFLAB_TRY_VOID(write(table_, std::as_bytes(std::span(table))));
    void* parameters[] = {&table_};
    constexpr std::uint32_t kThreads = 256;
    const cuda::LaunchConfiguration shape{.grid = {static_cast<std::uint32_t>(table.size()), 1, 1},
                                          .block = {kThreads, 1, 1},
                                          .shared_bytes = 0,
                                          .stream = stream_,
                                          .attributes = nullptr,
                                          .attribute_count = 0};
    table.clear();
    return runtime_.check(runtime_.driver().launch_kernel_ex(&shape, kernel_, parameters, nullptr),
                          fmt::format("cuLaunchKernelEx({})", kCopyKernel));
  };
  for (const CopyRun& run : runs)
    for (std::uint64_t at = 0; at < run.bytes; at += kPieceBytes) {
      table.push_back({run.to + at, run.from + at, std::min(kPieceBytes, run.bytes - at)});
      if (table.size() == kMostOfTable) PERFLAB_TRY_VOID(launch());
    }
  return launch();
}

Result<void> CudaCopies::copy(std::span<const CopyRun> runs) {
  load_kernel();
  if (kernel_ != nullptr) {
    PERFLAB_TRY_VOID(copy_by_kernel(runs));
    return wait();
  }
  for (const CopyRun& run : runs)
    if (run.bytes != 0)
      PERFLAB_TRY_VOID(runtime_.check(
          runtime_.driver().copy_on_device_async(run.to, run.from, run.bytes, stream_),
          fmt::format("cuMemcpyDtoDAsync({:#x}, {:#x}, {:#x})", run.to, run.from, run.bytes)));
  return wait();
}

}  // namespace perflab::replay
