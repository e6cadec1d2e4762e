// Thread traces for people: where the cycles of a kernel's waves went, which instructions and
// source lines, what was waited for, occupancy over time, and how much of it was seen. Every figure
// stands in analysis.json too.
#pragma once

#include <string>
#include <vector>

#include "analyze/analysis.h"
#include "report/kit/style.h"

namespace perflab::report {

/// The selected kernel's trace (else the one with the most cycles) as a page, the others in one
/// line each; empty without thread traces.
std::string thread_trace_text(const analyze::Analysis& analysis, const TerminalStyle& style);

/// Values as blocks from ▁ to █, each as high as its value is of `most`; '.' for 0.
std::string sparkline(const std::vector<double>& values, double most);

/// A page of its own for thread traces without a recording: what was read, the figures, the
/// verdicts, the warnings.
std::string thread_trace_report_text(const analyze::Analysis& analysis, const TerminalStyle& style);

}  // namespace perflab::report
