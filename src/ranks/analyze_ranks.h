// Many ranks of one job, from their summaries to the answer: matched, their clocks found, waits and
// stragglers, one critical path. Model: docs/models/ranks.md.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/missing.h"
#include "base/text/progress.h"
#include "ranks/figures/cause.h"
#include "ranks/figures/figures.h"
#include "ranks/path/path.h"
#include "ranks/values/matching.h"
#include "ranks/values/rank_summary.h"

namespace perflab::ranks {

/// Summaries, of which not all are in memory at once.
struct SummarySource {
  std::size_t count = 0;
  /// The n-th, whole; asked for in turn and up to three times each. Errors go up as they are.
  std::function<Result<RankSummary>(std::size_t)> load;
  /// What errors call the n-th; without it, its recording.
  std::function<std::string(std::size_t)> name = {};
};

struct RanksOptions {
  unsigned threads = 0;
  TellProgress progress = {};
  std::vector<RankWhatIf> what_if = {};
  /// Also asks what mending the first straggler, perfect balance and transfers twice as fast gain.
  bool standard_questions = true;
};

struct RanksAnalysis {
  /// By rank: without work, kernels and graph.
  std::vector<RankSummary> ranks;
  bool ranked = false;  ///< ordered by rank number; else by host, pid and GPU
  Matching matching;
  Clocks clocks;
  Figures figures;
  std::vector<Cause> causes;
  std::optional<JobPath> path;
  std::string no_path;    ///< why there is none
  std::size_t asked = 0;  ///< of JobPath::what_if, those of the command line: the first ones
  std::vector<std::string> warnings;
};

/// How a rank is called: its number where all have one, else its place in the list.
std::string rank_label(const RanksAnalysis& analysis, RankIndex rank);

/// All of it. Errors: those of loading; bad_input: no summary, one recording twice, one rank twice,
/// summaries that different options made. Memory: times of all collectives, and one whole summary
/// per thread.
Result<RanksAnalysis> analyze_ranks(const SummarySource& source, const RanksOptions& options);

}  // namespace perflab::ranks
