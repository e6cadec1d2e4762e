// Which operations of ranks are one: keys, starts that are apart, what is refused and why.
#include "ranks/match/match.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "made_job.h"
#include "ranks/match/places.h"

namespace perflab::ranks {
namespace {

using made_job::Clock;
using made_job::Operation;
using made_job::Settings;

Settings settings_of(std::uint32_t ranks) {
  Settings settings;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    settings.clocks.push_back({1e9 * rank * (rank % 2 == 0 ? 1 : -1), 5e-6 * rank});
  }
  settings.communicators.emplace_back(ranks);
  std::iota(settings.communicators[0].begin(), settings.communicators[0].end(), 0U);
  return settings;
}

std::map<Unmatched, std::size_t> reasons(const Matching& matching) {
  std::map<Unmatched, std::size_t> counts;
  for (const NotMatched& of : matching.unmatched) ++counts[of.why];
  return counts;
}

// All operations of a matched one have the same number of operations of their rank after them.
void expect_counted_from_end(const made_job::Job& job, const Matching& matching) {
  for (const Matched& matched : matching.operations) {
    std::optional<std::size_t> left;
    for (const Member& member : matched.members) {
      const std::size_t own = job.ranks[member.rank].collectives.size() - member.collective;
      EXPECT_EQ(left.value_or(own), own);
      left = own;
    }
  }
}

TEST(RanksMatch, WholeRecordingsOfAllKeysAreMatchedInOrder) {
  for (const KeySource key :
       {KeySource::arguments, KeySource::text, KeySource::calls, KeySource::kernels}) {
    Settings settings = settings_of(5);
    settings.key = key;
    settings.with_members = settings.with_size = key == KeySource::arguments;
    settings.with_sizes = key <= KeySource::text;
    if (key >= KeySource::calls) settings.ids = {""};
    settings.operations = made_job::irregular(7, 1, 60);
    const auto job = made_job::made(settings);
    const Matching matching = match(job.ranks);
    ASSERT_EQ(matching.groups.size(), 1U) << name(key);
    EXPECT_EQ(matching.groups[0].key, key);
    EXPECT_EQ(matching.groups[0].ranks.size(), 5U);
    EXPECT_EQ(matching.groups[0].offsets, std::vector<std::int64_t>(5, 0));
    EXPECT_TRUE(matching.unmatched.empty());
    EXPECT_TRUE(matching.missing_ranks.empty());
    ASSERT_EQ(matching.operations.size(), 60U);
    for (const Matched& matched : matching.operations) {
      EXPECT_EQ(matched.members.size(), 5U);
      EXPECT_TRUE(matched.complete);
    }
    expect_counted_from_end(job, matching);
  }
}

TEST(RanksMatch, SetsOfRanksWithTheSameIdAreCommunicatorsOfTheirOwn) {
  // Twice, as what ties them: lists of members; sizes and the closeness of exits.
  for (const bool with_members : {true, false}) {
    Settings settings = settings_of(8);
    settings.communicators = {{0, 1, 2, 3}, {4, 5, 6, 7}};
    settings.ids = {"7", "7"};
    settings.with_members = with_members;
    for (std::size_t i = 0; i < 120; ++i) {
      for (const std::uint32_t communicator : {0U, 1U}) {
        Operation operation;
        operation.communicator = communicator;
        settings.operations.push_back(operation);
      }
    }
    const auto job = made_job::made(settings);
    const Matching matching = match(job.ranks);
    ASSERT_EQ(matching.groups.size(), 2U) << with_members;
    EXPECT_EQ(matching.groups[0].ranks, (std::vector<RankIndex>{0, 1, 2, 3}));
    EXPECT_EQ(matching.groups[1].ranks, (std::vector<RankIndex>{4, 5, 6, 7}));
    EXPECT_EQ(matching.operations.size(), 240U);
    EXPECT_TRUE(matching.unmatched.empty());
  }
}

TEST(RanksMatch, NodesThatMeetAllTheTimeAreNotTakenForOneCommunicator) {
  // Calls name no communicator. The ranks of all nodes come within less than a transfer takes: no
  // times deny that two nodes' operations are one.
  constexpr std::uint32_t kNodes = 5, kPerNode = 4;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    Settings settings = settings_of(kNodes * kPerNode);
    settings.seed = seed;
    settings.key = KeySource::calls;
    settings.with_members = settings.with_size = settings.with_sizes = false;
    settings.jitter = 40'000;
    settings.exit_spread = 2'000;
    settings.ids.assign(kNodes + 1, "");
    for (std::uint32_t node = 0; node < kNodes; ++node) {
      std::vector<std::uint32_t>& members = settings.communicators.emplace_back();
      for (std::uint32_t i = 0; i < kPerNode; ++i) members.push_back(node * kPerNode + i);
    }
    for (std::size_t i = 0; i < 120; ++i) {
      Operation operation;
      operation.transfer = 40'000;
      operation.kind = CollectiveKind::all_reduce;
      settings.operations.push_back(operation);
      operation.kind = i % 2 == 0 ? CollectiveKind::reduce_scatter : CollectiveKind::all_gather;
      for (operation.communicator = 1; operation.communicator <= kNodes; ++operation.communicator) {
        settings.operations.push_back(operation);
      }
    }
    const Matching matching = match(made_job::made(settings).ranks);
    EXPECT_TRUE(matching.unmatched.empty()) << seed;
    ASSERT_EQ(matching.groups.size(), 1U + kNodes) << seed;
    EXPECT_EQ(matching.operations.size(), 120U * (1 + kNodes)) << seed;
  }
}

