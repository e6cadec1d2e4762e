// Waits, last arrivers, lateness and causes of made-up jobs against what happened in them.
#include "ranks/figures/all_figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "ranks/figures/cause.h"
#include "ranks/figures/rules.h"
#include "ranks/figures/statistics.h"
#include "support/rank_jobs.h"

namespace perflab::ranks {
namespace {

using test::make_rank_job;
using test::RankJob;
using test::RankJobOptions;
using test::RankJobTruth;

/// The matching that the truth says, of what was recorded.
Matching true_matching(const RankJob& job) {
  Matching out;
  for (const auto& ranks : job.truth.groups) {
    Group group;
    for (const std::uint32_t rank : ranks)
      if (job.truth.place[rank]) group.ranks.push_back(*job.truth.place[rank]);
    group.size = static_cast<std::int64_t>(ranks.size());
    out.groups.push_back(std::move(group));
  }
  for (const RankJobTruth::Operation& operation : job.truth.operations) {
    Matched matched{.group = operation.communicator,
                    .kind = operation.kind,
                    .members = {},
                    .complete = true,
                    .root = std::nullopt};
    for (const auto& member : operation.members) {
      if (!member.collective) {
        matched.complete = false;
        continue;
      }
      matched.members.push_back({*job.truth.place[member.rank], *member.collective});
    }
    if (operation.root) matched.root = job.truth.place[*operation.root];
    out.operations.push_back(std::move(matched));
  }
  return out;
}

/// Clocks that are wrong by `wrong` ns at most, and say that they are by `stated`.
Clocks clocks_that_say(const RankJob& job, double stated) {
  Clocks out;
  out.zones = 1;
  out.reference = {0};
  out.ranks.resize(job.summaries.size());
  for (std::uint32_t rank = 0; rank < job.truth.clocks.size(); ++rank) {
    if (!job.truth.place[rank]) continue;
    RankClock& clock = out.ranks[*job.truth.place[rank]];
    clock.at = job.truth.local(rank, 0);
    clock.offset = static_cast<double>(test::kJobStart - clock.at);
    clock.low = clock.offset - stated / 2;
    clock.high = clock.offset + stated / 2;
    clock.node = rank;  // each its own clock
  }
  return out;
}

Clocks no_clocks(const RankJob& job) {
  Clocks out;
  out.ranks.resize(job.summaries.size());
  for (std::uint32_t rank = 0; rank < out.ranks.size(); ++rank) {
    out.ranks[rank].zone = rank;
    out.ranks[rank].node = rank;
    out.reference.push_back(rank);
  }
  out.zones = static_cast<std::uint32_t>(out.ranks.size());
  return out;
}

/// Latest entry of all members but those that `skip`.
template <class Skip>
std::int64_t latest_but(const RankJobTruth::Operation& operation, const Skip& skip) {
  std::int64_t latest = 0;
  for (const auto& member : operation.members)
    if (!skip(member)) latest = std::max(latest, member.entry);
  return latest;
}

/// The wait of a member by its kind, written down anew. Null: nothing may be said.
std::optional<std::int64_t> true_wait(const RankJobTruth::Operation& operation,
                                      const RankJobTruth::Member& own) {
  const bool is_root = operation.root == own.rank;
  switch (operation.kind) {
    case CollectiveKind::all_reduce:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather:
    case CollectiveKind::all_to_all:
    case CollectiveKind::barrier:
      return latest_but(operation, [](const auto&) { return false; }) - own.entry;
    case CollectiveKind::broadcast:
    case CollectiveKind::scatter:
    case CollectiveKind::send:
    case CollectiveKind::receive: {
      if (is_root || !operation.root) return std::nullopt;
      const auto of_root =
          latest_but(operation, [&](const auto& one) { return one.rank != *operation.root; });
      return std::max<std::int64_t>(of_root - own.entry, 0);
    }
    case CollectiveKind::reduce:
    case CollectiveKind::gather: {
      if (!is_root) return std::nullopt;
      const auto others =
          latest_but(operation, [&](const auto& one) { return one.rank == own.rank; });
      return std::max<std::int64_t>(others - own.entry, 0);
    }
    default:
      return std::nullopt;
  }
}

RankJobOptions job_of_kinds(std::uint64_t seed) {
  RankJobOptions options = test::random_rank_job(seed, 16);
  options.offset_range = 5'000'000;
  return options;
}

TEST(RankFigures, WaitsByClocksAreThoseOfTheJob) {
  std::size_t compared = 0, nothing = 0;
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE(seed);
    const RankJob job = make_rank_job(job_of_kinds(seed));
    const Matching matching = true_matching(job);
    const Clocks clocks = clocks_that_say(job, 10);
    for (std::uint32_t i = 0; i < matching.operations.size(); ++i) {
      const OperationFigures figures = operation_figures(job.summaries, matching, clocks, i);
      const auto& truth = job.truth.operations[i];
      ASSERT_EQ(figures.members.size(), truth.members.size());
      for (std::size_t m = 0; m < truth.members.size(); ++m) {
        const auto expected = true_wait(truth, truth.members[m]);
        const auto& found = figures.members[m].wait_by_clocks;
        ASSERT_EQ(expected.has_value(), found.has_value()) << i << " " << m;
        if (!found) {
          ++nothing;
          continue;
        }
        ++compared;
        EXPECT_LE(std::abs(*expected - found->value), 2);  // rounding of a clock's time
        if (truth.members[m].entry != truth.arrival()) {
          EXPECT_GE(found->error, 10);
        }
      }
    }
  }
  EXPECT_GT(compared, 5000U);
  EXPECT_GT(nothing, 100U);
}

TEST(RankFigures, DurationsAloneGiveWaitsWithinTheirError) {
  std::size_t compared = 0, decided = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    RankJobOptions options = job_of_kinds(seed);
    options.kinds = {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                     CollectiveKind::all_gather};
    options.jitter = 7'000;
    options.offset_range = 1'000'000'000'000;
    const RankJob job = make_rank_job(options);
    const Matching matching = true_matching(job);
    const Clocks clocks = no_clocks(job);
    for (std::uint32_t i = 0; i < matching.operations.size(); ++i) {
      const OperationFigures figures = operation_figures(job.summaries, matching, clocks, i);
      const auto& truth = job.truth.operations[i];
      EXPECT_FALSE(figures.entry_skew);
      for (std::size_t m = 0; m < truth.members.size(); ++m) {
        EXPECT_FALSE(figures.members[m].wait_by_clocks);
        const Uncertain wait = figures.members[m].wait_by_durations.value();
        EXPECT_LE(std::abs(wait.value - true_wait(truth, truth.members[m]).value()), wait.error);
        ++compared;
      }
      if (!figures.last) continue;
      ++decided;
      EXPECT_EQ(figures.last, truth.last());
      const std::int64_t second =
          latest_but(truth, [&](const auto& one) { return one.rank == truth.last(); });
      EXPECT_LE(std::abs(figures.last_margin->value - (truth.arrival() - second)),
                figures.last_margin->error);
    }
  }
  EXPECT_GT(compared, 3000U);
  EXPECT_GT(decided, 500U);
}

