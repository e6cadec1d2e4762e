// Whole collections through the stand-in rocprofv3: every way that a run can end.
#include "collect/collect.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/shell.h"
#include "base/system/interrupt.h"
#include "base/temp_folder.h"
#include "collect/stand_in_rocprofv3.h"

namespace perflab::collect {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using test::ScopedVariable;
using test::shell;
using test::TempFolder;
using test::text_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

/// The stand-in, two recorded databases and a place for output.
class CollectTest : public testing::Test {
 protected:
  CollectTest() {
    one_ = folder_.write("one.db", "the first recorded database");
    two_ = folder_.write("two.db", "the second one");
    use_databases(one_.string());
  }

  [[nodiscard]] CollectPlan plan(std::vector<std::string> target, int runs = 1) const {
    CollectPlan plan;
    plan.target = std::move(target);
    plan.runs = runs;
    plan.root = folder_ / ".rocpd_profile";
    return plan;
  }

  static void use_databases(const std::string& list) {
    ::setenv("FAKE_ROCPROFV3_DB", list.c_str(), 1);
  }
  static void use_mode(const char* mode) { ::setenv("FAKE_ROCPROFV3_MODE", mode, 1); }

  /// The log of the stand-in's arguments.
  [[nodiscard]] std::string log() const { return text_of(folder_ / "log"); }

  static Collection must(Result<Collection> collection) {
    EXPECT_TRUE(collection.has_value()) << describe(collection.error());
    return std::move(collection).value_or(Collection{});
  }

  /// What went wrong; every part of it is empty when nothing did.
  static Error problem_of(const Collection& collection) {
    EXPECT_TRUE(collection.problem.has_value());
    return collection.problem.value_or(Error{});
  }

  TempFolder folder_;
  fs::path one_;
  fs::path two_;

