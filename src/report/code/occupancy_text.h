// Occupancy for a person: what was asked, the models' answers, the next step, headroom, and the
// chart of a sweep.
#pragma once

#include <string>

#include "report/code/occupancy_document.h"
#include "report/kit/style.h"

namespace perflab::report {

/// The whole answer as text; the chart fits the style's width.
std::string occupancy_text(const OccupancyData& data, const TerminalStyle& style);

}  // namespace perflab::report
