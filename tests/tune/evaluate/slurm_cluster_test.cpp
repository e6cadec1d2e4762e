// The Slurm executor on a real cluster of two nodes that this program starts on this machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

#include "base/system/interrupt.h"
#include "base/system/subprocess.h"
#include "slurm/slurm_cluster.h"
#include "tune/evaluate/slurm_jobs.h"

namespace perflab::tune {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using perflab::test::SlurmCluster;
using perflab::test::TempFolder;
using test::Answers;
using test::numbered_jobs;
using test::script_job;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class SlurmClusterTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (SlurmCluster::why_not().empty()) cluster_ = std::make_unique<SlurmCluster>(2);
  }
  static void TearDownTestSuite() { cluster_.reset(); }

  void SetUp() override {
    if (!cluster_) GTEST_SKIP() << SlurmCluster::why_not();
    ASSERT_EQ(cluster_->problem(), "");
    ASSERT_TRUE(cluster_->wait_idle());
  }

  [[nodiscard]] SlurmOptions options(std::size_t workers = 2) const {
    SlurmOptions options;
    options.workers = workers;
    options.program = PERFLAB_SLURM_WORKER;
    options.working_directory = folder_.path();
    options.patience = 50ms;
    return options;
  }
  [[nodiscard]] std::unique_ptr<Executor> executor(std::size_t workers = 2) const {
    auto made = make_slurm_executor(options(workers));
    EXPECT_TRUE(made.has_value()) << describe(made.error());
    return made ? *std::move(made) : nullptr;
  }

  // Jobs leave nothing: no allocation, no file.
  void expect_clean() const {
    EXPECT_THAT(SlurmCluster::allocations(), IsEmpty());
    EXPECT_FALSE(fs::exists(folder_ / ".slurm"));
  }

  static inline std::unique_ptr<SlurmCluster> cluster_;
  TempFolder folder_;
};

TEST_F(SlurmClusterTest, TwoWorkersShareTheJobs) {
  {
    const auto made = executor();
    ASSERT_NE(made, nullptr);
    EXPECT_EQ(made->width(), 2U);
    Answers answers;
    const auto done = made->evaluate(numbered_jobs(12, 0.15), false, answers.taker());
    ASSERT_TRUE(done.has_value()) << describe(done.error());
    answers.expect_numbers(12);
    EXPECT_EQ(answers.used(), (std::set<std::string>{"node1", "node2"}));
    EXPECT_THAT(SlurmCluster::allocations(), SizeIs(2));  // kept for the next batch

    Answers in_order;
    ASSERT_TRUE(made->evaluate(numbered_jobs(5, 0), true, in_order.taker()).has_value());
    in_order.expect_numbers(5);
    EXPECT_THAT(in_order.order, testing::ElementsAre(0, 1, 2, 3, 4));
    EXPECT_THAT(in_order.used(), SizeIs(1));
  }
  expect_clean();
}

TEST_F(SlurmClusterTest, BuildsRunAndWorkInTheFolder) {
  const auto made = executor();
  ASSERT_NE(made, nullptr);
  std::vector<Job> jobs;
  for (int i = 0; i < 3; ++i) {
    jobs.push_back(script_job("cat program"));
    jobs.back().build = {"sh", "-c", fmt::format("echo $SLURMD_NODENAME time: {} > program", i)};
    if (i == 1) jobs.back().build = {"sh", "-c", "echo 'no such type' >&2; exit 1"};
    jobs.back().build_limit_seconds = 300;
  }
  Answers built;
  const auto first = made->build_all(std::span(jobs).first(1), built.taker());
  ASSERT_TRUE(first.has_value()) << describe(first.error());
  EXPECT_EQ(built.evaluations.at(0).outcome, Outcome::correct);
  EXPECT_EQ(built.evaluations.at(0).value, std::nullopt);
  EXPECT_THAT(perflab::test::text_of(folder_ / "program"), HasSubstr("node"));
  Answers answers;
  const auto done = made->evaluate(jobs, true, answers.taker());
  ASSERT_TRUE(done.has_value()) << describe(done.error());
  EXPECT_EQ(answers.evaluations.at(0).value, 0);
  EXPECT_EQ(answers.evaluations.at(1).outcome, Outcome::compile_failed);
  EXPECT_EQ(answers.evaluations.at(2).value, 2);
}

TEST_F(SlurmClusterTest, AKilledNodeLosesNoJob) {
  const auto made = executor();
  ASSERT_NE(made, nullptr);
  bool killed = false;
  Answers answers;
  answers.after = [&](std::size_t) {
    // From the moment that both work, so that a job is on the way there.
    if (killed || answers.used().size() < 2) return;
    killed = true;
    cluster_->kill_node("node2");
  };
  const auto done = made->evaluate(numbered_jobs(10, 0.3), false, answers.taker());
  const bool revived = cluster_->revive_node("node2");
  ASSERT_TRUE(done.has_value()) << describe(done.error());
  answers.expect_numbers(10);
  EXPECT_TRUE(killed);
  EXPECT_EQ(answers.workers.back(), "node1");
  // The worker that lost its node still waits for one, and gets it when it is back.
  ASSERT_TRUE(revived);
  Answers later;
  for (int batch = 0; batch < 40 && !later.used().contains("node2"); ++batch) {
    later.evaluations.clear();
    ASSERT_TRUE(made->evaluate(numbered_jobs(4, 0.1), false, later.taker()).has_value());
    later.expect_numbers(4);
  }
  EXPECT_THAT(later.used(), SizeIs(2));
}

