// The critical path for people: where the time of a run went, which kernels matter, what a change
// would give, and the steps of the run. Every figure stands in dag.json too.
#pragma once

#include <string>

#include "analyze/analysis.h"
#include "report/kit/style.h"
#include "trace/trace.h"

namespace perflab::report {

/// One page; without a critical path, the reason in one line.
std::string dag_text(const trace::Trace& trace, const analyze::Analysis& analysis,
                     const TerminalStyle& style);

/// The same as a report of its own: with what the recordings are and the warnings.
std::string dag_report_text(const trace::Trace& trace, const analyze::Analysis& analysis,
                            const TerminalStyle& style);

}  // namespace perflab::report
