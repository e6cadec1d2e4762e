// From thread-trace folders to figures: reads every traced dispatch in the places given, folds its
// waves and joins the kernels to those of the trace.
#pragma once

#include <filesystem>
#include <vector>

#include "analyze/kernels/kernel.h"
#include "analyze/thread_trace/cycle_figures.h"
#include "base/error.h"
#include "base/text/progress.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// `trace` and `kernels` may be empty (thread traces alone). A traced dispatch is joined
/// by dispatch id where the trace has it with the kernel's name (recordings do not say the agent's
/// handle: of several with that number the first), else by the kernel's (mangled) name alone.
/// `keep_detail`: also KernelThreadTrace::detail, which holds all of the kernels' code. `progress`
/// is told after each wave; every traced dispatch counts the same. Errors: those of att::find and
/// att::read.
Result<ThreadTraces> make_thread_traces(const std::vector<std::filesystem::path>& places,
                                        const trace::Trace& trace,
                                        const std::vector<Kernel>& kernels, unsigned threads,
                                        bool keep_detail = false,
                                        const TellProgress& progress = {});

}  // namespace perflab::analyze
