// What a person sees of an optimisation: a line while a candidate is decided, and at the end the
// table, the proof, the diff and the verdict.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "optimize/rounds/optimization_document.h"
#include "report/kit/style.h"

namespace perflab::optimize {

/// "candidate 3: unroll the loop at line 12 by 4: refused (slower): 0.930 times as fast (0.921 to
/// 0.944)".
std::string decided_line(const Candidate& candidate);

/// Names of the sections of the text, in its order.
inline constexpr std::array<std::string_view, 3> kOptimizationSections = {"candidates", "proof",
                                                                          "diff"};
/// One of them; it can be empty. Precondition: a name of kOptimizationSections.
std::string optimization_section(const OptimizationData& data, std::string_view name,
                                 const report::TerminalStyle& style);

/// All of them: the table of candidates with a line of why below each that was not accepted, the
/// final proof, the projection, the diff, and last what came of it.
std::string optimization_text(const OptimizationData& data, const report::TerminalStyle& style);

}  // namespace perflab::optimize
