// From a trace with counters to the roofline of each kernel.
#pragma once

#include <optional>
#include <vector>

#include "analyze/kernels/kernel.h"
#include "analyze/roofline/roofline.h"
#include "analyze/scope/passes.h"
#include "analyze/scope/timing_scope.h"
#include "base/missing.h"
#include "hal/measured_roofs.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// The roofline, or why there is none: no counters, or none on a GPU whose counters are known.
struct MadeRoofline {
  std::optional<Roofline> roofline;
  Missing missing;
};

/// `kernels`: the trace's kernel table; `roofs`: measured ceilings, may be null.
MadeRoofline make_roofline(const trace::Trace& trace, const Passes& passes,
                           const TimingScope& scope, const hal::MeasuredRoofs* roofs,
                           const std::vector<Kernel>& kernels);

}  // namespace perflab::analyze
