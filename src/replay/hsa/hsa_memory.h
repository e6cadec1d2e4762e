// Memory of a replay on the HSA runtime: reservations at fixed addresses, what is mapped into them,
// buffers, and copies through a pinned buffer. Facts: docs/facts/hsa_runtime.md "Copies",
// "Granules", "Reservations", "Mappings", "Occupied addresses".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "replay/addresses/address_plan.h"
#include "replay/addresses/placeholders.h"
#include "replay/device.h"
#include "replay/hsa/hsa_runtime.h"

namespace perflab::replay {

/// The area that the runtime keeps for itself in its reserved mode (HSA_RESERVE_SVM): what appeared
/// with hsa_init as memory without access, from 64 GiB on. Empty in the other mode. Inside it the
/// runtime knows what is free; outside it does not look (docs/facts/hsa_runtime.md "Reservations",
/// "Occupied addresses").
Span svm_area(const std::vector<Mapping>& before_init, const std::vector<Mapping>& after_init);

/// Reserves exactly `span`. `area`: svm_area(). Errors: occupied (a mapping of this process is
/// there), relocated, hsa_call_failed.
Result<void> reserve_exactly(const HsaRuntime& runtime, const Span& span, const Span& area);

/// How taking host memory ended.
struct HostLock {
  hsa::Status status = hsa::Status::success;  ///< of the runtime's call
  std::uint64_t returned = 0;                 ///< where the GPU has it; 0: nowhere

  [[nodiscard]] bool exact(const FixedRange& range) const {
    return status == hsa::Status::success && returned == range.base;
  }
};

/// Host memory at exactly this place, which the GPU uses at the same addresses: an ordinary mapping
/// that is locked, as part of the pool that the range was captured in. So is the host memory of HIP
/// made; as virtual memory it is refused in the runtime's reserved mode, and by some runtimes in
/// the other (docs/facts/hsa_runtime.md "Granules"). Nothing is kept unless it is exact. Errors:
/// occupied (a mapping of this process is there), not_replayable (no such pool), hsa_call_failed
/// (no such call).
Result<HostLock> lock_host_memory(const HsaRuntime& runtime, const HsaAgent& gpu,
                                  const FixedRange& range);
/// Gives back what lock_host_memory() took.
void unlock_host_memory(const HsaRuntime& runtime, const FixedRange& range);

/// How the runtime answers when it is asked for virtual memory of the range's kind and size; gives
/// it back. Error: not_replayable (no such pool).
Result<hsa::Status> try_virtual_memory(const HsaRuntime& runtime, const FixedRange& range);

class HsaMemory {
 public:
  /// `planned`: the reservations to be made; what is placed outside of them gets its own.
  HsaMemory(const HsaRuntime& runtime, const HsaAgent& gpu, std::vector<Span> planned,
            Placeholders placeholders, Span area)
      : runtime_(runtime),
        gpu_(gpu),
        planned_(std::move(planned)),
        placeholders_(std::move(placeholders)),
        area_(area) {}
  HsaMemory(const HsaMemory&) = delete;
  HsaMemory(HsaMemory&&) = delete;
  HsaMemory& operator=(const HsaMemory&) = delete;
  HsaMemory& operator=(HsaMemory&&) = delete;
  ~HsaMemory();

  // As in device.h.
  Result<void> place(const FixedRange& range);
  Result<std::optional<std::uint64_t>> allocate(std::uint64_t bytes);
  Result<void> write(std::uint64_t address, std::span<const std::byte> bytes);
  Result<void> read(std::uint64_t address, std::span<std::byte> bytes);
  Result<void> zero(std::uint64_t address, std::uint64_t bytes);
  Result<void> copy(std::span<const CopyRun> runs);

  /// Gives nothing back: the runtime cannot be trusted any more.
  void abandon() { abandoned_ = true; }

 private:
  struct Placed {
    FixedRange range;
    hsa::VmemHandle handle{};
    bool mapped = false, locked = false;
  };

  Result<void> place_virtual(const FixedRange& range);
  Placed& insert(const FixedRange& range);
  Result<void> reserve_around(const FixedRange& range);
  /// Locks host memory. The missing error: it is had; else why it has to be had another way.
  Result<std::optional<Error>> lock(const FixedRange& range);
  /// The planned reservation that holds the range; the range itself: none does.
  [[nodiscard]] Span planned_around(const FixedRange& range) const;
  Result<void> back(Placed& placed);
  [[nodiscard]] bool on_host(std::uint64_t address) const;
  [[nodiscard]] hsa::Agent agent_at(std::uint64_t address) const;
  /// That a new buffer does not lie over a reserved range.
  [[nodiscard]] Result<void> check_apart(const void* buffer, std::uint64_t bytes) const;
  Result<void> make_staging();
  /// Starts one copy that takes 1 off the signal when it is done.
  Result<void> start_copy(const CopyRun& run, hsa::Agent to, hsa::Agent from);
  /// Sets the signal, runs `start`, waits until the signal is 0.
  template <class Start>
  Result<void> and_wait(hsa::SignalValue copies, Start start);

  const HsaRuntime& runtime_;
  const HsaAgent& gpu_;
  std::vector<Span> planned_;
  Placeholders placeholders_;
  Span area_;
  std::vector<Span> reserved_;
  std::vector<Placed> placed_;  ///< by base
  std::vector<void*> buffers_;
  std::byte* staging_ = nullptr;
  hsa::Signal copied_{};
  bool abandoned_ = false;
};

}  // namespace perflab::replay
