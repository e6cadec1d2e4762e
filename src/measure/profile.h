// Profiling a command: collect its runs with rocprofv3, analyse what they left. What a failed or
// stopped run left is used and called partial.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/pipeline.h"
#include "base/error.h"
#include "collect/collect.h"

namespace perflab::measure {

/// A profile as measured. `analyzed` is empty with --no-rocprof, and when no run left a database
/// that can be used; then `problem` says why (for --no-rocprof only if the process itself failed).
struct Profile {
  collect::Collection collection;
  std::optional<analyze::AnalyzedRuns> analyzed;
  std::vector<std::optional<std::size_t>>
      analyzed_index;  ///< per run of the collection: place in analyzed, if any
  std::vector<std::string> warnings;
  std::optional<Error> problem;  ///< the exit code must tell it, whatever could be saved
};

/// Collects and analyses. Errors: those of collect::collect, with nothing to salvage.
Result<Profile> profile(const collect::CollectPlan& plan, unsigned threads = 0);

}  // namespace perflab::measure
