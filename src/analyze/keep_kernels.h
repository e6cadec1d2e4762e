// A part of an analysis: the kernels that somebody asks about.
#pragma once

#include <string>

#include "analyze/analysis.h"
#include "base/error.h"

namespace perflab::analyze {

/// Leaves the kernels of the roofline whose names the regex finds something in, and their verdicts.
/// Precondition: there is a roofline. Errors (usage): no regex; it matches none, with the names
/// that there are.
Result<void> keep_kernels(const std::string& regex, Analysis& analysis);

}  // namespace perflab::analyze
