// PC samples for people: how sure they make, why waves did not issue, which instructions and source
// lines they were at, what waits were for, what the arbiter did. Every figure stands in
// analysis.json too.
#pragma once

#include <string>

#include "analyze/analysis.h"
#include "report/kit/style.h"

namespace perflab::report {

/// The selected kernel's samples (else those of the kernel with the most) as a page, the others in
/// one line each; empty without PC samples.
std::string pc_sampling_text(const analyze::Analysis& analysis, const TerminalStyle& style);

/// A page of its own for samples without a recording: what was read, the figures, the verdicts, the
/// warnings.
std::string pc_sampling_report_text(const analyze::Analysis& analysis, const TerminalStyle& style);

}  // namespace perflab::report
