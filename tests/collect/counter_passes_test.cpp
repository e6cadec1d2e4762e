// Counter passes through the stand-in rocprofv3: the job file, what each pass leaves, and every way
// that the one call can end.
#include "collect/counter_passes.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "base/shell.h"
#include "base/system/interrupt.h"
#include "base/temp_folder.h"
#include "base/text/json.h"
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
using testing::Not;
using Passes = std::vector<std::vector<std::string>>;

const Passes kThree{
    {"GRBM_GUI_ACTIVE", "SQ_WAVES"}, {"GRBM_GUI_ACTIVE", "TCC_HIT_sum"}, {"VmemLatency"}};

class CounterPasses : public testing::Test {
 protected:
  CounterPasses() {
    one_ = folder_.write("one.db", "the first pass");
    two_ = folder_.write("two.db", "the second one");
    three_ = folder_.write("three.db", "the third");
    deliver(one_.string() + "|" + two_.string() + "|" + three_.string());
    base_ = test::traced_collection(folder_.path());
  }

  static void deliver(const std::string& groups) {
    ::setenv("FAKE_ROCPROFV3_PASS_DB", groups.c_str(), 1);
  }
  static void use_mode(const char* mode) { ::setenv("FAKE_ROCPROFV3_PASS_MODE", mode, 1); }
  [[nodiscard]] std::string log() const { return text_of(folder_ / "log"); }

  [[nodiscard]] static CollectPlan plan(std::vector<std::string> target) {
    CollectPlan plan;
    plan.target = std::move(target);
    return plan;
  }

  [[nodiscard]] CounterCollection collected(const CollectPlan& plan,
                                            const Passes& passes = kThree) {
    Result<CounterCollection> collection = collect_counters(plan, base_, passes);
    EXPECT_TRUE(collection.has_value()) << describe(collection.error());
    return std::move(collection).value_or(CounterCollection{});
  }

  static Error problem_of(const CounterCollection& collection) {
    EXPECT_TRUE(collection.problem.has_value());
    return collection.problem.value_or(Error{});
  }

  /// A target that does `script` from its Nth start on (`count` holds a line per start).
  [[nodiscard]] std::vector<std::string> from_start(int number, const std::string& script) const {
    const std::string count = (folder_ / "count").string();
    return shell("echo x >> '" + count + "'; test $(wc -l < '" + count + "') -lt " +
                 std::to_string(number) + " || { " + script + "; }");
  }

  TempFolder folder_;
  fs::path one_, two_, three_;
  Collection base_;

 private:
  ScopedVariable databases_{"FAKE_ROCPROFV3_PASS_DB", std::nullopt};
  ScopedVariable mode_{"FAKE_ROCPROFV3_PASS_MODE", std::nullopt};
  ScopedVariable log_{"FAKE_ROCPROFV3_LOG", (folder_ / "log").string()};
};

TEST(CounterJobFile, HasOneJobPerPassInTheFormOfRocprofv3) {
  const std::string text = counter_job_file({{"SQ_WAVES", "GRBM_GUI_ACTIVE"}, {"A\"B"}});
  const auto parsed = parse_json(text, "job file");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(*parsed, Json::parse(R"({"jobs":[{"pmc":["SQ_WAVES","GRBM_GUI_ACTIVE"]},
                                            {"pmc":["A\"B"]}]})"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 6);
}

TEST_F(CounterPasses, OneCallRunsTheTargetOncePerPass) {
  const CounterCollection collection = collected(plan(from_start(99, "exit 1")));
  EXPECT_FALSE(collection.problem.has_value());
  EXPECT_EQ(collection.folder, base_.folder / "counters");
  EXPECT_EQ(text_of(folder_ / "count"), "x\nx\nx\n");
  ASSERT_EQ(collection.passes.size(), 3U);
  EXPECT_EQ(collection.passes_with_databases(), 3U);
  const std::vector<fs::path> delivered{one_, two_, three_};
  for (std::size_t i = 0; i < 3; ++i) {
    const CounterPass& pass = collection.passes[i];
    EXPECT_EQ(pass.number, static_cast<int>(i) + 1);
    EXPECT_EQ(pass.counters, kThree[i]);
    ASSERT_EQ(pass.databases.size(), 1U);
    EXPECT_EQ(pass.databases[0].path.parent_path().parent_path(),
              collection.folder / ("pass_" + std::to_string(i + 1)));
    EXPECT_EQ(text_of(pass.databases[0].path), text_of(delivered[i]));
  }
  EXPECT_EQ(text_of(collection.folder / "jobs.json"), counter_job_file(kThree));
  EXPECT_THAT(collection.notes, ElementsAre());
  EXPECT_THAT(collection.refusals, ElementsAre());
}

