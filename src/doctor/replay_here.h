// Whether this machine has the GPU that a replay of a capture needs.
#pragma once

#include "base/error.h"
#include "capture/capture_reader.h"
#include "doctor/examination.h"
#include "report/replay/capture_document.h"

namespace perflab::doctor {

/// Asks the HSA runtime or the CUDA driver, as the capture's platform is, in a process of its own,
/// for the GPU that `replay` would take: the one of the capture's number, which has to be of its
/// ISA. Error: interrupted.
Result<report::ReplayHere> replay_here(const Places& places, const capture::Machine& machine);

}  // namespace perflab::doctor
