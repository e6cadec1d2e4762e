// Builder of inspection.json.
#pragma once

#include <optional>
#include <vector>

#include "analyze/inspect/inspection.h"
#include "analyze/inspect/inspection_gates.h"
#include "base/text/json.h"

namespace perflab::report {

/// The inspection document; gates and comparison as they were asked for.
Json inspection_document(const analyze::Inspection& inspection,
                         const std::vector<analyze::Gate>& gates,
                         const std::optional<analyze::InspectionDiff>& against);

}  // namespace perflab::report
