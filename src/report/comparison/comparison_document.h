// comparison.json: two measurements against each other. Built from analyze/compare/comparison.h.
#pragma once

#include "analyze/compare/comparison.h"
#include "base/text/json.h"

namespace perflab::report {

/// The document of a comparison made with these options (schemas/comparison.schema.json). Paths
/// stand under `environment` only.
Json comparison_document(const analyze::ComparisonResult& result,
                         const analyze::CompareOptions& options);

}  // namespace perflab::report
