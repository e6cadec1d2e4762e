// `replay reserve-check`: can every range of a capture be had at its own address? Answers without
// restoring anything; without a runtime it asks the kernel alone (mmap), and says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "replay/addresses/address_plan.h"

namespace perflab::replay {

enum class Reservation : std::uint8_t { exact, relocated, failed };
std::string_view to_string(Reservation reservation);

struct RangeCheck {
  FixedRange range;
  std::vector<std::size_t> regions;
  Reservation outcome = Reservation::failed;
  std::uint64_t returned = 0;  ///< the base that came back; 0: none
  std::string status;          ///< of the runtime's call: "0x1008 out of resources"; empty: success
  std::string holder;          ///< who is in the way; empty: nobody known
};

struct ReserveReport {
  bool probe = false;      ///< typical addresses, not those of a capture
  std::string through;     ///< "hsa", "cuda" or "mmap" (no runtime on this machine)
  std::string no_runtime;  ///< why "mmap"; empty: it is not
  std::uint64_t granule = 0;
  std::vector<RangeCheck> ranges;  ///< by base
  std::uint64_t exact = 0, relocated = 0, failed = 0, bytes = 0;

  /// 0 all exact, 1 one failed, else 2: one was relocated.
  [[nodiscard]] int exit_code() const;
};

struct ReserveOptions {
  bool may_restart = true;  ///< as in open_device.h
};

/// Reserves each range of a capture, one at a time, and gives it back: as a replay would, in the
/// capture's address mode (HSA), with the addresses held free until then. Nothing stays behind.
/// Errors: not_replayable; a runtime that is there but does not work (hsa_call_failed,
/// cuda_call_failed, no_gpu).
Result<ReserveReport> check_reservations(const capture::Description& description,
                                         const ReserveOptions& options = {});

/// The same for typical addresses, held by nothing: what this machine gives.
Result<ReserveReport> probe_reservations();

}  // namespace perflab::replay
