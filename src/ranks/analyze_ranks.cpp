#include "ranks/analyze_ranks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/parallel.h"
#include "base/rank_variables.h"
#include "ranks/clocks/align.h"
#include "ranks/figures/all_figures.h"
#include "ranks/rank/summary_file.h"
#include "ranks/values/numbering.h"
#include "trace/rank_variables.h"

namespace perflab::ranks {
namespace {

/// What stays in memory of a summary: identity, communicators, collectives; and the work before
/// each collective as one number.
struct Light {
  std::string name;  ///< for errors
  RankSummary summary;
  std::vector<std::int64_t> busy;
};

Light lightened(RankSummary&& whole) {
  Light light;
  light.busy.reserve(whole.work.size());
  for (const Work& work : whole.work) light.busy.push_back(work.busy);
  if (whole.work.size() < whole.collectives.size()) light.busy.clear();
  whole.work = {};
  whole.kernels = {};
  whole.graph = {};
  light.summary = std::move(whole);
  return light;
}

/// Every summary in turn, on all threads.
template <class Take>
Result<void> for_each_summary(const SummarySource& source, const RanksOptions& options,
                              std::pair<double, double> part, const Take& take) {
  const TellProgress tell = part_of(options.progress, part.first, part.second);
  return parallel_ordered<RankSummary>(
      source.count, options.threads, [&](unsigned, std::size_t i) { return source.load(i); },
      [&](std::size_t i, RankSummary&& summary) -> Result<void> {
        if (tell)
          tell("reading ranks", static_cast<double>(i + 1) / static_cast<double>(source.count));
        return take(i, std::move(summary));
      });
}

bool numbered(const std::vector<Light>& all) {
  std::vector<std::optional<std::int64_t>> numbers;
  for (const Light& one : all) numbers.push_back(one.summary.identity.facts.rank);
  return number_each(std::move(numbers));
}

/// Indices of the summaries by rank, else by host, pid and GPU.
std::vector<std::size_t> order_of(const std::vector<Light>& all, bool by_number) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t left, std::size_t right) {
    const RankSummary& a = all[left].summary;
    const RankSummary& b = all[right].summary;
    if (by_number) return *a.identity.facts.rank < *b.identity.facts.rank;
    const auto key = [](const RankSummary& one) {
      return std::tie(one.identity.hostname, one.identity.pid, one.identity.gpu, one.guid,
                      one.file);
    };
    return key(a) < key(b);
  });
  return order;
}

/// Whether two recordings that say the same number can be of one job. torchrun and PyTorch number
/// processes; the launchers number tasks, and a task may start several processes: these are on one
/// host, at the same time. So are processes of one recording.
bool may_share_number(const RankSummary& one, const RankSummary& other) {
  if (one.file == other.file && one.guid == other.guid) return true;
  const auto numbers_processes = [](const RankSummary& summary) {
    return summary.identity.facts.from == kRankVariables.front().rank ||
           summary.identity.facts.from == trace::kDistributedInfo;
  };
  // The name of a file proves nothing: such ranks are then ordered otherwise.
  const auto is_hint = [](const RankSummary& summary) {
    return summary.identity.facts.from == trace::kFileName;
  };
  if (is_hint(one) || is_hint(other)) return true;
  return !numbers_processes(one) && !numbers_processes(other) &&
         one.identity.hostname == other.identity.hostname && one.begin < other.end &&
         other.begin < one.end;
}

/// No two recordings of one rank: one of an earlier run would be taken for a rank of this one.
Result<void> check_numbers(const std::vector<Light>& all) {
  std::map<std::int64_t, const Light*> by_number;
  for (const Light& one : all) {
    const trace::RankFacts& facts = one.summary.identity.facts;
    if (!facts.rank) continue;
    const auto [at, added] = by_number.try_emplace(*facts.rank, &one);
    if (!added && !may_share_number(at->second->summary, one.summary))
      return fail(ErrorCode::bad_input,
                  fmt::format("'{}' and '{}' both say that they are rank {} ({})", at->second->name,
                              one.name, *facts.rank, facts.from),
                  "give the recordings of one run: the folder may hold those of an earlier one");
  }
  return {};
}

