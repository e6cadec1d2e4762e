// From a trace with counters to the roofline of each kernel.
#pragma once

#include "analyze/analysis.h"
#include "analyze/passes.h"
#include "analyze/timing_scope.h"
#include "hal/measured_roofs.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// Fills `roofline`, or says in `roofline_missing` why there is none: no counters, or none on a GPU
/// whose counters are known. `roofs`: measured ceilings; may be null.
void make_roofline(const trace::Trace& trace, const Passes& passes, const TimingScope& scope,
                   const hal::MeasuredRoofs* roofs, Analysis& analysis);

}  // namespace perflab::analyze
