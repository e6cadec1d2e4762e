// roofline.json: work, traffic, rates and ceilings of each kernel, and the chart of them. Schema:
// schemas/roofline.schema.json. Models: analyze/roofline.h.
#pragma once

#include "analyze/analysis.h"
#include "base/json.h"

namespace perflab::report {

/// roofline.json. Precondition: analysis.roofline.
Json roofline_document(const trace::Trace& trace, const analyze::Analysis& analysis);

/// The summary of a kernel for profile.json. `missing` gets an entry for each figure of it that is
/// null, with `path` ("roofline") in front.
Json roofline_summary(const analyze::KernelRoofline& kernel, const std::string& path,
                      std::vector<analyze::Missing>& missing);

}  // namespace perflab::report
