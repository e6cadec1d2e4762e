// Reserving and giving back, range by range.
#include "replay/session/reserve_check.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <span>
#include <utility>

#include "base/system/files.h"
#include "replay/addresses/placeholders.h"
#include "replay/failures.h"
#include "replay/hsa/hsa_device.h"
#include "replay/hsa/hsa_memory.h"
#include "replay/hsa/hsa_runtime.h"
#include "replay/session/reserve_cuda.h"

namespace perflab::replay {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

/// Where captured memory typically lies (docs/facts/hsa_runtime.md "Occupied addresses",
/// "Repeatable addresses"): below 1 TiB in the runtime's reserved mode (host memory in the first
/// quarter, then device memory), in the upper part of the mmap area else; far from everything; one
/// range that is large.
struct Probe {
  std::uint64_t base, bytes;
};
constexpr std::array kProbes{
    Probe{0x1'0000'0000, 2 * kMiB},        // reserved mode, host
    Probe{0x60'0000'0000, 2 * kMiB},       // reserved mode, device
    Probe{0x2000'0000'0000, kSystemPage},  // the least there is
    Probe{0x2000'4000'0000, 1024 * kMiB},  // a large buffer
    Probe{0x7e00'0000'0000, 64 * kMiB},    // below the mmap area of most processes
    Probe{0x7f00'0000'0000, 64 * kMiB},    // in it
};

/// How one reservation ended.
struct Attempt {
  std::uint64_t returned = 0;
  std::string status;
};

/// Asks the kernel, as the runtime does in the mode that most GPUs have.
Attempt reserve_by_mmap(const Span& span) {
  void* const wish = reinterpret_cast<void*>(span.base);
  void* const got =
      ::mmap(wish, span.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) return {.status = errno_text(errno)};
  ::munmap(got, span.bytes);
  return {.returned = reinterpret_cast<std::uint64_t>(got), .status = {}};
}

Attempt reserve_by_runtime(const HsaRuntime& runtime, const Span& span) {
  void* got = nullptr;
  const hsa::Status status = runtime.amd().vmem_address_reserve(&got, span.bytes, span.base, 0);
  if (status != hsa::Status::success) return {.status = status_text(status)};
  runtime.amd().vmem_address_free(got, span.bytes);
  return {.returned = reinterpret_cast<std::uint64_t>(got), .status = {}};
}

/// What a check asks, and with which runtime.
class Checker {
 public:
  Checker() { report_.granule = kSystemPage; }

  /// Holds the spans, then opens the runtime. Without one on this machine the kernel is asked.
  Result<void> open(const std::vector<Span>& to_hold, bool may_restart, std::uint32_t gpu_index,
                    bool needs_gpu) {
    PERFLAB_TRY(placeholders_, Placeholders::hold(to_hold));
    if (!placeholders_.conflicts().empty() && may_restart) restart_with_other_addresses();
    PERFLAB_TRY(const std::vector<Mapping> before, own_mappings());
    auto runtime = HsaRuntime::open();
    if (!runtime) {
      if (failure_of(runtime.error()) != Failure::no_runtime)
        return std::unexpected(std::move(runtime).error());
      report_.through = "mmap";
      report_.no_runtime = sentence_of(runtime.error());
      return {};
    }
    report_.through = "hsa";
    runtime_.emplace(std::move(*runtime));
    if (needs_gpu) {
      PERFLAB_TRY(gpu_, runtime_->gpu(gpu_index));
    }
    PERFLAB_TRY(const std::vector<Mapping> after, own_mappings());
    area_ = svm_area(before, after);
    return {};
  }

  /// Reserves the span, notes how that went for each range in it, and gives it back.
  Result<void> check(const Span& span, std::span<const PlannedRange> ranges) {
    const bool locks = runtime_ && gpu_ != nullptr && !ranges.front().range.on_gpu;
    RangeCheck whole{.range = {}, .regions = {}, .status = {}, .holder = {}};
    placeholders_.release(span);
    if (!locks) {
      PERFLAB_TRY(whole, try_reservation(span));
    }
    for (const PlannedRange& planned : ranges) {
      RangeCheck one = whole;
      if (locks) {
        PERFLAB_TRY(one, try_host(planned.range));
      } else if (one.returned != 0) {
        // What came back for the reservation, seen from this range in it.
        one.returned += planned.range.base - span.base;
      }
      one.range = planned.range;
      one.regions = planned.regions;
      report_.bytes += one.range.bytes;
      ++(one.outcome == Reservation::exact       ? report_.exact
         : one.outcome == Reservation::relocated ? report_.relocated
                                                 : report_.failed);
      report_.ranges.push_back(std::move(one));
    }
    return {};
  }

