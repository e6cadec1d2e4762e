// Proof on inputs that were not captured: the same addresses with other numbers at them, the
// original code object as the oracle.
#pragma once

#include "base/error.h"
#include "replay/inputs/perturbed_input.h"
#include "replay/session/session.h"

namespace perflab::replay {

/// Runs the original and the other code object on varied inputs and compares what they leave as
/// verify() does: the same element types and tolerances, and whatever is written elsewhere counts
/// against the other. An input on which the original writes to regions that it had not written to
/// and may not write is set aside, and another is tried (at most two more). The session holds the
/// pre-image and the captured code object before and afterwards, unless the device is lost.
/// Errors: failures.h, but for faults and hangs of dispatches; interrupted; those of on_step.
Result<PerturbedResult> verify_perturbed(Session& session, const PerturbOptions& options);

}  // namespace perflab::replay
