// Clocks of made-up jobs, whose truth is known.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "../match/made_job.h"
#include "base/random.h"
#include "ranks/clocks/align.h"

namespace perflab::ranks {
namespace {

using made_job::Clock;
using made_job::Settings;

double in_range(SplitMix64& random, double from, double to) {
  return from + (to - from) * static_cast<double>(random.next() >> 11U) * 0x1p-53;
}

struct Checked {
  std::size_t moments = 0, certified = 0;
  double worst = 0;        // ns, distance from truth
  double worst_ratio = 0;  // of it and the stated error
};

// At moments of common time, where every rank's clock should have the reference's time.
Checked check(const made_job::Job& job, const Clocks& clocks, std::int64_t from, std::int64_t to) {
  Checked checked;
  for (RankIndex rank = 0; rank < job.ranks.size(); ++rank) {
    const RankIndex reference = clocks.reference[clocks.ranks[rank].zone];
    for (int i = 0; i <= 10; ++i) {
      const std::int64_t moment = from + (to - from) / 10 * i;
      const std::int64_t own = job.clocks[rank].own(moment);
      const auto off = static_cast<double>(
          std::abs(clocks.aligned(rank, own) -
                   clocks.aligned(reference, job.clocks[reference].own(moment))));
      checked.worst = std::max(checked.worst, off);
      ++checked.moments;
      const auto error = clocks.error(rank, reference, own);
      if (!error) continue;
      ++checked.certified;
      // Times are whole: two roundings.
      EXPECT_LE(off, static_cast<double>(*error) + 3) << "rank " << rank << " at " << i;
      if (rank != reference) {
        checked.worst_ratio =
            std::max(checked.worst_ratio, off / std::max(1.0, static_cast<double>(*error)));
      }
    }
  }
  return checked;
}

Settings random_settings(std::uint64_t seed) {
  SplitMix64 random(seed);
  Settings settings;
  settings.seed = seed;
  const std::uint32_t per_node = 1U << (random.next() % 3);
  const auto nodes = static_cast<std::uint32_t>(1 + random.next() % 4);
  const std::uint32_t ranks = std::max(2U, per_node * nodes);
  constexpr double kDay = 86400e9;
  const double range = random.next() % 2 == 0 ? 1e9 : 30 * kDay;
  const bool machines = random.next() % 3 != 0;
  std::vector<Clock> of_node;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::uint32_t node = rank / per_node;
    if (node == of_node.size()) {
      of_node.push_back({in_range(random, -range, range), in_range(random, -50e-6, 50e-6)});
    }
    Clock clock = machines
                      ? of_node[node]
                      : Clock{in_range(random, -range, range), in_range(random, -50e-6, 50e-6)};
    if (machines) {
      settings.nodes.push_back(node);
      clock.offset += in_range(random, -2000, 2000);
    }
    settings.clocks.push_back(clock);
  }
  std::vector<std::uint32_t>& world = settings.communicators.emplace_back();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) world.push_back(rank);
  if (ranks > 3) {
    settings.communicators.push_back({0, 1});
    settings.communicators.push_back({2, 3});
  }
  settings.operations = made_job::irregular(
      seed, static_cast<std::uint32_t>(settings.communicators.size()), 20 + random.next() % 300);
  return settings;
}

TEST(RanksClocks, TruthIsWithinTheStatedErrorInAllJobs) {
  double worst = 0;
  std::size_t certified = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Settings settings = random_settings(seed);
    const auto job = made_job::made(settings);
    const Aligned aligned = match_and_align(job.ranks);
    EXPECT_TRUE(aligned.matching.unmatched.empty()) << seed;
    EXPECT_EQ(aligned.matching.operations.size(), settings.operations.size()) << seed;
    EXPECT_EQ(aligned.clocks.zones, 1U) << seed;
    EXPECT_EQ(aligned.clocks.violation_count, 0U) << seed;
    const Checked checked =
        check(job, aligned.clocks, 1'000'000'000,
              1'000'000'000 + static_cast<std::int64_t>(settings.operations.size()) * 700'000);
    certified += checked.certified;
    worst = std::max(worst, checked.worst);
    if (HasFailure()) {
      FAIL() << "seed " << seed;
    }
  }
  // Exits lie within 5 us of each other: the estimate is not worse than a few times that.
  EXPECT_LT(worst, 60'000);
  EXPECT_GT(certified, 5000U);
  RecordProperty("worst_ns", std::to_string(worst));
}