TEST(RanksMatch, NodesWhoseWorkDiffersByLittleMoreThanTheirExitsAreToldApart) {
  // Exits of a node's ranks are up to 3 us apart, last arrivals of two nodes a few microseconds.
  constexpr std::uint32_t kNodes = 12, kPerNode = 8;
  Settings settings = settings_of(kNodes * kPerNode);
  for (std::uint32_t rank = 0; rank < kNodes * kPerNode; ++rank) {
    const std::uint32_t node = rank / kPerNode;
    settings.nodes.push_back(node);
    settings.clocks[rank] = {3e9 * node, 1e-6 * node};
  }
  settings.key = KeySource::calls;
  settings.with_members = settings.with_size = settings.with_sizes = false;
  settings.jitter = 30'000;
  settings.exit_spread = 3'000;
  settings.ids.assign(kNodes + 1, "");
  for (std::uint32_t node = 0; node < kNodes; ++node) {
    std::vector<std::uint32_t>& members = settings.communicators.emplace_back();
    for (std::uint32_t i = 0; i < kPerNode; ++i) members.push_back(node * kPerNode + i);
  }
  for (std::size_t i = 0; i < 160; ++i) {
    Operation operation;
    operation.transfer = 40'000;
    settings.operations.push_back(operation);
    operation.kind = i % 2 == 0 ? CollectiveKind::reduce_scatter : CollectiveKind::all_gather;
    for (operation.communicator = 1; operation.communicator <= kNodes; ++operation.communicator) {
      settings.operations.push_back(operation);
    }
  }
  const Matching matching = match(made_job::made(settings).ranks);
  EXPECT_TRUE(matching.unmatched.empty());
  EXPECT_EQ(matching.groups.size(), 1U + kNodes);
  for (const Group& group : matching.groups) {
    if (group.ranks.size() == kNodes * kPerNode) continue;
    ASSERT_EQ(group.ranks.size(), kPerNode);
    EXPECT_EQ(group.ranks.front() / kPerNode, group.ranks.back() / kPerNode);
  }
}

TEST(RanksMatch, WhatIsRefutedEarlyHasNoClocks) {
  std::size_t refuted = 0, possible = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Settings settings = settings_of(2);
    settings.seed = seed;
    settings.operations = made_job::periodic(0, 20, 2);
    const auto job = made_job::made(settings);
    std::vector<std::uint32_t> operations(job.ranks[0].collectives.size()), tokens(80, 1);
    std::iota(operations.begin(), operations.end(), 0U);
    tokens.resize(operations.size(), 1);
    Pair pair;
    pair.reference = &job.ranks[0];
    pair.other = &job.ranks[1];
    pair.reference_operations = pair.other_operations = operations;
    pair.reference_tokens = pair.other_tokens = tokens;
    for (const Shift& shift : agreeing_shifts(tokens, tokens, 30)) {
      const bool is_possible = times_of(pair, shift).possible;
      possible += is_possible ? 1 : 0;
      refuted += is_refuted(pair, shift) ? 1 : 0;
      EXPECT_FALSE(is_possible && is_refuted(pair, shift)) << seed << ' ' << shift.by;
      EXPECT_FALSE(shift.by == 0 && is_refuted(pair, shift)) << seed;
    }
  }
  EXPECT_GT(refuted, 100U);
  EXPECT_GT(possible, 0U);
}

