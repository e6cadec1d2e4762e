// What --details prints of an inspection, section by section.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/inspect/inspection.h"
#include "analyze/inspect/inspection_gates.h"
#include "report/kit/style.h"

namespace perflab::report {

/// Up to this many kernels are shown one by one without being asked for.
inline constexpr std::size_t kMostDetailedKernels = 4;

/// The file, and its kernels as a table.
std::string inspected_kernels_text(const analyze::Inspection& inspection,
                                   const TerminalStyle& style);

/// Kernels one by one: occupancy by every model, instruction mix, arguments. More than `most` are
/// not shown; then it says why the mix is not there, and nothing when it is.
std::string inspected_mix_text(const analyze::Inspection& inspection, std::size_t most,
                               const TerminalStyle& style);

/// Every figure that differs from the older build.
std::string inspected_changes_text(const analyze::Inspection& inspection,
                                   const analyze::InspectionDiff& against,
                                   const TerminalStyle& style);

/// The outcome of each gate, with the kernels that failed it; empty: there are no gates.
std::string inspected_gates_text(const analyze::Inspection& inspection,
                                 const std::vector<analyze::Gate>& gates,
                                 const std::optional<analyze::InspectionDiff>& against,
                                 const TerminalStyle& style);

/// What is odd about code objects, and the warnings; empty: there is nothing.
std::string inspected_problems_text(const analyze::Inspection& inspection,
                                    const TerminalStyle& style);

}  // namespace perflab::report
