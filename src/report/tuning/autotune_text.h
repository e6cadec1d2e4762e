// What a person sees of a search: the live line, and the tables at the end.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "report/kit/style.h"
#include "report/tuning/autotune_document.h"
#include "tune/run/tune.h"

namespace perflab::report {

/// "12/200 evaluated, best 1.23 ms (2.1x better than the default), expected gain left 3.0 %".
std::string autotune_progress_text(const tune::TuneProgress& progress,
                                   const tune::Objective& objective);

/// Names of the sections of the text, in its order: the best ones, the chart of the search, what
/// mattered, what was never run and how the rest ended, the command to use.
inline constexpr std::array<std::string_view, 5> kAutotuneSections = {
    "best", "search", "parameters", "configurations", "command"};
/// One of them; it can be empty. Precondition: a name of kAutotuneSections.
std::string autotune_section(const AutotuneData& data, std::string_view name,
                             const TerminalStyle& style);

/// All of them: the result: best and default, how sure that is, the best ones, the convergence
/// chart, what mattered, what was never run and why, how evaluations ended, and the command to use.
std::string autotune_text(const AutotuneData& data, const TerminalStyle& style);

}  // namespace perflab::report