TEST(RanksMatch, MoreRanksThanTheSizeThatCannotBeToldApartAreLeft) {
  Settings settings = settings_of(8);
  settings.communicators = {{0, 1, 2, 3}, {4, 5, 6, 7}};
  settings.ids = {"7", "7"};
  settings.with_members = false;
  settings.jitter = 0;
  settings.exit_spread = 0;
  for (std::size_t i = 0; i < 120; ++i) {
    settings.operations.push_back({i % 2 == 0 ? 0U : 1U});
  }
  const Matching matching = match(made_job::made(settings).ranks);
  EXPECT_TRUE(matching.operations.empty());
  EXPECT_EQ(reasons(matching)[Unmatched::group_unknown], 480U);
}

TEST(RanksMatch, NumbersOfTheRecordingCountMoreThanPlaces) {
  Settings settings = settings_of(3);
  settings.operations = made_job::periodic(0, 3, 8);
  auto job = made_job::made(settings);
  for (RankSummary& rank : job.ranks) {
    for (std::size_t i = 0; i < rank.collectives.size(); ++i) {
      rank.collectives[i].sequence = static_cast<std::int64_t>(100 + i);
    }
  }
  made_job::delete_first(job.ranks[1], 0, 6);
  const Matching matching = match(job.ranks);
  EXPECT_EQ(matching.groups[0].offsets, (std::vector<std::int64_t>{6, 0, 6}));
  EXPECT_EQ(matching.operations.size(), 48U);
  EXPECT_TRUE(matching.unmatched.empty());
  EXPECT_FALSE(matching.operations.front().complete);
  expect_counted_from_end(job, matching);
}

TEST(RanksMatch, StartsApartAreFoundByValues) {
  for (std::size_t deleted = 1; deleted < 40; deleted += 6) {
    Settings settings = settings_of(4);
    settings.operations = made_job::irregular(deleted, 1, 100);
    auto job = made_job::made(settings);
    made_job::delete_first(job.ranks[2], 0, deleted);
    const Matching matching = match(job.ranks);
    const auto count = static_cast<std::int64_t>(deleted);
    EXPECT_EQ(matching.groups[0].offsets, (std::vector<std::int64_t>{count, count, 0, count}));
    EXPECT_EQ(matching.operations.size(), 100U);
    expect_counted_from_end(job, matching);
  }
}

TEST(RanksMatch, StartsApartOfAPeriodAreFoundByTimesThatVary) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Settings settings = settings_of(4);
    settings.seed = seed;
    settings.operations = made_job::periodic(0, 10, 8);
    auto job = made_job::made(settings);
    made_job::delete_first(job.ranks[1], 0, 4);
    const Matching matching = match(job.ranks);
    EXPECT_EQ(matching.groups[0].offsets, (std::vector<std::int64_t>{4, 0, 4, 4})) << seed;
    EXPECT_TRUE(matching.unmatched.empty());
    expect_counted_from_end(job, matching);
  }
}

TEST(RanksMatch, StartsApartOfAPeriodWithEvenTimesAreAmbiguous) {
  Settings settings = settings_of(4);
  settings.operations = made_job::periodic(0, 10, 8);
  settings.jitter = 0;
  auto job = made_job::made(settings);
  made_job::delete_first(job.ranks[1], 0, 4);
  const Matching matching = match(job.ranks);
  EXPECT_EQ(reasons(matching)[Unmatched::start_ambiguous], 156U);
  EXPECT_EQ(matching.unmatched.size(), 156U);
  EXPECT_EQ(matching.groups[0].offsets[1], -1);
  // The other three are matched, without the fourth.
  ASSERT_EQ(matching.operations.size(), 160U);
  EXPECT_EQ(matching.operations[0].members.size(), 3U);
  EXPECT_FALSE(matching.operations[0].complete);
  // That these three begin together is assumed of the two that are not the reference.
  EXPECT_EQ(matching.groups[0].assumed_starts, 2U);
}

