// Names of failures, and the errors that they are.
#include "replay/failures.h"

#include <fmt/format.h>

#include <utility>

#include "base/enum_names.h"

namespace perflab::replay {

std::string_view to_string(Failure failure) {
  using enum Failure;
  static constexpr auto kWords = enum_names<Failure>({{no_runtime, "no_runtime"},
                                                      {no_gpu, "no_gpu"},
                                                      {isa_mismatch, "isa_mismatch"},
                                                      {relocated, "relocated"},
                                                      {occupied, "occupied"},
                                                      {hsa_call_failed, "hsa_call_failed"},
                                                      {cuda_call_failed, "cuda_call_failed"},
                                                      {kernel_not_found, "kernel_not_found"},
                                                      {kernel_mismatch, "kernel_mismatch"},
                                                      {timed_out, "timed_out"},
                                                      {kernel_fault, "kernel_fault"},
                                                      {not_replayable, "not_replayable"}});
  return kWords[failure];
}

std::optional<Failure> failure_of(const Error& error) {
  if (error.kind == 0 || error.kind > enumerator_count<Failure>()) return std::nullopt;
  return static_cast<Failure>(error.kind - 1);
}

std::string sentence_of(const Error& error) {
  const std::optional<Failure> failure = failure_of(error);
  if (!failure) return error.message;
  const std::string name = fmt::format("{}: ", to_string(*failure));
  return error.message.starts_with(name) ? error.message.substr(name.size()) : error.message;
}

std::unexpected<Error> fail(FailureWithoutRemedy failure, std::string_view sentence) {
  return fail(failure.failure, sentence, {});
}

std::unexpected<Error> fail(Failure failure, std::string_view sentence, std::string remedy) {
  auto failed = perflab::fail(code_of(failure), fmt::format("{}: {}", to_string(failure), sentence),
                              std::move(remedy));
  failed.error().kind = static_cast<std::uint8_t>(static_cast<std::uint8_t>(failure) + 1);
  return failed;
}

}  // namespace perflab::replay
