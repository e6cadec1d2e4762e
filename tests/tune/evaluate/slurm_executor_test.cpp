// The Slurm executor with stand-ins for Slurm's commands: shell scripts on PATH that answer as the
// real ones do on a bad day. The steps are real: the worker program runs on this machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <tuple>

#include "base/temp_folder.h"
#include "tune/evaluate/slurm_jobs.h"

namespace perflab::tune {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using perflab::test::ScopedVariable;
using perflab::test::TempFolder;
using perflab::test::text_of;
using test::Answers;
using test::numbered_jobs;
using test::script_job;
using testing::HasSubstr;
using testing::SizeIs;

/// What the commands do when all is well. They run with the folder of the test as $D; allocation N
/// is on node nodeN. srun hands its arguments over from the program on.
const std::string kNext =
    "mkdir -p $D/granted; N=1; while ! mkdir $D/granted/$N 2>/dev/null; do N=$((N+1)); done; ";
const std::string kCount = kNext + "echo salloc: Granted job allocation $N >&2";
const std::string kStep =
    "for a; do case $a in --jobid=*) ID=${a#--jobid=};; esac; done\n"
    "while [ \"${1#--}\" != \"$1\" ]; do shift; done\n";
const std::string kSrun = kStep + "exec \"$@\"";
const std::string kSqueue =
    "for a; do case $a in --jobs=*) ID=${a#--jobs=};; esac; done; echo RUNNING node$ID";

class SlurmStandIn : public testing::Test {
 protected:
  SlurmStandIn() {
    command("salloc", kCount);
    command("srun", kSrun);
    command("squeue", kSqueue);
    command("scancel", "echo \"$@\" >> $D/cancelled");
  }

  void command(const char* name, const std::string& body) {
    static_cast<void>(folder_.script(name, "export D=" + folder_.path().string() + "\n" + body));
  }
  [[nodiscard]] Result<std::unique_ptr<Executor>> make(std::size_t workers) const {
    SlurmOptions options;
    options.workers = workers;
    options.extra = {"--gres=gpu:1"};
    options.partition = "mi300";
    options.program = PERFLAB_SLURM_WORKER;
    options.working_directory = folder_ / "work";
    options.patience = 1ms;
    options.margin = 1s;
    return make_slurm_executor(options);
  }
  /// Evaluates; an error fails the test.
  Answers evaluate(const std::vector<Job>& jobs, std::size_t workers = 1) const {
    Answers answers;
    auto made = make(workers);
    EXPECT_TRUE(made.has_value()) << describe(made.error());
    if (!made) return answers;
    const auto done = (*made)->evaluate(jobs, false, answers.taker());
    EXPECT_TRUE(done.has_value()) << describe(done.error());
    return answers;
  }
  /// How often salloc was called.
  [[nodiscard]] std::ptrdiff_t allocations() const {
    return std::distance(fs::directory_iterator(folder_ / "granted"), fs::directory_iterator());
  }
  void forget_allocations() const { fs::remove_all(folder_ / "granted"); }

  TempFolder folder_;
  ScopedVariable path_{"PATH", folder_.path().string() + ":/usr/bin:/bin"};
};

TEST_F(SlurmStandIn, AsksForWhatTheUserWantsAndGivesItBack) {
  command("salloc", "echo \"$@\" > $D/asked; " + kCount);
  const ScopedVariable surrounding("SLURM_NTASKS", "7");
  std::vector<Job> jobs = numbered_jobs(2, 0);
  jobs.push_back(script_job("echo time: 1${SLURM_NTASKS}"));
  const Answers answers = evaluate(jobs);
  EXPECT_EQ(answers.evaluations.at(1).value, 2);
  EXPECT_EQ(answers.evaluations.at(2).value, 1);  // the job that we are in ourselves is not theirs
  EXPECT_EQ(text_of(folder_ / "asked"),
            "--no-shell --nodes=1 --ntasks=1 --job-name=rocm-perf --partition=mi300 "
            "--gres=gpu:1\n");
  EXPECT_EQ(text_of(folder_ / "cancelled"), "--quiet --jobname=rocm-perf 1\n");
  EXPECT_EQ(answers.workers, (std::vector<std::string>{"node1", "node1", "node1"}));
}

TEST_F(SlurmStandIn, NamesTheCommandThatIsMissing) {
  const TempFolder empty;
  const ScopedVariable path("PATH", empty.path().string());
  const auto made = make(1);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, ErrorCode::missing_tool);
  EXPECT_EQ(made.error().message, "salloc: no such program on PATH");
}

