// `profile` as one of many: under srun, mpirun or torchrun each rank of a job runs it, and records
// itself into a folder of its own (docs/facts/ranks.md "Identity").
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "trace/trace.h"

namespace perflab::cli {

/// The part of one rank in a job of several.
struct RankPart {
  trace::RankFacts rank;
  bool recorded = true;  ///< --ranks leaves it in
  bool talks = true;     ///< the first that is recorded; the others print only errors
};

/// Ranks of --ranks: "0,7" and "0-3,8", ascending. Error (usage): something else.
Result<std::vector<std::int64_t>> parse_ranks(const std::string& text);

/// What this process has to do; nothing: it is no rank, or the only one. `ranks`: --ranks, may be
/// empty. Errors (usage): --ranks without a launcher, or a rank that the job does not have.
Result<std::optional<RankPart>> part_of_this_rank(const std::string& ranks);

/// "rank_0007".
std::string rank_name(const trace::RankFacts& rank);

/// The page's name with the rank's before its end: "run.html" is "run.rank_0007.html".
std::string page_of_rank(const std::string& file, const trace::RankFacts& rank);

/// Becomes the program (execvp(3)), which is not recorded. Comes back only with an error
/// (missing_tool).
Error become(const std::vector<std::string>& target);

}  // namespace perflab::cli
