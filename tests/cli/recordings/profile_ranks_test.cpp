// rocm-perf profile as one of the ranks of a job, with the stand-in rocprofv3: the launcher is this
// test, which sets what launchers set.
#include <gmock/gmock.h>

#include <thread>

#include "cli/program.h"
#include "collect/run_folder.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class ProfileRanks : public testing::Test {
 protected:
  /// Rank `rank` of `size`, as torchrun starts it; -1: no launcher.
  Outcome run(int rank, int size, std::vector<std::string> arguments) {
    ProcessOptions options;
    options.set_environment = {{"ROCPROFV3", PERFLAB_FAKE_ROCPROFV3},
                               {"FAKE_ROCPROFV3_DB", PERFLAB_SAMPLE}};
    options.unset_environment = {"SLURM_PROCID", "PMI_RANK", "OMPI_COMM_WORLD_RANK"};
    if (rank >= 0)
      options.set_environment.insert(options.set_environment.end(),
                                     {{"RANK", std::to_string(rank)},
                                      {"WORLD_SIZE", std::to_string(size)},
                                      {"LOCAL_RANK", std::to_string(rank % 2)}});
    arguments.insert(arguments.begin(), "profile");
    return rocm_perf(folder_.path(), std::move(arguments), options);
  }
  std::vector<Outcome> run_all(int size, const std::vector<std::string>& arguments) {
    std::vector<Outcome> outcomes(static_cast<std::size_t>(size));
    {
      std::vector<std::jthread> ranks;
      for (int rank = 0; rank < size; ++rank)
        ranks.emplace_back(
            [&, rank] { outcomes[static_cast<std::size_t>(rank)] = run(rank, size, arguments); });
    }
    return outcomes;
  }
  Json profile_of(const char* rank) {
    return document("profile", test::text_of(folder_ / "out" / rank / "profile.json"));
  }

  test::TempFolder folder_;
};

TEST_F(ProfileRanks, EachWritesToItsOwnFolderAndOneTalks) {
  const std::vector<Outcome> outcomes = run_all(4, {"--out", "out", "--", "true"});
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcomes[0].out, HasSubstr("Where the time went"));
  for (std::size_t rank = 1; rank < 4; ++rank) EXPECT_EQ(outcomes[rank].out, "");
  EXPECT_THAT(names_in(folder_ / "out"),
              ElementsAre("rank_0000", "rank_0001", "rank_0002", "rank_0003"));
  const Json rank = profile_of("rank_0003")["environment"]["rank"];
  EXPECT_EQ(rank, (Json{{"rank", 3}, {"size", 4}, {"local_rank", 1}, {"from", "RANK"}}));
  const std::vector<fs::path> runs = collect::latest_runs_of_ranks(folder_ / "out");
  ASSERT_EQ(runs.size(), 4U);
  for (const fs::path& one : runs)
    EXPECT_EQ(collect::find_databases(one).databases.size(), 1U) << one;
  EXPECT_EQ(runs[2], folder_ / "out/rank_0002/.rocpd_profile/0001/run_1");
}

TEST_F(ProfileRanks, OnlyChosenOnesAreRecorded) {
  const std::vector<Outcome> outcomes =
      run_all(3, {"--ranks", "1-2", "--out", "out", "--html", "page.html", "--", "sh", "-c",
                  "echo from $RANK; touch ran_$RANK; exit $((RANK == 0 ? 7 : 0))"});
  EXPECT_EQ(outcomes[0].exit_code, 7);  // the program itself, and nothing of ours
  EXPECT_EQ(outcomes[0].out, "from 0\n");
  EXPECT_EQ(outcomes[0].err, "");
  EXPECT_EQ(outcomes[1].exit_code, 0) << outcomes[1].err;
  EXPECT_THAT(outcomes[1].out, HasSubstr("Where the time went"));
  EXPECT_EQ(outcomes[2].out, "");
  EXPECT_THAT(
      names_in(folder_.path()),
      ElementsAre("out", "page.rank_0001.html", "page.rank_0002.html", "ran_0", "ran_1", "ran_2"));
  EXPECT_THAT(names_in(folder_ / "out"), ElementsAre("rank_0001", "rank_0002"));
}

TEST_F(ProfileRanks, ALauncherThatIsRecordedLeavesARecordingOfEachProcess) {
  ProcessOptions options;
  options.set_environment = {
      {"ROCPROFV3", PERFLAB_FAKE_ROCPROFV3},
      {"FAKE_ROCPROFV3_DB", std::string(PERFLAB_SAMPLE) + ":" + PERFLAB_SAMPLE}};
  options.unset_environment = {"RANK", "SLURM_PROCID", "PMI_RANK", "OMPI_COMM_WORLD_RANK"};
  const Outcome outcome = rocm_perf(folder_.path(), {"profile", "--", "true"}, options);
  const std::vector<fs::path> runs = collect::latest_runs_of_ranks(folder_.path());
  ASSERT_EQ(runs.size(), 1U) << outcome.err;
  EXPECT_EQ(collect::find_databases(runs[0]).databases.size(), 2U);
}

TEST_F(ProfileRanks, TheOnlyRankOfAJobIsAProgramLikeAnyOther) {
  const Outcome outcome = run(0, 1, {"--", "true"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(fs::exists(folder_ / "profile.json"));
  EXPECT_FALSE(fs::exists(folder_ / "rank_0000"));
}

TEST_F(ProfileRanks, WhatCannotBeIsSaidBeforeAnythingRuns) {
  const auto refused = [&](int rank, int size, std::vector<std::string> arguments,
                           const char* words) {
    arguments.insert(arguments.end(), {"--", "touch", "started"});
    const Outcome outcome = run(rank, size, arguments);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(words));
    EXPECT_FALSE(fs::exists(folder_ / "started"));
  };
  refused(-1, 0, {"--ranks", "0"}, "this process is no rank of a job");
  refused(1, 4, {"--ranks", "0,4"}, "there is no rank 4 among the 4 of this job");
  refused(1, 4, {"--ranks", "3-1"}, "\"3-1\" is no list of ranks");
  refused(1, 4, {"--ranks", "all"}, "\"all\" is no list of ranks");
  refused(1, 4, {"--runs", "2"}, "a rank of a job runs once");
  refused(1, 4, {"--roofline"}, "a rank of a job runs once");
}

TEST_F(ProfileRanks, AProgramThatIsNotThereIsSaidByTheRanksThatAreNotRecorded) {
  const Outcome outcome = run(0, 2, {"--ranks", "1", "--", "./not-there"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("./not-there: cannot be started"));
}

}  // namespace
}  // namespace perflab::cli
