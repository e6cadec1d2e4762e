// A roofline chart drawn with characters: decades as a grid, roofs as lines, kernels as letters.
#pragma once

#include <cstddef>
#include <string>

#include "report/kit/style.h"
#include "report/roofline/roofline_chart.h"

namespace perflab::report {

/// Widest and narrowest plot, in columns without the labels of the axes.
inline constexpr std::size_t kWidestPlot = 72, kNarrowestPlot = 24;

/// The lines of the chart, about 20 high, indented by two, and what its roofs are. Of the marks the
/// first `shown` of memory_marks(). Letters in one place show as '*', and so does a kernel whose
/// letter is a number; below the chart stands which they are.
std::string drawn_chart(const Chart& chart, std::size_t shown, const TerminalStyle& style);

}  // namespace perflab::report
