// The roofline for people: a chart per GPU, and what the counters say of each kernel.
#pragma once

#include <string>

#include "analyze/analysis.h"
#include "report/terminal.h"
#include "trace/trace.h"

namespace perflab::report {

/// The chart of each GPU with a legend, then each kernel's traffic, rates and features, most time
/// first. Without a roofline: the reason in one line when there are counters, else nothing.
std::string roofline_text(const analyze::Analysis& analysis, const TerminalStyle& style);

/// The same as a report of its own: with what the recordings are and the warnings.
std::string roofline_report_text(const trace::Trace& trace, const analyze::Analysis& analysis,
                                 const TerminalStyle& style);

}  // namespace perflab::report
