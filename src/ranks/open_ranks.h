// What the command line names, as summaries: files of rank-summary, folders of them, or recordings,
// which are summarised here.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text/progress.h"
#include "ranks/analyze_ranks.h"

namespace perflab::ranks {

struct OpenOptions {
  unsigned threads = 0;
  /// Changes inside ranks, for recordings that are summarised here (analyze::parse_what_if()).
  std::vector<std::string> scenarios = {};
  TellProgress progress = {};
};

/// The recordings of a job's ranks in a folder, by path: of what `profile` left those of the newest
/// run of each rank (collect::latest_runs_of_ranks), else all in it and below. There may be none.
/// Error (bad_input): they are of several forms, as when rocprofv3 was asked for a database and for
/// CSV: each rank would count twice.
Result<std::vector<std::filesystem::path>> recordings_of_job(const std::filesystem::path& folder);

/// The summaries that the paths name. Of a folder: the summaries in it and below; if there are
/// none, recordings_of_job(). Summaries of recordings are kept in memory as their files
/// would be. Errors (bad_input): a path that is neither, a folder without either, a recording that
/// cannot be read; (usage): a scenario that cannot be read.
Result<SummarySource> open_ranks(std::span<const std::filesystem::path> paths,
                                 const OpenOptions& options);

}  // namespace perflab::ranks
