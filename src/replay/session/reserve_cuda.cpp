// Every envelope as a replay would reserve it, then host memory outside of them.
#include "replay/session/reserve_cuda.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/system/files.h"
#include "replay/cuda/cuda_addresses.h"
#include "replay/cuda/cuda_memory.h"
#include "replay/failures.h"

namespace perflab::replay {
namespace {

/// What the kernel says of an envelope, on a machine without a driver.
Result<CudaReservation> ask_kernel(const Envelope& envelope) {
  CudaReservation one{.envelope = envelope, .status = {}, .holder = {}};
  PERFLAB_TRY(const std::vector<Mapping> mappings, own_mappings());
  void* const wish = reinterpret_cast<void*>(envelope.span.base);
  void* const got = ::mmap(wish, envelope.span.bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) {
    one.status = errno_text(errno);
  } else {
    one.returned = reinterpret_cast<std::uint64_t>(got);
    ::munmap(got, envelope.span.bytes);
  }
  if (!one.exact()) one.holder = who_holds(mappings, envelope.span.base, envelope.span.end());
  return one;
}

RangeCheck check_of(const PlannedRange& planned, const CudaReservation& reservation) {
  RangeCheck one{.range = planned.range,
                 .regions = planned.regions,
                 .status = reservation.status,
                 .holder = reservation.holder};
  if (reservation.returned != 0)
    one.returned = reservation.returned + (planned.range.base - reservation.envelope.span.base);
  if (reservation.exact())
    one.outcome = Reservation::exact;
  else if (reservation.status.empty())
    one.outcome = Reservation::relocated;
  return one;
}

RangeCheck check_of_host(const PlannedRange& planned, CudaMemory* memory) {
  RangeCheck one{.range = planned.range, .regions = planned.regions, .status = {}, .holder = {}};
  if (memory == nullptr) {
    one.status = "not asked: there is no CUDA driver";
    return one;
  }
  const Result<void> placed = memory->place(planned.range);
  if (placed) {
    one.outcome = Reservation::exact;
    one.returned = planned.range.base;
  } else if (failure_of(placed.error()) == Failure::occupied) {
    one.holder = sentence_of(placed.error());
  } else {
    one.status = sentence_of(placed.error());
  }
  return one;
}

void add(RangeCheck one, ReserveReport& report) {
  report.bytes += one.range.bytes;
  ++(one.outcome == Reservation::exact       ? report.exact
     : one.outcome == Reservation::relocated ? report.relocated
                                             : report.failed);
  report.ranges.push_back(std::move(one));
}

}  // namespace

bool has_cuda_driver() {
  return CudaRuntime::open().has_value();
}

Result<ReserveReport> check_cuda_reservations(const AddressPlan& plan, std::uint32_t gpu_index,
                                              const ReserveOptions& options) {
  ReserveReport report;
  report.granule = kCudaEnvelope;
  auto space = open_cuda_space(plan, gpu_index, "", options.may_restart);
  if (!space && failure_of(space.error()) != Failure::no_runtime)
    return std::unexpected(std::move(space).error());
  std::vector<CudaReservation> reservations;
  std::optional<CudaMemory> memory;
  if (space) {
    report.through = "cuda";
    reservations = space->reservations;
    memory.emplace(space->runtime, space->reservations);
  } else {
    report.through = "mmap";
    report.no_runtime = sentence_of(space.error());
    for (const Envelope& one : envelopes(plan)) {
      PERFLAB_TRY(CudaReservation answer, ask_kernel(one));
      reservations.push_back(std::move(answer));
    }
  }
  for (const PlannedRange& planned : plan.ranges) {
    const auto around = std::ranges::find_if(reservations, [&](const CudaReservation& reservation) {
      const Span& span = reservation.envelope.span;
      return planned.range.base >= span.base &&
             planned.range.base + planned.range.bytes <= span.end();
    });
    add(around != reservations.end() ? check_of(planned, *around)
                                     : check_of_host(planned, memory ? &*memory : nullptr),
        report);
  }
  return report;
}

}  // namespace perflab::replay
