// Thread traces with their detail, read from folders that the samples write.
#pragma once

#include <string>

#include "analyze/analysis.h"

namespace perflab::report {

/// Two dispatches: a scaling kernel with sources (a small file, a large one, one that the trace has
/// no copy of) and a helper function, and a kernel of which there is a stats file alone. `name`: of
/// the folder below test-files.
analyze::Analysis sample_traced_kernels(const std::string& name);

}  // namespace perflab::report
