// A GPU as an agent of the recording.
#pragma once

#include "cuda/api.h"
#include "record/database/values.h"

namespace perflab::record {

/// The agent of a CUDA ordinal: id 1 + ordinal, limits and clocks from the driver's attributes
/// (docs/facts/rocpd_cuda.md "Agents"). What the driver does not say is left out.
Agent gpu_agent(const cuda::Driver& driver, int ordinal);

}  // namespace perflab::record
