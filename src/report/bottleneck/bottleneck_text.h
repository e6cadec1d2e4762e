// Bottleneck verdicts for people: what limits a kernel, because of which figures, what speaks
// against it, how much could be gained, what to measure next and what to try. Every figure stands
// in the documents too.
#pragma once

#include <string>
#include <string_view>

#include "analyze/analysis.h"
#include "report/kit/style.h"

namespace perflab::report {

/// The selected kernel's verdict (else the first) with its reasons, the others in one line each;
/// empty without verdicts.
std::string bottleneck_text(const analyze::Analysis& analysis, const TerminalStyle& style);

/// That kernel's verdict in one sentence, for the head of a page; empty without verdicts.
std::string bottleneck_headline(const analyze::Analysis& analysis, const TerminalStyle& style);

/// A feature's value with its unit: "87.3 %", "4.10 us", "12 waves".
std::string feature_value_text(double value, std::string_view unit);

}  // namespace perflab::report