/// Of the same length, but a period later: nothing tells it, and so it is said that it is assumed.
/// Where the rhythm varies, times tell it, and nothing is assumed.
TEST(RanksMatch, EquallyLongRecordingsOfAPeriodAreAssumedToBeginTogether) {
  for (const double jitter : {0.0, 1.0}) {
    Settings settings = settings_of(4);
    settings.operations = made_job::periodic(0, 10, 8);
    if (jitter == 0) settings.jitter = 0;
    auto job = made_job::made(settings);
    const Matching whole = match(job.ranks);
    EXPECT_EQ(whole.groups[0].assumed_starts, jitter == 0 ? 3U : 0U) << jitter;
  }
}

TEST(RanksMatch, OneMachinesClockTellsAPeriodWithEvenTimes) {
  Settings settings = settings_of(4);
  settings.operations = made_job::periodic(0, 10, 8);
  settings.jitter = 0;
  settings.nodes = {0, 0, 0, 0};
  settings.clocks.assign(4, Clock{});
  auto job = made_job::made(settings);
  made_job::delete_first(job.ranks[1], 0, 4);
  const Matching matching = match(job.ranks);
  EXPECT_EQ(matching.groups[0].offsets, (std::vector<std::int64_t>{4, 0, 4, 4}));
  EXPECT_TRUE(matching.unmatched.empty());
}

TEST(RanksMatch, SwappedOperationsDisagree) {
  Settings settings = settings_of(4);
  settings.operations = made_job::irregular(3, 1, 100);
  settings.operations[40].bytes = 1;
  settings.operations[41].bytes = 2;
  auto job = made_job::made(settings);
  std::swap(job.ranks[2].collectives[40].send_bytes, job.ranks[2].collectives[41].send_bytes);
  std::swap(job.ranks[2].collectives[40].receive_bytes, job.ranks[2].collectives[41].receive_bytes);
  std::swap(job.ranks[2].collectives[40].kind, job.ranks[2].collectives[41].kind);
  const Matching matching = match(job.ranks);
  EXPECT_EQ(matching.operations.size(), 100U);
  ASSERT_EQ(matching.unmatched.size(), 2U);
  EXPECT_EQ(matching.unmatched[0].member, (Member{2, 40}));
  EXPECT_EQ(matching.unmatched[1].member, (Member{2, 41}));
  EXPECT_EQ(matching.unmatched[0].why, Unmatched::disagrees);
}

TEST(RanksMatch, SwappedNumbersAreDeniedByTheOrderOfTime) {
  Settings settings = settings_of(4);
  for (std::size_t i = 0; i < 20; ++i) settings.operations.push_back({});
  auto job = made_job::made(settings);
  for (RankSummary& rank : job.ranks) {
    for (std::size_t i = 0; i < 20; ++i) {
      rank.collectives[i].sequence = static_cast<std::int64_t>(i);
    }
  }
  std::swap(job.ranks[2].collectives[10].sequence, job.ranks[2].collectives[11].sequence);
  const Matching matching = match(job.ranks);
  EXPECT_EQ(matching.operations.size(), 18U);
  EXPECT_EQ(reasons(matching)[Unmatched::denied_by_times], 8U);
  EXPECT_EQ(matching.unmatched.size(), 8U);
}

TEST(RanksMatch, ADroppedRankIsMissingAndNothingIsComplete) {
  Settings settings = settings_of(4);
  settings.operations = made_job::irregular(3, 1, 30);
  auto job = made_job::made(settings);
  job.ranks.erase(job.ranks.begin() + 1);
  const Matching matching = match(job.ranks);
  EXPECT_EQ(matching.missing_ranks, std::vector<std::int64_t>{1});
  EXPECT_EQ(matching.operations.size(), 30U);
  for (const Matched& matched : matching.operations) EXPECT_FALSE(matched.complete);
}

TEST(RanksMatch, PairsAreMatchedFirstInFirstOut) {
  Settings settings = settings_of(3);
  for (std::size_t i = 0; i < 30; ++i) {
    Operation operation;
    operation.kind = CollectiveKind::send;
    operation.root = static_cast<std::uint32_t>(i % 3);
    operation.peer = static_cast<std::uint32_t>((i + 1) % 3);
    settings.operations.push_back(operation);
  }
  const auto job = made_job::made(settings);
  const Matching matching = match(job.ranks);
  EXPECT_TRUE(matching.unmatched.empty());
  ASSERT_EQ(matching.operations.size(), 30U);
  for (const Matched& matched : matching.operations) {
    ASSERT_EQ(matched.members.size(), 2U);
    ASSERT_TRUE(matched.root);
    for (const Member& member : matched.members) {
      const Collective& of = job.ranks[member.rank].collectives[member.collective];
      EXPECT_EQ(of.kind == CollectiveKind::send, matched.root == member.rank);
    }
  }
  settings.with_peers = false;
  EXPECT_EQ(reasons(match(made_job::made(settings).ranks))[Unmatched::no_key], 60U);
}

