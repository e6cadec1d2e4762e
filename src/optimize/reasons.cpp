// The names of optimize/reasons.h.
#include "optimize/reasons.h"

#include "base/enum_names.h"

namespace perflab::optimize {
std::string_view to_string(Reason reason) {
  using enum Reason;
  static constexpr auto kNames =
      enum_names<Reason>({{no_code, "no_code"},
                          {several_codes, "several_codes"},
                          {too_large, "too_large"},
                          {bad_answer, "bad_answer"},
                          {unchanged, "unchanged"},
                          {tried_before, "tried_before"},
                          {does_not_parse, "does_not_parse"},
                          {kernel_missing, "kernel_missing"},
                          {signature_changed, "signature_changed"},
                          {outside_changed, "outside_changed"},
                          {includes_changed, "includes_changed"},
                          {directive_added, "directive_added"},
                          {inline_assembly, "inline_assembly"},
                          {host_code, "host_code"},
                          {file_access, "file_access"},
                          {reads_clock, "reads_clock"},
                          {keeps_state, "keeps_state"},
                          {makes_pointers, "makes_pointers"},
                          {launch_bounds, "launch_bounds"},
                          {does_not_compile, "does_not_compile"},
                          {not_reproducible, "not_reproducible"},
                          {kernarg_changed, "kernarg_changed"},
                          {other_code_changed, "other_code_changed"},
                          {resources, "resources"},
                          {wrong_output, "wrong_output"},
                          {not_rewritten, "not_rewritten"},
                          {unexpected_writes, "unexpected_writes"},
                          {wrong_on_perturbed_input, "wrong_on_perturbed_input"},
                          {faulted, "faulted"},
                          {timed_out, "timed_out"},
                          {files_changed, "files_changed"},
                          {check_failed, "check_failed"},
                          {proves_nothing, "proves_nothing"},
                          {slower, "slower"},
                          {no_gain, "no_gain"},
                          {undecided, "undecided"}});
  return kNames[reason];
}

}  // namespace perflab::optimize