TEST(RanksClocks, RanksThatNeverMeetHaveZonesOfTheirOwn) {
  Settings settings;
  settings.clocks = {{0, 0}, {5e9, 0}, {7e9, 0}, {-3e9, 0}};
  settings.communicators = {{0, 2}, {1, 3}};
  settings.operations = made_job::irregular(5, 2, 60);
  const auto job = made_job::made(settings);
  const Aligned aligned = match_and_align(job.ranks);
  EXPECT_EQ(aligned.clocks.zones, 2U);
  EXPECT_EQ(aligned.clocks.reference, (std::vector<RankIndex>{0, 1}));
  EXPECT_EQ(aligned.clocks.ranks[2].zone, 0U);
  EXPECT_EQ(aligned.clocks.ranks[3].zone, 1U);
  EXPECT_FALSE(aligned.clocks.error(0, 1, 0));
  EXPECT_TRUE(aligned.clocks.error(0, 2, 0));
}

TEST(RanksClocks, OneMachineIsOneClockAndAClonedNameIsNot) {
  Settings settings;
  settings.clocks = {{0, 0}, {1500, 0}, {-1000, 0}};
  settings.nodes = {0, 0, 0};
  settings.communicators = {{0, 1, 2}};
  settings.operations = made_job::irregular(6, 1, 100);
  auto job = made_job::made(settings);
  Aligned aligned = match_and_align(job.ranks);
  for (const RankClock& clock : aligned.clocks.ranks) {
    EXPECT_EQ(clock.node, 0U);
    EXPECT_EQ(clock.drift, 0);
    EXPECT_LE(clock.near, 14'000);
  }
  settings.clocks[2].offset = 4e9;
  job = made_job::made(settings);
  aligned = match_and_align(job.ranks);
  EXPECT_EQ(aligned.clocks.ranks[1].node, 0U);
  EXPECT_NE(aligned.clocks.ranks[2].node, 0U);
  EXPECT_EQ(aligned.clocks.zones, 1U);
  check(job, aligned.clocks, 1'000'000'000, 1'050'000'000);
}

TEST(RanksClocks, BroadcastsAloneBoundOneSide) {
  Settings settings;
  settings.clocks = {{0, 0}, {1e9, 0}};
  settings.communicators = {{0, 1}};
  settings.operations.assign(40, {});
  for (auto& operation : settings.operations) operation.kind = CollectiveKind::broadcast;
  const auto job = made_job::made(settings);
  const Aligned aligned = match_and_align(job.ranks);
  const RankClock& clock = aligned.clocks.ranks[1];
  EXPECT_TRUE(clock.low.has_value() != clock.high.has_value());
  EXPECT_FALSE(aligned.clocks.error(0, 1, 0));
}

TEST(RanksClocks, APlaceThatTimesRefuteIsNotTaken) {
  // Numbers that are wrong by one for a rank: no offset makes every exit follow every entry.
  Settings settings;
  settings.clocks.assign(4, Clock{});
  settings.communicators = {{0, 1, 2, 3}};
  settings.operations.assign(200, {});
  auto job = made_job::made(settings);
  for (RankIndex rank = 0; rank < 4; ++rank) {
    auto& collectives = job.ranks[rank].collectives;
    for (std::size_t i = 0; i < collectives.size(); ++i) {
      collectives[i].sequence = static_cast<std::int64_t>(i + (rank == 2 ? 1 : 0));
    }
  }
  const Aligned aligned = match_and_align(job.ranks);
  EXPECT_EQ(aligned.matching.operations.size(), 200U);
  for (const Matched& matched : aligned.matching.operations) {
    EXPECT_EQ(matched.members.size(), 3U);
  }
  ASSERT_EQ(aligned.matching.unmatched.size(), 200U);
  for (const NotMatched& of : aligned.matching.unmatched) {
    EXPECT_EQ(of.member.rank, 2U);
    EXPECT_EQ(of.why, Unmatched::denied_by_times);
  }
  EXPECT_EQ(aligned.clocks.zones, 2U);
}

TEST(RanksClocks, AnAmbiguousStartIsFoundByClocksOfAnotherCommunicator) {
  Settings settings;
  settings.clocks = {{0, 0}, {3e9, 10e-6}};
  settings.communicators = {{0, 1}, {0, 1}};
  settings.jitter = 0;
  settings.operations.assign(60, {});
  auto job = made_job::made(settings);
  made_job::delete_first(job.ranks[1], 0, 3);
  EXPECT_EQ(match_and_align(job.ranks).matching.unmatched.size(), 117U);
  for (auto operation : made_job::irregular(9, 1, 20)) {
    operation.communicator = 1;
    settings.operations.push_back(operation);
  }
  job = made_job::made(settings);
  made_job::delete_first(job.ranks[1], 0, 3);
  const Aligned aligned = match_and_align(job.ranks);
  // The three that the second did not record.
  ASSERT_EQ(aligned.matching.unmatched.size(), 3U);
  EXPECT_EQ(aligned.matching.unmatched[0].member, (Member{0, 0}));
  EXPECT_EQ(aligned.matching.unmatched[0].why, Unmatched::no_partner);
  EXPECT_EQ(aligned.matching.groups[0].offsets, (std::vector<std::int64_t>{3, 0}));
}

/// An exit before what it must follow: by as much as times of GPUs are off it is noise, by more
/// than any error a violation.
TEST(RanksClocks, NoiseIsCountedApartFromViolations) {
  Settings settings;
  settings.clocks = {{0, 0}, {2e9, 0}, {-5e9, 0}};
  settings.communicators = {{0, 1, 2}};
  settings.exit_spread = 0;
  settings.operations = made_job::irregular(3, 1, 300);
  for (auto& operation : settings.operations) operation.kind = CollectiveKind::all_reduce;
  auto job = made_job::made(settings);
  // Numbered: places are not looked for by times.
  for (RankSummary& rank : job.ranks)
    for (std::size_t k = 0; k < rank.collectives.size(); ++k)
      rank.collectives[k].sequence = static_cast<std::int64_t>(k);
  const Clocks whole = clocks_of(job.ranks, match(job.ranks));
  EXPECT_EQ(whole.violation_count, 0U);
  EXPECT_EQ(whole.noise_count, 0U);
  EXPECT_EQ(whole.largest_noise, 0);
  // A rank enters late what the others left. Two that do so in turn: no clocks explain both.
  const auto tear = [&](RankIndex rank, std::size_t operation, std::int64_t by) {
    Collective& late = job.ranks[rank].collectives[operation];
    late.entry = late.exit + by;
    late.exit = late.entry + 20'000;
  };
  tear(2, 100, 3'000);
  tear(0, 150, 3'000);
  tear(2, 200, 200'000);
  const Aligned torn = match_and_align(job.ranks);
  ASSERT_EQ(torn.matching.operations.size(), 300U);
  EXPECT_TRUE(torn.matching.unmatched.empty());
  EXPECT_GE(torn.clocks.noise_count, 2U);
  EXPECT_GT(torn.clocks.largest_noise, 0);
  EXPECT_LE(torn.clocks.largest_noise, 4'000);
  EXPECT_EQ(torn.clocks.violation_count, 1U);
  ASSERT_EQ(torn.clocks.violations.size(), 1U);
  EXPECT_EQ(torn.clocks.violations[0].comes, 2U);
  EXPECT_LE(std::abs(torn.clocks.violations[0].by - 200'000), 10'000);
}

}  // namespace
}  // namespace perflab::ranks
