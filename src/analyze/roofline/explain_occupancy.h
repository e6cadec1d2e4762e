// Theoretical against achieved occupancy of each kernel: the figures of its counters joined to its
// launch and resources (kernels/occupancy_gap.h).
#pragma once

#include <optional>
#include <vector>

#include "analyze/kernels/kernel.h"
#include "analyze/roofline/roofline.h"

namespace perflab::analyze {

/// The kernel's roofline on its own GPU; where that is not named, the only one of that name.
const KernelRoofline* roofline_of(const std::optional<Roofline>& roofline, const Kernel& kernel);

/// Fills occupancy_gap of every kernel, or an entry "occupancy_gap" of its `missing`.
/// `roofline_missing`: why there is no roofline.
void explain_occupancy(const std::optional<Roofline>& roofline, const Missing& roofline_missing,
                       std::vector<Kernel>& kernels);

}  // namespace perflab::analyze
