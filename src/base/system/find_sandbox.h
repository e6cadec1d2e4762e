// The sandbox of this machine, found and tried at run time. What it is: sandbox.h.
#pragma once

#include "base/error.h"
#include "base/system/sandbox.h"

namespace perflab {

/// Looks for bwrap on PATH and runs a program in it: whether user namespaces are allowed, no file
/// says reliably. Errors: missing_tool (not installed), refused (it cannot make a sandbox here; the
/// message has its words), interrupted.
Result<Sandbox> find_sandbox();

}  // namespace perflab
