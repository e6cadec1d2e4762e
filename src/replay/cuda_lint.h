// The lint of a capture of CUDA (lint.h).
#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "capture/capture_reader.h"
#include "replay/finding.h"

namespace perflab::replay {

/// Rule of the note that variables have copies at their old addresses; a replay says it too.
inline constexpr std::string_view kVariableCopies = "variable_copies";

/// Reads all of the memory when there are variables: what points to them is looked for.
Result<std::vector<Finding>> lint_cuda(const capture::Capture& capture);

}  // namespace perflab::replay