  ReserveReport take() { return std::move(report_); }

 private:
  Result<RangeCheck> try_reservation(const Span& span) {
    RangeCheck one{.range = {}, .regions = {}, .status = {}, .holder = {}};
    PERFLAB_TRY(const std::vector<Mapping> mappings, own_mappings());
    const bool in_area = span.base >= area_.base && span.end() <= area_.end();
    if (!in_area) one.holder = who_holds(mappings, span.base, span.end());
    // Outside its own area the runtime may give what is taken already, and destroy it.
    if (area_.bytes != 0 && !one.holder.empty()) return one;
    const Attempt attempt = runtime_ ? reserve_by_runtime(*runtime_, span) : reserve_by_mmap(span);
    one.status = attempt.status;
    one.returned = attempt.returned;
    if (!attempt.status.empty()) return one;
    if (attempt.returned != span.base)
      one.outcome = Reservation::relocated;
    else if (one.holder.empty())
      one.outcome = Reservation::exact;
    return one;
  }

  /// Host memory, as HsaMemory takes it: locked, else as virtual memory.
  Result<RangeCheck> try_host(const FixedRange& range) {
    PERFLAB_TRY(RangeCheck locked, try_lock(range));
    if (locked.outcome == Reservation::exact) return locked;
    PERFLAB_TRY(const hsa::Status status, try_virtual_memory(*runtime_, range));
    if (status != hsa::Status::success) return locked;
    return try_reservation({.base = range.base, .bytes = range.bytes});
  }

  Result<RangeCheck> try_lock(const FixedRange& range) {
    RangeCheck one{.range = {}, .regions = {}, .status = {}, .holder = {}};
    PERFLAB_TRY(const std::vector<Mapping> mappings, own_mappings());
    one.holder = who_holds(mappings, range.base, range.base + range.bytes);
    if (!one.holder.empty()) return one;
    PERFLAB_TRY(const HostLock lock, lock_host_memory(*runtime_, *gpu_, range));
    one.returned = lock.returned;
    if (lock.status != hsa::Status::success) {
      one.status = status_text(lock.status);
    } else if (lock.exact(range)) {
      one.outcome = Reservation::exact;
      unlock_host_memory(*runtime_, range);
    } else {
      one.outcome = Reservation::relocated;
    }
    return one;
  }

  Placeholders placeholders_;
  std::optional<HsaRuntime> runtime_;
  const HsaAgent* gpu_ = nullptr;
  Span area_;
  ReserveReport report_;
};

}  // namespace

Result<ReserveReport> check_reservations(const capture::Description& description,
                                         const ReserveOptions& options) {
  PERFLAB_TRY(const AddressPlan plan, plan_addresses(description, granules_of(description)));
  if (description.machine.platform == capture::Platform::cuda)
    return check_cuda_reservations(plan, description.machine.gpu_index, options);
  const std::vector<Span> spans = reservations(plan);
  set_address_mode(description.machine.address_mode);
  Checker checker;
  PERFLAB_TRY_VOID(checker.open(spans, options.may_restart, description.machine.gpu_index, true));
  std::span<const PlannedRange> rest(plan.ranges);
  for (const Span& span : spans) {
    const auto inside = static_cast<std::size_t>(std::ranges::count_if(
        rest, [&](const PlannedRange& planned) { return planned.range.base < span.end(); }));
    PERFLAB_TRY_VOID(checker.check(span, rest.first(inside)));
    rest = rest.subspan(inside);
  }
  return checker.take();
}

Result<ReserveReport> probe_reservations() {
  if (!HsaRuntime::is_installed() && has_cuda_driver()) {
    AddressPlan plan;
    for (const Probe& probe : kProbes)
      plan.ranges.push_back({.range = {.base = probe.base, .bytes = probe.bytes}, .regions = {}});
    PERFLAB_TRY(ReserveReport report, check_cuda_reservations(plan, 0, {.may_restart = false}));
    report.probe = true;
    return report;
  }
  std::vector<Span> spans;
  for (const Probe& probe : kProbes) spans.push_back({.base = probe.base, .bytes = probe.bytes});
  Checker checker;
  PERFLAB_TRY_VOID(checker.open({}, false, 0, false));
  for (const Span& span : spans) {
    const PlannedRange one{.range = {.base = span.base, .bytes = span.bytes}, .regions = {}};
    PERFLAB_TRY_VOID(checker.check(span, {&one, 1}));
  }
  ReserveReport report = checker.take();
  report.probe = true;
  return report;
}

}  // namespace perflab::replay
