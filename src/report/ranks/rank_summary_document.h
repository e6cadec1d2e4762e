// rank_summary.json: which summaries of ranks were written, kept, and which could not be made.
#pragma once

#include <string>

#include "base/text/json.h"
#include "ranks/rank/make_summaries.h"

namespace perflab::report {

/// The document "rank_summary" (schemas/rank_summary.schema.json).
Json rank_summary_document(const ranks::MadeSummaries& made, const std::string& folder);

/// The same for a terminal: a line each, and what failed with its reason.
std::string rank_summary_text(const ranks::MadeSummaries& made);

}  // namespace perflab::report
