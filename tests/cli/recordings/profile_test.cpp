// rocm-perf profile with a stand-in rocprofv3 (tests/collect/fake_rocprofv3) that delivers the
// bundled sample.
#include <gmock/gmock.h>

#include "cli/program.h"
#include "support/rocpd_writer.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Profile : public testing::Test {
 protected:
  Outcome run(std::vector<std::string> arguments, const std::string& mode = "good",
              const std::string& databases = PERFLAB_SAMPLE) {
    ProcessOptions options;
    options.set_environment = {{"ROCPROFV3", PERFLAB_FAKE_ROCPROFV3},
                               {"FAKE_ROCPROFV3_MODE", mode},
                               {"FAKE_ROCPROFV3_DB", databases}};
    arguments.insert(arguments.begin(), "profile");
    return rocm_perf(folder_.path(), std::move(arguments), options);
  }
  Json written(const std::string& name) {
    return document(name, test::text_of(folder_ / (name + ".json")));
  }

  test::TempFolder folder_;
};

TEST_F(Profile, GoodRunWritesTheDocumentsAndKeepsTheDatabase) {
  const Outcome outcome = run({"--", "true"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json profile = written("profile");
  EXPECT_TRUE(profile["runtime_ms"].is_number());
  EXPECT_EQ(profile["gpu"]["architecture"], "gfx942");
  EXPECT_EQ(profile["roofline"], nullptr);
  EXPECT_EQ(profile["stability"]["cv"], nullptr);  // one run has no spread
  written("analysis");
  EXPECT_GT(written("dag")["critical_path_ns"].get<std::int64_t>(), 0);
  EXPECT_THAT(outcome.out, HasSubstr("Where the time went"));
  EXPECT_LE(lines(outcome.out), 40);
  EXPECT_EQ(written("summary")["made_from"][0], "profile");
  EXPECT_TRUE(fs::exists(folder_ / ".rocpd_profile/0001/run_1"));
}

TEST_F(Profile, RunsGiveStabilityAndEveryRunHasItsOwnFolder) {
  const Outcome outcome = run({"--runs", "3", "--json", "--", "true"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json profile = document("profile", outcome.out);
  EXPECT_EQ(profile["stability"]["runs"].size(), 3U);
  EXPECT_EQ(profile["stability"]["cv"], 0.0);  // the same database thrice
  EXPECT_EQ(profile["stability"]["label"], "stable");
  EXPECT_THAT(names_in(folder_ / ".rocpd_profile/0001"), ElementsAre("run_1", "run_2", "run_3"));
  run({"--", "true"});
  EXPECT_THAT(names_in(folder_ / ".rocpd_profile"), ElementsAre("0001", "0002"));
}

TEST_F(Profile, SeveralProcessesOfOneRunAreMerged) {
  const fs::path other = folder_ / "other.db";
  test::RocpdWriter writer(other, {.guid = "second"});
  const test::Id kernel = writer.kernel({.name = "_Z5otherv", .display_name = "other()"});
  writer.dispatch({.kernel = kernel, .start = 100, .end = 200});
  ASSERT_TRUE(writer.close().has_value());
  const Outcome outcome =
      run({"--", "true"}, "good", PERFLAB_SAMPLE + std::string(":") + other.string());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(written("analysis")["recordings"].size(), 2U);
}

TEST_F(Profile, TargetOutputNeverLandsOnStdout) {
  const Outcome outcome = run({"--json", "--", "sh", "-c", "echo from the target"});
  document("profile", outcome.out);
  EXPECT_THAT(outcome.err, HasSubstr("from the target"));
}

TEST_F(Profile, OneStringIsSplitWithoutAShell) {
  const Outcome outcome = run({"sh -c 'touch \"a b\" $(touch c)'"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(fs::exists(folder_ / "a b"));
  const Json profile = written("profile");
  EXPECT_EQ(profile["environment"]["command"].size(), 3U);
}

TEST_F(Profile, FailingTargetIsExit5AndWhatItLeftIsCalledPartial) {
  const Outcome outcome = run({"--", "sh", "-c", "exit 7"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.err, HasSubstr("7"));
  const Json profile = written("profile");
  EXPECT_THAT(profile["stability"]["runs"][0]["target"].get<std::string>(), HasSubstr("7"));
  EXPECT_THAT(profile["warnings"].dump(), HasSubstr("partial"));
}

TEST_F(Profile, AFailedRunDoesNotCountWhenAnotherEndedWell) {
  const Outcome outcome =
      run({"--runs", "3", "--", "sh", "-c", "test -e seen && exit 1; touch seen"});
  EXPECT_EQ(outcome.exit_code, 5);
  const Json profile = written("profile");
  ASSERT_EQ(profile["stability"]["runs"].size(), 2U);  // the third was not started
  EXPECT_EQ(profile["stability"]["runs"][0]["target"], "ok");
  EXPECT_EQ(profile["stability"]["runs"][1]["target"], "exit 1");
  EXPECT_EQ(profile["stability"]["runs"][1]["kernel_total_ns"], nullptr);
  EXPECT_EQ(profile["stability"]["cv"], nullptr);
}

TEST_F(Profile, HangingTargetIsStopped) {
  const Outcome outcome = run({"--timeout", "3s", "--", "sleep", "600"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(written("profile")["stability"]["runs"][0]["target"].get<std::string>(),
              HasSubstr("timed out"));
}

TEST_F(Profile, MissingOutputIsExit3AndNothingIsWritten) {
  const Outcome outcome = run({"--", "true"}, "no_output");
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_FALSE(fs::exists(folder_ / "profile.json"));
}

TEST_F(Profile, HalfWrittenDatabaseIsOneSentence) {
  const Outcome outcome = run({"--", "true"}, "crash");
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_FALSE(fs::exists(folder_ / "profile.json"));
}

TEST_F(Profile, UnsupportedOptionIsExit4) {
  const Outcome outcome = run({"--", "true"}, "unsupported");
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_THAT(outcome.err, HasSubstr("rocprofv3"));
}

TEST_F(Profile, MissingTargetIsExit2) {
  EXPECT_EQ(run({"--", "./not-there"}).exit_code, 2);
  EXPECT_FALSE(fs::exists(folder_ / "profile.json"));
}

TEST_F(Profile, NoRocprofv3IsExit4AndSaysHowToGetIt) {
  ProcessOptions options;
  options.set_environment = {{"PATH", "/usr/bin:/bin"}, {"ROCM_PATH", folder_.path().string()}};
  options.unset_environment = {"ROCPROFV3"};
  if (find_program("rocprofv3") || fs::exists("/opt/rocm/bin/rocprofv3"))
    GTEST_SKIP() << "skipped: this machine has a rocprofv3";
  const Outcome outcome = rocm_perf(folder_.path(), {"profile", "--", "true"}, options);
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_THAT(outcome.err, HasSubstr("--no-rocprof"));
}

TEST_F(Profile, NoRocprofTimesTheProcessAndSaysWhatIsMissing) {
  const Outcome outcome = run({"--no-rocprof", "--runs", "2", "--json", "--", "true"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json profile = document("profile", outcome.out);
  EXPECT_EQ(profile["runtime_ms"], nullptr);
  EXPECT_EQ(profile["kernel"], nullptr);
  EXPECT_GT(profile["stability"]["runs"][1]["process_wall_ns"].get<std::int64_t>(), 0);
  EXPECT_THAT(profile["missing"].dump(), HasSubstr("runtime_ms"));
  EXPECT_FALSE(fs::exists(folder_ / ".rocpd_profile"));
}

TEST_F(Profile, NoRocprofAnswersWithTheRunsAndHowToGetMore) {
  const Outcome outcome = run({"--no-rocprof", "--runs", "2", "--", "sh", "-c", "exit 0"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, testing::StartsWith("Timed runs\n  run  wall time  ended\n    1 "));
  EXPECT_THAT(outcome.out, HasSubstr("Where the time went\n  not known: the process ran without"));
  EXPECT_THAT(outcome.out, HasSubstr("Next\n  rocm-perf profile -- sh -c 'exit 0'\n"));
  const Json summary = written("summary");
  EXPECT_EQ(summary["parts"][0]["rows"][1]["process_wall_ns"],
            written("profile")["stability"]["runs"][1]["process_wall_ns"]);
}

TEST_F(Profile, QuietSaysNothingOfItsOwn) {
  const Outcome outcome = run({"--quiet", "--", "sh", "-c", "echo from the target"});
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("from the target"));
  EXPECT_THAT(outcome.err, testing::Not(HasSubstr("documents in")));
}

TEST_F(Profile, TheSameRecordingGivesTheSameDocuments) {
  run({"--", "true"});
  const std::string first = test::text_of(folder_ / "analysis.json");
  ASSERT_NE(first, "");
  // The database lies under another name in the second run: only `environment` may differ.
  run({"--", "true"});
  const std::string second = test::text_of(folder_ / "analysis.json");
  EXPECT_EQ(first.substr(0, first.find("\"environment\"")),
            second.substr(0, second.find("\"environment\"")));
}

}  // namespace
}  // namespace perflab::cli
