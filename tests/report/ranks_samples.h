// Analyses of made-up jobs of many ranks (support/rank_jobs.h).
#pragma once

#include <string>
#include <vector>

#include "ranks/analyze_ranks.h"
#include "support/rank_jobs.h"

namespace perflab::report {

/// What `ranks` finds in that job, asked these questions (--what-if). A failed test: it cannot be.
ranks::RanksAnalysis analysed_ranks(const test::RankJobOptions& options,
                                    const std::vector<std::string>& questions = {});

/// A job of 4 ranks on two nodes whose clocks differ, with a communicator of all and one of some,
/// in which rank 2 comes 3 ms later each time.
ranks::RanksAnalysis sample_ranks();

}  // namespace perflab::report
