// `replay reserve-check`: can every range of a capture be had at its own address? Answers without
// restoring anything; without a runtime it asks the kernel alone (mmap), and says so.
#pragma once

#include "base/error.h"
#include "replay/session/reserve_report.h"

namespace perflab::replay {

/// Reserves each range of a capture, one at a time, and gives it back: as a replay would, in the
/// capture's address mode (HSA), with the addresses held free until then. Nothing stays behind.
/// Errors: not_replayable; a runtime that is there but does not work (hsa_call_failed,
/// cuda_call_failed, no_gpu).
Result<ReserveReport> check_reservations(const capture::Description& description,
                                         const ReserveOptions& options = {});

/// The same for typical addresses, held by nothing: what this machine gives.
Result<ReserveReport> probe_reservations();

}  // namespace perflab::replay
