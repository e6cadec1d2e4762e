// The roofline for people: a chart per GPU, and what the counters say of each kernel.
#pragma once

#include <string>
#include <string_view>

#include "analyze/analysis.h"
#include "report/kit/style.h"
#include "trace/trace.h"

namespace perflab::report {

/// The chart of each GPU with a legend, then each kernel's traffic, rates and features, most time
/// first. Without a roofline: the reason in one line when there are counters, else nothing.
/// `all_figures`: where a person finds what is left out here, "roofline.json" or the option that
/// gives it.
std::string roofline_text(const analyze::Analysis& analysis, const TerminalStyle& style,
                          std::string_view all_figures = "roofline.json");

/// The same as a report of its own: with what the recordings are and the warnings.
std::string roofline_report_text(const trace::Trace& trace, const analyze::Analysis& analysis,
                                 const TerminalStyle& style,
                                 std::string_view all_figures = "roofline.json");

}  // namespace perflab::report
