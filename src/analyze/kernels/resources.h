// Resources, GPU and occupancy of a kernel, from what the trace recorded about its longest
// dispatch. What the recording has wrong or leaves out is null with a reason: the profiler's
// register decoding has known defects (docs/facts/rocpd.md "Registers").
#pragma once

#include <span>
#include <vector>

#include "analyze/kernels/code_join.h"
#include "analyze/kernels/kernel.h"

namespace perflab::analyze {

/// How the register counts of a recording are to be read.
enum class RegisterRule {
  as_recorded,  ///< arch + accumulation is the allocated total
  doubled,      ///< the recorder counted gfx950 in granules of 4 where they are 8: shown by a count
                ///< that 8 does not divide
  uncertain,    ///< a gfx950 recording by a recorder that may do so, and nothing in it shows which
};
using RegisterRules = std::vector<RegisterRule>;  ///< by Trace::sources

RegisterRules find_register_rules(const trace::Trace& trace);

/// Statistics of durations in ns; reorders them.
Durations summarize_durations(std::span<std::int64_t> durations);

/// Fills launch, workgroups, resources, gpu, code, occupancy, missing and assumptions of `kernel`
/// from one dispatch and, where it was found, its code object.
void describe_launch(const trace::Trace& trace, trace::Index dispatch,
                     const RegisterRules& registers, const CodeJoin& join, Kernel& kernel);

}  // namespace perflab::analyze
