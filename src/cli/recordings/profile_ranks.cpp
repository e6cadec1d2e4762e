// All ranks see one command line: what is wrong with it, each says before anything runs.
#include "cli/recordings/profile_ranks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/rank_variables.h"
#include "base/system/files.h"
#include "base/text/numbers.h"
#include "trace/rank_variables.h"

namespace perflab::cli {
namespace {

constexpr std::int64_t kMostRanks = 1'000'000;

std::unexpected<Error> no_ranks(const std::string& text) {
  return fail(ErrorCode::usage, fmt::format("--ranks: \"{}\" is no list of ranks", text),
              "give numbers and ranges: --ranks 0,7 or --ranks 0-3,8");
}

std::string variable_names() {
  std::vector<std::string_view> names;
  for (const RankVariables& variables : kRankVariables) names.push_back(variables.rank);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Result<std::vector<std::int64_t>> parse_ranks(const std::string& text) {
  std::vector<std::int64_t> ranks;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const std::size_t dash = item.find('-');
    const auto first = perflab::whole_number<std::int64_t>(item.substr(0, dash));
    const auto last = dash == std::string_view::npos
                          ? first
                          : perflab::whole_number<std::int64_t>(item.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= kMostRanks)
      return no_ranks(text);
    for (std::int64_t rank = *first; rank <= *last; ++rank) ranks.push_back(rank);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  std::ranges::sort(ranks);
  const auto repeated = std::ranges::unique(ranks);
  ranks.erase(repeated.begin(), repeated.end());
  return ranks;
}

Result<std::optional<RankPart>> part_of_this_rank(const std::string& ranks) {
  std::vector<std::int64_t> chosen;
  if (!ranks.empty()) {
    PERFLAB_TRY(chosen, parse_ranks(ranks));
  }
  RankPart part{.rank = trace::rank_of_this_process()};
  if (!part.rank.rank) {
    if (chosen.empty()) return std::nullopt;
    return fail(ErrorCode::usage,
                fmt::format("--ranks: this process is no rank of a job: none of {} says so",
                            variable_names()),
                "start rocm-perf itself with srun, mpirun or torchrun: mpirun -n 8 rocm-perf "
                "profile --ranks 0,7 -- ./app");
  }
  if (chosen.empty()) {
    if (part.rank.size == 1) return std::nullopt;
    part.talks = *part.rank.rank == 0;
    return part;
  }
  if (part.rank.size && chosen.back() >= *part.rank.size)
    return fail(ErrorCode::usage,
                fmt::format("--ranks: there is no rank {} among the {} of this job", chosen.back(),
                            *part.rank.size),
                "ranks are counted from 0");
  part.recorded = std::ranges::binary_search(chosen, *part.rank.rank);
  part.talks = *part.rank.rank == chosen.front();
  return part;
}

std::string rank_name(const trace::RankFacts& rank) {
  return fmt::format("rank_{:04}", rank.rank.value_or(0));
}

std::string page_of_rank(const std::string& file, const trace::RankFacts& rank) {
  const std::filesystem::path page(file);
  return (page.parent_path() /
          fmt::format("{}.{}{}", page.stem().string(), rank_name(rank), page.extension().string()))
      .string();
}

Error become(const std::vector<std::string>& target) {
  std::vector<char*> words;
  for (const std::string& word : target) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  return {.code = ErrorCode::usage,
          .message = fmt::format("{}: cannot be started: {}", target.front(), errno_text(errno)),
          .notes = {},
          .remedy = "give the program's path, or put it on PATH"};
}

}  // namespace perflab::cli
