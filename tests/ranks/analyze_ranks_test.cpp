// The whole: summaries of made-up and recorded jobs to the answer.
#include "ranks/analyze_ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "ranks/open_ranks.h"
#include "ranks/rank/summary_file.h"
#include "support/rank_jobs.h"

namespace perflab::ranks {
namespace {

SummarySource source_of(const std::vector<RankSummary>& summaries) {
  return {.count = summaries.size(),
          .load = [&summaries](std::size_t i) -> Result<RankSummary> { return summaries[i]; }};
}

std::vector<RankSummary> late_ranks() {
  test::RankJobOptions options;
  options.ranks = 8;
  options.kinds = {CollectiveKind::all_reduce};
  options.offset_range = 1'000'000'000;
  options.late = {{5, 20'000'000}};
  return test::make_rank_job(options).summaries;
}

TEST(AnalyzeRanks, TheLateRankIsNamedWithItsCauseAndItsGain) {
  const std::vector<RankSummary> ranks = late_ranks();
  const auto found = analyze_ranks(source_of(ranks), {});
  ASSERT_TRUE(found) << describe(found.error());
  EXPECT_TRUE(found->ranked);
  EXPECT_EQ(found->figures.pattern.rank, 5U);
  ASSERT_EQ(found->causes.size(), 1U);
  EXPECT_EQ(found->causes[0].rank, 5U);
  ASSERT_TRUE(found->path) << found->no_path;
  EXPECT_EQ(found->asked, 0U);
  ASSERT_FALSE(found->path->what_if.empty());
  EXPECT_EQ(found->path->what_if[0].text, "rank:5=median");
  ASSERT_TRUE(found->path->what_if[0].gain) << found->path->what_if[0].missing;
  EXPECT_GT(*found->path->what_if[0].gain, 40 * 19'000'000LL);
  ASSERT_FALSE(found->path->ranks.empty());
  EXPECT_EQ(found->path->ranks[0].rank, 5U);
}

TEST(AnalyzeRanks, TheOrderOfSummariesAndThreadsChangeNothing) {
  const std::vector<RankSummary> ranks = late_ranks();
  std::vector<RankSummary> turned(ranks.rbegin(), ranks.rend());
  const auto one = analyze_ranks(source_of(ranks), {.threads = 1});
  const auto other = analyze_ranks(source_of(turned), {.threads = 4});
  ASSERT_TRUE(one && other);
  ASSERT_EQ(one->ranks.size(), other->ranks.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    EXPECT_EQ(one->ranks[rank].identity.facts, other->ranks[rank].identity.facts);
    EXPECT_EQ(one->figures.ranks[rank].delay_caused, other->figures.ranks[rank].delay_caused);
    EXPECT_EQ(one->figures.ranks[rank].wait, other->figures.ranks[rank].wait);
  }
  EXPECT_EQ(one->path->makespan(), other->path->makespan());
}

TEST(AnalyzeRanks, RefusesNothingTheSameTwiceAndOtherOptions) {
  const auto none = analyze_ranks({.count = 0, .load = {}}, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::bad_input);
  std::vector<RankSummary> ranks = late_ranks();
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i].guid = "run-" + std::to_string(i);
  ranks[3] = ranks[2];
  const auto twice = analyze_ranks(source_of(ranks), {});
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().message.find("are the same recording"), std::string::npos);
  ranks = late_ranks();
  ranks[3].options += " other";
  const auto other = analyze_ranks(source_of(ranks), {});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::bad_input);
}

TEST(AnalyzeRanks, ARankThatTwoRecordingsClaimIsRefusedByName) {
  std::vector<RankSummary> ranks = late_ranks();
  ranks[6].identity.facts.rank = 2;
  SummarySource source = source_of(ranks);
  const auto refused = analyze_ranks(source, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::bad_input);
  EXPECT_EQ(refused.error().message,
            "'rank-2.db' and 'rank-6.db' both say that they are rank 2 (RANK)");
  EXPECT_FALSE(refused.error().remedy.empty());
  // Files of summaries are what people can take away.
  source.name = [](std::size_t i) { return "sums/" + std::to_string(i) + ".rpsum"; };
  EXPECT_EQ(analyze_ranks(source, {}).error().message,
            "'sums/2.rpsum' and 'sums/6.rpsum' both say that they are rank 2 (RANK)");
}