Result<void> check_set(const std::vector<Light>& all) {
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, const Light*> seen;
  for (const Light& one : all) {
    const RankSummary& summary = one.summary;
    PERFLAB_TRY_VOID(check_same_making(all.front().summary, all.front().name, summary, one.name));
    if (summary.guid.empty()) continue;
    const auto [at, added] =
        seen.try_emplace({summary.guid, summary.identity.pid, summary.identity.gpu}, &one);
    if (!added)
      return fail(ErrorCode::bad_input,
                  fmt::format("'{}' and '{}' are the same recording", at->second->name, one.name),
                  "give each recording or its summary once");
  }
  return check_numbers(all);
}

/// What the path is asked: the command line's questions, then those of every job.
Result<std::vector<RankWhatIf>> questions_of(const RanksAnalysis& out,
                                             const RanksOptions& options) {
  std::vector<RankWhatIf> questions = options.what_if;
  if (!options.standard_questions) return questions;
  std::vector<std::string> standard;
  if (!out.figures.stragglers.empty())
    standard.push_back(
        fmt::format("rank:{}=median", rank_label(out, out.figures.stragglers.front())));
  standard.emplace_back("balance");
  standard.emplace_back("transfer=2x");
  for (const std::string& text : standard) {
    if (std::ranges::find(questions, text, &RankWhatIf::text) != questions.end()) continue;
    PERFLAB_TRY(RankWhatIf what_if, parse_rank_what_if(text));
    questions.push_back(std::move(what_if));
  }
  return questions;
}

/// The path over all ranks. A matching or a recording that contradicts itself costs the path alone.
Result<void> find_path(const SummarySource& source, const RanksOptions& options,
                       const std::vector<std::size_t>& order, RanksAnalysis& out) {
  out.asked = options.what_if.size();
  if (out.matching.operations.empty()) {
    const bool any = std::ranges::any_of(
        out.ranks, [](const RankSummary& rank) { return !rank.collectives.empty(); });
    out.no_path = any ? "no operation of two ranks could be matched"
                      : "no rank recorded a communication kernel";
    return {};
  }
  PERFLAB_TRY(std::vector<RankWhatIf> questions, questions_of(out, options));
  Result<JobPath> path =
      find_job_path({.ranks = out.ranks,
                     .matching = out.matching,
                     .clocks = out.clocks,
                     .load_graph = [&](RankIndex rank) -> Result<LocalGraph> {
                       PERFLAB_TRY(RankSummary summary, source.load(order[rank]));
                       return std::move(summary.graph);
                     },
                     .what_if = std::move(questions)});
  if (path)
    out.path = std::move(*path);
  else if (path.error().code == ErrorCode::bad_input)
    out.no_path = path.error().message;
  else
    return std::unexpected(std::move(path).error());
  return {};
}

/// "rank 3 is", "ranks 3, 5 are", "12 of the job's ranks are".
std::string missing_words(const std::vector<std::int64_t>& ranks) {
  constexpr std::size_t kMostNamed = 8;
  if (ranks.size() > kMostNamed) return fmt::format("{} of the job's ranks are", ranks.size());
  return fmt::format("{} {} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "),
                     ranks.size() == 1 ? "is" : "are");
}

/// Why ranks go by places: two of one number, or one without.
std::string unranked_words(const std::vector<RankSummary>& ranks) {
  std::map<std::int64_t, const RankSummary*> seen;
  for (const RankSummary& rank : ranks) {
    if (!rank.identity.facts.rank) continue;
    const auto [at, added] = seen.try_emplace(*rank.identity.facts.rank, &rank);
    if (!added)
      return fmt::format(
          "'{}' and '{}' both say rank {}, as processes of one task do: ranks are ordered by host, "
          "process and GPU",
          at->second->file, rank.file, at->first);
  }
  return "not all recordings say which rank they are: ranks are ordered by host, process and GPU";
}

