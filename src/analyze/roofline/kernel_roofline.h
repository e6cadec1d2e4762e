// The roofline of one kernel on one GPU architecture.
#pragma once

#include "analyze/kernels/kernel.h"
#include "analyze/roofline/ceilings.h"
#include "analyze/roofline/roofline_figures.h"
#include "analyze/scope/timing_scope.h"

namespace perflab::analyze {

/// Everything that the kernel's counters give. What cannot be computed is null with an entry in
/// `missing`, or carries its own reason.
KernelRoofline build_kernel_roofline(const KernelCounters& counters, const CounterIndex& index,
                                     const TimingScope& scope, const Ceilings& ceilings,
                                     const Gpu& gpu);

}  // namespace perflab::analyze
