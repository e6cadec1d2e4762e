// The names of optimize/reasons.h.
#include "optimize/reasons.h"

#include <algorithm>
#include <array>

namespace perflab::optimize {
namespace {

// In the order of the enumeration.
constexpr auto kReasonNames = std::to_array<std::string_view>({"no_code",
                                                               "several_codes",
                                                               "too_large",
                                                               "bad_answer",
                                                               "unchanged",
                                                               "tried_before",
                                                               "does_not_parse",
                                                               "kernel_missing",
                                                               "signature_changed",
                                                               "outside_changed",
                                                               "includes_changed",
                                                               "directive_added",
                                                               "inline_assembly",
                                                               "host_code",
                                                               "file_access",
                                                               "reads_clock",
                                                               "keeps_state",
                                                               "makes_pointers",
                                                               "launch_bounds",
                                                               "does_not_compile",
                                                               "not_reproducible",
                                                               "kernarg_changed",
                                                               "other_code_changed",
                                                               "resources",
                                                               "wrong_output",
                                                               "not_rewritten",
                                                               "unexpected_writes",
                                                               "wrong_on_perturbed_input",
                                                               "faulted",
                                                               "timed_out",
                                                               "files_changed",
                                                               "check_failed",
                                                               "proves_nothing",
                                                               "slower",
                                                               "no_gain",
                                                               "undecided"});
static_assert(kReasonNames.size() == static_cast<std::size_t>(Reason::undecided) + 1);

}  // namespace

std::string_view to_string(Reason reason) {
  return kReasonNames.at(static_cast<std::size_t>(reason));
}

std::optional<Reason> reason_from(std::string_view name) {
  const auto found = std::ranges::find(kReasonNames, name);
  if (found == kReasonNames.end()) return std::nullopt;
  return static_cast<Reason>(found - kReasonNames.begin());
}

}  // namespace perflab::optimize
