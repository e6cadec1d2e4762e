// Files done where they lie: with a stand-in for srun, whose nodes have disks of their own (mounted
// over one folder), and on a real cluster of two nodes that this program starts.
#include "slurm/file_tasks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/system/subprocess.h"
#include "base/temp_folder.h"
#include "slurm/slurm_cluster.h"

namespace perflab::slurm {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::ScopedVariable;
using test::SlurmCluster;
using test::TempFolder;
using test::text_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Writes OUT/<name>.out, atomically, unless it is there: as the command does.
const std::string kSummarise =
    "out=$2/$(basename $1).out; [ -e $out ] && exit 0; "
    "cp $1 $out.$$ && echo $SLURMD_NODENAME >> $2/who && mv $out.$$ $out";

std::vector<std::string> failures(const std::vector<FileEnd>& ends) {
  std::vector<std::string> lines;
  for (const FileEnd& end : ends)
    if (!end.why_not.empty())
      lines.push_back(fmt::format("{} on {}: {}", fs::path(end.file).filename().string(), end.node,
                                  end.why_not));
  return lines;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

class FileTaskFolders : public testing::Test {
 protected:
  FileTaskFolders() {
    fs::create_directories(in_);
    fs::create_directories(out_);
  }
  [[nodiscard]] Result<std::vector<FileEnd>> try_run() const {
    return run_file_tasks({.task = {PERFLAB_FILE_TASK},
                           .inputs = {in_},
                           .options = {out_.string()},
                           .shared = out_,
                           .patience = 300ms});
  }
  [[nodiscard]] std::vector<FileEnd> run() const {
    auto ends = try_run();
    EXPECT_TRUE(ends.has_value()) << describe(ends.error());
    return ends ? *std::move(ends) : std::vector<FileEnd>();
  }

  TempFolder folder_;
  fs::path in_ = folder_ / "in", out_ = folder_ / "out";
  ScopedVariable script_{"FILE_TASK_SCRIPT", kSummarise};
};

/// srun as a script: a task for each node, one after another, `in` being a disk of each node's own.
class SrunStandIn : public FileTaskFolders {
 protected:
  void SetUp() override {
    const auto mounts = run_program({"unshare", "--mount", "true"});
    if (!mounts || !mounts->succeeded())
      GTEST_SKIP() << "skipped: no mount namespaces for this user";
    for (int node = 0; node < 3; ++node) fs::create_directories(disk(node));
    srun("for N in 0 1 2; do task $N \"$@\"; done");
  }
  void srun(const std::string& body) const {
    static_cast<void>(folder_.script(
        "srun", fmt::format("echo \"$@\" >> {0}/asked\n"
                            "while [ \"${{1#--}}\" != \"$1\" ]; do shift; done\n"
                            "task() {{ n=$1; shift; SLURM_NODEID=$n SLURMD_NODENAME=node$n unshare "
                            "--mount sh -c \"mount --bind {0}/disk$n {1} && exec \\\"\\$@\\\"\" sh "
                            "\"$@\"; }}\n{2}",
                            folder_.path().string(), in_.string(), body)));
  }
  [[nodiscard]] fs::path disk(int node) const { return folder_ / fmt::format("disk{}", node); }

  ScopedVariable path_{"PATH", folder_.path().string() + ":/usr/bin:/bin:/usr/sbin:/sbin"};
  ScopedVariable job_{"SLURM_JOB_ID", "17"};
  ScopedVariable nodes_{"SLURM_JOB_NUM_NODES", "3"};
  ScopedVariable shape_{"SLURM_NTASKS_PER_NODE", "8"};  // of the job: not ours
};

TEST_F(SrunStandIn, EachNodeDoesWhatLiesOnIt) {
  static_cast<void>(folder_.write("disk0/a.in", "a"));
  static_cast<void>(folder_.write("disk0/b.in", "b"));
  static_cast<void>(folder_.write("disk2/c.in", "c"));
  const std::vector<FileEnd> ends = run();
  std::vector<std::string> places;
  for (const FileEnd& end : ends)
    if (end.why_not.empty())
      places.push_back(end.node + " " + fs::path(end.file).filename().string());
  EXPECT_THAT(places, ElementsAre("node0 a.in", "node0 b.in", "node2 c.in"));
  // Of a folder without recordings its node says so.
  EXPECT_THAT(failures(ends), ElementsAre("in on node1: there is no recording in it"));
  EXPECT_THAT(names_in(out_), ElementsAre("a.in.out", "b.in.out", "c.in.out", "who"));
  EXPECT_THAT(text_of(folder_ / "asked"),
              HasSubstr("--jobid=17 --nodes=3 --ntasks=3 --ntasks-per-node=1 "));
}

TEST_F(SrunStandIn, OneFileThatAllSeeIsDoneOnceAndEqualPathsAreNotOneFile) {
  static_cast<void>(folder_.write("all.in", "shared"));
  for (int node = 0; node < 3; ++node)
    fs::create_hard_link(folder_ / "all.in", disk(node) / "all.in");
  static_cast<void>(folder_.write("disk0/own.in", "one"));
  static_cast<void>(folder_.write("disk1/own.in", "two of it"));
  const std::vector<FileEnd> ends = run();
  EXPECT_THAT(ends, SizeIs(3));
  EXPECT_THAT(failures(ends), IsEmpty());
}

TEST_F(SrunStandIn, SaysWhatWentWrongWithAFile) {
  static_cast<void>(folder_.write("disk0/a.in", "a"));
  static_cast<void>(folder_.write("disk1/b.in", "b"));
  static_cast<void>(folder_.write("disk2/c.in", "c"));
  const ScopedVariable script("FILE_TASK_SCRIPT",
                              "case $1 in */b.in) echo it is damaged >&2; exit 4;; */c.in) kill -9 "
                              "$$;; esac; " +
                                  kSummarise);
  EXPECT_THAT(failures(run()), ElementsAre("b.in on node1: exited with code 4: it is damaged",
                                           "c.in on node2: was killed by SIGKILL (killed)"));
  EXPECT_THAT(names_in(out_), ElementsAre("a.in.out", "who"));
}

TEST_F(SrunStandIn, ANodeThatSaysNothingIsNamed) {
  static_cast<void>(folder_.write("disk0/a.in", "a"));
  static_cast<void>(folder_.write("disk2/c.in", "c"));
  srun("task 0 \"$@\"; task 2 \"$@\"; echo srun: error: node1: task 1: Killed >&2; exit 137");
  EXPECT_THAT(failures(run()),
              ElementsAre(" on node 1 of the allocation: it did not say what lies there: node1: "
                          "task 1: Killed"));
  srun("echo srun: error: Unable to create step >&2; exit 1");
  const auto none = try_run();
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::missing_tool);
  EXPECT_EQ(none.error().message, "no node of allocation 17 answers: Unable to create step");
}

TEST_F(SrunStandIn, AnInputThatIsOnNoNode) {
  const auto ends = run_file_tasks({.task = {PERFLAB_FILE_TASK},
                                    .inputs = {folder_ / "nowhere"},
                                    .options = {},
                                    .shared = out_,
                                    .patience = 300ms});
  ASSERT_TRUE(ends.has_value());
  EXPECT_THAT(failures(*ends), ElementsAre("nowhere on : no node has a recording there"));
}

TEST_F(SrunStandIn, WithoutAnAllocationItIsSaidHowToGetOne) {
  const ScopedVariable none("SLURM_JOB_ID", std::nullopt);
  const auto ends = try_run();
  ASSERT_FALSE(ends.has_value());
  EXPECT_EQ(ends.error().code, ErrorCode::usage);
  EXPECT_EQ(ends.error().message,
            "this does not run in a Slurm allocation: SLURM_JOB_ID is not set");
  EXPECT_THAT(ends.error().remedy, HasSubstr("salloc --nodes=N"));
}

class SlurmFileTasks : public FileTaskFolders {
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
    job_.emplace("SLURM_JOB_ID", granted[0]);
    nodes_.emplace("SLURM_JOB_NUM_NODES", "2");
    for (int i = 0; i < 6; ++i)
      static_cast<void>(folder_.write(fmt::format("in/{}.in", i), std::string(4096, 'x')));
  }
  void TearDown() override {
    if (job_) SlurmCluster::ask({"scancel", SlurmCluster::allocations().at(0)});
  }

