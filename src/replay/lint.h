// What in a capture will not survive into another process, or will not be the same there: found by
// looking at the capture alone. `capture check` prints it; replay refuses on an error.
#pragma once

#include <vector>

#include "base/error.h"
#include "capture/capture_reader.h"
#include "replay/finding.h"

namespace perflab::replay {

/// What the metadata lists and no instruction uses is a note; what the code does not tell is a
/// warning, and a replay under its time limit has to show it. Findings in a fixed order: errors
/// first, then by rule. Errors (bad_input): the code object of the capture cannot be read.
Result<std::vector<Finding>> lint(const capture::Capture& capture);

}  // namespace perflab::replay
