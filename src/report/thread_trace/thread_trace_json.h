// Thread traces as analysis.json has them (definitions `thread_trace…` of its schema): where the
// cycles of the traced waves went, what was waited for, occupancy over time, and how much was seen.
#pragma once

#include "analyze/thread_trace/cycle_figures.h"
#include "base/text/json.h"
#include "report/kit/null_reasons.h"

namespace perflab::report {

/// `thread_traces` of analysis.json. Every null has an entry in the `missing` of its kernel.
Json thread_traces_json(const analyze::ThreadTraces& traces);

/// Puts which kernel of which traced dispatch it is into the object: `trace`, `name`,
/// `mangled_name`, `kernel`, `dispatch_id`, `gfxip`, `form`.
void put_traced_identity(const analyze::KernelThreadTrace& kernel, NullReasons& reasons, Json& out);

}  // namespace perflab::report
