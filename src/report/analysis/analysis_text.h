// What a person sees of analysed recordings: aligned text.
#pragma once

#include <string>

#include "analyze/pipeline.h"
#include "report/kit/style.h"

namespace perflab::report {

/// The whole analysis: recordings, kernels, API calls, copies, counters, what was left out.
std::string analysis_text(const trace::Trace& trace, const analyze::Analysis& analysis,
                          const TerminalStyle& style);

/// "compute_units 320 (304 in the tables)", for what an agent's record has otherwise.
std::string differences_text(const analyze::Gpu& gpu);

}  // namespace perflab::report
