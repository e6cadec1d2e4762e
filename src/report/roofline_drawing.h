// A roofline chart drawn with characters: decades as a grid, roofs as lines, kernels as letters.
#pragma once

#include <cstddef>
#include <string>

#include "report/roofline_chart.h"
#include "report/terminal.h"

namespace perflab::report {

/// Widest and narrowest plot, in columns without the labels of the axes.
inline constexpr std::size_t kWidestPlot = 72, kNarrowestPlot = 24;

/// The lines of the chart, about 20 high, indented by two, and what its roofs are. Of the marks
/// those at HBM (where a kernel has one, else at its first level) of kernels that `shown` kernels
/// of the roofline come before; a letter in the place of another shows as '*'.
std::string drawn_chart(const Chart& chart, std::size_t shown, const TerminalStyle& style);

}  // namespace perflab::report