TEST(RankFigures, TheLastArriverIsUndecidedWithinTheErrorOfClocks) {
  RankJobOptions options;
  options.kinds = {CollectiveKind::all_reduce};
  options.transfer = 100'000'000;  // durations alone decide nothing
  for (const double error : {10.0, 200'000.0, 1e9}) {
    std::size_t decided = 0, undecided = 0;
    const RankJob job = make_rank_job(options);
    const Matching matching = true_matching(job);
    const Clocks clocks = clocks_that_say(job, error);
    for (std::uint32_t i = 0; i < matching.operations.size(); ++i) {
      const OperationFigures figures = operation_figures(job.summaries, matching, clocks, i);
      const auto& truth = job.truth.operations[i];
      const std::int64_t margin = truth.arrival() - latest_but(truth, [&](const auto& one) {
                                    return one.rank == truth.last();
                                  });
      if (std::abs(static_cast<double>(margin) - error) < 5) continue;
      EXPECT_EQ(figures.last.has_value(), static_cast<double>(margin) > error) << margin;
      if (figures.last) {
        EXPECT_EQ(figures.last_by, Tier::clocks);
      }
      (figures.last ? decided : undecided) += 1;
    }
    if (error < 100) {
      EXPECT_GT(decided, 30U);
    }
    if (error > 1e8) {
      EXPECT_EQ(decided, 0U);
    }
  }
}

TEST(RankFigures, SumsOfRanksAreThoseOfTheOperations) {
  const RankJob job = make_rank_job(job_of_kinds(7));
  const Matching matching = true_matching(job);
  const Clocks clocks = clocks_that_say(job, 10);
  const Figures all = all_figures(job.summaries, matching, clocks, {});
  std::vector<RankFigures> ranks(job.summaries.size());
  std::map<std::pair<RankIndex, RankIndex>, std::int64_t> matrix;
  for (std::uint32_t i = 0; i < matching.operations.size(); ++i) {
    const OperationFigures one = operation_figures(job.summaries, matching, clocks, i);
    for (const MemberFigures& member : one.members) {
      ranks[member.rank].kernel_time += member.duration;
      const auto wait = OperationFigures::wait(member);
      if (!wait) continue;
      ranks[member.rank].judged_time += member.duration;
      ranks[member.rank].wait.value += wait->value;
      if (!one.last || one.last == member.rank) continue;
      ranks[*one.last].delay_caused.value += wait->value;
      matrix[{member.rank, *one.last}] += wait->value;
    }
    if (one.last) ranks[*one.last].lateness.value += one.last_margin->value;
  }
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    EXPECT_EQ(all.ranks[rank].kernel_time, ranks[rank].kernel_time);
    EXPECT_EQ(all.ranks[rank].judged_time, ranks[rank].judged_time);
    EXPECT_EQ(all.ranks[rank].wait.value, ranks[rank].wait.value);
    EXPECT_EQ(all.ranks[rank].lateness.value, ranks[rank].lateness.value);
    EXPECT_EQ(all.ranks[rank].delay_caused.value, ranks[rank].delay_caused.value);
  }
  ASSERT_EQ(all.matrix.size(), matrix.size());
  for (const WaitsFor& cell : all.matrix)
    EXPECT_EQ(cell.wait, matrix.at(std::pair(cell.waits, cell.last)));
  std::uint64_t operations = 0;
  for (const Statistics& row : all.statistics) operations += row.operations;
  EXPECT_EQ(operations, matching.operations.size());
}