/// A root is a number in its communicator. Without members' names, and without numbers of the ranks
/// (ordered by host and process then), nobody knows whose it is.
TEST(RanksMatch, RootsNeedRanksThatHaveNumbers) {
  Settings settings = settings_of(4);
  settings.with_members = false;
  for (std::uint32_t i = 0; i < 20; ++i) {
    Operation operation;
    operation.kind = i % 2 == 0 ? CollectiveKind::broadcast : CollectiveKind::reduce;
    operation.root = i % 4;
    settings.operations.push_back(operation);
  }
  auto job = made_job::made(settings);
  const Matching numbered = match(job.ranks);
  ASSERT_EQ(numbered.operations.size(), 20U);
  for (const Matched& matched : numbered.operations) EXPECT_TRUE(matched.root);
  for (RankSummary& rank : job.ranks) rank.identity.facts.rank.reset();
  const Matching unnumbered = match(job.ranks);
  ASSERT_EQ(unnumbered.operations.size(), 20U);
  for (const Matched& matched : unnumbered.operations) EXPECT_FALSE(matched.root);
}

TEST(RanksMatch, CommunicatorsWithoutNamesAreTiedByTheirExits) {
  Settings settings = settings_of(8);
  settings.key = KeySource::kernels;
  settings.with_members = settings.with_size = settings.with_sizes = false;
  settings.communicators = {{0, 1, 2, 3}, {4, 5, 6, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
  settings.ids.assign(6, "");
  for (std::size_t i = 0; i < 400; ++i) {
    for (std::uint32_t c = 0; c < (i % 4 == 3 ? 6U : 2U); ++c) {
      Operation operation;
      operation.communicator = c;
      settings.operations.push_back(operation);
    }
  }
  const auto job = made_job::made(settings);
  const Matching matching = match(job.ranks);
  std::vector<std::vector<RankIndex>> found;
  for (const Group& group : matching.groups) found.push_back(group.ranks);
  std::sort(found.begin(), found.end());
  std::vector<std::vector<RankIndex>> wanted(settings.communicators.begin(),
                                             settings.communicators.end());
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(found, wanted);
  EXPECT_TRUE(matching.unmatched.empty());
}

TEST(RanksMatch, OrderKeepsWhatEveryRankMeets) {
  Settings settings = settings_of(6);
  settings.communicators = {{0, 1, 2, 3, 4, 5}, {0, 1, 2}, {3, 4, 5}};
  settings.operations = made_job::irregular(11, 3, 300);
  const auto job = made_job::made(settings);
  const Matching matching = match(job.ranks);
  EXPECT_EQ(matching.operations.size(), 300U);
  std::vector<std::int64_t> latest(6, -1);
  for (const Matched& matched : matching.operations) {
    if (info(matched.kind).waits != Waits::everyone) continue;
    for (const Member& member : matched.members) {
      EXPECT_GT(static_cast<std::int64_t>(member.collective), latest[member.rank]);
      latest[member.rank] = member.collective;
    }
  }
}

TEST(RanksMatch, ShiftsThatAgree) {
  const std::vector<std::uint32_t> whole = {0, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3};
  const auto cut = std::span(whole).subspan(7);
  std::vector<std::int64_t> found;
  for (const Shift& shift : agreeing_shifts(whole, cut, 100)) {
    EXPECT_EQ(shift.different, 0U);
    found.push_back(shift.by);
  }
  EXPECT_EQ(found, (std::vector<std::int64_t>{1, 4, 7, 10}));
  EXPECT_TRUE(agreeing_shifts(whole, {}, 100).empty());
  const auto unique = agreeing_shifts(whole, std::span(whole).first(6), 100);
  ASSERT_EQ(unique.size(), 1U);
  EXPECT_EQ(unique[0].by, 0);
}

}  // namespace
}  // namespace perflab::ranks
