// comparison.json: two measurements against each other. Built from compare/compare_sides.h.
#pragma once

#include "base/text/json.h"
#include "compare/compare_sides.h"

namespace perflab::report {

/// The document of a comparison made with these options (schemas/comparison.schema.json). Paths
/// stand under `environment` only.
Json comparison_document(const compare::ComparisonResult& result,
                         const compare::CompareOptions& options);

}  // namespace perflab::report
