// The path across ranks against the slow model: makespan, slack, what-if; hops without gap.
#include "ranks/path/path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "ranks/clocks/align.h"
#include "ranks/open_ranks.h"
#include "ranks/path/random_job.h"
#include "support/prng.h"

namespace perflab::ranks {
namespace {

using test::JobModelChanges;
using test::Prng;
using test::RandomJob;
using test::SlowJob;

void expect_hops(const RandomJob& job, const JobPath& path) {
  ASSERT_FALSE(path.hops.empty());
  std::int64_t at = path.begin, work = 0, transfer = 0;
  for (std::size_t i = 0; i < path.hops.size(); ++i) {
    const Hop& hop = path.hops[i];
    ASSERT_EQ(hop.from, at);
    ASSERT_GE(hop.to, hop.from - 40);
    ASSERT_EQ(hop.collective, i % 2 == 1);
    at = hop.to;
    std::int64_t sum = 0;
    for (const std::int64_t spent : hop.spent) sum += spent;
    ASSERT_EQ(sum, hop.collective ? 0 : hop.to - hop.from);
    (hop.collective ? transfer : work) += hop.to - hop.from;
    if (i == 0) continue;
    ASSERT_EQ(hop.collective ? hop.from_rank : hop.rank, path.hops[i - 1].rank);
    if (hop.collective && hop.operation != kNoOperation) {
      const auto& members = job.matching.operations[hop.operation].members;
      const Member member{.rank = hop.rank, .collective = *hop.member};
      ASSERT_TRUE(std::ranges::find(members, member) != members.end());
    }
  }
  ASSERT_EQ(at, path.end);
  ASSERT_EQ(work + transfer, path.makespan());
  for (const RankOnPath& rank : path.ranks) {
    work -= rank.work;
    transfer -= rank.transfer;
  }
  ASSERT_EQ(work, 0);
  ASSERT_EQ(transfer, 0);
}

void expect_slack(const RandomJob& job, const JobPath& path) {
  SlowJob slow(job);
  for (RankIndex rank = 0; rank < job.ranks.size(); ++rank)
    for (std::uint32_t k = 0; k < job.ranks[rank].collectives.size(); ++k) {
      const std::int64_t slack = path.slack[rank][k];
      const Collective& own = job.ranks[rank].collectives[k];
      SCOPED_TRACE("rank " + std::to_string(rank) + " collective " + std::to_string(k) + " " +
                   std::string(info(own.kind).name) + " slack " + std::to_string(slack));
      JobModelChanges changes;
      changes.late = Member{.rank = rank, .collective = k};
      changes.late_by = slack;
      ASSERT_GE(slack, 0);
      ASSERT_EQ(slow.makespan(changes), path.makespan());
      changes.late_by = slack + 3;
      ASSERT_EQ(slow.makespan(changes), path.makespan() + 3);
    }
}

struct Question {
  std::string text;
  JobModelChanges changes;
};

std::vector<Question> questions(Prng& prng, const RandomJob& job) {
  const auto rank = static_cast<RankIndex>(prng.below(static_cast<std::int64_t>(job.ranks.size())));
  const auto kind =
      static_cast<CollectiveKind>(prng.below(static_cast<std::int64_t>(kCollectiveKinds)));
  const std::string name(info(kind).name), number = std::to_string(rank);
  std::vector<Question> all(9);
  all[0].text = "a=2x";
  all[0].changes.scenario = 0;
  all[1].text = "rank:" + number + "/b=2x";
  all[1].changes.scenario = 1;
  all[1].changes.scenario_rank = rank;
  all[2].text = "balance";
  all[2].changes.balance = true;
  all[3].text = "rank:" + number + "=median";
  all[3].changes.median = rank;
  all[4].text = "transfer=2x";
  all[4].changes.transfer = 0.5;
  all[5].text = "transfer:" + name + "=0.25x";
  all[5].changes.transfer = 4;
  all[5].changes.kind = kind;
  all[6].text = "wait=0";
  all[6].changes.no_wait = true;
  all[7].text = "wait:" + name + "=0";
  all[7].changes.no_wait = true;
  all[7].changes.kind = kind;
  all[8].text = "transfer=0";
  all[8].changes.transfer = 0;
  return all;
}

/// Whether balance would go round in a circle: only where something takes no time.
bool has_instants(const RandomJob& job) {
  for (const RankSummary& rank : job.ranks)
    for (const Collective& collective : rank.collectives)
      if (collective.entry == collective.exit) return true;
  return false;
}

TEST(JobPath, random_jobs_agree_with_the_slow_model) {
  Prng prng(4711);
  int unordered = 0;
  for (int i = 0; i < 1500; ++i) {
    SCOPED_TRACE(i);
    const RandomJob job = test::random_job(prng, i % 50 == 0 ? 64 : 8, i % 50 == 0 ? 30 : 12);
    PathInput input = job.input();
    const std::vector<Question> all = questions(prng, job);
    for (const Question& question : all) {
      auto what_if = parse_rank_what_if(question.text);
      ASSERT_TRUE(what_if.has_value()) << question.text;
      input.what_if.push_back(*what_if);
    }
    const Result<JobPath> path = find_job_path(input);
    ASSERT_TRUE(path.has_value()) << path.error().message;
    ASSERT_EQ(path->begin, job.begin);
    ASSERT_EQ(path->end, job.end);
    ASSERT_EQ(path->residual_count, 0U);
    SlowJob slow(job);
    ASSERT_EQ(slow.makespan({}), path->makespan());
    expect_hops(job, *path);
    if (i % 50 != 0) expect_slack(job, *path);
    if (HasFatalFailure()) return;
    for (std::size_t q = 0; q < all.size(); ++q) {
      const RankWhatIfAnswer& answer = path->what_if[q];
      if (!answer.makespan && has_instants(job)) {
        ++unordered;
        continue;
      }
      ASSERT_TRUE(answer.makespan.has_value()) << all[q].text << answer.missing;
      ASSERT_EQ(*answer.makespan, slow.makespan(all[q].changes)) << all[q].text;
      ASSERT_EQ(*answer.gain, path->makespan() - *answer.makespan);
    }
  }
  EXPECT_LT(unordered, 100);
}

/// The eight recorded ranks of a DLRM step against the slow model: length, slack, what-if.
TEST(JobPath, eight_recorded_ranks_agree_with_the_slow_model) {
  const std::filesystem::path folder =
      std::filesystem::path(PERFLAB_SHARED_DIR) / "data/ranks/param_dlrm_8ranks";
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "no recorded job in " << folder;
  const auto source = open_ranks(std::span(&folder, 1), {.threads = 1});
  ASSERT_TRUE(source.has_value()) << source.error().message;
  RandomJob job;
  for (std::size_t i = 0; i < source->count; ++i) {
    auto rank = source->load(i);
    ASSERT_TRUE(rank.has_value()) << rank.error().message;
    job.ranks.push_back(std::move(*rank));
  }
  std::ranges::sort(job.ranks, {},
                    [](const RankSummary& rank) { return *rank.identity.facts.rank; });
  for (const RankSummary& rank : job.ranks) job.graphs.push_back(rank.graph);
  Aligned aligned = match_and_align(job.ranks);
  job.matching = std::move(aligned.matching);
  job.clocks = std::move(aligned.clocks);
  for (RankClock& clock : job.clocks.ranks) {
    clock.drift = 0;  // the slow model knows none
  }
  PathInput input = job.input();
  std::vector<Question> all(5);
  all[0].text = "balance";
  all[0].changes.balance = true;
  all[1].text = "transfer=0";
  all[1].changes.transfer = 0;
  all[2].text = "wait=0";
  all[2].changes.no_wait = true;
  for (const RankIndex rank : {4U, 5U}) {
    Question& question = all[rank == 4 ? 3 : 4];
    question.text = "rank:" + std::to_string(rank) + "=median";
    question.changes.median = rank;
  }
  for (const Question& question : all)
    input.what_if.push_back(parse_rank_what_if(question.text).value());
  const Result<JobPath> path = find_job_path(input);
  ASSERT_TRUE(path.has_value()) << path.error().message;
  SlowJob slow(job);
  EXPECT_EQ(slow.makespan({}), path->makespan());
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(path->what_if[i].makespan, slow.makespan(all[i].changes)) << all[i].text;
  expect_hops(job, *path);
  expect_slack(job, *path);
}

/// Numbers that are not each rank's own are no names: a rank goes by its place then, as in tables.
TEST(JobPath, ranks_that_share_a_number_go_by_their_places) {
  Prng prng(5);
  RandomJob job = test::random_job(prng, 8, 12);
  while (job.ranks.size() < 3) job = test::random_job(prng, 8, 12);
  const auto slow_of = [&](RankIndex rank) {
    JobModelChanges changes;
    changes.median = rank;
    return SlowJob(job).makespan(changes);
  };
  const auto answered = [&] {
    PathInput input = job.input();
    input.what_if.push_back(parse_rank_what_if("rank:1=median").value());
    const auto path = find_job_path(input);
    return path ? path->what_if[0].makespan : std::nullopt;
  };
  for (RankSummary& rank : job.ranks) rank.identity.facts.rank = 1;
  EXPECT_EQ(answered(), slow_of(1));
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank)
    job.ranks[rank].identity.facts.rank = static_cast<std::int64_t>(rank) + 1;
  EXPECT_EQ(answered(), slow_of(0));
  job.ranks.back().identity.facts.rank.reset();
  EXPECT_EQ(answered(), slow_of(1));
}

TEST(JobPath, drifting_clocks_leave_the_aligned_schedule) {
  Prng prng(99);
  int compared = 0;
  for (int i = 0; i < 400; ++i) {
    RandomJob job = test::random_job(prng, 6, 10);
    std::int64_t end = kNoPath;
    for (RankIndex rank = 0; rank < job.ranks.size(); ++rank) {
      job.clocks.ranks[rank].drift = static_cast<double>(prng.below(200) - 100) * 1e-4;
      job.clocks.ranks[rank].at = job.ranks[rank].begin;
      end = std::max(end, job.clocks.aligned(rank, job.ranks[rank].end));
    }
    const Result<JobPath> path = find_job_path(job.input());
    ASSERT_TRUE(path.has_value());
    expect_hops(job, *path);
    EXPECT_EQ(path->shifted, path->end - end);
    if (path->residual_count > 0) continue;
    ++compared;
    EXPECT_EQ(path->end, end);
  }
  EXPECT_GT(compared, 20);
}

/// Two ranks with two collectives each, 10 ns apart.
RandomJob crossed_job(bool crossed) {
  RandomJob job;
  job.clocks.zones = 1;
  for (RankIndex rank = 0; rank < 2; ++rank) {
    RankSummary summary;
    summary.file = "some.summary";
    summary.begin = 0;
    summary.end = 40;
    summary.collectives = {{.entry = 10, .exit = 20, .kind = CollectiveKind::all_reduce},
                           {.entry = 30, .exit = 40, .kind = CollectiveKind::all_reduce}};
    LocalGraph graph;
    graph.order = {0, 1, 2, 3, 4, 5};
    graph.edges = {{.from = 0, .to = 1, .weight = 10},
                   {.from = 2, .to = 3, .weight = 10},
                   {.from = 4, .to = 5, .weight = 0}};
    job.ranks.push_back(summary);
    job.graphs.push_back(graph);
    job.clocks.ranks.emplace_back();
  }
  for (std::uint32_t k = 0; k < 2; ++k) {
    Matched matched{.group = 0, .kind = CollectiveKind::all_reduce};
    matched.members = {{.rank = 0, .collective = k},
                       {.rank = 1, .collective = crossed ? 1 - k : k}};
    job.matching.operations.push_back(matched);
  }
  return job;
}

TEST(JobPath, a_matching_in_a_circle_is_refused_by_name) {
  ASSERT_TRUE(find_job_path(crossed_job(false).input()).has_value());
  const RandomJob job = crossed_job(true);
  const Result<JobPath> path = find_job_path(job.input());
  ASSERT_FALSE(path.has_value());
  EXPECT_EQ(path.error().code, ErrorCode::bad_input);
  EXPECT_NE(path.error().message.find("in a circle"), std::string::npos);
}

TEST(JobPath, exits_before_entries_are_residuals) {
  RandomJob job = crossed_job(false);
  job.clocks.ranks[1].offset = -15;  // rank 1 leaves 5 ns before rank 0 comes
  const Result<JobPath> path = find_job_path(job.input());
  ASSERT_TRUE(path.has_value());
  EXPECT_EQ(path->residual_count, 2U);
  EXPECT_EQ(path->residuals.front().by, 5);
  EXPECT_EQ(path->residuals.front().member, (Member{.rank = 1, .collective = 0}));
}

TEST(JobPath, ranks_of_another_zone_are_left_out) {
  RandomJob job = crossed_job(false);
  job.clocks.zones = 2;
  job.clocks.ranks[1].zone = 1;
  const Result<JobPath> path = find_job_path(job.input());
  ASSERT_TRUE(path.has_value());
  EXPECT_EQ(path->left_out, std::vector<RankIndex>{1});
  EXPECT_EQ(path->makespan(), 40);
  EXPECT_TRUE(path->slack[1].empty());
}

TEST(JobPath, a_graph_that_denies_its_times_is_refused) {
  RandomJob job = crossed_job(false);
  job.graphs[1].edges[1].weight = 11;
  const Result<JobPath> path = find_job_path(job.input());
  ASSERT_FALSE(path.has_value());
  EXPECT_EQ(path.error().code, ErrorCode::bad_input);
}

TEST(JobPath, a_late_rank_is_on_the_path_with_its_kernel) {
  RandomJob job = crossed_job(false);
  // Rank 1 works 20 ns longer before the second one; rank 0 waits.
  job.ranks[1].collectives[1] = {.entry = 50, .exit = 60, .kind = CollectiveKind::all_reduce};
  job.ranks[0].collectives[1].exit = 60;
  for (RankIndex rank = 0; rank < 2; ++rank) job.ranks[rank].end = 60;
  LocalGraph::Edge& slow = job.graphs[1].edges[1];
  slow.weight = 30;
  slow.spent[static_cast<std::size_t>(analyze::Spent::kernel)] = 30;
  slow.kernel = 7;
  slow.kernel_time = 25;
  PathInput input = job.input();
  input.what_if.push_back(*parse_rank_what_if("rank:1=median"));
  const Result<JobPath> path = find_job_path(input);
  ASSERT_TRUE(path.has_value());
  EXPECT_EQ(path->slack[0][1], 20);
  EXPECT_EQ(path->slack[1][1], 0);
  const auto hop = std::ranges::find(path->hops, Name{7}, &Hop::kernel);
  ASSERT_NE(hop, path->hops.end());
  EXPECT_EQ(hop->rank, 1U);
  EXPECT_EQ(hop->to - hop->from, 30);
  EXPECT_EQ(path->what_if[0].gain, 20);
}

TEST(JobPath, what_if_of_what_is_not_there_is_refused) {
  const RandomJob job = crossed_job(false);
  for (const char* text : {"gemm=2x", "rank:2=median", "rank:9/gemm=2x"}) {
    PathInput input = job.input();
    input.what_if.push_back(*parse_rank_what_if(text));
    const Result<JobPath> path = find_job_path(input);
    ASSERT_FALSE(path.has_value()) << text;
    EXPECT_EQ(path.error().code, ErrorCode::usage);
  }
}

TEST(RankWhatIfText, forms) {
  using Target = RankWhatIf::Target;
  EXPECT_EQ(parse_rank_what_if("balance")->target, Target::balance);
  EXPECT_EQ(parse_rank_what_if("transfer=2x")->factor, 0.5);
  EXPECT_EQ(parse_rank_what_if("transfer:broadcast=0")->kind, CollectiveKind::broadcast);
  EXPECT_EQ(parse_rank_what_if("wait=0")->target, Target::no_wait);
  EXPECT_EQ(parse_rank_what_if("rank:3=median")->rank, 3);
  EXPECT_EQ(parse_rank_what_if("rank:3/gemm.*=2x")->scenario, "gemm.*=2x");
  EXPECT_EQ(parse_rank_what_if("sync=drop")->scenario, "sync=drop");
  EXPECT_EQ(parse_rank_what_if("kernel:transfer=2x")->target, Target::scenario);
  EXPECT_EQ(parse_rank_what_if("transfer_kernel=2x")->target, Target::scenario);
  for (const char* text :
       {"", "balanced", "transfer=", "transfer=drop", "transfer=+3us", "transfer:gemm=2x",
        "transfer:=2x", "wait=2x", "wait:all=0", "rank:=median", "rank:x=median", "rank:-1=median",
        "rank:3=mean", "rank:3/balance", "rank:3/transfer=2x", "rank:3/", "gemm", "(=2x",
        "rank:99999999999999999999=median"}) {
    const Result<RankWhatIf> parsed = parse_rank_what_if(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::usage) << text;
  }
}

}  // namespace
}  // namespace perflab::ranks
