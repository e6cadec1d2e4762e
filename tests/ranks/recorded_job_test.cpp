// The whole over a recorded job, eight ranks of one DLRM step on one host by PyTorch's profiler
// (shared/data/ranks/param_dlrm_8ranks), against waits computed anew; and over damaged copies of
// it. Its path: path/path_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "base/random.h"
#include "ranks/analyze_ranks.h"
#include "ranks/clocks/align.h"
#include "ranks/figures/all_figures.h"
#include "ranks/open_ranks.h"

namespace perflab::ranks {
namespace {

class RecordedJob : public testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path folder =
        std::filesystem::path(PERFLAB_SHARED_DIR) / "data/ranks/param_dlrm_8ranks";
    if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "no recorded job in " << folder;
    const std::vector<std::filesystem::path> paths = {folder};
    const auto source = open_ranks(paths, {.threads = 1});
    ASSERT_TRUE(source) << describe(source.error());
    for (std::size_t i = 0; i < source->count; ++i) {
      auto one = source->load(i);
      ASSERT_TRUE(one) << describe(one.error());
      ranks.push_back(std::move(*one));
    }
    std::ranges::sort(ranks, {}, [](const RankSummary& one) { return one.identity.facts.rank; });
    ASSERT_EQ(ranks.size(), 8U);
  }
  static RanksAnalysis analysis_of(const std::vector<RankSummary>& summaries) {
    auto found =
        analyze_ranks({.count = summaries.size(),
                       .load = [&](std::size_t i) -> Result<RankSummary> { return summaries[i]; }},
                      {.threads = 1});
    EXPECT_TRUE(found) << describe(found.error());
    return found ? std::move(*found) : RanksAnalysis{};
  }
  static std::map<Unmatched, std::size_t> reasons(const Matching& matching, RankIndex of) {
    std::map<Unmatched, std::size_t> count;
    for (const NotMatched& one : matching.unmatched) {
      EXPECT_EQ(one.member.rank, of);
      ++count[one.why];
    }
    return count;
  }
  /// The k-th operations of all ranks belong together: the latest entry on the host's one clock.
  [[nodiscard]] std::int64_t arrival(std::size_t k) const {
    std::int64_t latest = 0;
    for (const RankSummary& rank : ranks) latest = std::max(latest, rank.collectives[k].entry);
    return latest;
  }

  std::vector<RankSummary> ranks;
};

/// NVIDIA's kernels for an all-to-all are those of sends and receives: the annotation says more.
TEST_F(RecordedJob, KindsAreThoseOfTheAnnotations) {
  for (const RankSummary& rank : ranks) {
    std::map<CollectiveKind, std::size_t> kinds;
    for (const Collective& one : rank.collectives) {
      ++kinds[one.kind];
      EXPECT_EQ(rank.names[one.function],
                one.kind == CollectiveKind::all_reduce ? "all_reduce" : "all_to_all");
    }
    EXPECT_EQ(kinds, (std::map<CollectiveKind, std::size_t>{{CollectiveKind::all_reduce, 3},
                                                            {CollectiveKind::all_to_all, 5}}));
    EXPECT_TRUE(std::ranges::any_of(
        rank.missing, [](const auto& one) { return one.first == "collectives.kind"; }));
  }
}

