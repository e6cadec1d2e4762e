// timeline.json: what ran when, small enough to be drawn. Schema: schemas/timeline.schema.json.
// Model: analyze/timeline/timeline.h.
#pragma once

#include "analyze/analysis.h"
#include "base/text/json.h"
#include "trace/trace.h"

namespace perflab::report {

/// timeline.json. Precondition: analysis.timeline.
Json timeline_document(const trace::Trace& trace, const analyze::Analysis& analysis);

}  // namespace perflab::report
