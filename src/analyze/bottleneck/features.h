// The features of a kernel (feature_table.h), filled from everything that was measured of it.
#pragma once

#include "analyze/bottleneck/feature_table.h"
#include "analyze/pc_sampling/pc_figures.h"
#include "analyze/scope/timing_scope.h"
#include "analyze/thread_trace/cycle_figures.h"
#include "trace/trace.h"

namespace perflab::analyze {

struct Measurements;
struct KernelRoofline;
class DispatchGaps;

/// Features of analysis.kernels[kernel]. `gaps`: of the whole trace, when they are at hand (they
/// cost a pass over all dispatches).
FeatureSet features_of_kernel(const trace::Trace& trace, const TimingScope& scope,
                              const Measurements& analysis, std::size_t kernel,
                              const KernelThreadTrace* thread_trace,
                              const DispatchGaps* gaps = nullptr,
                              const KernelPcSamples* samples = nullptr);

/// Features of a kernel of which there is only a thread trace.
FeatureSet features_of_thread_trace(const KernelThreadTrace& thread_trace);

/// Features of a kernel of which there are only PC samples.
FeatureSet features_of_pc_samples(const KernelPcSamples& samples);

/// Features of a kernel of which there are only counters (a table without a trace of times).
FeatureSet features_of_roofline(const KernelRoofline& roofline);

}  // namespace perflab::analyze