TEST_F(SlurmStandIn, IsNotDisturbedByWhatIsPrinted) {
  command("srun", kStep +
                      "echo '{\"evaluation\": null}'; echo 'Welcome to node1' >&2; \"$@\"; "
                      "echo srun: error: late noise >&2; exit 9");
  evaluate(numbered_jobs(3, 0)).expect_numbers(3);
  EXPECT_EQ(allocations(), 1);
}

TEST_F(SlurmStandIn, GivesUpAfterFiveAllocationsThatCameToNothing) {
  for (const char* body : {"echo garbage", "echo salloc: Granted job allocation; exit 0"}) {
    forget_allocations();
    command("salloc", kNext + body);
    const auto made = make(1);
    ASSERT_FALSE(made.has_value()) << body;
    EXPECT_EQ(made.error().code, ErrorCode::missing_tool);
    EXPECT_THAT(made.error().message,
                HasSubstr("5 Slurm allocations in a row came to nothing; the last: salloc gave no "
                          "allocation: "));
    EXPECT_EQ(allocations(), 5);
  }
}

TEST_F(SlurmStandIn, ASallocThatDiesAtOnceIsNotAskedForMinutes) {
  for (const auto& [body, words, calls] :
       {std::tuple{"echo salloc: fatal: Could not establish a configuration source >&2; exit 1",
                   "Could not establish a configuration source", 1},
        std::tuple{"echo salloc: error: Unable to contact slurm controller >&2; exit 1",
                   "Unable to contact slurm controller", 2}}) {
    forget_allocations();
    command("salloc", kNext + body);
    const auto made = make(1);
    ASSERT_FALSE(made.has_value()) << body;
    EXPECT_EQ(made.error().code, ErrorCode::missing_tool);
    EXPECT_EQ(made.error().message, std::string("salloc gave no allocation: ") + words);
    EXPECT_EQ(allocations(), calls);
    ASSERT_FALSE(make(3).has_value()) << body;
  }
}

TEST_F(SlurmStandIn, ASallocThatWorkedBeforeIsAskedAgain) {
  command("salloc", kNext +
                        "case $N in 1|5) echo salloc: Granted job allocation $N >&2;; *) echo "
                        "salloc: error: not now >&2; exit 1;; esac");
  command("srun", kStep + "[ \"$3\" = --gpus ] || [ $ID != 1 ] || exit 1\nexec \"$@\"");
  command("squeue", kSqueue + " | sed 's/RUNNING node1/NODE_FAIL node1/'");
  const Answers answers = evaluate(numbered_jobs(2, 0));
  answers.expect_numbers(2);
  EXPECT_EQ(answers.workers, (std::vector<std::string>{"node5", "node5"}));
  EXPECT_EQ(allocations(), 5);
}

TEST_F(SlurmStandIn, AWorkerThatGetsNothingLeavesTheWorkToTheOthers) {
  command("salloc", kCount + "; [ $N = 1 ] || { echo salloc: error: no more >&2; exit 1; }");
  const Answers answers = evaluate(numbered_jobs(4, 0.05), 3);
  answers.expect_numbers(4);
  EXPECT_THAT(answers.used(), SizeIs(1));
}

TEST_F(SlurmStandIn, ASallocThatWaitsForEverIsStopped) {
  command("salloc",
          "mkdir $D/first 2>/dev/null || { echo salloc: Pending job allocation 77 >&2; exec sleep "
          "600; }; " +
              kCount);
  const auto began = std::chrono::steady_clock::now();
  evaluate(numbered_jobs(2, 0.3), 2).expect_numbers(2);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 600s) << "it was waited for";
  EXPECT_THAT(text_of(folder_ / "cancelled"), HasSubstr("rocm-perf 77\n"));
}

