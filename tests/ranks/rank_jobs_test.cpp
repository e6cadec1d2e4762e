// The made-up jobs themselves: a summary's graph gives its recorded times, and what is left out of
// a recording is left out of the summary alone.
#include "support/rank_jobs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace perflab::test {
namespace {

using ranks::CollectiveKind;
using ranks::RankSummary;

/// Entries and the end by the longest path, exits as recorded.
void expect_graph_gives_times(const RankSummary& summary) {
  std::map<std::uint32_t, std::int64_t> at;
  at[0] = summary.begin;
  for (std::size_t k = 0; k < summary.collectives.size(); ++k) {
    at[summary.exit_vertex(k)] = summary.collectives[k].exit;
  }
  ASSERT_EQ(summary.graph.order.size(), 2 * summary.collectives.size() + 2);
  std::vector<std::size_t> position(summary.graph.order.size());
  for (std::size_t i = 0; i < position.size(); ++i) position[summary.graph.order[i]] = i;
  std::size_t last = 0;
  for (const auto& edge : summary.graph.edges) {
    ASSERT_LT(position[edge.from], position[edge.to]);
    ASSERT_LE(last, position[edge.to]);
    last = position[edge.to];
    ASSERT_TRUE(at.contains(edge.from));
    const auto [known, fresh] = at.try_emplace(edge.to, at[edge.from] + edge.weight);
    if (!fresh) known->second = std::max(known->second, at[edge.from] + edge.weight);
    EXPECT_EQ(std::accumulate(edge.spent.begin(), edge.spent.end(), std::int64_t{0}), edge.weight);
  }
  for (std::size_t k = 0; k < summary.collectives.size(); ++k) {
    EXPECT_EQ(at[summary.entry_vertex(k)], summary.collectives[k].entry) << k;
  }
  EXPECT_EQ(at[summary.end_vertex()], summary.end);
  EXPECT_EQ(summary.work.size(), summary.collectives.size() + 1);
  EXPECT_TRUE(std::is_sorted(summary.collectives.begin(), summary.collectives.end(),
                             [](const auto& a, const auto& b) {
                               return std::pair(a.entry, a.exit) < std::pair(b.entry, b.exit);
                             }));
}

TEST(RankJobs, GraphsGiveTheRecordedTimes) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    RankJobOptions options = random_rank_job(seed);
    options.offset_range = 1'000'000'000;
    options.drift_ppm = 50;
    if (seed % 3 == 0) options.cut_start = {{0, 5}};
    const RankJob job = make_rank_job(options);
    ASSERT_EQ(job.summaries.size(), options.ranks);
    for (const RankSummary& summary : job.summaries) expect_graph_gives_times(summary);
  }
}

TEST(RankJobs, NobodyLeavesBeforeTheLastCame) {
  RankJobOptions options;
  options.ranks = 6;
  options.communicators = 3;
  options.late = {{2, 2'000'000}};
  const RankJob job = make_rank_job(options);
  for (const auto& operation : job.truth.operations) {
    for (const auto& member : operation.members) EXPECT_GE(member.exit, operation.arrival());
    const bool takes_part = std::any_of(operation.members.begin(), operation.members.end(),
                                        [](const auto& member) { return member.rank == 2; });
    if (takes_part) {
      EXPECT_EQ(operation.last(), 2U);
    }
  }
}

TEST(RankJobs, CutDroppedAndSwapped) {
  RankJobOptions options;
  options.ranks = 5;
  options.operations = 20;
  const RankJob whole = make_rank_job(options);
  options.dropped = {1};
  options.cut_start = {{3, 4}};
  options.swapped = {{4, 6}};
  const RankJob job = make_rank_job(options);
  ASSERT_EQ(job.summaries.size(), 4U);
  EXPECT_EQ(job.truth.place[1], std::nullopt);
  EXPECT_EQ(job.truth.place[3], 2U);
  EXPECT_EQ(job.summaries[2].collectives.size(), 16U);
  EXPECT_EQ(job.summaries[2].collectives.front().entry, whole.summaries[3].collectives[4].entry);
  EXPECT_EQ(job.summaries[2].collectives.front().sequence, 4);
  EXPECT_EQ(job.truth.operations[3].members[3].collective, std::nullopt);
  EXPECT_EQ(job.truth.operations[4].members[3].collective, 0U);
  const auto& swapped = job.summaries[3].collectives;
  const auto& straight = whole.summaries[4].collectives;
  EXPECT_EQ(swapped[6].sequence, straight[7].sequence);
  EXPECT_EQ(swapped[6].entry, straight[6].entry);
  EXPECT_EQ(swapped[7].sequence, straight[6].sequence);
}

TEST(RankJobs, TheSameSeedGivesTheSameJob) {
  const RankJob one = make_rank_job(random_rank_job(7));
  const RankJob other = make_rank_job(random_rank_job(7));
  ASSERT_EQ(one.truth.operations.size(), other.truth.operations.size());
  for (std::size_t i = 0; i < one.truth.operations.size(); ++i) {
    EXPECT_EQ(one.truth.operations[i].members, other.truth.operations[i].members);
  }
}

}  // namespace
}  // namespace perflab::test
