#include "ranks/rank/make_summaries.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/parallel.h"
#include "base/system/files.h"
#include "base/system/interrupt.h"
#include "base/system/memory.h"
#include "ranks/rank/made_before.h"
#include "ranks/rank/summary_file.h"
#include "trace/read/read_trace.h"

namespace perflab::ranks {

namespace {

/// A summary that is to be written.
struct Ready {
  MadeSummary made;
  std::string name, bytes;
};

struct OfFile {
  std::vector<Ready> ready;
  std::optional<Error> error;
};

Result<std::vector<RankSummary>> summarize_file(const std::filesystem::path& file,
                                                const MakeSummariesOptions& options) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    return fail(ErrorCode::bad_input,
                fmt::format("{}: there is no recording in this folder", file.string()),
                "name the recordings of the ranks, or a folder with them");
  trace::ReadOptions read;
  read.threads = options.jobs > 1 ? 1 : 0;
  read.memory.bytes = available_memory().value_or(0) / std::max(options.jobs, 1U);
  read.memory.remedy = options.jobs > 1 ? "--jobs 1 reads one recording at a time"
                                        : "summarise it where there is more memory";
  const std::array<std::filesystem::path, 1> files = {file};
  PERFLAB_TRY(const trace::Trace trace, trace::read(files, read));
  PERFLAB_TRY(std::vector<RankSummary> summaries, summarize_ranks(trace, options.summarize));
  if (summaries.empty())
    return fail(ErrorCode::bad_input,
                fmt::format("{}: nothing was dispatched to a GPU in it", file.string()),
                "record each rank of the job with rocprofv3 --kernel-trace --rccl-trace");
  return summaries;
}

Ready ready_of(const std::filesystem::path& file, const RankSummary& summary, std::size_t bytes) {
  Ready one;
  one.name = summary_file_name(summary);
  one.made = {.file = file.string(),
              .path = {},
              .rank = summary.identity.facts.rank,
              .rank_from = summary.identity.facts.rank ? summary.identity.facts.from : "",
              .hostname = summary.identity.hostname,
              .pid = summary.identity.pid,
              .gpu = summary.identity.gpu,
              .collectives = summary.collectives.size(),
              .bytes = bytes};
  return one;
}

OfFile work_on(const std::filesystem::path& file, const MakeSummariesOptions& options,
               const MadeBefore& before) {
  OfFile result;
  const std::optional<Origin> origin = origin_of(file);
  if (origin) {
    for (const MadeBefore::Kept& kept : before.of(file, *origin)) {
      result.ready.push_back(ready_of(file, kept.summary, kept.bytes));
      result.ready.back().made.kept = true;
    }
    if (!result.ready.empty()) return result;
  }
  Result<std::vector<RankSummary>> summaries = summarize_file(file, options);
  if (!summaries) {
    result.error = std::move(summaries.error());
    return result;
  }
  for (RankSummary& summary : *summaries) {
    if (origin) {
      summary.origin = *origin;
      summary.origin.ranks = static_cast<std::uint32_t>(summaries->size());
    }
    std::string bytes = encode_summary(summary);
    result.ready.push_back(ready_of(file, summary, bytes.size()));
    result.ready.back().bytes = std::move(bytes);
  }
  return result;
}

/// Whether the place holds just these bytes.
bool is_there(const std::filesystem::path& path, const std::string& bytes) {
  std::error_code none;
  if (std::filesystem::file_size(path, none) != bytes.size() || none) return false;
  const Result<std::string> text = read_file(path);
  return text && *text == bytes;
}

/// Ctrl-C waits until the file has its name: a temporary one is never left. While recordings are
/// read it ends the program at once, and there is nothing to clean up.
Result<void> write_whole(const std::filesystem::path& path, const std::string& bytes) {
  const InterruptScope interrupts;
  PERFLAB_TRY_VOID(write_file_atomically(path, bytes));
  if (interrupted())
    return fail(ErrorCode::interrupted, "interrupted: the summaries that are there are whole",
                "run it again: it goes on with the others");
  return {};
}

}  // namespace

Result<MadeSummaries> make_summaries(const std::vector<std::filesystem::path>& files,
                                     const std::filesystem::path& folder,
                                     const MakeSummariesOptions& options) {
  PERFLAB_TRY_VOID(make_directories(folder));
  std::set<std::filesystem::path> seen;
  for (const std::filesystem::path& file : files) {
    if (!seen.insert(file).second)
      return fail(ErrorCode::usage, fmt::format("{} is given twice", file.string()),
                  "give each recording once");
  }
  const MadeBefore before(folder, options_text(options.summarize));
  MadeSummaries all;
  std::map<std::string, std::string> writer;  // of this time: summary's name to its recording
  const auto write = [&](Ready&& one) -> Result<void> {
    one.made.path = (folder / one.name).string();
    const auto [other, fresh] = writer.try_emplace(one.name, one.made.file);
    if (!fresh)
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: {} has the same rank of the same recording", one.made.file,
                              other->second),
                  "give each recording once");
    one.made.kept = one.made.kept || is_there(one.made.path, one.bytes);
    if (!one.made.kept) PERFLAB_TRY_VOID(write_whole(one.made.path, one.bytes));
    all.made.push_back(std::move(one.made));
    return {};
  };
  const auto produce = [&](unsigned, std::size_t i) -> Result<OfFile> {
    return work_on(files[i], options, before);
  };
  const auto consume = [&](std::size_t i, OfFile&& result) -> Result<void> {
    for (Ready& one : result.ready) {
      Result<void> done = write(std::move(one));
      if (!done && done.error().code == ErrorCode::interrupted) return done;
      if (!done && !result.error) result.error = std::move(done.error());
    }
    if (result.error) all.failed.push_back({files[i].string(), std::move(*result.error)});
    if (options.progress)
      options.progress("summarising",
                       static_cast<double>(i + 1) / static_cast<double>(files.size()));
    return {};
  };
  const unsigned jobs = std::max(options.jobs, 1U);
  PERFLAB_TRY_VOID(parallel_ordered<OfFile>(files.size(), jobs, produce, consume));
  return all;
}

}  // namespace perflab::ranks
