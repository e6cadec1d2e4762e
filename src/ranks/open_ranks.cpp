#include "ranks/open_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>

#include "analyze/critical_path/what_if.h"
#include "base/parallel.h"
#include "collect/run_folder.h"
#include "ranks/rank/summarize.h"
#include "ranks/rank/summary_file.h"
#include "trace/read/file_kind.h"
#include "trace/read/read_trace.h"

namespace perflab::ranks {
namespace {

namespace fs = std::filesystem;

/// A summary's file, or (with `bytes`) what it would hold.
struct OpenedPlace {
  fs::path file;
  std::string bytes;
};

bool is_summary(const fs::path& file) {
  return file.extension() == kSummaryEnding;
}

/// What a folder stands for, by name.
Result<std::vector<fs::path>> files_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code other;  // a link that leads nowhere is no file
    if (is_summary(at->path()) && at->is_regular_file(other)) found.push_back(at->path());
  }
  if (error)
    return fail(ErrorCode::bad_input,
                fmt::format("cannot read the folder '{}': {}", folder.string(), error.message()));
  if (found.empty()) {
    PERFLAB_TRY(found, recordings_of_job(folder));
  }
  if (found.empty())
    return fail(ErrorCode::bad_input,
                fmt::format("the folder '{}' has neither summaries of ranks nor recordings",
                            folder.string()),
                "rocm-perf rank-summary FILES -o DIR makes summaries");
  std::ranges::sort(found);
  return found;
}

/// The ranks of one recording, as the bytes of their files.
Result<std::vector<OpenedPlace>> summarised(const fs::path& file, const SummarizeOptions& options) {
  PERFLAB_TRY(const trace::Trace trace, trace::read({&file, 1}, {.threads = 1}));
  PERFLAB_TRY(const std::vector<RankSummary> summaries, summarize_ranks(trace, options));
  if (summaries.empty())
    return fail(ErrorCode::bad_input,
                fmt::format("'{}' has no dispatch of a kernel", file.string()));
  std::vector<OpenedPlace> places;
  for (const RankSummary& summary : summaries) places.push_back({file, encode_summary(summary)});
  return places;
}

}  // namespace

Result<std::vector<fs::path>> recordings_of_job(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::path& run : collect::latest_runs_of_ranks(folder))
    std::ranges::move(trace::recordings_below(run), std::back_inserter(files));
  std::ranges::sort(files);
  const auto other = std::ranges::find_if(files, [&](const fs::path& file) {
    return trace::kind_of_file(file) != trace::kind_of_file(files.front());
  });
  if (other != files.end())
    return fail(ErrorCode::bad_input,
                fmt::format("the folder '{}' has recordings of several forms: '{}' and '{}'",
                            folder.string(), files.front().string(), other->string()),
                "name the files of one form: of several, each rank would count twice");
  return files;
}

Result<SummarySource> open_ranks(std::span<const std::filesystem::path> paths,
                                 const OpenOptions& options) {
  SummarizeOptions summarize;
  for (const std::string& text : options.scenarios) {
    PERFLAB_TRY(analyze::WhatIf what_if, analyze::parse_what_if(text));
    summarize.what_if.push_back(std::move(what_if));
  }
  std::vector<fs::path> files;
  for (const fs::path& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    PERFLAB_TRY(const std::vector<fs::path> found, files_in(path));
    files.insert(files.end(), found.begin(), found.end());
  }
  auto places = std::make_shared<std::vector<OpenedPlace>>();
  PERFLAB_TRY_VOID(parallel_ordered<std::vector<OpenedPlace>>(
      files.size(), options.threads,
      [&](unsigned, std::size_t i) -> Result<std::vector<OpenedPlace>> {
        if (is_summary(files[i])) return std::vector<OpenedPlace>{{files[i], {}}};
        return summarised(files[i], summarize);
      },
      [&](std::size_t i, std::vector<OpenedPlace>&& made) -> Result<void> {
        if (options.progress)
          options.progress("reading recordings",
                           static_cast<double>(i + 1) / static_cast<double>(files.size()));
        std::ranges::move(made, std::back_inserter(*places));
        return {};
      }));
  return SummarySource{.count = places->size(),
                       .load =
                           [places](std::size_t i) {
                             const OpenedPlace& place = (*places)[i];
                             return place.bytes.empty()
                                        ? read_summary(place.file)
                                        : decode_summary(place.bytes, place.file.string());
                           },
                       .name = [places](std::size_t i) { return (*places)[i].file.string(); }};
}

}  // namespace perflab::ranks