TEST_F(SlurmClusterTest, AllocationsThatAreCancelledFromOutsideAreReplaced) {
  const auto made = executor();
  ASSERT_NE(made, nullptr);
  std::vector<std::string> before;
  Answers answers;
  answers.after = [&](std::size_t finished) {
    if (finished != 3) return;
    before = SlurmCluster::allocations();
    std::vector<std::string> argv{"scancel"};
    argv.insert(argv.end(), before.begin(), before.end());
    SlurmCluster::ask(argv);
  };
  const auto done = made->evaluate(numbered_jobs(8, 0.3), false, answers.taker());
  ASSERT_TRUE(done.has_value()) << describe(done.error());
  answers.expect_numbers(8);
  EXPECT_FALSE(before.empty());
  for (const std::string& allocation : SlurmCluster::allocations())
    EXPECT_THAT(before, testing::Not(testing::Contains(allocation)));
}

TEST_F(SlurmClusterTest, AJobThatKillsItsWorkerFailsAndTheOthersDoNot) {
  const auto made = executor(1);
  ASSERT_NE(made, nullptr);
  const std::vector<std::string> before = SlurmCluster::allocations();
  std::vector<Job> jobs = numbered_jobs(3, 0);
  jobs[1] = script_job("kill -9 $PPID; sleep 1");
  Answers answers;
  ASSERT_TRUE(made->evaluate(jobs, false, answers.taker()).has_value());
  EXPECT_EQ(answers.evaluations.at(0).value, 1);
  EXPECT_EQ(answers.evaluations.at(2).value, 3);
  EXPECT_EQ(answers.evaluations.at(1).outcome, Outcome::run_failed);
  EXPECT_THAT(answers.evaluations.at(1).detail,
              HasSubstr("its worker ended twice without an answer: node1: task 0: Killed"));
  EXPECT_EQ(SlurmCluster::allocations(), before);
}

TEST_F(SlurmClusterTest, CtrlCLeavesNoAllocation) {
  const InterruptScope scope;
  {
    const auto made = executor();
    ASSERT_NE(made, nullptr);
    const auto began = std::chrono::steady_clock::now();
    Answers answers;
    answers.after = [&](std::size_t finished) {
      if (finished == 2) raise_interrupt();
    };
    std::vector<Job> jobs = numbered_jobs(2, 0.1);
    for (const Job& slow : numbered_jobs(4, 250)) jobs.push_back(slow);
    const auto done = made->evaluate(jobs, false, answers.taker());
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, ErrorCode::interrupted);
    EXPECT_THAT(answers.order, SizeIs(2));
    EXPECT_LT(std::chrono::steady_clock::now() - began, 200s);
    EXPECT_THAT(SlurmCluster::allocations(), IsEmpty());
  }
  clear_interrupts();
  expect_clean();
}

TEST_F(SlurmClusterTest, AWorkerThatWaitsInTheQueueHoldsUpNobody) {
  const InterruptScope scope;
  {
    const auto made = executor(3);  // one more than there are nodes
    ASSERT_NE(made, nullptr);
    Answers answers;
    ASSERT_TRUE(made->evaluate(numbered_jobs(4, 0.1), false, answers.taker()).has_value());
    answers.expect_numbers(4);
  }
  expect_clean();
}

TEST_F(SlurmClusterTest, SaysWhatSlurmRefuses) {
  SlurmOptions wrong = options();
  wrong.partition = "nope";
  const auto no_partition = make_slurm_executor(wrong);
  ASSERT_FALSE(no_partition.has_value());
  EXPECT_EQ(no_partition.error().code, ErrorCode::usage);
  EXPECT_EQ(no_partition.error().message,
            "Slurm refuses the allocation in partition nope: Job submit/allocate failed: Invalid "
            "partition name specified");
  wrong = options();
  wrong.extra = {"--no-such-option"};
  const auto no_option = make_slurm_executor(wrong);
  ASSERT_FALSE(no_option.has_value());
  EXPECT_EQ(no_option.error().code, ErrorCode::usage);
  EXPECT_THAT(no_option.error().message, HasSubstr("unrecognized option '--no-such-option'"));
  wrong = options();
  wrong.extra = {"--mem=900T"};
  const auto too_much = make_slurm_executor(wrong);
  ASSERT_FALSE(too_much.has_value());
  EXPECT_EQ(too_much.error().code, ErrorCode::usage) << describe(too_much.error());
  expect_clean();
}

TEST_F(SlurmClusterTest, SaysThatTheProgramIsNotOnTheNodes) {
  SlurmOptions wrong = options(1);
  wrong.program = "/nonexistent/rocm-perf";
  const auto made = make_slurm_executor(wrong);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, ErrorCode::missing_tool);
  EXPECT_THAT(made.error().message, HasSubstr("/nonexistent/rocm-perf"));
  EXPECT_THAT(made.error().message, HasSubstr("No such file"));
  expect_clean();
}

TEST_F(SlurmClusterTest, EndsTheAllocationsOfAKilledProcess) {
  // What a process leaves that was ended by kill -9: its folder, unlocked, and its allocation.
  SlurmCluster::ask({"salloc", "--no-shell", "--nodes=2", "--job-name=rocm-perf"});
  const std::vector<std::string> left = SlurmCluster::allocations();
  ASSERT_THAT(left, SizeIs(1));
  fs::create_directories(folder_ / ".slurm/earlier");
  static_cast<void>(folder_.write(".slurm/earlier/owner", ""));
  static_cast<void>(folder_.write(".slurm/earlier/allocations", left[0] + "\nnonsense\n"));
  {
    const auto made = executor(1);  // gets a node, which needs the other allocation to be over
    ASSERT_NE(made, nullptr);
    EXPECT_THAT(SlurmCluster::allocations(), testing::Not(testing::Contains(left[0])));
    EXPECT_FALSE(fs::exists(folder_ / ".slurm/earlier"));
  }
  expect_clean();
}

}  // namespace
}  // namespace perflab::tune
