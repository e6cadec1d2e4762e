// Recordings to files: doing it again changes nothing, and one that cannot be read does not keep
// the others from being done.
#include "ranks/rank/make_summaries.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "ranks/rank/summary_file.h"
#include "support/rocpd_writer.h"
#include "support/test_database.h"

namespace perflab::ranks {
namespace {

/// A recording of one rank with one collective, and a secret in its environment.
std::filesystem::path write_rank(const std::filesystem::path& folder, int rank) {
  const std::filesystem::path path = folder / fmt::format("rank{}.db", rank);
  test::RocpdWriter writer(
      path, {.guid = fmt::format("0000000{}-7f00-7000-8000-000000000001", rank),
             .process = {.environment =
                             fmt::format(R"({{"SLURM_PROCID": "{}", "SLURM_STEP_NUM_TASKS": "4",)"
                                         R"("TOKEN": "hunter2-secret"}})",
                                         rank)}});
  writer.agent({.type = "CPU", .name = "EPYC", .product_name = "AMD EPYC"});
  const test::Id gpu = writer.agent({.absolute_index = 1});
  writer.queue();
  writer.stream();
  writer.code_object({});
  const test::Id kernel = writer.kernel({.name = "ncclDevKernel_Generic_1"});
  const std::int64_t at = 6'000'000'000'000 + rank;
  writer.launch({.start = at, .end = at + 10},
                {.kernel = kernel, .start = at + 20, .end = at + 90, .agent = gpu});
  const auto closed = writer.close();
  EXPECT_TRUE(closed.has_value()) << closed.error().message;
  return path;
}

TEST(MakeSummaries, AgainChangesNothingAndNoSecretIsInThem) {
  const std::filesystem::path folder = test::test_folder();
  const std::vector<std::filesystem::path> files = {write_rank(folder, 0), write_rank(folder, 1)};
  const auto first = make_summaries(files, folder / "out");
  ASSERT_TRUE(first.has_value()) << first.error().message;
  ASSERT_EQ(first->made.size(), 2U);
  EXPECT_TRUE(first->failed.empty());
  EXPECT_FALSE(first->made[0].kept);
  EXPECT_EQ(first->made[1].rank, 1);
  const std::string bytes = test::file_bytes(first->made[1].path);
  MakeSummariesOptions two_at_once;
  two_at_once.jobs = 2;
  const auto second = make_summaries(files, folder / "out", two_at_once);
  ASSERT_TRUE(second.has_value());
  ASSERT_EQ(second->made.size(), 2U);
  EXPECT_TRUE(second->made[0].kept);
  EXPECT_TRUE(second->made[1].kept);
  EXPECT_EQ(test::file_bytes(second->made[1].path), bytes);
  const auto summary = read_summary(first->made[1].path);
  ASSERT_TRUE(summary.has_value());
  EXPECT_EQ(summary->identity.facts.from, "SLURM_PROCID");
  for (const std::string& text : {summary->file, summary->options, summary->identity.hostname}) {
    EXPECT_EQ(text.find("hunter2"), std::string::npos);
  }
  for (const std::string& text : summary->names) {
    EXPECT_EQ(text.find("hunter2"), std::string::npos);
  }
}

TEST(MakeSummaries, OneThatFailsDoesNotStopTheOthers) {
  const std::filesystem::path folder = test::test_folder();
  const std::filesystem::path broken = folder / "broken.db";
  std::ofstream(broken) << "SQLite format 3, but nothing else";
  const auto made =
      make_summaries({broken, write_rank(folder, 2), folder / "absent.db"}, folder / "out");
  ASSERT_TRUE(made.has_value()) << made.error().message;
  ASSERT_EQ(made->made.size(), 1U);
  EXPECT_EQ(made->made[0].rank, 2);
  ASSERT_EQ(made->failed.size(), 2U);
  EXPECT_EQ(made->failed[0].file, broken.string());
  EXPECT_EQ(made->failed[0].error.code, ErrorCode::bad_input);
  EXPECT_FALSE(make_summaries({broken, broken}, folder / "out").has_value());
}

}  // namespace
}  // namespace perflab::ranks