  static inline std::unique_ptr<SlurmCluster> cluster_;
  std::optional<ScopedVariable> job_, nodes_;
};

TEST_F(SlurmFileTasks, TwoNodesShareWhatBothSee) {
  const std::vector<FileEnd> ends = run();
  EXPECT_THAT(ends, SizeIs(6));
  EXPECT_THAT(failures(ends), IsEmpty());
  EXPECT_THAT(names_in(out_), SizeIs(7));
  EXPECT_THAT(text_of(out_ / "who"), testing::AllOf(HasSubstr("node1"), HasSubstr("node2")));
}

TEST_F(SlurmFileTasks, AfterATaskIsKilledASecondRunDoesWhatIsMissing) {
  // The process of one file kills its task in the middle of writing.
  const ScopedVariable script(
      "FILE_TASK_SCRIPT",
      "if [ $SLURMD_NODENAME = node2 ]; then head -c 100 $1 > $2/$(basename $1).out.$$; "
      "kill -9 $PPID; sleep 60; fi; " +
          kSummarise);
  const std::vector<FileEnd> ends = run();
  EXPECT_THAT(ends, SizeIs(6));
  const std::vector<std::string> failed = failures(ends);
  EXPECT_THAT(failed, SizeIs(3));
  for (const std::string& line : failed)
    EXPECT_THAT(line, HasSubstr("on node2: its task ended before it was done: task 1: Killed"));
  // Nothing half bears its name.
  int whole = 0;
  for (const std::string& name : names_in(out_))
    if (name.ends_with(".out")) {
      ++whole;
      EXPECT_EQ(fs::file_size(out_ / name), 4096U) << name;
    }
  EXPECT_EQ(whole, 3);
  EXPECT_FALSE(fs::exists(out_ / ".slurm"));

  const ScopedVariable good("FILE_TASK_SCRIPT", kSummarise);
  fs::remove(out_ / "who");
  EXPECT_THAT(failures(run()), IsEmpty());
  const std::string who = text_of(out_ / "who");
  EXPECT_EQ(std::ranges::count(who, '\n'), 3);  // the missing ones, and no other
}

}  // namespace
}  // namespace perflab::slurm
