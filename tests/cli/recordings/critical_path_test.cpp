// rocm-perf critical-path, and the options that analyze shares with it, on a small written run
// whose critical path is known, and on the bundled sample.
#include <gmock/gmock.h>

#include <sstream>

#include "cli/program.h"
#include "cli/written_run.h"
#include "report/kit/text_table.h"
#include "support/api_rows.h"
#include "support/rocpd_writer.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// One dispatch, with a counter (then it is a counter pass) or without; no host calls.
void write_counted(const fs::path& path, bool counted = true) {
  test::RocpdWriter writer(path, {.guid = "counted"});
  writer.agent(test::host_agent());
  const test::Id gpu = writer.agent(test::mi300x_agent());
  writer.code_object();
  writer.kernel({.name = "_Z4gemmPf", .display_name = "gemm(float*)"});
  const test::Id counter = writer.counter({.name = "SQ_WAVES"});
  const auto written = writer.dispatch({.kernel = 1, .start = kT0, .end = kT0 + 100, .agent = gpu});
  if (counted) writer.counter_value(written.event, counter, 64);
  ASSERT_TRUE(writer.close().has_value());
}

class CriticalPathCommand : public ::testing::Test {
 protected:
  void SetUp() override { write_steps(folder / "run.db"); }
  Outcome run(std::vector<std::string> arguments, const std::string& columns = "80") const {
    ProcessOptions options;
    options.set_environment = {{"COLUMNS", columns}};
    return rocm_perf(folder.path(), std::move(arguments), options);
  }
  Json dag(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"critical-path", "run.db", "--json"});
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return document("dag", outcome.out);
  }
  test::TempFolder folder;
};

