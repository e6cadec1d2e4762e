// The GPU behind an agent of a trace: what the recording says of it, with hal's tables for the
// gaps.
#pragma once

#include <string>

#include "analyze/kernels/kernel.h"
#include "hal/arch.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// "gfx942" of a GPU's name or target version; empty when the agent says neither.
std::string architecture_of(const trace::Agent& agent);

/// The tables' product that this agent is; nullptr when it is in none.
const hal::Product* product_of(const trace::Agent& agent);

/// Recorded figures first, then those of the product in hal's tables.
Gpu describe_gpu(const trace::Agent& agent);

}  // namespace perflab::analyze