 private:
  test::StandInRocprofv3 stand_in_{folder_ / "log"};
};

TEST_F(CollectTest, OneGoodRun) {
  const Collection collection = must(collect(plan({"true"})));
  EXPECT_TRUE(collection.traced);
  EXPECT_FALSE(collection.problem.has_value());
  EXPECT_EQ(collection.rocprofv3.value_or(Rocprofv3{}).version, "1.1.0");
  EXPECT_EQ(collection.folder, folder_ / ".rocpd_profile" / "0001");
  ASSERT_EQ(collection.runs.size(), 1U);
  const TargetRun& run = collection.runs[0];
  EXPECT_TRUE(run.complete());
  EXPECT_EQ(run.folder, collection.folder / "run_1");
  ASSERT_EQ(run.databases.size(), 1U);
  EXPECT_EQ(text_of(run.databases[0].path), "the first recorded database");
  EXPECT_EQ(run.databases[0].size, Bytes{27});
  EXPECT_THAT(collection.notes, ElementsAre());
}

TEST_F(CollectTest, EveryRunHasItsOwnFolderAndDatabase) {
  use_databases(one_.string() + "|" + two_.string());
  const Collection collection = must(collect(plan({"true"}, 3)));
  ASSERT_EQ(collection.complete_runs(), 3);
  for (int i = 0; i < 3; ++i) {
    const TargetRun& run = collection.runs[static_cast<std::size_t>(i)];
    EXPECT_EQ(run.number, i + 1);
    EXPECT_EQ(run.folder, collection.folder / ("run_" + std::to_string(i + 1)));
    ASSERT_EQ(run.databases.size(), 1U);
    EXPECT_EQ(text_of(run.databases[0].path), text_of(i == 0 ? one_ : two_));
  }
}

TEST_F(CollectTest, ASecondCallNeverSeesTheFirstOnesFiles) {
  const Collection first = must(collect(plan({"true"}, 2)));
  use_mode("no_output");
  const Collection second = must(collect(plan({"true"}, 2)));
  EXPECT_EQ(second.folder, folder_ / ".rocpd_profile" / "0002");
  EXPECT_FALSE(second.has_databases());
  EXPECT_TRUE(fs::exists(first.runs[1].databases.at(0).path));
}

TEST_F(CollectTest, SeveralProcessesLeaveSeveralDatabases) {
  use_databases(one_.string() + ":" + two_.string());
  const Collection collection = must(collect(plan({"true"})));
  ASSERT_EQ(collection.runs.at(0).databases.size(), 2U);
  EXPECT_EQ(collection.runs[0].databases[0].path.parent_path(),
            collection.runs[0].databases[1].path.parent_path());
}

TEST_F(CollectTest, PassesArgumentsUnaltered) {
  const std::vector<std::string> odd{"two words", "\"q\"",          "it's", "$(touch x)", "`id`",
                                     "a\nb",      "--kernel-trace", "--",   "",           "*"};
  CollectPlan wanted = plan({"true"});
  wanted.target.insert(wanted.target.end(), odd.begin(), odd.end());
  wanted.extra_options = {"--hsa-trace"};
  const Collection collection = must(collect(wanted));
  std::string expected =
      "# rocprofv3\n--kernel-trace\n--hip-trace\n--memory-copy-trace\n--marker-trace\n"
      "--hsa-trace\n-f\nrocpd\n-d\n" +
      collection.runs.at(0).folder.string() + "\n--\ntrue\n";
  for (const std::string& argument : odd) expected += argument + "\n";
  EXPECT_EQ(log(), expected);
}

TEST_F(CollectTest, OutputSettingsOfTheEnvironmentDoNotLeakIn) {
  const ScopedVariable name("ROCPROF_OUTPUT_FILE_NAME", "everybody");
  const Collection collection = must(collect(plan({"true"})));
  EXPECT_THAT(collection.runs.at(0).databases.at(0).path.filename().string(),
              testing::Not(HasSubstr("everybody")));
}

TEST_F(CollectTest, TheCurrentFolderStaysAsItIs) {
  (void)must(collect(plan({"true"})));
  EXPECT_FALSE(std::filesystem::exists(".rocprofv3"));
}

TEST_F(CollectTest, AFailingTargetEndsTheCollectionAndLeavesWhatThereIs) {
  const auto counter = folder_ / "count";
  const auto script = "echo x >> '" + counter.string() + "'; test $(wc -l < '" + counter.string() +
                      "') -lt 2 || { echo no memory >&2; exit 3; }";
  const Collection collection = must(collect(plan(shell(script), 5)));
  EXPECT_EQ(problem_of(collection).code, ErrorCode::target_failed);
  EXPECT_EQ(problem_of(collection).message, "sh: run 2 of 5 exited with code 3");
  EXPECT_THAT(problem_of(collection).notes,
              ElementsAre("1 of 5 runs are complete",
                          "run 2 left 1 database with what was recorded until then",
                          "the last line of its output: no memory"));
  ASSERT_EQ(collection.runs.size(), 2U);
  EXPECT_TRUE(collection.runs[0].complete());
  EXPECT_FALSE(collection.runs[1].complete());
  EXPECT_EQ(collection.runs[1].databases.size(), 1U);
}

TEST_F(CollectTest, ATargetKilledByASignalIsReportedAsThat) {
  const Collection collection = must(collect(plan(shell("kill -ABRT $$"))));
  EXPECT_EQ(problem_of(collection).message, "sh: run 1 of 1 was killed by SIGABRT (aborted)");
  EXPECT_EQ(collection.runs.at(0).process.signal, SIGABRT);
  EXPECT_TRUE(collection.has_databases());
}

TEST_F(CollectTest, ACrashOfTheProfilerLeavesItsHalfDatabase) {
  use_mode("crash");
  const Collection collection = must(collect(plan({"true"})));
  EXPECT_EQ(problem_of(collection).code, ErrorCode::target_failed);
  EXPECT_THAT(problem_of(collection).message, HasSubstr("SIGSEGV"));
  EXPECT_EQ(collection.runs.at(0).databases.at(0).size, Bytes{14});
}

TEST_F(CollectTest, AHangingTargetIsStoppedAndItsDatabaseKept) {
  CollectPlan wanted = plan({"sleep", "600"}, 3);
  wanted.timeout = std::chrono::seconds(3);  // a busy machine is slow to start even that
  const Collection collection = must(collect(wanted));
  EXPECT_EQ(problem_of(collection).code, ErrorCode::target_failed);
  EXPECT_EQ(problem_of(collection).message,
            "sleep: run 1 of 3 took longer than 3.0 s and was stopped");
  EXPECT_THAT(problem_of(collection).remedy, HasSubstr("--timeout"));
  EXPECT_EQ(collection.runs.size(), 1U);
  EXPECT_TRUE(collection.runs[0].process.timed_out);
  EXPECT_EQ(collection.runs[0].databases.size(), 1U);
}

TEST_F(CollectTest, AHangingGrandchildThatIgnoresSigtermIsKilled) {
  const auto pid_file = folder_ / "pid";
  CollectPlan wanted = plan(
      shell("(trap '' TERM INT; exec sleep 600) & echo $! > '" + pid_file.string() + "'; wait"));
  wanted.timeout = std::chrono::seconds(5);
  wanted.grace = milliseconds(300);
  const Collection collection = must(collect(wanted));
  EXPECT_TRUE(collection.runs.at(0).process.timed_out);
  const std::string pid = text_of(pid_file);
  ASSERT_FALSE(pid.empty());
  const std::string stat = text_of("/proc/" + pid.substr(0, pid.size() - 1) + "/stat");
  EXPECT_TRUE(stat.empty() || stat.find(") Z ") != std::string::npos) << stat;
}

TEST_F(CollectTest, ProcessesThatOutliveTheTargetAreEndedAndNamed) {
  CollectPlan wanted = plan(shell("sleep 600 & exit 0"));
  wanted.linger = milliseconds(100);
  const Collection collection = must(collect(wanted));
  EXPECT_FALSE(collection.problem.has_value());
  EXPECT_THAT(collection.notes, ElementsAre(HasSubstr("run 1: processes of the target still ran")));
}

TEST_F(CollectTest, NoOutputIsABadResultWithARemedy) {
  use_mode("no_output");
  const Collection collection = must(collect(plan({"true"}, 2)));
  EXPECT_EQ(problem_of(collection).code, ErrorCode::bad_input);
  EXPECT_EQ(problem_of(collection).message,
            "true: run 1 of 2 ended well, but rocprofv3 left no database in " +
                (collection.folder / "run_1").string());
  EXPECT_THAT(problem_of(collection).remedy, HasSubstr("launches GPU kernels"));
}

TEST_F(CollectTest, AnEmptyDatabaseIsNone) {
  use_mode("empty_db");
  const Collection collection = must(collect(plan({"true"})));
  EXPECT_EQ(problem_of(collection).code, ErrorCode::bad_input);
  EXPECT_THAT(problem_of(collection).notes,
              ElementsAre(EndsWith("_results.db: is empty (0 bytes)")));
}

TEST_F(CollectTest, AnOldRocprofv3IsAMissingTool) {
  use_mode("unsupported");
  const auto refused = collect(plan({"true"}, 3));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::missing_tool);
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr("older than ROCm 7.0"), HasSubstr("invalid choice: 'rocpd'")));
  EXPECT_THAT(refused.error().remedy, HasSubstr("ROCm 7.0"));
  EXPECT_TRUE(fs::is_empty(folder_ / ".rocpd_profile"));
}

