// From a trace with counters to the roofline of each kernel.
#pragma once

#include <optional>
#include <vector>

#include "analyze/kernels/kernel.h"
#include "analyze/roofline/roofline.h"
#include "analyze/scope/passes.h"
#include "analyze/scope/timing_scope.h"
#include "base/error.h"
#include "base/missing.h"
#include "hal/calibration.h"
#include "hal/measured_roofs.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// The roofline, or why there is none: no counters, or none on a GPU whose counters are known.
struct MadeRoofline {
  std::optional<Roofline> roofline;
  Missing missing;
};

/// Which ceilings go before those of the tables.
struct RoofChoice {
  const hal::MeasuredRoofs* measured = nullptr;
  const trace::Agent* device = nullptr;  ///< whose own attributes are used, not its product's
  /// Of kernels on its GPU: its ceilings go before the tables' (and behind `measured`), and what it
  /// disproved is not used.
  const hal::Calibration* calibration = nullptr;
};

/// The GPU with that number among the GPUs of the recording, counted from 0. Error (usage): there
/// is none; the message says how many there are.
Result<const trace::Agent*> gpu_of_number(const trace::Trace& trace, int number);

/// `kernels`: the trace's kernel table.
MadeRoofline make_roofline(const trace::Trace& trace, const Passes& passes,
                           const TimingScope& scope, const RoofChoice& roofs,
                           const std::vector<Kernel>& kernels);

}  // namespace perflab::analyze
