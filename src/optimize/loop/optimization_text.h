// What a person sees of an optimisation: a line while a candidate is decided, and at the end the
// table, the proof and the diff.
#pragma once

#include <string>

#include "optimize/loop/optimization_document.h"
#include "report/terminal.h"

namespace perflab::optimize {

/// "candidate 3  refused  slower  0.930 times as fast (...)  unroll the loop at line 12 by 4".
std::string decided_line(const Candidate& candidate);

/// The table of candidates, the verdict, the projection, the diff.
std::string optimization_text(const OptimizationData& data, const report::TerminalStyle& style);

}  // namespace perflab::optimize
