// Why a candidate was refused: stable names for the ledger, documents and tests. docs/OPTIMIZER.md
// says what each means and what to do.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace perflab::optimize {

enum class Reason : std::uint8_t {
  // The proposal as a text.
  no_code,  ///< prose, or nothing at all
  several_codes,
  too_large,
  bad_answer,    ///< the proposer failed to give a proposal
  unchanged,     ///< the same source, but for blanks and comments
  tried_before,  ///< the same as a candidate that was decided already
  // Guards on the source.
  does_not_parse,
  kernel_missing,
  signature_changed,
  outside_changed,  ///< text outside of the named kernel's definition
  includes_changed,
  directive_added,  ///< a preprocessor directive in the body that was not there
  inline_assembly,
  host_code,    ///< a call of something that is no device function, a launch, recursion
  file_access,  ///< files, network, environment, processes
  reads_clock,
  keeps_state,     ///< static variables, or globals that the kernel did not touch before
  makes_pointers,  ///< pointers out of integers
  launch_bounds,   ///< smaller than the work-group that is launched
  // Guards on what was built.
  does_not_compile,
  not_reproducible,
  kernarg_changed,     ///< the layout of the kernel's arguments in the metadata
  other_code_changed,  ///< kernels, variables or arguments that are not the named kernel's
  resources,           ///< registers, LDS, occupancy or spills are worse and no gain is proven
  // Correctness.
  wrong_output,
  not_rewritten,  ///< poisoned outputs were still there
  unexpected_writes,
  wrong_on_perturbed_input,
  faulted,  ///< fault, crash, or a failed launch
  timed_out,
  files_changed,   ///< a file of a build was another one after the candidate had run
  check_failed,    ///< the user's --check
  proves_nothing,  ///< nothing could be compared
  // Time.
  slower,
  no_gain,    ///< SAME, or less than --min-gain
  undecided,  ///< the samples do not say
};
/// "no_code", "signature_changed", ...
std::string_view to_string(Reason reason);

}  // namespace perflab::optimize
