// The step of a profile that takes PC samples: the profiler is asked what the GPU offers, the
// target runs once more under it, and what it left becomes a part of the analysis. The base run is
// the plain one that its kernel times are compared with.
#pragma once

#include "collect/collect_plan.h"
#include "measure/profile_contents.h"

namespace perflab::measure {

/// Takes the step. One that cannot be taken leaves the profile as it is, says why in its warnings
/// and sets its problem when it has none yet. Preconditions: the profile was recorded and analysed,
/// and options.pc_sampling is set.
void take_pc_samples(const collect::CollectPlan& plan, const ProfileOptions& options,
                     Profile& profile);

}  // namespace perflab::measure