TEST_F(CounterPasses, CallsRocprofv3WithTheJobFileAlone) {
  CollectPlan wanted = plan({"true", "-f", "--"});
  wanted.extra_options = {"--memory-copy-trace"};
  const CounterCollection collection = collected(wanted);
  EXPECT_EQ(log(), "# rocprofv3\n-i\n" + collection.job_file.string() +
                       "\n--memory-copy-trace\n-f\nrocpd\n-d\n" + collection.folder.string() +
                       "\n--\ntrue\n-f\n--\n");
}

TEST_F(CounterPasses, ASinglePassEndsAsTheTargetEnds) {
  const Passes one{{"SQ_WAVES"}};
  const CounterCollection good = collected(plan({"true"}), one);
  EXPECT_EQ(good.passes.at(0).folder, base_.folder / "counters" / "pass_1");
  EXPECT_EQ(good.passes[0].databases.size(), 1U);
  const CounterCollection failed = collected(plan(shell("exit 3")), one);
  EXPECT_EQ(problem_of(failed).message, "sh: counter pass 1 of 1 exited with code 3");
}

TEST_F(CounterPasses, SeveralProcessesLeaveSeveralDatabases) {
  deliver(one_.string() + ":" + two_.string() + "|" + three_.string());
  const CounterCollection collection = collected(plan({"true"}));
  EXPECT_EQ(collection.passes.at(0).databases.size(), 2U);
  EXPECT_EQ(collection.passes[1].databases.size(), 1U);
}

TEST_F(CounterPasses, CountersOfTheEnvironmentDoNotLeakIn) {
  const ScopedVariable counters("ROCPROF_COUNTERS", "pmc: SQ_WAVES");
  const CounterCollection collection = collected(
      plan(shell("echo \"${ROCPROF_COUNTERS-unset}\" > '" + (folder_ / "seen").string() + "'")));
  EXPECT_FALSE(collection.problem.has_value());
  EXPECT_EQ(text_of(folder_ / "seen"), "unset\n");
}

TEST_F(CounterPasses, AFailingPassIsPartialAndTheRestIsKept) {
  const CounterCollection collection = collected(plan(from_start(2, "echo no memory >&2; exit 3")));
  const Error problem = problem_of(collection);
  EXPECT_EQ(problem.code, ErrorCode::target_failed);
  // A failing target leaves its database, mostly: which of two passes it was cannot be seen.
  EXPECT_EQ(problem.message, "sh: counter pass 2 or 3 of 3 exited with code 3");
  EXPECT_THAT(problem.notes,
              ElementsAre("2 of 3 counter passes left databases, the last of them with what was "
                          "recorded until then",
                          "the last line of its output: no memory"));
  EXPECT_EQ(collection.passes_with_databases(), 2U);
  EXPECT_TRUE(collection.passes[2].databases.empty());
  EXPECT_FALSE(fs::exists(collection.passes[2].folder));
}

TEST_F(CounterPasses, TheFirstAndTheLastPassAreNamedExactly) {
  use_mode("1=no_output");
  EXPECT_EQ(problem_of(collected(plan(shell("exit 4")))).message,
            "sh: counter pass 1 of 3 exited with code 4");
  use_mode("");
  const auto done = collected(plan(from_start(3, "kill -SEGV $$")));
  EXPECT_EQ(problem_of(done).message,
            "sh: counter pass 3 of 3 was killed by SIGSEGV (segmentation fault)");
}

TEST_F(CounterPasses, ACrashLeavesItsHalfDatabase) {
  use_mode("2=crash");
  const CounterCollection collection = collected(plan({"true"}));
  EXPECT_EQ(problem_of(collection).code, ErrorCode::target_failed);
  EXPECT_EQ(collection.passes.at(1).databases.at(0).size, Bytes{8});
}