/// What changes the answer, in sentences.
void add_warnings(RanksAnalysis& out) {
  if (!out.ranked && out.ranks.size() > 1) out.warnings.push_back(unranked_words(out.ranks));
  const auto hints = std::ranges::count_if(out.ranks, [](const RankSummary& rank) {
    return rank.identity.facts.from == trace::kFileName;
  });
  if (out.ranked && hints > 0)
    out.warnings.push_back(
        fmt::format("{} of {} recordings do not say their rank: its number is that in the name of "
                    "the file or of its folder, which is a hint",
                    hints, out.ranks.size()));
  if (!out.matching.missing_ranks.empty())
    out.warnings.push_back(
        fmt::format("{} missing: the last arriver is the last among those recorded, and waits are "
                    "at least as long as shown",
                    missing_words(out.matching.missing_ranks)));
  const auto assumed = std::ranges::count_if(
      out.matching.groups, [](const Group& group) { return group.assumed_starts > 0; });
  if (assumed > 0)
    out.warnings.push_back(
        fmt::format("{} of {} groups repeat the same operations in an even rhythm: that all "
                    "recordings begin at the same one is assumed, because they are equally long",
                    assumed, out.matching.groups.size()));
  if (out.clocks.zones > 1)
    out.warnings.push_back(
        fmt::format("the ranks have {} clocks that no common operation ties: between them only "
                    "durations are compared",
                    out.clocks.zones));
  if (out.clocks.violation_count > 0)
    out.warnings.push_back(fmt::format(
        "{} exits come before an entry that they must follow, by up to {} ns: the clocks are less "
        "exact than their bounds say, or an operation is not what it is taken for",
        out.clocks.violation_count,
        out.clocks.violations.empty() ? 0 : out.clocks.violations.front().by));
}

}  // namespace

std::string rank_label(const RanksAnalysis& analysis, RankIndex rank) {
  const RankIdentity& identity = analysis.ranks[rank].identity;
  return fmt::format("{}", analysis.ranked ? identity.facts.rank.value_or(rank) : rank);
}

Result<RanksAnalysis> analyze_ranks(const SummarySource& source, const RanksOptions& options) {
  if (source.count == 0)
    return fail(ErrorCode::bad_input, "there is no rank to analyse",
                "give a folder with summaries of rank-summary, or recordings");
  std::vector<Light> all(source.count);
  PERFLAB_TRY_VOID(for_each_summary(
      source, options, {0, 0.5}, [&](std::size_t i, RankSummary&& whole) -> Result<void> {
        all[i] = lightened(std::move(whole));
        all[i].name = source.name ? source.name(i) : all[i].summary.file;
        return {};
      }));
  PERFLAB_TRY_VOID(check_set(all));
  RanksAnalysis out;
  out.ranked = numbered(all);
  const std::vector<std::size_t> order = order_of(all, out.ranked);
  std::vector<std::vector<std::int64_t>> busy;
  std::vector<RankIndex> place(all.size());
  for (const std::size_t i : order) {
    place[i] = static_cast<RankIndex>(out.ranks.size());
    out.ranks.push_back(std::move(all[i].summary));
    busy.push_back(std::move(all[i].busy));
  }
  for (std::size_t rank = 0; rank < busy.size(); ++rank)
    if (busy[rank].size() < out.ranks[rank].collectives.size()) busy = {};
  Aligned aligned = match_and_align(out.ranks);
  out.matching = std::move(aligned.matching);
  out.clocks = std::move(aligned.clocks);
  out.figures = all_figures(out.ranks, out.matching, out.clocks, busy);
  CauseFinder causes(out.ranks, out.matching, out.clocks, out.figures);
  PERFLAB_TRY_VOID(for_each_summary(source, options, {0.5, 1},
                                    [&](std::size_t i, RankSummary&& whole) -> Result<void> {
                                      causes.add(place[i], whole);
                                      return {};
                                    }));
  out.causes = causes.causes();
  PERFLAB_TRY_VOID(find_path(source, options, order, out));
  add_warnings(out);
  return out;
}

}  // namespace perflab::ranks