/// srun that fails for jobs (not for looks at the node) as long as `condition` holds.
std::string failing_srun(const std::string& condition) {
  return kStep + "[ \"$3\" = --gpus ] || if " + condition +
         "; then echo \"srun: error: node$ID: step lost\" >&2; echo \"srun: error: node$ID: task "
         "0: "
         "Exited with exit code 2\" >&2; exit 1; fi\nexec \"$@\"";
}

TEST_F(SlurmStandIn, LostAllocationsAreReplacedWhateverBecameOfThem) {
  for (const char* fate : {"echo NODE_FAIL node$ID", "echo CANCELLED node$ID", "echo PENDING",
                           "echo COMPLETING node$ID", "echo",
                           "echo slurm_load_jobs error: Invalid "
                           "job id specified >&2; exit 1"}) {
    forget_allocations();
    // The first allocation is lost with the first job.
    command("srun", failing_srun("[ $ID = 1 ] && touch $D/lost"));
    command("squeue",
            "for a; do case $a in --jobs=*) ID=${a#--jobs=};; esac; done\n"
            "if [ $ID = 1 -a -e $D/lost ]; then " +
                std::string(fate) + "; else echo RUNNING node$ID; fi");
    fs::remove(folder_ / "lost");
    const Answers answers = evaluate(numbered_jobs(3, 0));
    answers.expect_numbers(3);
    EXPECT_EQ(answers.workers, (std::vector<std::string>{"node2", "node2", "node2"})) << fate;
    EXPECT_EQ(allocations(), 2) << fate;
  }
}

TEST_F(SlurmStandIn, AJobThatLosesThreeWorkersFails) {
  command("srun", failing_srun("grep -q poison \"$3\""));
  command("squeue", "echo NODE_FAIL n1");
  std::vector<Job> jobs = numbered_jobs(3, 0);
  jobs[1] = script_job("poison");
  const Answers answers = evaluate(jobs);
  EXPECT_EQ(answers.evaluations.at(0).value, 1);
  EXPECT_EQ(answers.evaluations.at(2).value, 3);
  EXPECT_EQ(answers.evaluations.at(1).outcome, Outcome::run_failed);
  EXPECT_EQ(answers.evaluations.at(1).detail,
            "3 workers were lost with this configuration, the last on n1: node3: step lost");
  EXPECT_EQ(allocations(), 4);
}

TEST_F(SlurmStandIn, NodesThatTakeNoStepsAreLeft) {
  // node1 dies while Slurm still believes in it: the job goes to another node, and the next
  // allocation is asked for without node1.
  command("salloc", "echo \"$@\" > $D/asked; " + kCount);
  command("srun", kStep +
                      "if [ $ID = 1 -a -e $D/dead ]; then echo srun: error: Connection refused "
                      ">&2; exit 1; fi\n"
                      "[ \"$3\" = --gpus ] || touch $D/dead\nexec \"$@\"");
  const Answers answers = evaluate(numbered_jobs(3, 0));
  answers.expect_numbers(3);
  EXPECT_EQ(answers.workers, (std::vector<std::string>{"node1", "node2", "node2"}));
  EXPECT_THAT(text_of(folder_ / "asked"), HasSubstr("--exclude=node1 "));
}

TEST_F(SlurmStandIn, AStepThatHangsIsLeft) {
  command("srun", failing_srun("[ $ID = 1 ] && { sleep 600; true; }"));
  std::vector<Job> jobs = numbered_jobs(2, 0);
  for (Job& job : jobs) job.run_limit_seconds = 5;
  const auto began = std::chrono::steady_clock::now();
  evaluate(jobs).expect_numbers(2);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 600s) << "it was waited for";
  EXPECT_EQ(allocations(), 2);
}

