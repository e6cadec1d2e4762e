// A run made by hand whose critical path can be followed on paper, with everything that dag.json
// can hold.
#pragma once

#include "analyze/analysis.h"

namespace perflab::report {

/// Times in ns. A range "step 1" [990, 1210) around: hipLaunchKernel [1000, 1010), hipMemcpyAsync
/// [1012, 1020), hipStreamSynchronize [1022, 1205) of thread 11. gemm [1030, 1130) and, overlapping
/// it, gemm [1120, 1160) on stream 1; axpy [1050, 1150) and a copy [1155, 1200) on stream 2.
trace::Trace sample_dag_trace();

/// Its analysis: the path is launch, axpy, copy, return of the synchronisation: 10 ns in the call,
/// 40 of latency, 100 of kernel, 5 idle, 45 of copy, 5 of return. With nodes, a what-if, bubbles
/// and segments.
analyze::Analysis sample_dag();

/// The same with its timeline.
analyze::Analysis sample_timeline(const analyze::TimelineLimits& limits = {});

}  // namespace perflab::report
