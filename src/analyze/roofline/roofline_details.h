// What stands beside a kernel's roofline: every counter with its state, single dispatches, and the
// sentences that explain shares above 100 %.
#pragma once

#include <vector>

#include "analyze/roofline/roofline.h"
#include "analyze/roofline/roofline_figures.h"
#include "analyze/scope/timing_scope.h"

namespace perflab::analyze {

/// Every counter of the kernel in every pass that has it, by name and pass.
std::vector<CounterValue> list_counters(const KernelCounters& counters, const CounterIndex& index);

/// Adds an assumption for each tool whose names of counters are read as those of the table.
void explain_names(const KernelCounters& counters, KernelRoofline& kernel);

/// Fills per_dispatch with the kernel's first joined dispatches, geometry by geometry. A geometry
/// that passes ran a different number of times is left out: its ordinals do not mean the same.
void list_dispatches(const KernelCounters& counters, const CounterIndex& index,
                     const TimingScope& scope, KernelRoofline& kernel);

/// Adds an explanation for every share of a ceiling and every percentage above what is possible.
void explain_shares(bool infinity_cache, KernelRoofline& kernel);

}  // namespace perflab::analyze
