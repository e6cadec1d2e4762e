// The named failures of a replay: an error's kind, and for people the beginning of its message.
// docs/REPLAY.md lists them with their remedies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace perflab::replay {

enum class Failure : std::uint8_t {
  no_runtime,  ///< libhsa-runtime64.so.1 or libcuda.so.1 cannot be opened, or lacks an entry (exit
               ///< 4)
  no_gpu,      ///< no GPU agent, or fewer than the capture needs (exit 4)
  isa_mismatch,      ///< the GPU or the code object is of another ISA than the capture (exit 4)
  relocated,         ///< a reservation came back at another address (exit 1)
  occupied,          ///< something of this process stands in the way (exit 1)
  hsa_call_failed,   ///< a call of the runtime failed; named with its status (exit 4)
  cuda_call_failed,  ///< a call of the CUDA driver failed; likewise (exit 4)
  kernel_not_found,  ///< the code object has no kernel of that symbol (exit 3)
  kernel_mismatch,   ///< another kernarg size or argument layout than the captured kernel (exit 3)
  timed_out,         ///< a dispatch did not end within its limit (exit 5)
  kernel_fault,      ///< the queue reported an error while the kernel ran (exit 5)
  not_replayable,    ///< the capture lacks what the dispatch needs; the lint says what (exit 3)
};
std::string_view to_string(Failure failure);

/// The code of an error that is this failure.
constexpr ErrorCode code_of(Failure failure) {
  switch (failure) {
    case Failure::relocated:
    case Failure::occupied:
      return ErrorCode::refused;
    case Failure::kernel_not_found:
    case Failure::kernel_mismatch:
    case Failure::not_replayable:
      return ErrorCode::bad_input;
    case Failure::timed_out:
    case Failure::kernel_fault:
      return ErrorCode::target_failed;
    case Failure::no_runtime:
    case Failure::no_gpu:
    case Failure::isa_mismatch:
    case Failure::hsa_call_failed:
    case Failure::cuda_call_failed:
      return ErrorCode::missing_tool;
  }
  return ErrorCode::internal;
}

/// The failure that an error is, by its kind; missing: none of these.
std::optional<Failure> failure_of(const Error& error);

/// What happened, in words: the message without the name of its failure, as a page says it. The
/// whole message of an error that is none of these.
std::string sentence_of(const Error& error);

/// A failure whose code may come without a remedy (base/error.h).
struct FailureWithoutRemedy {
  Failure failure;
  consteval FailureWithoutRemedy(Failure of) : failure(of) {
    static_cast<void>(CodeWithoutRemedy(code_of(of)));
  }
};

/// `return fail(Failure::relocated, "…")`: the message becomes "relocated: …", the kind is set.
[[nodiscard]] std::unexpected<Error> fail(FailureWithoutRemedy failure, std::string_view sentence);
[[nodiscard]] std::unexpected<Error> fail(Failure failure, std::string_view sentence,
                                          std::string remedy);

}  // namespace perflab::replay
