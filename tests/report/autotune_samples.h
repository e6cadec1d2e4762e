// Searches made by hand, with everything that one can hold: failures of every kind, a tie, compiled
// kernels, several workers, a recording, nothing that worked.
#pragma once

#include "report/tuning/autotune_document.h"

namespace perflab::report {

/// A search and its space, kept together.
struct AutotuneSample {
  tune::Space space;
  tune::TuneResult result;
  AutotuneData rest;  ///< without space and result

  [[nodiscard]] AutotuneData data() const {
    AutotuneData out = rest;
    out.space = &space;
    out.result = &result;
    return out;
  }
};

/// A live search over BM, BN and a layout, of GPU times in ns: eleven evaluations on two GPUs, one
/// of each way to fail, the winner 2x of the default and separated from the runner-up.
AutotuneSample sample_autotune();
/// The same, where the runner-up cannot be told from the winner, which is unstable.
AutotuneSample sample_autotune_tie();
/// A recording in "ms" that was searched; the space declares no default and nothing has repeats.
AutotuneSample sample_autotune_simulated();
/// The first one with a limit on power, which the fastest configuration does not keep; and energy,
/// which that one alone has.
AutotuneSample sample_autotune_limits();
/// The first one as of a captured launch: proofs, and what the winner gains over what was captured.
AutotuneSample sample_autotune_capture();
/// Every evaluation failed.
AutotuneSample sample_autotune_failed();

}  // namespace perflab::report