/// Waits and last arrivers against waits that are computed anew from durations.
TEST_F(RecordedJob, WaitsOfAllOperations) {
  const RanksAnalysis found = analysis_of(ranks);
  std::vector<std::int64_t> wait(8);
  std::vector<std::uint64_t> last(8);
  for (std::size_t k = 0; k < 8; ++k) {
    std::vector<std::pair<std::int64_t, std::size_t>> durations;
    for (std::size_t rank = 0; rank < 8; ++rank) {
      const Collective& own = ranks[rank].collectives.at(k);
      durations.emplace_back(own.exit - own.entry, rank);
    }
    std::ranges::sort(durations);
    for (const auto& [duration, rank] : durations) wait[rank] += duration - durations[0].first;
    if (durations[1].first - durations[0].first > 100'000) ++last[durations[0].second];
  }
  EXPECT_EQ(found.figures.operations, 8U);
  ASSERT_EQ(found.figures.worst.size(), 8U);
  std::vector<std::int64_t> by_durations(8);
  std::vector<std::uint64_t> clearly_last(8);
  for (const OperationFigures& one : found.figures.worst) {
    for (const MemberFigures& member : one.members) {
      ASSERT_TRUE(member.wait_by_durations && member.wait_by_clocks);
      by_durations[member.rank] += member.wait_by_durations->value;
      EXPECT_LE(std::abs(member.wait_by_clocks->value - member.wait_by_durations->value),
                member.wait_by_clocks->error + member.wait_by_durations->error);
    }
    if (one.last && one.last_margin->value > 100'000) ++clearly_last[*one.last];
  }
  EXPECT_EQ(by_durations, wait);
  EXPECT_EQ(clearly_last, last);
}

/// Each rank's clock moved: waits by clocks are those of the host's one clock within their errors.
TEST_F(RecordedJob, WaitsSurviveOffsetsAndDrifts) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SplitMix64 random(seed);
    std::vector<RankSummary> shifted = ranks;
    for (RankSummary& rank : shifted) {
      const auto offset = static_cast<std::int64_t>(random.next() % 2'000'000'000);
      const double drift = (static_cast<double>(random.next() % 1001) - 500) * 1e-7;
      const std::int64_t base = rank.begin;
      const auto moved = [&](std::int64_t time) {
        return time + offset + std::llround(static_cast<double>(time - base) * drift);
      };
      for (Collective& one : rank.collectives) {
        one.entry = moved(one.entry);
        one.exit = moved(one.exit);
      }
      rank.begin += offset;
      rank.end = moved(rank.end);
    }
    const Aligned aligned = match_and_align(shifted);
    ASSERT_EQ(aligned.matching.operations.size(), 8U) << seed;
    EXPECT_EQ(aligned.clocks.zones, 1U);
    for (std::uint32_t i = 0; i < 8; ++i) {
      const OperationFigures figures =
          operation_figures(shifted, aligned.matching, aligned.clocks, i);
      const std::size_t k = aligned.matching.operations[i].members.front().collective;
      for (const MemberFigures& member : figures.members) {
        ASSERT_TRUE(member.wait_by_clocks);
        const std::int64_t wait = arrival(k) - ranks[member.rank].collectives[k].entry;
        EXPECT_LE(std::abs(member.wait_by_clocks->value - wait),
                  member.wait_by_clocks->error + 4000)
            << seed << " operation " << k << " rank " << member.rank;
      }
    }
  }
}

TEST_F(RecordedJob, ADroppedRankIsSaidAndNothingIsWhole) {
  ranks.erase(ranks.begin() + 3);
  const RanksAnalysis found = analysis_of(ranks);
  EXPECT_EQ(found.matching.missing_ranks, std::vector<std::int64_t>{3});
  EXPECT_TRUE(found.matching.unmatched.empty());
  ASSERT_EQ(found.matching.operations.size(), 8U);
  for (const Matched& matched : found.matching.operations) EXPECT_FALSE(matched.complete);
  EXPECT_FALSE(found.warnings.empty());
  EXPECT_TRUE(found.path);
}

/// Few operations that are left of a rank fit in several places: then none is taken.
TEST_F(RecordedJob, ARankOfWhichTooMuchIsDeletedStaysOpen) {
  for (std::ptrdiff_t count = 1; count <= 7; ++count) {
    std::vector<RankSummary> cut = ranks;
    cut[5].collectives.erase(cut[5].collectives.begin(), cut[5].collectives.begin() + count);
    const Aligned aligned = match_and_align(cut);
    const auto left = static_cast<std::size_t>(8 - count);
    const auto why = reasons(aligned.matching, 5);
    SCOPED_TRACE(count);
    if (count <= 6) {
      EXPECT_TRUE(why.empty()) << static_cast<int>(why.begin()->first);
    } else {  // one operation does not even show whose communicator it is of
      EXPECT_EQ(why, (std::map<Unmatched, std::size_t>{{Unmatched::group_unknown, left}}));
    }
    // What is matched is matched right: exits of one operation are close on one host.
    for (const Matched& matched : aligned.matching.operations) {
      for (const Member& member : matched.members)
        EXPECT_EQ(member.collective + (member.rank == 5 ? count : 0),
                  matched.members.front().collective);
    }
  }
}

TEST_F(RecordedJob, TwoSwappedAreLeftOut) {
  std::swap(ranks[2].collectives[4].kind, ranks[2].collectives[5].kind);
  std::swap(ranks[2].collectives[4].channels, ranks[2].collectives[5].channels);
  const RanksAnalysis found = analysis_of(ranks);
  EXPECT_EQ(reasons(found.matching, 2),
            (std::map<Unmatched, std::size_t>{{Unmatched::disagrees, 2}}));
  ASSERT_EQ(found.matching.operations.size(), 8U);
  for (const Matched& matched : found.matching.operations) {
    const std::uint32_t k = matched.members.front().collective;
    EXPECT_EQ(matched.members.size(), k == 4 || k == 5 ? 7U : 8U);
    EXPECT_EQ(matched.complete, k != 4 && k != 5);
  }
}

}  // namespace
}  // namespace perflab::ranks
