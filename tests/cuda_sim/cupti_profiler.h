// The stand-in CUPTI's profiler: what it is told of launches.
#pragma once

#include "cuda_sim/sim.h"

namespace perflab::cuda_sim {

/// A launch was made: a range of a session that runs in its context. True: it is repeated for the
/// session's passes.
bool profiler_saw(const Work& work);

}  // namespace perflab::cuda_sim
