// What a person sees of an inspection: kernels as a table, details of a few, gates and changes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/inspect/inspection.h"
#include "analyze/inspect/inspection_gates.h"
#include "report/kit/style.h"

namespace perflab::report {

/// Up to this many kernels are shown one by one below the table.
inline constexpr std::size_t kMostDetailedKernels = 4;

/// The whole inspection.
std::string inspection_text(const analyze::Inspection& inspection,
                            const std::vector<analyze::Gate>& gates,
                            const std::optional<analyze::InspectionDiff>& against,
                            const TerminalStyle& style);

}  // namespace perflab::report
