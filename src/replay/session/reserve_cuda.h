// reserve_check.h for captures of CUDA: envelopes of 32 MiB, which the driver gives or not.
#pragma once

#include <span>

#include "base/error.h"
#include "replay/session/reserve_report.h"

namespace perflab::replay {

/// Without a CUDA driver on this machine the kernel is asked (mmap), and `no_runtime` says so.
Result<ReserveReport> check_cuda_reservations(const AddressPlan& plan, std::uint32_t gpu_index,
                                              const ReserveOptions& options);

/// Whether the CUDA driver can be opened here; nothing is initialised.
bool has_cuda_driver();

}  // namespace perflab::replay
