// Thread traces and bottleneck verdicts made by hand, with everything that they can hold: a trace
// with waves and one with sums only, a verdict with evidence and what speaks against it, and one
// without enough data.
#pragma once

#include "analyze/analysis.h"

namespace perflab::report {

/// Kernel "copy" (index 0, selected): memory-bandwidth bound, traced in dispatch 2 with waves and
/// in another from a stats file. Kernel "axpy" (index 1): insufficient data. A kernel "loose" that
/// was only traced: latency bound.
analyze::Analysis sample_bottlenecks();

/// The same thread traces and the verdict of "loose" without a recording, as
/// `rocm-perf analyze --att` has them.
analyze::Analysis sample_thread_traces_alone();

}  // namespace perflab::report