TEST_F(CriticalPathCommand, JsonIsOneValidDocumentThatAddsUp) {
  const Outcome outcome = run({"critical-path", "run.db", "--json"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  const Json dag = document("dag", outcome.out);
  const std::int64_t length = dag["critical_path_ns"];
  EXPECT_EQ(length, 484 * kMicrosecond);  // first launch at 1 us to the last return at 485 us
  std::int64_t sum = 0;
  for (const char* part : {"kernel", "copy", "launch_latency", "host", "idle"})
    sum += dag["attribution"][part]["time_ns"].get<std::int64_t>();
  EXPECT_EQ(sum, length);
  EXPECT_EQ(dag["attribution"]["kernel"]["time_ns"], 70 * kSteps * kMicrosecond);
  EXPECT_EQ(dag["kernels"][0]["name"], "gemm(float*)");
  EXPECT_EQ(dag["kernels"][0]["on_path"], kSteps);
  EXPECT_EQ(dag["kernels"][0]["path_ns"], 50 * kSteps * kMicrosecond);
  EXPECT_THAT(names_in(folder.path()), ElementsAre("run.db"));
}

TEST_F(CriticalPathCommand, WhatIfSaysWhatTheWholeRunGains) {
  const Json dag = this->dag({"--what-if", "gemm=2x"});
  EXPECT_EQ(dag["what_if"]["changes"][0]["matched"], kSteps);
  EXPECT_EQ(dag["what_if"]["gain_ns"], 25 * kSteps * kMicrosecond);
  EXPECT_EQ(dag["kernels"][0]["gains"][1]["gain_ns"], dag["what_if"]["gain_ns"]);
  const Json both = this->dag({"--what-if", "gemm=2x", "--what-if", "softmax=0"});
  EXPECT_EQ(both["what_if"]["gain_ns"], 45 * kSteps * kMicrosecond);
  EXPECT_THAT(run({"critical-path", "run.db", "--what-if", "gemm=2x", "--details"}).out,
              AllOf(HasSubstr("What if"), HasSubstr("125 us less")));
}

TEST_F(CriticalPathCommand, AWhatIfThatSaysNothingIsExit2) {
  for (const char* wrong : {"gemm", "gemm=fast", "(=2x", "nobody=2x"})
    for (const char* command : {"critical-path", "analyze"}) {
      const Outcome outcome = run({command, "run.db", "--what-if", wrong});
      EXPECT_EQ(outcome.exit_code, 2) << wrong;
      EXPECT_EQ(outcome.out, "");
    }
}

TEST_F(CriticalPathCommand, HandoverIsTunable) {
  EXPECT_EQ(dag({"--handover", "0"})["graph"]["options"]["handover_ns"], 0);
  EXPECT_EQ(dag({"--handover", "1.5us"})["graph"]["options"]["handover_ns"], 1500);
  for (const char* wrong : {"-1us", "5", "5 us", "soon", ""}) {
    const Outcome outcome = run({"critical-path", "run.db", std::string("--handover=") + wrong});
    EXPECT_EQ(outcome.exit_code, 2) << wrong;
  }
}

TEST_F(CriticalPathCommand, FullListsTheGraph) {
  EXPECT_TRUE(dag({})["nodes"].is_null());
  const Json nodes = dag({"--full"})["nodes"];
  EXPECT_GE(nodes.size(), 5U * kSteps);
  EXPECT_EQ(run({"critical-path", "run.db", "--full"}).exit_code, 2);
  EXPECT_EQ(run({"analyze", "run.db", "--full", "--json"}).exit_code, 2);
  EXPECT_EQ(run({"analyze", "run.db", "--full", "--out", "docs"}).exit_code, 0);
  EXPECT_EQ(document("dag", test::text_of(folder / "docs/dag.json"))["nodes"], nodes);
}

TEST_F(CriticalPathCommand, SegmentsAreTheRangesAndOneCanBeAnalysedAlone) {
  const Json whole = dag({});
  EXPECT_EQ(whole["segments"]["source"], "ranges");
  EXPECT_EQ(whole["segments"]["count"], kSteps);
  EXPECT_TRUE(whole["segment"].is_null());
  const Json one = dag({"--segment", "2"});
  EXPECT_EQ(one["segment"], 2);
  // The path is what of the run's lies in the step's period; the graph is that of the whole run.
  EXPECT_EQ(one["critical_path_ns"], 100 * kMicrosecond);
  EXPECT_EQ(one["graph"]["dispatches"], 2 * kSteps);
  std::int64_t dispatches = 0;
  for (const Json& kernel : one["kernels"]) dispatches += kernel["dispatches"].get<int>();
  EXPECT_EQ(dispatches, 2);
  ASSERT_EQ(run({"analyze", "run.db", "--segment", "2", "--out", "docs"}).exit_code, 0);
  const Json analysis = document("analysis", test::text_of(folder / "docs/analysis.json"));
  EXPECT_EQ(analysis["segment"], 2);
  EXPECT_EQ(analysis["totals"]["dispatches"], 2);
  EXPECT_EQ(analysis["segments"]["count"], kSteps);
  const Outcome none = run({"critical-path", "run.db", "--segment", "5"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_EQ(none.out, "");
}

TEST_F(CriticalPathCommand, PerfettoWritesATraceAndSaysSo) {
  for (const char* command : {"critical-path", "analyze"}) {
    const Outcome outcome = run({command, "run.db", "--perfetto", "trace.json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("wrote trace.json: open it in ui.perfetto.dev"));
    const auto file = parse_json(test::text_of(folder / "trace.json"), "trace.json");
    ASSERT_TRUE(file);
    EXPECT_EQ(file->at("otherData").at("critical_path_ns"), 484 * kMicrosecond);
    fs::remove(folder / "trace.json");
  }
  const Outcome outcome = run({"critical-path", "run.db", "--perfetto", "no/trace.json"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
}

TEST_F(CriticalPathCommand, PerfettoNeverReplacesAnInputOrWhatIsNoFile) {
  fs::create_symlink("run.db", folder / "link.db");
  fs::create_hard_link(folder / "run.db", folder / "hard.db");
  fs::create_directory(folder / "taken");
  const std::string before = test::text_of(folder / "run.db");
  for (const char* command : {"critical-path", "analyze"})
    for (const char* file : {"run.db", "./run.db", "link.db", "hard.db", "taken", "/dev/null", "-",
                             "", "docs/dag.json"}) {
      const Outcome outcome =
          run({command, "run.db", "--out", "docs", "--perfetto", std::string(file)});
      EXPECT_EQ(outcome.exit_code, 2) << command << " " << file;
      EXPECT_EQ(outcome.out, "");
      EXPECT_NE(outcome.err, "");
      EXPECT_FALSE(fs::exists(folder / "docs")) << "nothing is done before";
    }
  EXPECT_TRUE(test::text_of(folder / "run.db") == before);
  EXPECT_TRUE(fs::is_symlink(folder / "link.db"));
  EXPECT_THAT(run({"critical-path", "run.db", "--perfetto", "link.db"}).err,
              HasSubstr("--perfetto link.db: this is an input, and it would be replaced"));
}

TEST_F(CriticalPathCommand, ASegmentThatIsNoNumberIsOneSentence) {
  for (const char* wrong : {"-1", "1.5", "x", "99999999999999999999999", ""}) {
    const Outcome outcome = run({"critical-path", "run.db", "--segment", wrong});
    EXPECT_EQ(outcome.exit_code, 2) << wrong;
    EXPECT_THAT(outcome.err, testing::StartsWith(std::string("rocm-perf: --segment '") + wrong +
                                                 "': this is not the number of a segment"));
  }
}

TEST_F(CriticalPathCommand, AChangeWithoutAnythingToChangeSaysWhatToRecord) {
  EXPECT_THAT(run({"critical-path", "run.db", "--what-if", "copy=0"}).err,
              HasSubstr("--memory-copy-trace"));
  EXPECT_THAT(run({"critical-path", "run.db", "--what-if", "nobody=0"}).err,
              AllOf(HasSubstr("table of kernels"), Not(HasSubstr("-trace"))));
  write_counted(folder / "bare.db", false);
  for (const char* change : {"launch=0", "sync=drop"})
    EXPECT_THAT(run({"critical-path", "bare.db", "--what-if", change}).err,
                AllOf(HasSubstr("--hip-trace"), Not(HasSubstr("table of kernels"))));
}

TEST_F(CriticalPathCommand, OutWritesWhatJsonPrints) {
  const Outcome json = run({"critical-path", "run.db", "--json", "--out", "a/b"});
  EXPECT_THAT(names_in(folder / "a/b"), ElementsAre("dag.json", "summary.json", "timeline.json"));
  EXPECT_EQ(test::text_of(folder / "a/b/dag.json"), json.out);
  EXPECT_THAT(run({"critical-path", "run.db", "--out", "c"}).err,
              HasSubstr("documents in c: dag.json, timeline.json, summary.json"));
}

TEST_F(CriticalPathCommand, TextFitsEightyColumnsWithoutColour) {
  const Outcome outcome = run({"critical-path", PERFLAB_SAMPLE, "--details"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, testing::StartsWith("SYNTHETIC"));
  EXPECT_THAT(outcome.out, HasSubstr("Where the time went"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("\033")));
  std::istringstream text(outcome.out.substr(outcome.out.find('\n')));
  for (std::string line; std::getline(text, line);)
    EXPECT_LE(report::display_width(line), 80U) << line;
}

TEST_F(CriticalPathCommand, AnalyzeHasItByDefault) {
  const Outcome outcome =
      run({"analyze", "run.db", "--out", "docs", "--what-if", "gemm=2x", "--details"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Where the time went"));
  EXPECT_THAT(outcome.err, HasSubstr("documents in docs: analysis.json, profile.json, dag.json"));
  EXPECT_EQ(document("dag", test::text_of(folder / "docs/dag.json")),
            dag({"--what-if", "gemm=2x"}));
  const Json analysis = document("analysis", test::text_of(folder / "docs/analysis.json"));
  EXPECT_EQ(analysis["critical_path"]["critical_path_ns"], 484 * kMicrosecond);
}

TEST_F(CriticalPathCommand, CounterPassesAloneHaveNone) {
  write_counted(folder / "counted.db");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"critical-path", "counted.db"},
        {"analyze", "counted.db", "--perfetto", "t.json"}}) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, 3) << command.front();
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("counted.db: there is no critical path: "));
    EXPECT_FALSE(fs::exists(folder / "t.json"));
  }
  EXPECT_THAT(run({"analyze", "counted.db", "--details"}).out, HasSubstr("no critical path: "));
}

TEST_F(CriticalPathCommand, OneOfAnEarlierRunIsRemovedWhereThereIsNoneNow) {
  write_counted(folder / "counted.db");
  ASSERT_EQ(run({"analyze", "run.db", "--out", "docs"}).exit_code, 0);
  ASSERT_TRUE(fs::exists(folder / "docs/dag.json"));
  const Outcome outcome = run({"analyze", "counted.db", "--out", "docs"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_FALSE(fs::exists(folder / "docs/dag.json"));
  EXPECT_THAT(outcome.err, HasSubstr("removed docs/dag.json of an earlier run: this one has no "
                                     "critical path"));
}

TEST_F(CriticalPathCommand, TheDocumentDoesNotDependOnTheNumberOfThreads) {
  EXPECT_EQ(dag({"--threads", "1", "--full"}), dag({"--threads", "3", "--full"}));
}

}  // namespace
}  // namespace perflab::cli