// mp.spawn inside of one srun task: all have the task's number.
TEST(AnalyzeRanks, ProcessesOfOneTaskAreOrderedByHostAndPid) {
  std::vector<RankSummary> ranks = late_ranks();
  for (RankSummary& rank : ranks) {
    rank.identity.facts = {.rank = 0, .size = 1, .local_rank = 0, .from = "SLURM_PROCID"};
    rank.identity.hostname = "node1";
  }
  std::swap(ranks[5], ranks[0]);
  const auto found = analyze_ranks(source_of(ranks), {});
  ASSERT_TRUE(found) << describe(found.error());
  EXPECT_FALSE(found->ranked);
  EXPECT_EQ(rank_label(*found, 5), "5");
  EXPECT_EQ(found->ranks[5].identity.pid, 1005);
  EXPECT_EQ(found->figures.pattern.rank, 5U);
  ASSERT_FALSE(found->warnings.empty());
  EXPECT_NE(found->warnings[0].find("ordered by host, process and GPU"), std::string::npos);
  // A task is on one host, and its processes run together.
  std::vector<RankSummary> elsewhere = ranks;
  elsewhere[3].identity.hostname = "node2";
  EXPECT_FALSE(analyze_ranks(source_of(elsewhere), {}));
  std::vector<RankSummary> earlier = ranks;
  earlier[3].end = earlier[3].begin + 1;
  for (RankSummary& rank : earlier) {
    if (&rank != &earlier[3]) rank.begin = std::max(rank.begin, earlier[3].end);
  }
  EXPECT_FALSE(analyze_ranks(source_of(earlier), {}));
}

TEST(AnalyzeRanks, AMissingRankIsSaid) {
  std::vector<RankSummary> ranks = late_ranks();
  ranks.erase(ranks.begin() + 2);
  const auto found = analyze_ranks(source_of(ranks), {});
  ASSERT_TRUE(found) << describe(found.error());
  EXPECT_EQ(found->matching.missing_ranks, std::vector<std::int64_t>{2});
  ASSERT_FALSE(found->warnings.empty());
  EXPECT_NE(found->warnings[0].find("rank 2 is missing"), std::string::npos);
  EXPECT_EQ(rank_label(*found, 2), "3");
}

/// Whose number two recordings share is named, and numbers are not used.
TEST(AnalyzeRanks, TwoOfOneNumberAreNamedAndGoByPlaces) {
  std::vector<RankSummary> ranks = late_ranks();
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i].file = "run/" + std::to_string(i);
  for (RankSummary& rank : ranks) rank.identity.facts.from = "SLURM_PROCID";
  ranks[3].identity.facts.rank = 2;
  const auto found = analyze_ranks(source_of(ranks), {});
  ASSERT_TRUE(found) << describe(found.error());
  EXPECT_FALSE(found->ranked);
  ASSERT_FALSE(found->warnings.empty());
  EXPECT_NE(found->warnings[0].find("'run/2' and 'run/3' both say rank 2"), std::string::npos)
      << found->warnings[0];
  ranks[3].identity.facts.rank.reset();
  const auto without = analyze_ranks(source_of(ranks), {});
  ASSERT_TRUE(without) << describe(without.error());
  EXPECT_NE(without->warnings.at(0).find("not all recordings say"), std::string::npos);
  // The straggler's what-if is asked all the same, by its place.
  ASSERT_TRUE(without->path);
  const auto& asked = without->path->what_if;
  EXPECT_TRUE(std::ranges::any_of(
      asked, [](const RankWhatIfAnswer& one) { return one.text.ends_with("=median"); }));
}

TEST(AnalyzeRanks, SummariesInAFolderAreTheSameAsInMemory) {
  const std::vector<RankSummary> ranks = late_ranks();
  const auto folder = std::filesystem::temp_directory_path() / "perflab_ranks_open";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "below");
  for (std::size_t i = 0; i < ranks.size(); ++i)
    ASSERT_TRUE(write_summary(folder / (i % 2 == 0 ? "" : "below") / (std::to_string(i) + ".rpsum"),
                              ranks[i]));
  const std::vector<std::filesystem::path> paths = {folder};
  const auto source = open_ranks(paths, {});
  ASSERT_TRUE(source) << describe(source.error());
  EXPECT_EQ(source->count, ranks.size());
  const auto read = analyze_ranks(*source, {});
  const auto held = analyze_ranks(source_of(ranks), {});
  ASSERT_TRUE(read && held);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    EXPECT_EQ(read->figures.ranks[rank].wait, held->figures.ranks[rank].wait);
  std::filesystem::remove_all(folder);
  EXPECT_FALSE(open_ranks(paths, {}));
  std::filesystem::create_directories(folder);
  const auto empty = open_ranks(paths, {});
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, ErrorCode::bad_input);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace perflab::ranks
