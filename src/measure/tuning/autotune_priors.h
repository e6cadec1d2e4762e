// Earlier tunings that a search learns from: --prior of autotune.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "tune/priors/prior_task.h"
#include "tune/space/space.h"

namespace perflab::measure {

/// The recordings as the model of a search sees them; the space must outlive them. `maximize`: more
/// is better, in them too. Errors: usage (a file that cannot be read), bad_input (no recording, or
/// PriorTask::make: one that says nothing of the space).
Result<tune::Priors> read_priors(const std::vector<std::string>& files, const tune::Space& space,
                                 bool maximize);

/// Their digests, for the key of a journal: with others the search would go another way.
std::string priors_key(const tune::Priors& priors);

}  // namespace perflab::measure
