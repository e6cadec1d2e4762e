// Which rank an environment says that a process is.
#include "trace/rank_variables.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/rank_variables.h"

namespace perflab::trace {
namespace {

RankFacts rank_in(const std::map<std::string, std::string>& variables) {
  return rank_of([&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(std::string(name));
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

RankFacts facts(std::int64_t rank, std::optional<std::int64_t> size,
                std::optional<std::int64_t> local, std::string from) {
  return {.rank = rank, .size = size, .local_rank = local, .from = std::move(from)};
}

TEST(RankVariables, OfEachLauncher) {
  EXPECT_EQ(rank_in({{"RANK", "7"}, {"WORLD_SIZE", "16"}, {"LOCAL_RANK", "3"}}),
            facts(7, 16, 3, "RANK"));
  EXPECT_EQ(rank_in({{"OMPI_COMM_WORLD_RANK", "2"},
                     {"OMPI_COMM_WORLD_SIZE", "4"},
                     {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}}),
            facts(2, 4, 0, "OMPI_COMM_WORLD_RANK"));
  EXPECT_EQ(rank_in({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}), facts(1, 2, std::nullopt, "PMI_RANK"));
  EXPECT_EQ(rank_in({{"SLURM_PROCID", "5"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_LOCALID", "1"}}),
            facts(5, 8, 1, "SLURM_PROCID"));
  EXPECT_EQ(rank_in({}), RankFacts());
}

// Each launcher of the list alone, and beside all that come after it.
TEST(RankVariables, TheListIsInOrderOfPreference) {
  std::map<std::string, std::string> all;
  std::set<std::string_view> taken;
  for (auto names = kRankVariables.rbegin(); names != kRankVariables.rend(); ++names) {
    std::map<std::string, std::string> own;
    const std::string rank = std::to_string(names - kRankVariables.rbegin());
    own[std::string(names->rank)] = rank;
    if (!names->size.empty()) own[std::string(names->size)] = "100";
    if (!names->local_rank.empty()) own[std::string(names->local_rank)] = "1";
    for (const auto& [name, value] : own) all[name] = value;
    const RankFacts expected = facts(
        std::stoi(rank), names->size.empty() ? std::nullopt : std::optional<std::int64_t>(100),
        names->local_rank.empty() ? std::nullopt : std::optional<std::int64_t>(1),
        std::string(names->rank));
    EXPECT_EQ(rank_in(own), expected) << names->rank;
    EXPECT_EQ(rank_in(all), expected) << names->rank;
    EXPECT_TRUE(taken.insert(names->rank).second);
  }
  for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"})
    EXPECT_TRUE(taken.contains(name)) << name;
}

// No variable is asked for but those of the list.
TEST(RankVariables, NoOtherIsRead) {
  std::set<std::string_view> known;
  for_each_rank_variable([&](std::string_view name) { known.insert(name); });
  EXPECT_EQ(known.size(), 20U);
  const auto asked = rank_of([&](std::string_view name) -> std::optional<std::string> {
    EXPECT_TRUE(known.contains(name)) << name;
    return std::nullopt;
  });
  EXPECT_EQ(asked, RankFacts());
}

TEST(RankVariables, TorchrunInsideOfSlurmKnowsBetter) {
  EXPECT_EQ(rank_in({{"SLURM_PROCID", "1"},
                     {"SLURM_STEP_NUM_TASKS", "2"},
                     {"RANK", "12"},
                     {"WORLD_SIZE", "16"}}),
            facts(12, 16, std::nullopt, "RANK"));
}

TEST(RankVariables, WhatIsNoRank) {
  // A batch script is task 0 of its own step, whatever the job has.
  EXPECT_EQ(rank_in({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "16"}}), RankFacts());
  EXPECT_EQ(rank_in({{"RANK", "3"}}), RankFacts());
  EXPECT_EQ(rank_in({{"RANK", "high"}, {"WORLD_SIZE", "4"}}), RankFacts());
  EXPECT_EQ(rank_in({{"RANK", "4"}, {"WORLD_SIZE", "4"}}), RankFacts());
  EXPECT_EQ(rank_in({{"RANK", "-1"}, {"WORLD_SIZE", "4"}}), RankFacts());
}

TEST(RankVariables, TheNameOfAFileIsAHint) {
  const auto rank = [](const char* file) { return rank_of_name(file).rank; };
  EXPECT_EQ(rank("traces/rank_3_results.json"), 3);
  EXPECT_EQ(rank("rank0012.json.gz"), 12);
  EXPECT_EQ(rank("job-Rank-7_kernel_trace.csv"), 7);
  EXPECT_EQ(rank("rank_0003/7_kernel_trace.csv"), 3);
  EXPECT_EQ(rank("rank_4/rank_5.json"), 5);
  EXPECT_EQ(rank("rank_4/local_rank_1.json"), 4);
  for (const char* file : {"7_kernel_trace.csv", "rank.json", "rank_x.json", "frank_3.json",
                           "ranks_3.json", "rank_3d.json", "rank_1_of_rank_2.json",
                           "local-rank-3.json", "rank_99999999999999999999.json", ""})
    EXPECT_EQ(rank(file), std::nullopt) << file;
  EXPECT_EQ(rank_of_name("rank_3.json").from, kFileName);
  EXPECT_EQ(rank_of_name("results.json"), RankFacts{});
}

}  // namespace
}  // namespace perflab::trace
