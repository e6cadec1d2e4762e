// The stand-in CUPTI's PC sampling: what it is told of launches.
#pragma once

#include "cuda_sim/sim.h"

namespace perflab::cuda_sim {

/// A kernel was launched: eight samples of it where its context is sampled (README.md).
void pc_sampling_saw(const Work& work);

}  // namespace perflab::cuda_sim