TEST_F(SlurmStandIn, SerialJobsKeepTheirOrderThroughALoss) {
  command("srun", failing_srun("grep -q 'time: 3' \"$3\" && mkdir $D/lost 2>/dev/null"));
  command("squeue", kSqueue + " | if [ -e $D/lost ]; then sed s/RUNNING/NODE_FAIL/; else cat; fi");
  Answers answers;
  auto made = make(2);
  ASSERT_TRUE(made.has_value()) << describe(made.error());
  ASSERT_TRUE((*made)->evaluate(numbered_jobs(6, 0), true, answers.taker()).has_value());
  answers.expect_numbers(6);
  EXPECT_THAT(answers.order, testing::ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(answers.workers[0], answers.workers[1]);
  EXPECT_NE(answers.workers[1], answers.workers[2]);
  EXPECT_EQ(answers.workers[2], answers.workers[5]);
}

TEST_F(SlurmStandIn, OnlyEqualGpusAreCompared) {
  const std::string gpus =
      kStep +
      "if [ \"$3\" = --gpus ]; then echo '{\"gpus\": [{\"name\": \"gfx942 304 CUs\"}, {\"name\": "
      "\"'$NAME'\"}]}' > $4.done; exit 0; fi\nexec \"$@\"";
  command("srun", "NAME='gfx942 304 CUs'\n" + gpus);
  {
    const auto made = make(2);
    ASSERT_TRUE(made.has_value()) << describe(made.error());
    EXPECT_EQ((*made)->gpu(), "gfx942 304 CUs");
  }
  forget_allocations();
  command("srun", "NAME='gfx942 304 CUs'; case $1 in --jobid=2) NAME=gfx90a;; esac\n" + gpus);
  auto made = make(2);
  Answers answers;
  const auto done = made ? (*made)->evaluate(numbered_jobs(20, 0.1), false, answers.taker())
                         : Result<void>(std::unexpected(made.error()));
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code, ErrorCode::usage);
  EXPECT_THAT(done.error().message, HasSubstr("the nodes differ: node"));
  EXPECT_THAT(done.error().message, HasSubstr("node2 has gfx90a + gfx942 304 CUs"));
}

TEST_F(SlurmStandIn, ErrorsOfTheWorkerAndOfTheCallerEndTheBatch) {
  auto made = make(1);
  ASSERT_TRUE(made.has_value()) << describe(made.error());
  std::size_t calls = 0;
  const auto refused = (*made)->evaluate(numbered_jobs(5, 0), false, [&](Finished&&) {
    ++calls;
    return Result<void>(fail(ErrorCode::usage, "the journal is full"));
  });
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message, "the journal is full");
  EXPECT_EQ(calls, 1U);
  // Answers of the batch before do not get into the next one.
  Answers answers;
  ASSERT_TRUE((*made)->evaluate(numbered_jobs(3, 0), false, answers.taker()).has_value());
  answers.expect_numbers(3);

  std::vector<Job> broken = numbered_jobs(2, 0);
  broken[0].objective.metric_pattern = "(";
  const auto failed = (*made)->evaluate(broken, false, answers.taker());
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, ErrorCode::usage);
  EXPECT_THAT(failed.error().message, HasSubstr("on node1: "));
}

TEST_F(SlurmStandIn, AnswersThatAreNoneAreErrors) {
  for (const auto& [text, words] :
       {std::pair{"nonsense", "the answer of node1"}, std::pair{"{}", "holds no evaluation"},
        std::pair{R"({"evaluation": {"outcome": "fine"}})", "the answer of node1"}}) {
    forget_allocations();
    command("srun", kStep + "[ \"$3\" = --gpus ] && exec \"$@\"; echo '" + text + "' > $3.done");
    auto made = make(1);
    ASSERT_TRUE(made.has_value()) << describe(made.error());
    Answers answers;
    const auto done = (*made)->evaluate(numbered_jobs(2, 0), false, answers.taker());
    ASSERT_FALSE(done.has_value()) << text;
    EXPECT_EQ(done.error().code, ErrorCode::bad_input);
    EXPECT_THAT(done.error().message, HasSubstr(words));
  }
}

TEST_F(SlurmStandIn, AFolderThatTheNodesDoNotSeeIsSaid) {
  command("srun", "exit 0");
  SlurmOptions options;
  options.program = PERFLAB_SLURM_WORKER;
  options.working_directory = folder_ / "work";
  options.answer_patience = 50ms;
  const auto made = make_slurm_executor(options);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, ErrorCode::missing_tool);
  EXPECT_THAT(made.error().message, HasSubstr("does not show up here"));
}

}  // namespace
}  // namespace perflab::tune
