// Recordings to files of summaries: one after another, each for itself, so that one that cannot be
// read does not keep the others from being done. Doing it again changes nothing, and what was made
// of the same bytes before is not made again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text/progress.h"
#include "ranks/rank/summarize.h"

namespace perflab::ranks {

struct MakeSummariesOptions {
  SummarizeOptions summarize = {};
  unsigned jobs = 1;  ///< files at once; what is written does not depend on it
  TellProgress progress = {};
};

/// A file that is there now.
struct MadeSummary {
  std::string file;  ///< recording, as it was given
  std::string path;  ///< of the summary
  std::optional<std::int64_t> rank;
  std::string rank_from;  ///< trace::RankFacts::from
  std::string hostname;
  std::int64_t pid = 0, gpu = 0;
  std::uint64_t collectives = 0, bytes = 0;
  bool kept = false;  ///< it was there, with the same bytes or of the same bytes
};

/// A recording of which there is no summary, or not all.
struct FailedSummary {
  std::string file;
  Error error;
};

struct MadeSummaries {
  std::vector<MadeSummary> made;  ///< by recording as given, then rank's place in it
  std::vector<FailedSummary> failed;
};

/// Errors (usage): no folder can be made there; a file twice; (interrupted) Ctrl-C came while a
/// summary was written: what is there is whole.
Result<MadeSummaries> make_summaries(const std::vector<std::filesystem::path>& files,
                                     const std::filesystem::path& folder,
                                     const MakeSummariesOptions& options = {});

}  // namespace perflab::ranks
