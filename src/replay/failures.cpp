// Names of failures and the exit code of each.
#include "replay/failures.h"

#include <fmt/format.h>

#include <utility>

namespace perflab::replay {
namespace {

ErrorCode code_of(Failure failure) {
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
      return ErrorCode::missing_tool;
  }
  return ErrorCode::internal;
}

}  // namespace

std::string_view to_string(Failure failure) {
  switch (failure) {
    case Failure::no_runtime:
      return "no_runtime";
    case Failure::no_gpu:
      return "no_gpu";
    case Failure::isa_mismatch:
      return "isa_mismatch";
    case Failure::relocated:
      return "relocated";
    case Failure::occupied:
      return "occupied";
    case Failure::hsa_call_failed:
      return "hsa_call_failed";
    case Failure::kernel_not_found:
      return "kernel_not_found";
    case Failure::kernel_mismatch:
      return "kernel_mismatch";
    case Failure::timed_out:
      return "timed_out";
    case Failure::kernel_fault:
      return "kernel_fault";
    case Failure::not_replayable:
      return "not_replayable";
  }
  return "unknown";
}

std::unexpected<Error> fail(Failure failure, std::string_view sentence, std::string remedy) {
  return perflab::fail(code_of(failure), fmt::format("{}: {}", to_string(failure), sentence),
                       std::move(remedy));
}

}  // namespace perflab::replay
