// roofline.json: work, traffic, rates and ceilings of each kernel, and the chart of them. Schema:
// schemas/roofline.schema.json. Models: analyze/roofline/roofline.h.
#pragma once

#include <string>
#include <vector>

#include "analyze/analysis.h"
#include "base/text/json.h"

namespace perflab::report {

/// What a roofline was asked for with besides its recordings: `environment` says it.
struct RooflineRequest {
  std::string kernel_filter;  ///< the regex that its kernels match; empty: all kernels are there
  std::string roofs;          ///< file of measured ceilings; empty: none was given
};

/// roofline.json. Precondition: analysis.roofline.
Json roofline_document(const trace::Trace& trace, const analyze::Analysis& analysis,
                       const RooflineRequest& request = {});

/// The summary of a kernel for profile.json. `missing` gets an entry for each figure of it that is
/// null, with `path` ("roofline") in front.
Json roofline_summary(const analyze::KernelRoofline& kernel, const std::string& path,
                      std::vector<Missing>& missing);

}  // namespace perflab::report
