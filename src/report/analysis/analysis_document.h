// analysis.json: what one or more trace databases hold, aggregated. Schema:
// schemas/analysis.schema.json.
#pragma once

#include "analyze/analysis.h"
#include "base/text/json.h"
#include "trace/trace.h"

namespace perflab::report {

/// The document. Host-specific facts (paths, pids, commands) stand only under `environment`.
Json analysis_document(const trace::Trace& trace, const analyze::Analysis& analysis);

}  // namespace perflab::report
