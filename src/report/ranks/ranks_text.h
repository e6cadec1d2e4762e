// What --details prints about many ranks, a function per section.
#pragma once

#include <string>

#include "ranks/analyze_ranks.h"
#include "report/kit/style.h"

namespace perflab::report {

/// A row per rank: waits, last arrivals, lateness, delay.
std::string ranks_ranks_text(const ranks::RanksAnalysis& analysis, const TerminalStyle& style);
/// The pattern, the causes with their figures.
std::string ranks_stragglers_text(const ranks::RanksAnalysis& analysis, const TerminalStyle& style);
std::string ranks_collectives_text(const ranks::RanksAnalysis& analysis,
                                   const TerminalStyle& style);
std::string ranks_clocks_text(const ranks::RanksAnalysis& analysis, const TerminalStyle& style);
/// The path and what-if.
std::string ranks_path_text(const ranks::RanksAnalysis& analysis, const TerminalStyle& style);
/// What was matched by what, and what was not.
std::string ranks_matching_text(const ranks::RanksAnalysis& analysis, const TerminalStyle& style);

}  // namespace perflab::report
