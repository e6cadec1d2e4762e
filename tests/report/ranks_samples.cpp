// See ranks_samples.h.
#include "report/ranks_samples.h"

#include <gtest/gtest.h>

#include <utility>

namespace perflab::report {

ranks::RanksAnalysis analysed_ranks(const test::RankJobOptions& options,
                                    const std::vector<std::string>& questions) {
  const test::RankJob job = test::make_rank_job(options);
  ranks::RanksOptions asked;
  for (const std::string& text : questions)
    asked.what_if.push_back(ranks::parse_rank_what_if(text).value());
  auto found = ranks::analyze_ranks(
      {.count = job.summaries.size(),
       .load = [&](std::size_t i) -> Result<ranks::RankSummary> { return job.summaries[i]; }},
      asked);
  if (!found) {
    ADD_FAILURE() << describe(found.error());
    return {};
  }
  return std::move(*found);
}

ranks::RanksAnalysis sample_ranks() {
  test::RankJobOptions options;
  options.seed = 12;
  options.ranks = 4;
  options.ranks_per_node = 2;
  options.operations = 24;
  options.communicators = 2;
  options.kinds = {ranks::CollectiveKind::all_reduce, ranks::CollectiveKind::all_gather,
                   ranks::CollectiveKind::broadcast};
  options.offset_range = 5'000'000;
  options.late = {{2, 3'000'000}};
  return analysed_ranks(options, {"wait=0"});
}

}  // namespace perflab::report