TEST(RankFigures, BytesAndFactorsAreThoseOfRcclTests) {
  using enum CollectiveKind;
  // 8 ranks; what a call of 1 MB per rank gives and gets.
  EXPECT_EQ(algorithm_bytes(all_reduce, 1000, 1000, 8), 1000);
  EXPECT_EQ(algorithm_bytes(reduce_scatter, 8000, 1000, 8), 8000);
  EXPECT_EQ(algorithm_bytes(reduce_scatter, std::nullopt, 1000, 8), 8000);
  EXPECT_EQ(algorithm_bytes(all_gather, 1000, std::nullopt, 8), 8000);
  EXPECT_EQ(algorithm_bytes(broadcast, std::nullopt, 1000, 8), 1000);
  EXPECT_EQ(algorithm_bytes(barrier, 4, 4, 8), std::nullopt);
  EXPECT_EQ(algorithm_bytes(all_reduce, std::nullopt, std::nullopt, 8), std::nullopt);
  EXPECT_DOUBLE_EQ(bus_factor(all_reduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(bus_factor(reduce_scatter, 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_factor(broadcast, 8), 1);
}

/// 2^62 bytes of 8 ranks have no room, and without the number of ranks nothing is multiplied.
TEST(RankFigures, BytesOfAllRanksNeedTheirNumberAndRoom) {
  using enum CollectiveKind;
  EXPECT_EQ(algorithm_bytes(reduce_scatter, std::nullopt, std::int64_t{1} << 62, 8), std::nullopt);
  EXPECT_EQ(algorithm_bytes(all_gather, std::int64_t{1} << 62, 100, 8), 100);
  EXPECT_EQ(algorithm_bytes(all_gather, 1000, std::nullopt, 0), std::nullopt);
  EXPECT_EQ(algorithm_bytes(all_reduce, 1000, std::nullopt, 0), 1000);
}

/// The rank that all wait for was not recorded: their kernels are long and end alike. That is no
/// transfer, and has no bandwidth.
TEST(RankFigures, WhereARankIsMissingNothingIsTransfer) {
  RankJobOptions options;
  options.ranks = 8;
  options.kinds = {CollectiveKind::all_reduce};
  options.work_spread = 10;
  options.late = {{5, 20'000'000}};
  options.dropped = {5};
  const RankJob job = make_rank_job(options);
  const Matching matching = true_matching(job);
  const Figures all = all_figures(job.summaries, matching, no_clocks(job), {});
  for (const OperationFigures& one : all.worst) EXPECT_FALSE(one.transfer);
  for (const Statistics& row : all.statistics) {
    EXPECT_EQ(row.incomplete, row.operations);
    EXPECT_LT(row.wait_share.value(), rules::kTransferDominates);
    EXPECT_EQ(row.verdict, SlowOrWaiting::undecided);
    EXPECT_DOUBLE_EQ(row.wait_share_high.value(), 1);
    EXPECT_TRUE(row.bytes);
    EXPECT_FALSE(row.transfer_median);
    EXPECT_FALSE(row.bus_gb_per_s);
  }
}

/// Three operations are too few for a pattern, however clear they are.
TEST(RankFigures, FewOperationsAreNoPatternAndNotWithinTheError) {
  RankJobOptions options;
  options.ranks = 8;
  options.operations = 3;
  options.kinds = {CollectiveKind::all_reduce};
  options.late = {{5, 20'000'000}};
  const RankJob job = make_rank_job(options);
  Matching matching = true_matching(job);
  const auto doubt = [&] {
    return all_figures(job.summaries, matching, no_clocks(job), {}).pattern.doubt;
  };
  EXPECT_EQ(doubt(), PatternDoubt::few_operations);
  // More operations of which nothing is known do not make them more.
  for (int i = 0; i < 5; ++i) {
    matching.operations.push_back(matching.operations.front());
    matching.operations.back().kind = CollectiveKind::group;
  }
  EXPECT_EQ(doubt(), PatternDoubt::few_operations);
}

/// Waits of kinds that say nothing are in no sum that waits are compared with.
TEST(RankFigures, TimeThatNothingIsKnownOfIsNotJudged) {
  RankJobOptions options;
  options.kinds = {CollectiveKind::all_reduce, CollectiveKind::broadcast, CollectiveKind::send};
  options.operations = 60;
  const RankJob job = make_rank_job(options);
  const Matching matching = true_matching(job);
  const Figures all = all_figures(job.summaries, matching, no_clocks(job), {});
  std::vector<std::int64_t> judged(job.summaries.size());
  for (const Matched& matched : matching.operations)
    if (matched.kind == CollectiveKind::all_reduce)
      for (const Member& member : matched.members) {
        const Collective& own = job.summaries[member.rank].collectives[member.collective];
        judged[member.rank] += own.exit - own.entry;
      }
  for (std::size_t rank = 0; rank < judged.size(); ++rank) {
    EXPECT_EQ(all.ranks[rank].judged_time, judged[rank]);
    EXPECT_LT(judged[rank], all.ranks[rank].kernel_time);
    EXPECT_LE(all.ranks[rank].wait.value, judged[rank]);
  }
}

TEST(RankFigures, SlowOrWaitingNeedsTheWholeInterval) {
  EXPECT_EQ(slow_or_waiting(0.7, 0.9), SlowOrWaiting::wait_dominated);
  EXPECT_EQ(slow_or_waiting(0.6, 0.9), SlowOrWaiting::undecided);
  EXPECT_EQ(slow_or_waiting(0.0, 0.3), SlowOrWaiting::transfer_dominated);
  EXPECT_EQ(slow_or_waiting(0.0, 0.4), SlowOrWaiting::undecided);
  EXPECT_EQ(slow_or_waiting(0.4, 0.6), SlowOrWaiting::mixed);
}

/// A job of 8 ranks in which rank 5 comes 20 ms late each time.
RankJob late_job() {
  RankJobOptions options;
  options.ranks = 8;
  options.kinds = {CollectiveKind::all_reduce};
  options.work_spread = 10;
  options.late = {{5, 20'000'000}};
  return make_rank_job(options);
}

TEST(RankFigures, OneLateRankIsNamedWithItsWaits) {
  const RankJob job = late_job();
  const Matching matching = true_matching(job);
  const Figures all = all_figures(job.summaries, matching, no_clocks(job), {});
  EXPECT_EQ(all.pattern.pattern, Pattern::persistent);
  EXPECT_EQ(all.pattern.rank, 5U);
  ASSERT_EQ(all.stragglers, std::vector<RankIndex>{5});
  std::int64_t truth = 0;
  for (const auto& operation : job.truth.operations)
    for (const auto& member : operation.members) truth += operation.arrival() - member.entry;
  EXPECT_LE(std::abs(all.ranks[5].delay_caused.value - truth), all.ranks[5].delay_caused.error);
  EXPECT_GT(truth, 7 * 40 * 19'900'000LL);
  EXPECT_EQ(all.ranks[5].last, 40U);
  EXPECT_EQ(all.statistics.front().verdict, SlowOrWaiting::wait_dominated);
}

TEST(RankFigures, RandomLatenessIsNoStraggler) {
  RankJobOptions options;
  options.ranks = 8;
  options.operations = 300;
  options.kinds = {CollectiveKind::all_reduce};
  const RankJob job = make_rank_job(options);
  const Figures all = all_figures(job.summaries, true_matching(job), clocks_that_say(job, 10), {});
  EXPECT_EQ(all.pattern.pattern, Pattern::rotating);
}

TEST(RankFigures, LatenessThatFollowsTheWorkIsImbalance) {
  RankJobOptions options;
  options.ranks = 8;
  options.operations = 60;
  options.kinds = {CollectiveKind::all_reduce};
  RankJob job = make_rank_job(options);
  std::vector<std::vector<std::int64_t>> busy;
  for (RankSummary& rank : job.summaries) {
    busy.emplace_back();
    for (const Work& work : rank.work) busy.back().push_back(work.length);
  }
  const Figures all =
      all_figures(job.summaries, true_matching(job), clocks_that_say(job, 10), busy);
  EXPECT_EQ(all.pattern.pattern, Pattern::imbalance);
  EXPECT_GT(all.pattern.correlation.value(), 0.9);
}

TEST(RankFigures, TheRanksOfOneNodeAreByNode) {
  RankJobOptions options;
  options.ranks = 8;
  options.ranks_per_node = 4;
  options.operations = 100;
  options.kinds = {CollectiveKind::all_reduce};
  for (std::uint32_t rank = 4; rank < 8; ++rank) options.late.emplace_back(rank, 1'000'000);
  const RankJob job = make_rank_job(options);
  const Figures all = all_figures(job.summaries, true_matching(job), clocks_that_say(job, 10), {});
  EXPECT_EQ(all.pattern.pattern, Pattern::by_node);
  EXPECT_EQ(all.pattern.node, job.summaries[4].identity.hostname);
}

/// The causes of the late job after its work was replaced: `stretch` says of a rank and collective
/// what came before it.
template <class Stretch>
Cause cause_after(const Stretch& stretch) {
  RankJob job = late_job();
  for (std::uint32_t rank = 0; rank < job.summaries.size(); ++rank) {
    RankSummary& summary = job.summaries[rank];
    summary.names = {"gemm", "norm", "attention"};
    for (std::size_t k = 0; k < summary.work.size(); ++k)
      stretch(rank, summary.work[k], [&](analyze::Spent kind, std::int64_t time) {
        for (auto& edge : summary.graph.edges)
          if (k < summary.collectives.size() && edge.to == summary.entry_vertex(k)) {
            edge.spent = {};
            edge.spent[static_cast<std::size_t>(kind)] = time;
          }
      });
  }
  const Matching matching = true_matching(job);
  const Clocks clocks = no_clocks(job);
  const Figures all = all_figures(job.summaries, matching, clocks, {});
  CauseFinder finder(job.summaries, matching, clocks, all);
  for (RankIndex rank = 0; rank < job.summaries.size(); ++rank)
    finder.add(rank, job.summaries[rank]);
  const std::vector<Cause> causes = finder.causes();
  EXPECT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes.at(0).rank, 5U);
  EXPECT_EQ(causes.at(0).operations, 40U);
  return causes.at(0);
}

/// Kernels before a collective: each ns per dispatch and dispatches.
Work kernels_of(std::int64_t length,
                const std::vector<std::pair<std::int64_t, std::uint64_t>>& kernels) {
  Work work{.length = length, .busy = 0, .copies = 0, .kernels = {}, .other_kernels = 0};
  for (Name name = 0; name < kernels.size(); ++name) {
    const auto& [each, dispatches] = kernels[name];
    const auto time = each * static_cast<std::int64_t>(dispatches);
    work.kernels.push_back({.kernel = name, .dispatches = dispatches, .time = time});
    work.busy += time;
  }
  return work;
}

constexpr std::int64_t kLate = 20'000'000;

TEST(RankCauses, ASlowKernelIsNamed) {
  const Cause cause = cause_after([](RankIndex rank, Work& work, const auto&) {
    work = kernels_of(work.length, {{rank == 5 ? 5'100'000 : 100'000, 4}, {50'000, 2}});
  });
  EXPECT_EQ(cause.kind, CauseKind::slow_kernel);
  EXPECT_EQ(cause.kernel->kernel, "gemm");
  EXPECT_EQ(cause.kernel->time - cause.kernel->median_time, 40 * kLate);
}

TEST(RankCauses, AKernelThatRunsMoreOftenIsNamed) {
  const Cause cause = cause_after([](RankIndex rank, Work& work, const auto&) {
    work = kernels_of(work.length, {{100'000, 4}, {50'000, rank == 5 ? 402U : 2U}});
  });
  EXPECT_EQ(cause.kind, CauseKind::more_dispatches);
  EXPECT_EQ(cause.kernel->kernel, "norm");
  EXPECT_EQ(cause.kernel->dispatches, 40U * 402);
  EXPECT_EQ(cause.kernel->median_dispatches, 40U * 2);
}

/// A stretch names its longest kernels alone: what others do not name, they may have run.
TEST(RankCauses, AKernelThatOthersDoNotNameIsNotOneThatTheyDoNotRun) {
  const Cause cause = cause_after([](RankIndex rank, Work& work, const auto&) {
    work = kernels_of(work.length, {{rank == 5 ? 5'000'000 : 0, 4}, {300'000, 1}});
    if (rank == 5) return;
    work.kernels.erase(work.kernels.begin());
    work.other_kernels = 250'000;
    work.busy += 250'000;
  });
  EXPECT_EQ(cause.kind, CauseKind::several_kernels);
  ASSERT_TRUE(cause.kernel);
  EXPECT_EQ(cause.kernel->kernel, "gemm");
  EXPECT_EQ(cause.kernel->median_at_most, 40 * 250'000);
  EXPECT_FALSE(cause.kernel->median_whole());
}

TEST(RankCauses, AGapBehindHostCodeIsLaunches) {
  const Cause cause = cause_after([](RankIndex rank, Work& work, const auto& spend) {
    work = kernels_of(work.length, {{100'000, 4}});
    spend(analyze::Spent::host_code, rank == 5 ? kLate : 10'000);
  });
  EXPECT_EQ(cause.kind, CauseKind::launches);
  EXPECT_EQ(cause.spent[static_cast<std::size_t>(analyze::Spent::host_code)].excess(),
            40 * (kLate - 10'000));
}

TEST(RankCauses, AGapOfNothingIsIdle) {
  const Cause cause = cause_after([](RankIndex rank, Work& work, const auto& spend) {
    work = kernels_of(work.length, {{100'000, 4}});
    spend(analyze::Spent::idle, rank == 5 ? kLate : 10'000);
  });
  EXPECT_EQ(cause.kind, CauseKind::idle);
}

TEST(RankCauses, CopiesAreNamed) {
  const Cause cause = cause_after([](RankIndex rank, Work& work, const auto&) {
    work = kernels_of(work.length, {{100'000, 4}});
    work.copies = rank == 5 ? kLate : 10'000;
    work.busy += work.copies;
  });
  EXPECT_EQ(cause.kind, CauseKind::copies);
  EXPECT_EQ(cause.copies.excess(), 40 * (kLate - 10'000));
}

TEST(RankCauses, AllKernelsSlowerByOneFactorIsTheClock) {
  for (const std::int64_t slower : {3, 41}) {
    const std::int64_t base = 4'000'000 / (slower - 1);
    const Cause cause = cause_after([&](RankIndex rank, Work& work, const auto&) {
      const std::int64_t factor = rank == 5 ? slower : 1;
      work =
          kernels_of(work.length,
                     {{factor * base / 2, 5}, {factor * base * 3 / 10, 5}, {factor * base / 5, 5}});
    });
    // No table has the lowest clock of a GPU: no factor is too large for one.
    EXPECT_EQ(cause.kind, CauseKind::clock) << slower;
    EXPECT_NEAR(cause.clock_factor.value_or(0), static_cast<double>(slower), 0.1);
  }
}

TEST(RankCauses, StretchesThatAreNotLongerExplainNothing) {
  const Cause cause = cause_after(
      [](RankIndex, Work& work, const auto&) { work = kernels_of(500'000, {{100'000, 4}}); });
  EXPECT_EQ(cause.kind, CauseKind::undecided);
  EXPECT_EQ(cause.doubt, CauseDoubt::not_longer);
}

}  // namespace
}  // namespace perflab::ranks
