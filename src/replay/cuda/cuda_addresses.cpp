// Reserving envelopes. A reservation's address is a hint, whose refusal is success elsewhere.
#include "replay/cuda/cuda_addresses.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cuda/libraries.h"
#include "replay/addresses/placeholders.h"
#include "replay/code_choice.h"
#include "replay/failures.h"

namespace perflab::replay {
namespace {

Result<std::vector<CudaReservation>> reserve_all(const CudaRuntime& runtime,
                                                 const std::vector<Envelope>& wanted) {
  std::vector<CudaReservation> all;
  for (const Envelope& one : wanted) {
    PERFLAB_TRY(CudaReservation reservation, reserve_envelope(runtime, one));
    all.push_back(std::move(reservation));
  }
  return all;
}

}  // namespace

Result<CudaReservation> reserve_envelope(const CudaRuntime& runtime, const Envelope& envelope) {
  const Span& span = envelope.span;
  CudaReservation reservation{.envelope = envelope, .status = {}, .holder = {}};
  PERFLAB_TRY(const std::vector<Mapping> mappings, own_mappings());
  const cuda::DriverResult answer =
      runtime.driver().address_reserve(&reservation.returned, span.bytes, 0, span.base, 0);
  if (answer != cuda::DriverResult::success) {
    reservation.returned = 0;
    reservation.status = runtime.text_of(answer);
  }
  if (reservation.exact()) return reservation;
  if (reservation.returned != 0) runtime.driver().address_free(reservation.returned, span.bytes);
  reservation.holder = who_holds(mappings, span.base, span.end());
  return reservation;
}

Result<CudaSpace> open_cuda_space(const AddressPlan& plan, std::uint32_t gpu_index,
                                  const std::string& isa, bool may_restart) {
  const std::vector<Envelope> wanted = envelopes(plan);
  std::vector<Span> spans;
  for (const Envelope& one : wanted) spans.push_back(one.span);
  PERFLAB_TRY(Placeholders held, Placeholders::hold(spans));
  if (!held.conflicts().empty() && may_restart) restart_with_other_addresses();
  PERFLAB_TRY(CudaRuntime runtime, CudaRuntime::open());
  static_cast<void>(cuda::open_cupti());  // loaded while the places are held
  held = Placeholders();
  PERFLAB_TRY_VOID(runtime.start(gpu_index));
  if (!isa.empty()) PERFLAB_TRY_VOID(check_isa(isa, runtime.facts().isa));
  const bool before_context = attempts_so_far() % 2 == 1;
  std::vector<CudaReservation> reservations;
  if (!before_context) PERFLAB_TRY_VOID(runtime.make_context());
  PERFLAB_TRY(reservations, reserve_all(runtime, wanted));
  if (!std::ranges::all_of(reservations, &CudaReservation::exact) && may_restart)
    restart_with_other_addresses();
  if (before_context) PERFLAB_TRY_VOID(runtime.make_context());
  return CudaSpace{.runtime = std::move(runtime), .reservations = std::move(reservations)};
}

std::unexpected<Error> reservation_failed(const CudaReservation& reservation) {
  const Span& span = reservation.envelope.span;
  const std::string range = fmt::format("{:#x}-{:#x}", span.base, span.end());
  if (!reservation.holder.empty())
    return fail(Failure::occupied,
                fmt::format("{} is taken in this process by {}", range, reservation.holder),
                "run it again: addresses are random");
  if (!reservation.status.empty())
    return fail(Failure::relocated,
                fmt::format("the CUDA driver does not give {}: cuMemAddressReserve answered {}",
                            range, reservation.status),
                "run it again: addresses are random; rocm-perf replay reserve-check names all "
                "ranges");
  return fail(
      Failure::relocated,
      fmt::format("the CUDA driver gave {:#x} for {}", reservation.returned, range),
      "run it again: addresses are random; rocm-perf replay reserve-check names all ranges");
}

}  // namespace perflab::replay