TEST_F(CounterPasses, APassWithoutADatabaseIsABadResult) {
  use_mode("2=no_output");
  const CounterCollection collection = collected(plan({"true"}));
  EXPECT_EQ(problem_of(collection).code, ErrorCode::bad_input);
  EXPECT_EQ(problem_of(collection).message,
            "true: counter pass 2 of 3 ended well, but rocprofv3 left no database in " +
                collection.folder.string());
  EXPECT_EQ(collection.passes_with_databases(), 2U);
  use_mode("3=empty_db");
  fs::remove_all(collection.folder);
  EXPECT_THAT(problem_of(collected(plan({"true"}))).notes,
              ElementsAre(EndsWith("_results.db: is empty (0 bytes)")));
}

TEST_F(CounterPasses, ASetThatDoesNotFitIsRocprofv3sRefusal) {
  use_mode("2=refuse");
  const CounterCollection collection = collected(plan({"true"}));
  const Error problem = problem_of(collection);
  EXPECT_EQ(problem.code, ErrorCode::missing_tool);
  EXPECT_THAT(problem.message,
              AllOf(HasSubstr("counter pass 1 or 2 of 3"), HasSubstr("rocprofv3 cannot count"),
                    HasSubstr("Request exceeds the capabilities of the hardware to collect")));
  EXPECT_EQ(collection.passes_with_databases(), 1U);
  EXPECT_THAT(problem.remedy, HasSubstr("rocprofv3-avail"));
}

TEST_F(CounterPasses, ACounterThatIsNotFoundIsQuotedOnce) {
  use_mode("2=warn");
  const CounterCollection collection = collected(
      plan(shell("echo 'Unable to find all counters for agent 7' >&2; yes | head -c 200000 >&2")));
  EXPECT_FALSE(collection.problem.has_value());
  EXPECT_THAT(collection.refusals,
              ElementsAre("Unable to find all counters for agent 7",
                          "Unable to find all counters for agent 1 (gpu-0, gfx942) in "
                          "[GRBM_GUI_ACTIVE, SQ_NONE]. Found: [GRBM_GUI_ACTIVE]. Missing: "
                          "[SQ_NONE]"));
}

TEST_F(CounterPasses, ManyRefusalsAreCounted) {
  const auto done = collected(
      plan(shell("for i in 1 2 3 4 5 6 7 8 9 10; do echo \"Unable to find all counters for agent "
                 "$i\"; done")),
      {{"SQ_WAVES"}});
  ASSERT_EQ(done.refusals.size(), 9U);
  EXPECT_EQ(done.refusals.back(), "2 more of that kind");
}

TEST_F(CounterPasses, TheTimeoutIsForEveryPass) {
  CollectPlan wanted = plan({"sleep", "2.5"});
  wanted.timeout = milliseconds(7000);  // the three of them take longer than that
  EXPECT_FALSE(collected(wanted).problem.has_value());
  fs::remove_all(base_.folder / "counters");
  wanted.target = from_start(2, "sleep 600");
  fs::remove(folder_ / "count");
  wanted.timeout = milliseconds(4000);  // of three passes; two are done at once
  const CounterCollection collection = collected(wanted);
  EXPECT_EQ(problem_of(collection).code, ErrorCode::target_failed);
  EXPECT_EQ(problem_of(collection).message,
            "sh: collecting counters took longer than 12 s and was stopped");
  EXPECT_EQ(collection.passes_with_databases(), 2U);
}

TEST_F(CounterPasses, CtrlCKeepsWhatThereIs) {
  const InterruptScope scope;
  std::jthread user([&] {
    while (text_of(folder_ / "count").size() < 4) std::this_thread::sleep_for(milliseconds(20));
    std::this_thread::sleep_for(milliseconds(200));
    raise_interrupt();
  });
  const CounterCollection collection = collected(plan(from_start(2, "sleep 60")));
  user.join();
  clear_interrupts();
  EXPECT_EQ(problem_of(collection).code, ErrorCode::interrupted);
  EXPECT_EQ(problem_of(collection).message, "sh: interrupted");
  EXPECT_EQ(collection.passes_with_databases(), 2U);
}

TEST_F(CounterPasses, CtrlCBeforeTheStartIsAnErrorAndLeavesNoFolder) {
  raise_interrupt();
  const auto refused = collect_counters(plan({"true"}), base_, kThree);
  clear_interrupts();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::interrupted);
  EXPECT_TRUE(fs::is_empty(base_.folder));
}