TEST_F(CollectTest, ARefusedOptionOfTheUserIsAUsageError) {
  CollectPlan wanted = plan({"true"});
  wanted.extra_options = {"--no-such-option"};
  const auto refused = collect(wanted);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::usage);
  EXPECT_THAT(refused.error().message, HasSubstr("--no-such-option"));
}

TEST_F(CollectTest, ATargetsOwnUsageErrorIsNotTheProfilers) {
  const Collection collection =
      must(collect(plan(shell("echo 'app: error: unrecognized arguments: -f rocpd' >&2; exit 2"))));
  EXPECT_EQ(problem_of(collection).code, ErrorCode::target_failed);
}

TEST_F(CollectTest, AMissingRocprofv3IsAMissingTool) {
  const ScopedVariable none("ROCPROFV3", (folder_ / "missing").string());
  const auto refused = collect(plan({"true"}));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::missing_tool);
  EXPECT_FALSE(fs::exists(folder_ / ".rocpd_profile"));
}

TEST_F(CollectTest, ATargetThatCannotRunIsAUsageErrorAndNothingIsRun) {
  const auto data = folder_.write("data", "text").string();
  const auto code_and_text = [&](std::vector<std::string> target) {
    const auto refused = collect(plan(std::move(target)));
    EXPECT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::usage);
    return refused.error().message;
  };
  EXPECT_EQ(code_and_text({"/nonexistent/app"}), "/nonexistent/app: there is no such program");
  EXPECT_EQ(code_and_text({"no-such-app"}), "no-such-app: there is no such program on PATH");
  EXPECT_EQ(code_and_text({folder_.path().string() + "/"}),
            folder_.path().string() + "/: is a folder, not a program");
  EXPECT_EQ(code_and_text({data}), data + ": is not executable");
  EXPECT_EQ(code_and_text({data + "/app"}), data + "/app: there is no such program");
  EXPECT_EQ(code_and_text({}), "no program to profile is named");
  EXPECT_EQ(code_and_text({""}), "no program to profile is named");
  EXPECT_EQ(log(), "");
  EXPECT_FALSE(fs::exists(folder_ / ".rocpd_profile"));
}

