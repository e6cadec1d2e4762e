// The answer of a thread trace: what was traced, where its waves spent their cycles, and which
// instructions and source lines cost the most. Places are those of analysis.json.
#pragma once

#include "report/excerpt/parts.h"

namespace perflab::report {

/// Of `thread_traces`, the kernel that a person means: one with waves before sums of a stats file,
/// then the one with the most cycles. A place where nothing is without one.
DocumentPlace main_trace(const DocumentPlace& traces);

/// The verdict (of `bottlenecks.kernels`) that rests on this traced kernel.
DocumentPlace verdict_of_trace(const DocumentPlace& verdicts, const DocumentPlace& traces,
                               const DocumentPlace& traced);

/// Its instructions by cost.
Part hot_part(const DocumentPlace& traced);

/// All parts of a trace that stands alone.
void add_trace(const DocumentPlace& traces, const DocumentPlace& traced, Json& summary);

}  // namespace perflab::report