TEST_F(CounterPasses, ARocprofv3WithoutJobFilesIsAMissingTool) {
  base_.rocprofv3 =
      Rocprofv3{.path = folder_.script(
                    "old", "echo 'rocprofv3: error: unrecognized arguments: -i' >&2; exit 2"),
                .version = {},
                .rocm_version = {}};
  const auto refused = collect_counters(plan({"true"}), base_, kThree);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::missing_tool);
  EXPECT_THAT(refused.error().message, HasSubstr("unrecognized arguments: -i"));
  EXPECT_TRUE(fs::is_empty(base_.folder));
}

TEST_F(CounterPasses, ARocprofv3ThatIsGoneIsAMissingTool) {
  base_.rocprofv3 = Rocprofv3{.path = folder_ / "gone", .version = {}, .rocm_version = {}};
  const auto refused = collect_counters(plan({"true"}), base_, kThree);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::missing_tool);
}

TEST_F(CounterPasses, APlaceThatCannotBeWrittenIsAUsageError) {
  base_.folder = one_;
  const auto refused = collect_counters(plan({"true"}), base_, kThree);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::usage);
}

TEST_F(CounterPasses, OwnCountersOfTheUserWouldMixUpThePasses) {
  CollectPlan wanted = plan({"true"});
  wanted.extra_options = {"--pmc", "SQ_WAVES"};
  const auto refused = collect_counters(wanted, base_, kThree);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::usage);
}

TEST_F(CounterPasses, AnInputFileIsReadByTheFirstPassAndThatIsSaid) {
  const fs::path input = folder_.write("input", "line\n");
  const int before = ::dup(STDIN_FILENO);
  const int descriptor = ::open(input.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(before, 0);
  ASSERT_GE(descriptor, 0);
  ASSERT_EQ(::dup2(descriptor, STDIN_FILENO), STDIN_FILENO);
  ::close(descriptor);
  const CounterCollection collection =
      collected(plan(shell("cat >> '" + (folder_ / "read").string() + "'")));
  ::dup2(before, STDIN_FILENO);
  ::close(before);
  EXPECT_EQ(text_of(folder_ / "read"), "line\n");
  EXPECT_THAT(collection.notes, ElementsAre(HasSubstr("only the first counter pass reads it")));
}

TEST(CounterRefusalLine, KnowsTheWordsOfTheLibrary) {
  const auto find = [](std::string_view line) {
    return counter_refusal(line).value_or(CounterRefusal{});
  };
  const CounterRefusal missing = find(
      "W20260701 10:00:00.5 77 77 tool.cpp:1433] Unable to find all counters for agent 1 (gpu-0, "
      "gfx942) in [A]. Found: []. Missing: [A]");
  EXPECT_EQ(missing.text,
            "Unable to find all counters for agent 1 (gpu-0, gfx942) in [A]. Found: []. Missing: "
            "[A]");
  EXPECT_FALSE(missing.fatal);
  const CounterRefusal full = find(
      "Could not construct profile cfg failed with error code 38: Request exceeds the capabilities "
      "of the hardware to collect");
  EXPECT_TRUE(full.fatal);
  EXPECT_THAT(full.text, testing::StartsWith("Could not construct"));
  EXPECT_FALSE(counter_refusal("app: counter 3 does not exist"));
  EXPECT_FALSE(counter_refusal(""));
}

TEST(ReportedEnd, ReadsTheWordsOfCheckCall) {
  const auto end = [](std::string_view output) {
    return reported_end(output).value_or(TargetEnd{});
  };
  EXPECT_EQ(end("x\n[rocprofv3] Fatal error: Command '['./a', '1']' returned non-zero exit status "
                "3.\n")
                .exit_code,
            3);
  EXPECT_EQ(end("Fatal error: Command '['./a']' died with <Signals.SIGKILL: 9>.").signal, 9);
  EXPECT_EQ(end("[rocprofv3] Fatal error: Command '['./a']' died with unknown signal 70.").signal,
            70);
  EXPECT_FALSE(reported_end("app: Command '['./a']' returned non-zero exit status 3."));
  EXPECT_FALSE(reported_end("[rocprofv3] Fatal error: No application provided"));
  EXPECT_FALSE(reported_end("Fatal error: Command '['./a']' returned non-zero exit status x."));
  EXPECT_FALSE(reported_end(""));
}

}  // namespace
}  // namespace perflab::collect
