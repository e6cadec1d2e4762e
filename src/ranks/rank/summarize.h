// A Trace to the summaries of the ranks in it: a rank is a process on an agent.
// Facts: docs/facts/ranks.md "Identity".
#pragma once

#include <string>
#include <vector>

#include "analyze/critical_path/what_if.h"
#include "base/error.h"
#include "ranks/values/rank_summary.h"
#include "trace/trace.h"

namespace perflab::ranks {

struct SummarizeOptions {
  std::vector<analyze::WhatIf> what_if = {};  ///< one scenario each
};

/// What decides what a summary holds, as canonical text: summaries of other options are refused.
std::string options_text(const SummarizeOptions& options);

/// One summary per process and agent that communicates; of a process none of whose agents does, the
/// agent with the most dispatches. By source and process, then agent. Counter passes are left out.
/// Empty: nothing was dispatched. Errors (usage): --what-if that cannot be applied; (bad_input): a
/// recording whose times only order, of which no wait can be known.
Result<std::vector<RankSummary>> summarize_ranks(const trace::Trace& trace,
                                                 const SummarizeOptions& options = {});

}  // namespace perflab::ranks
