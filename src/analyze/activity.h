// Everything about a trace beside its kernels: how busy the GPU was, host API calls, copies,
// allocations, counters.
#pragma once

#include <vector>

#include "analyze/analysis.h"
#include "analyze/timing_scope.h"

namespace perflab::analyze {

/// Busy time and overlaps of the dispatches in the scope.
Activity measure_activity(const trace::Trace& trace, const TimingScope& scope);

/// API calls by (category, name), most time first. Categories are never added up: one call can
/// stand in two.
std::vector<ApiCall> summarize_api(const trace::Trace& trace, const TimingScope& scope);

/// Copies by kind, most time first.
std::vector<CopyKind> summarize_copies(const trace::Trace& trace, const TimingScope& scope);

/// Allocations by (type, level).
std::vector<AllocationKind> summarize_allocations(const trace::Trace& trace,
                                                  const TimingScope& scope);

/// Counters by (kernel, counter, pass), kernels in the order of their names.
std::vector<Counter> summarize_counters(const trace::Trace& trace, const Passes& passes);

}  // namespace perflab::analyze
