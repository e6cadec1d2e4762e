// optimization.json: what an optimisation tried, decided and proved. Schema:
// schemas/optimization.schema.json. Model: optimize/rounds/loop.h.
#pragma once

#include <optional>
#include <string>

#include "base/missing.h"
#include "base/text/json.h"
#include "optimize/rounds/loop.h"
#include "optimize/rounds/projection.h"

namespace perflab::optimize {

/// A finished optimisation and what it gives for the whole run. It has to outlive this.
struct OptimizationData {
  const Optimization* optimization = nullptr;
  std::optional<Projection> projection;
  Missing projection_missing;  ///< why there is none
  std::string trace, capture;  ///< paths; empty: none was given
  /// Path, once the accepted source was applied; empty: it was not.
  std::string original_kept = {};
};

/// The document. Measured samples and `environment` apart, it is the same for the same input.
Json optimization_document(const OptimizationData& data);

}  // namespace perflab::optimize
