// Thread traces as analysis.json has them (definitions `thread_trace…` of its schema): where the
// cycles of the traced waves went, what was waited for, occupancy over time, and how much was seen.
#pragma once

#include "analyze/thread_trace/figures.h"
#include "base/json.h"

namespace perflab::report {

/// `thread_traces` of analysis.json. Every null has an entry in the `missing` of its kernel.
Json thread_traces_json(const analyze::ThreadTraces& traces);

}  // namespace perflab::report
