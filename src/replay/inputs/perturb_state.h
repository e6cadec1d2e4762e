// What proofs and timings on varied inputs carry from step to step: the input, and what the
// original leaves on it. Inside src/replay only.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "replay/inputs/perturbed_input.h"
#include "replay/inputs/perturbed_memory.h"
#include "replay/session/session.h"
#include "replay/verify/verify_state.h"

namespace perflab::replay {

struct PerturbState {
  const PerturbOptions& options;
  VerifyState verify;  ///< regions with their types, and the pages that the original left
  PerturbedMemory memory;
  PerturbedResult result;
  std::vector<bool> may_write;  ///< by region: it was written, or an argument says it may be
};

/// The captured code object is loaded. Both options have to outlive the state. Errors: those of
/// Session::load(), of the reader.
Result<PerturbState> open_perturb_state(Session& session, const PerturbOptions& options,
                                        const VerifyOptions& verify_options);

enum class OracleEnd : std::uint8_t {
  usable,
  set_aside,  ///< the last of result.notes says why
  failed,     ///< result.original_failed says how; the device is lost
};

/// Writes an input (0: the captured one) over the captured contents and runs the original on it:
/// `verify.kept` has the pages that it leaves otherwise than they were, with the bytes that it does
/// not repeat, and each region says whether the tolerance covers those. The captured code object
/// has to be loaded. Afterwards memory holds the input.
Result<OracleEnd> run_oracle(PerturbState& state, int number, PerturbedInput& input);

}  // namespace perflab::replay
