// Addresses of a capture reserved in this process through the CUDA driver: whole envelopes of
// 32 MiB, each compared with what was asked for (docs/facts/cuda_cupti.md "Addresses").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "replay/addresses/address_plan.h"
#include "replay/cuda/cuda_runtime.h"

namespace perflab::replay {

/// How one reservation ended.
struct CudaReservation {
  Envelope envelope;
  std::uint64_t returned = 0;  ///< the base that came back; 0: none
  std::string status;          ///< the call's answer; empty: success
  std::string holder;          ///< who of this process is there; empty: nobody known
  [[nodiscard]] bool exact() const { return status.empty() && returned == envelope.span.base; }
};

/// Asks for an envelope. One that came back elsewhere has been given back.
Result<CudaReservation> reserve_envelope(const CudaRuntime& runtime, const Envelope& envelope);

/// Opens the driver, starts it on that GPU with a context, and reserves what the plan needs, before
/// or after the context by turns of the attempts: each is better at times. While libraries are
/// loaded their places are held; they are let go before cuInit, because the driver never gives out
/// what was taken then. Starts this program again (placeholders.h) when something is in the way.
struct CudaSpace {
  CudaRuntime runtime;
  std::vector<CudaReservation> reservations;  ///< by base; not all are exact; whose to give back
};
/// `isa`: what the GPU has to be; empty: anything.
Result<CudaSpace> open_cuda_space(const AddressPlan& plan, std::uint32_t gpu_index,
                                  const std::string& isa, bool may_restart);

/// The error that a reservation is which a replay needs.
std::unexpected<Error> reservation_failed(const CudaReservation& reservation);

}  // namespace perflab::replay
