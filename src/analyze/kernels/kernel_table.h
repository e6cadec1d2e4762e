// The kernel table: dispatches grouped by kernel name, and the kernel that the profile is about.
#pragma once

#include <optional>
#include <vector>

#include "analyze/kernels/code_join.h"
#include "analyze/kernels/kernel.h"
#include "analyze/scope/timing_scope.h"
#include "base/text/pattern.h"

namespace perflab::analyze {

/// True for the HIP runtime's own kernels: __amd_rocclr_*, and hip*/hsa_* names only from a code
/// object that is the runtime's (docs/models/times.md "The selected kernel": a user kernel may be
/// called hip_anything).
bool is_runtime_helper(const trace::Trace& trace, const trace::KernelSymbol& symbol);

/// One entry per kernel name, most time first (ties by name). Counts only dispatches in the scope.
/// Registers come from the code objects of `join` where they were found.
std::vector<Kernel> make_kernel_table(const trace::Trace& trace, const TimingScope& scope,
                                      const CodeJoin& join = {});

/// The kernel of the longest dispatch that is not a runtime helper's; of the longest of all when
/// there are only helpers.
std::optional<Selection> select_kernel(const std::vector<Kernel>& kernels);

/// Index of the kernel with the most time, of those whose name `pattern` is found in (null: of
/// all); of the runtime's helpers only when nothing else is left. Nullopt: there is none.
/// Precondition: most time first, as in the table.
std::optional<std::size_t> kernel_with_most_time(const std::vector<Kernel>& kernels,
                                                 const Pattern* pattern = nullptr);

}  // namespace perflab::analyze