TEST_F(CollectTest, RefusesAPlanThatMakesNoSense) {
  EXPECT_EQ(collect(plan({"true"}, 0)).error().code, ErrorCode::usage);
  CollectPlan keys = plan({"true"});
  keys.root = folder_ / "%pid%";
  EXPECT_EQ(collect(keys).error().code, ErrorCode::usage);
  CollectPlan ours = plan({"true"});
  ours.extra_options = {"-d", "/tmp"};
  EXPECT_EQ(collect(ours).error().code, ErrorCode::usage);
  CollectPlan file = plan({"true"});
  file.root = one_;
  EXPECT_EQ(collect(file).error().code, ErrorCode::usage);
}

TEST_F(CollectTest, WithoutRocprofTheProcessIsTimed) {
  const ScopedVariable none("ROCPROFV3", (folder_ / "missing").string());
  CollectPlan wanted = plan({"sleep", "0.1"}, 2);
  wanted.no_rocprof = true;
  const Collection collection = must(collect(wanted));
  EXPECT_FALSE(collection.traced);
  EXPECT_EQ(collection.rocprofv3.has_value(), false);
  EXPECT_EQ(collection.complete_runs(), 2);
  EXPECT_FALSE(collection.has_databases());
  for (const TargetRun& run : collection.runs) EXPECT_GE(run.process.wall_time.value, 100'000'000);
  EXPECT_FALSE(fs::exists(folder_ / ".rocpd_profile"));
}

TEST_F(CollectTest, WithoutRocprofAFailureIsReportedToo) {
  CollectPlan wanted = plan(shell("exit 9"), 3);
  wanted.no_rocprof = true;
  const Collection collection = must(collect(wanted));
  EXPECT_EQ(problem_of(collection).message, "sh: run 1 of 3 exited with code 9");
  EXPECT_THAT(problem_of(collection).notes, ElementsAre("0 of 3 runs are complete"));
}

TEST_F(CollectTest, CtrlCKeepsFinishedRunsAndSaysWhatIsLeft) {
  const InterruptScope scope;
  const auto counter = folder_ / "count";
  // The first run is short; in the second the signal comes while the target sleeps.
  const auto script = "echo x >> '" + counter.string() + "'; test $(wc -l < '" + counter.string() +
                      "') -lt 2 || sleep 600";
  std::jthread user([&] {
    while (text_of(counter).size() < 4) std::this_thread::sleep_for(milliseconds(20));
    std::this_thread::sleep_for(milliseconds(200));
    raise_interrupt();
  });
  const Collection collection = must(collect(plan(shell(script), 5)));
  user.join();
  clear_interrupts();
  EXPECT_EQ(problem_of(collection).code, ErrorCode::interrupted);
  EXPECT_THAT(
      problem_of(collection).notes,
      ElementsAre("1 of 5 runs are complete",
                  "run 2 left 1 database with what was recorded until then", "3 runs not started"));
  EXPECT_EQ(collection.complete_runs(), 1);
  EXPECT_TRUE(collection.runs.at(1).process.interrupted);
}

TEST_F(CollectTest, CtrlCBeforeTheFirstRunIsAnError) {
  raise_interrupt();
  const auto refused = collect(plan({"true"}));
  clear_interrupts();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::interrupted);
}

TEST_F(CollectTest, OutputOfTheTargetGoesToTheProgressLinesDescriptor) {
  const fs::path talk = folder_ / "talk";
  const int descriptor = ::open(talk.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(descriptor, 0);
  ProgressLine progress({.quiet = false, .descriptor = descriptor, .interval = milliseconds(0)});
  CollectPlan wanted = plan(shell("echo to stdout; echo to stderr >&2"));
  wanted.progress = &progress;
  const Collection collection = must(collect(wanted));
  ::close(descriptor);
  EXPECT_THAT(text_of(talk), testing::StartsWith("to stdout\nto stderr\n"));
  EXPECT_EQ(collection.runs.at(0).process.output.total_bytes, 0U);
}

TEST_F(CollectTest, EveryRunReadsAnInputFileFromItsStart) {
  const fs::path input = folder_.write("input", "line\n");
  const int before = ::dup(STDIN_FILENO);
  const int descriptor = ::open(input.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(before, 0);
  ASSERT_GE(descriptor, 0);
  ASSERT_EQ(::dup2(descriptor, STDIN_FILENO), STDIN_FILENO);
  ::close(descriptor);
  const Collection collection =
      must(collect(plan(shell("cat >> '" + (folder_ / "read").string() + "'"), 3)));
  ::dup2(before, STDIN_FILENO);
  ::close(before);
  EXPECT_EQ(collection.complete_runs(), 3);
  EXPECT_EQ(text_of(folder_ / "read"), "line\nline\nline\n");
}

}  // namespace
}  // namespace perflab::collect
