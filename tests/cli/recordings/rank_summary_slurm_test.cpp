// rocm-perf rank-summary --executor slurm in an allocation of a real cluster of two nodes, which
// this program starts; one task is killed while it writes.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/recordings/rank_job_files.h"
#include "ranks/rank/summary_file.h"
#include "slurm/slurm_cluster.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;
using test::SlurmCluster;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

class RankSummarySlurm : public RankJobFiles {
 protected:
  static void SetUpTestSuite() {
    if (SlurmCluster::why_not().empty()) cluster_ = std::make_unique<SlurmCluster>(2);
  }
  static void TearDownTestSuite() { cluster_.reset(); }

  void SetUp() override {
    if (!cluster_) GTEST_SKIP() << SlurmCluster::why_not();
    ASSERT_EQ(cluster_->problem(), "");
    ASSERT_TRUE(cluster_->wait_idle());
    SlurmCluster::ask({"salloc", "--no-shell", "--nodes=2", "--job-name=rocm-perf"});
    const std::vector<std::string> granted = SlurmCluster::allocations();
    ASSERT_THAT(granted, SizeIs(1));
    std::erase(options_.unset_environment, "SLURM_JOB_ID");
    options_.set_environment.insert(options_.set_environment.end(),
                                    {{"SLURM_JOB_ID", granted[0]}, {"SLURM_JOB_NUM_NODES", "2"}});
    write_job({.late = 3});
  }
  void TearDown() override {
    for (const std::string& job :
         cluster_ ? SlurmCluster::allocations() : std::vector<std::string>())
      SlurmCluster::ask({"scancel", job});
  }
  Outcome on_nodes() {
    return run({"rank-summary", "traces", "-o", "sums", "--executor", "slurm"});
  }
  /// Summaries that are there; each is whole.
  std::vector<std::int64_t> ranks_in(const fs::path& folder) {
    std::vector<std::int64_t> found;
    for (const std::string& name : names_in(folder)) {
      if (!name.ends_with(ranks::kSummaryEnding)) continue;
      const auto summary = ranks::read_summary(folder / name);
      EXPECT_TRUE(summary.has_value()) << name;
      if (summary) found.push_back(summary->identity.facts.rank.value_or(-1));
    }
    return found;
  }

  static inline std::unique_ptr<SlurmCluster> cluster_;
};

TEST_F(RankSummarySlurm, MakesWhatThisProcessWouldMake) {
  const Outcome outcome = on_nodes();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(run({"rank-summary", "traces", "-o", "local"}).exit_code, 0);
  ASSERT_EQ(names_in(folder_ / "sums"), names_in(folder_ / "local"));
  // But for the path, which the nodes are given whole.
  EXPECT_THAT(run({"ranks", "sums"}).out, HasSubstr("Rank 3 makes the others wait"));
}

TEST_F(RankSummarySlurm, AKilledTaskCostsItsOwnRankAlone) {
  // The task that does rank 2 is killed, and so is its process, while that one's file is written.
  options_.set_environment.insert(
      options_.set_environment.end(),
      {{"LD_PRELOAD", PERFLAB_AT_FSYNC}, {"AT_FSYNC", "parent:9:rank-00002-"}});
  const Outcome outcome = on_nodes();
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("of 4 recordings have no summary"),
                    testing::ContainsRegex("rank_2\\.db on node[12]: its task ended before it was "
                                           "done")));
  const std::vector<std::int64_t> left = ranks_in(folder_ / "sums");
  EXPECT_GE(left.size(), 2U);  // the other node's
  EXPECT_EQ(std::ranges::count(left, 2), 0);
  const Json found = json("ranks", "ranks", {"sums"});
  EXPECT_THAT(found["job"]["missing_ranks"].get<std::vector<int>>(), testing::Contains(2));
  // The other rank of its node may be lost with it.
  EXPECT_THAT(run({"ranks", "sums"}).out,
              testing::ContainsRegex("(rank 2 is|ranks [02], [23] are) missing"));

  options_.set_environment.resize(options_.set_environment.size() - 2);
  const Outcome again = on_nodes();
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(ranks_in(folder_ / "sums"), (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(json("ranks", "ranks", {"sums"})["stragglers"]["rank"], 3);
}

}  // namespace
}  // namespace perflab::cli
