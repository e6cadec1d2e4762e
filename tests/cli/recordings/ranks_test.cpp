// rocm-perf ranks on the summaries of a made-up job: the page, its sections, the document, and what
// it refuses.
#include <gmock/gmock.h>

#include "cli/program.h"
#include "cli/written_run.h"
#include "ranks/rank/summary_file.h"
#include "support/rank_jobs.h"

namespace perflab::cli {
namespace {

using testing::HasSubstr;

class Ranks : public testing::Test {
 protected:
  void SetUp() override {
    test::RankJobOptions options;
    options.ranks = 6;
    options.kinds = {ranks::CollectiveKind::all_reduce};
    options.late = {{3, 20'000'000}};
    const test::RankJob job = test::make_rank_job(options);
    std::filesystem::create_directories(folder_ / "sums");
    for (const ranks::RankSummary& summary : job.summaries)
      ASSERT_TRUE(ranks::write_summary(
          std::filesystem::path(folder_ / "sums") / ranks::summary_file_name(summary), summary));
  }

  Outcome run(std::vector<std::string> arguments) {
    return rocm_perf(folder_.path(), std::move(arguments));
  }

  test::TempFolder folder_;
};

TEST_F(Ranks, NamesTheLateRankOnOnePage) {
  const Outcome outcome = run({"ranks", "sums"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Rank 3 makes the others wait"));
  EXPECT_THAT(outcome.out, HasSubstr("rank:3=median"));
  EXPECT_LE(lines(outcome.out), 40);
}

TEST_F(Ranks, WritesItsDocumentsAndAnswersWhatIf) {
  const Outcome outcome =
      run({"ranks", "sums", "--what-if", "balance", "--json", "-o", "docs", "--threads", "1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json document = cli::document("ranks", outcome.out);
  EXPECT_EQ(document["stragglers"]["rank"], 3);
  EXPECT_EQ(document["path"]["what_if"][0]["text"], "balance");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "docs/ranks.json"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "docs/summary.json"));
  EXPECT_EQ(run({"ranks", "sums", "--what-if", "balance", "--json", "--threads", "3"}).out,
            outcome.out);
}

TEST_F(Ranks, PrintsItsSections) {
  for (const char* section : {"ranks", "stragglers", "collectives", "path", "clocks", "matching"}) {
    const Outcome outcome = run({"ranks", "sums", "--details", section});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.out, "") << section;
  }
  EXPECT_EQ(run({"ranks", "sums", "--details", "roofline"}).exit_code, 2);
}

TEST_F(Ranks, RefusesWhatItCannotAnswer) {
  EXPECT_EQ(run({"ranks"}).exit_code, 2);
  EXPECT_EQ(run({"ranks", "nowhere"}).exit_code, 3);
  EXPECT_EQ(run({"ranks", "sums", "--what-if", "rank:3"}).exit_code, 2);
  EXPECT_EQ(run({"ranks", "sums", "sums"}).exit_code, 3);
}

}  // namespace
}  // namespace perflab::cli
