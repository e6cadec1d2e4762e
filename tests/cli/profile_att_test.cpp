// rocm-perf profile --att with the stand-in rocprofv3: which dispatch is traced and with which
// command line, the one retry on another CU, and everything that can keep it from a trace. Written
// databases and written thread traces.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <sstream>

#include "cli/profile_outputs.h"
#include "cli/program.h"
#include "support/att_writer.h"
#include "support/rocpd_writer.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kScale = "scale(float*, int)";
constexpr const char* kScaleMangled = "_Z5scalePfi";

/// A dispatch of a written database. `kernel`: 0 scale, 1 other, 2 a helper of the runtime.
struct Launched {
  int kernel = 0;
  std::int64_t start = 0, end = 0;  ///< us
  int queue = 1;
};

class ProfileAtt : public testing::Test {
 protected:
  ProfileAtt() {
    fs::create_directory(folder_ / "decoder");
    library_ = folder_.write("decoder/librocprof-trace-decoder.so", "a stand-in");
    base_ = database("base.db", {{.kernel = 1, .start = 0, .end = 50},
                                 {.kernel = 0, .start = 60, .end = 70},
                                 {.kernel = 0, .start = 80, .end = 120},
                                 {.kernel = 2, .start = 130, .end = 630},
                                 {.kernel = 0, .start = 640, .end = 660}});
  }

  Outcome run(std::vector<std::string> arguments, ProcessOptions options = {}) {
    for (const auto& [name, value] : std::map<std::string, std::string>{
             {"ROCPROFV3", PERFLAB_FAKE_ROCPROFV3},
             {"ROCPROF_ATT_LIBRARY_PATH", library_.parent_path().string()},
             {"FAKE_ROCPROFV3_DB", base_},
             {"FAKE_ROCPROFV3_ATT", traces_},
             {"FAKE_ROCPROFV3_ATT_MODE", mode_},
             {"FAKE_ROCPROFV3_LOG", (folder_ / "log").string()}})
      options.set_environment.emplace_back(name, value);
    arguments.insert(arguments.begin(), "profile");
    return rocm_perf(folder_.path(), std::move(arguments), options);
  }

  Json written(const std::string& name) {
    return document(name, test::text_of(folder_ / (name + ".json")));
  }
  std::string warnings() { return warnings_of(written("profile")); }

  /// Names of the traced dispatches in analysis.json; "none" for null.
  std::string traced() {
    const Json traces = written("analysis")["thread_traces"];
    return traces.is_null() ? "none" : traces["traces"].dump();
  }

  /// The values of an option over all calls of rocprofv3.
  [[nodiscard]] std::vector<std::string> values_of(const std::string& option) const {
    return cli::values_of(folder_ / "log", option);
  }

  /// A database of one process with these dispatches.
  std::string database(const std::string& name, const std::vector<Launched>& dispatches,
                       std::int64_t pid = 4242) {
    const fs::path path = folder_ / name;
    test::RocpdWriter writer(path, {.guid = path.stem(), .process = {.pid = pid}});
    writer.agent(test::host_agent());
    writer.agent(test::mi300x_agent());
    for (int i = 0; i < 2; ++i) writer.queue();
    writer.stream();
    writer.code_object({});
    const std::array<test::Id, 3> kernels{
        writer.kernel({.name = kScaleMangled, .display_name = kScale}),
        writer.kernel({.name = "_Z5otherv", .display_name = "other()"}),
        writer.kernel(
            {.name = "__amd_rocclr_copyBuffer", .display_name = "__amd_rocclr_copyBuffer"})};
    for (const Launched& row : dispatches)
      writer.dispatch({.kernel = kernels[static_cast<std::size_t>(row.kernel)],
                       .start = 1'000'000 + row.start * 1'000,
                       .end = 1'000'000 + row.end * 1'000,
                       .queue = row.queue});
    EXPECT_TRUE(writer.close().has_value());
    return path.string();
  }

  /// A folder with a trace in which so many waves have instructions, and others ran on CUs 3 and 5.
  std::string trace(const std::string& name, int waves, bool others = true) {
    test::UiOutput output{.agent = 7, .dispatch = 2};
    output.kernels = {{1, kScaleMangled}, {2, "_Z5otherv"}};
    output.code = {{.text = std::string("; ") + kScaleMangled, .source = kScale},
                   {.text = "v_add_f32_e32 v0, v1, v2"},
                   {.text = "s_endpgm"}};
    for (int i = 0; i < waves; ++i)
      test::add_ui_wave(output, {.slot = i, .cu = 1, .begin = 100},
                        std::vector<test::UiStep>{{.line = 1}, {.line = 2}});
    if (others) {
      const auto add = [&](int cu, int slot, std::int64_t kernel) {
        output.occupancy.push_back({.time = 50, .cu = cu, .slot = slot, .kernel = kernel});
        output.occupancy.push_back(
            {.time = 90, .cu = cu, .slot = slot, .start = false, .kernel = kernel});
      };
      for (const int slot : {0, 1}) add(5, slot, 1);
      add(3, 0, 1);
      for (const int slot : {0, 1, 2}) add(9, slot, 2);  // of another kernel
    }
    test::write_ui_output(folder_ / name, output);
    return (folder_ / name).string();
  }

  test::TempFolder folder_;
  fs::path library_;
  std::string base_, traces_, mode_ = "good";
};

TEST_F(ProfileAtt, TracesTheLongestDispatchOfTheKernelThatTheRunWaitsFor) {
  traces_ = "1=" + trace("full", 2);
  const Outcome outcome = run({"--att", "--", "sh", "-c", "echo x >> starts"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(lines(test::text_of(folder_ / "starts")), 2);
  // Not the helper with the longest dispatch, nor the longest dispatch of all.
  EXPECT_THAT(values_of("--kernel-include-regex"),
              ElementsAre(R"(^scale\(float\*, int\)( \[clone \.kd\]|\.kd)?$)"));
  EXPECT_THAT(values_of("--kernel-iteration-range"), ElementsAre("[2]"));
  EXPECT_THAT(values_of("--att-target-cu"), ElementsAre("1"));
  EXPECT_THAT(values_of("--att-library-path"), ElementsAre(library_.parent_path().string()));
  EXPECT_THAT(values_of("-d"),
              ElementsAre(testing::EndsWith("/0001/run_1"), testing::EndsWith("/0001/att/cu_1")));
  EXPECT_EQ(traced(), R"(["ui_output_agent_7_dispatch_2"])");
  const Json detail = written("thread_trace")["kernels"][0];
  EXPECT_EQ(detail["name"], kScale);
  EXPECT_EQ(written("analysis")["kernels"][detail["kernel"].get<std::size_t>()]["name"], kScale);
  EXPECT_EQ(detail["rows"]["hits"].dump(), "[2,2]");
  EXPECT_DOUBLE_EQ(written("profile")["runtime_ms"], 0.05);  // other(), in the timing run
  EXPECT_EQ(warnings().find("thread trace"), std::string::npos) << warnings();
  EXPECT_THAT(outcome.err, HasSubstr("thread trace of dispatch 2 of 3 of scale(float*, int) (on "
                                     "the critical path), CU 1: "));
}

TEST_F(ProfileAtt, ALongerDispatchBesideTheCriticalPathIsNotChosen) {
  traces_ = "1=" + trace("full", 1);
  base_ = database(
      "beside.db",
      {{.start = 0, .end = 30}, {.start = 1, .end = 41, .queue = 2}, {.start = 31, .end = 66}});
  EXPECT_EQ(run({"--att", "--quiet", "--", "true"}).exit_code, 0);
  EXPECT_THAT(values_of("--kernel-iteration-range"), ElementsAre("[3]"));
}

TEST_F(ProfileAtt, WhatIsAskedForIsTraced) {
  traces_ = "6=" + trace("full", 1);
  const Outcome outcome =
      run({"--att", "--att-kernel", "^sca", "--att-iteration", "3", "--att-target-cu", "6",
           "--att-shader-engines", "0x11", "--att-buffer", "64M", "--", "true"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(values_of("--kernel-iteration-range"), ElementsAre("[3]"));
  EXPECT_THAT(values_of("--att-target-cu"), ElementsAre("6"));
  EXPECT_THAT(values_of("--att-shader-engine-mask"), ElementsAre("0x11"));
  EXPECT_THAT(values_of("--att-buffer-size"), ElementsAre("67108864"));
  EXPECT_NE(traced(), "none");
  fs::remove(folder_ / "log");
  EXPECT_EQ(run({"--att", "--att-kernel", "copyBuffer", "--", "true"}).exit_code, 3);
  EXPECT_THAT(values_of("--kernel-include-regex"),
              ElementsAre(R"(^__amd_rocclr_copyBuffer( \[clone \.kd\]|\.kd)?$)"));
}

TEST_F(ProfileAtt, AKernelOrDispatchThatIsNotThereIsExit2AndTheProfileIsKept) {
  const Outcome no_kernel = run({"--att", "--att-kernel", "gemm", "--", "true"});
  EXPECT_EQ(no_kernel.exit_code, 2);
  EXPECT_THAT(no_kernel.err, HasSubstr("--att-kernel: no kernel of the run matches \"gemm\""));
  EXPECT_DOUBLE_EQ(written("profile")["runtime_ms"], 0.05);
  const Outcome no_dispatch = run({"--att", "--att-iteration", "4", "--", "true"});
  EXPECT_EQ(no_dispatch.exit_code, 2);
  EXPECT_THAT(no_dispatch.err, HasSubstr("--att-iteration 4: scale(float*, int) has 3 dispatches"));
  EXPECT_THAT(values_of("--att-target-cu"), ElementsAre());
}

TEST_F(ProfileAtt, EachProcessCountsItsOwnDispatchesAndThatIsSaid) {
  traces_ = "1=" + trace("full", 1);
  base_ = database("one.db", {{.start = 0, .end = 10}, {.start = 20, .end = 30}}, 41) + ":" +
          database("two.db", {{.start = 40, .end = 50}, {.start = 60, .end = 90}}, 42);
  EXPECT_EQ(run({"--att", "--quiet", "--", "true"}).exit_code, 0);
  EXPECT_THAT(values_of("--kernel-iteration-range"), ElementsAre("[2]"));
  EXPECT_THAT(warnings(), HasSubstr("2 processes reach dispatch 2 of scale(float*, int), and each "
                                    "is traced; it was chosen for that of process 42"));
}

TEST_F(ProfileAtt, AnEmptyTraceIsTakenOnceMoreWhereWavesWereSeen) {
  traces_ = "1=" + trace("empty", 0) + "|5=" + trace("full", 2);
  const Outcome outcome = run({"--att", "--", "sh", "-c", "echo x >> starts"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(values_of("--att-target-cu"), ElementsAre("1", "5"));
  EXPECT_THAT(warnings(), HasSubstr("on CU 1 no instruction was recorded; it was taken again on "
                                    "CU 5 (2 of its waves were seen there)"));
  EXPECT_THAT(warnings(), Not(HasSubstr("either")));
  EXPECT_NE(traced(), "none");
  EXPECT_THAT(outcome.err, HasSubstr(", CU 5: "));
}

TEST_F(ProfileAtt, ItIsTakenAgainOnceOnly) {
  traces_ = "1=" + trace("empty", 0, false) + "|2=" + trace("empty_too", 0, false);
  const Outcome outcome = run({"--att", "--", "sh", "-c", "echo x >> starts"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(lines(test::text_of(folder_ / "starts")), 3);
  EXPECT_THAT(values_of("--att-target-cu"), ElementsAre("1", "2"));
  EXPECT_THAT(warnings(), AllOf(HasSubstr("taken again on CU 2 (none of its waves was seen"),
                                HasSubstr("on CU 2 no instruction was recorded either"),
                                HasSubstr("--att-shader-engines")));
}

TEST_F(ProfileAtt, LostDataIsSaid) {
  traces_ = "1=" + trace("full", 1);
  mode_ = "lost";
  EXPECT_EQ(run({"--att", "--quiet", "--", "true"}).exit_code, 0);
  EXPECT_THAT(warnings(), HasSubstr("thread trace: not all of it was recorded (CU 1): Data Lost"));
}

TEST_F(ProfileAtt, WithoutADecoderNothingMoreIsRunAndItIsExit4) {
  fs::remove(library_);
  const Outcome outcome = run({"--att", "--", "sh", "-c", "echo x >> starts"});
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("librocprof-trace-decoder.so is not in"),
                                 HasSubstr("github.com/ROCm/rocprof-trace-decoder")));
  EXPECT_EQ(lines(test::text_of(folder_ / "starts")), 1);
  EXPECT_DOUBLE_EQ(written("profile")["runtime_ms"], 0.05);
  EXPECT_EQ(traced(), "none");
  EXPECT_THAT(warnings(), HasSubstr("thread trace: none was taken: librocprof-trace-decoder.so"));
  std::string why;  // thread_traces is null
  const Json analysis = written("analysis");
  for (const Json& missing : analysis["missing"])
    if (missing["field"] == "thread_traces") why = missing["reason"];
  EXPECT_THAT(why, HasSubstr("librocprof-trace-decoder.so is not in"));
}

TEST_F(ProfileAtt, ARocprofv3OrADecoderThatCannotIsExit4) {
  mode_ = "refuse";
  const Outcome refused = run({"--att", "--", "true"});
  EXPECT_EQ(refused.exit_code, 4);
  EXPECT_THAT(refused.err, HasSubstr("unrecognized arguments: --att"));
  EXPECT_FALSE(fs::exists(folder_ / ".rocpd_profile/0001/att"));
  mode_ = "no_decoder";
  const Outcome unloadable = run({"--att", "--", "true"});
  EXPECT_EQ(unloadable.exit_code, 4);
  EXPECT_THAT(unloadable.err, HasSubstr("Error loading decoder: 36"));
  EXPECT_DOUBLE_EQ(written("profile")["runtime_ms"], 0.05);
}

TEST_F(ProfileAtt, ARunThatLeavesNoTraceIsExit3AndIsNotRepeated) {
  for (const auto& [mode, words] : std::map<std::string, std::string>{
           {"good", "was to trace dispatch 2 of scale"}, {"raw", "decode"}}) {
    mode_ = mode;
    const Outcome outcome = run({"--att", "--", "sh", "-c", "echo x >> starts"});
    EXPECT_EQ(outcome.exit_code, 3) << mode;
    EXPECT_THAT(outcome.err, HasSubstr(words));
    EXPECT_EQ(lines(test::text_of(folder_ / "starts")), 2) << mode;
    EXPECT_EQ(traced(), "none");
    fs::remove(folder_ / "starts");
  }
}

TEST_F(ProfileAtt, AFailingRunIsExit5AndWhatItLeftIsUsed) {
  traces_ = "1=" + trace("full", 1);
  const std::vector<std::string> fails{"--att", "--", "sh", "-c",
                                       "echo x >> starts; test $(wc -l < starts) -lt 2 || exit 7"};
  const Outcome outcome = run(fails);
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.err, HasSubstr("sh: thread trace exited with code 7"));
  EXPECT_THAT(warnings(), HasSubstr("thread trace: partial"));
  EXPECT_NE(traced(), "none");
  traces_.clear();
  fs::remove(folder_ / "starts");
  EXPECT_EQ(run(fails).exit_code, 5);
  EXPECT_THAT(warnings(), HasSubstr("thread trace: there is none"));
  EXPECT_EQ(traced(), "none");
}

TEST_F(ProfileAtt, AHangingRunIsStopped) {
  const Outcome outcome = run({"--att", "--timeout", "5s", "--", "sh", "-c",
                               "echo x >> starts; test $(wc -l < starts) -lt 2 || exec sleep 600"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.err, HasSubstr("thread trace took longer than 5.0 s"));
  EXPECT_DOUBLE_EQ(written("profile")["runtime_ms"], 0.05);
}

TEST_F(ProfileAtt, ADamagedTraceIsExit3AndTheProfileIsKept) {
  const std::string place = trace("damaged", 1);
  std::ofstream(fs::path(place) / "ui_output_agent_7_dispatch_2/filenames.json") << "{";
  traces_ = "1=" + place;
  EXPECT_EQ(run({"--att", "--", "true"}).exit_code, 3);
  EXPECT_DOUBLE_EQ(written("profile")["runtime_ms"], 0.05);
  EXPECT_THAT(warnings(), HasSubstr("filenames.json"));
}

TEST_F(ProfileAtt, RunsThatFailAreNotFollowedByATrace) {
  const Outcome outcome = run({"--att", "--", "sh", "-c", "exit 7"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(values_of("--att-target-cu"), ElementsAre());
  EXPECT_THAT(warnings(), HasSubstr("thread trace: none was taken: the runs did not end well"));
}

TEST_F(ProfileAtt, CountersComeFirstAndNeitherNeedsTheOther) {
  traces_ = "1=" + trace("full", 1);
  // Every counter pass delivers a database without counters: the trace is taken all the same.
  ProcessOptions options;
  options.set_environment = {
      {"FAKE_ROCPROFV3_PASS_DB", database("pass.db", {{.start = 0, .end = 10}})}};
  const Outcome outcome = run({"--att", "--counters", "SQ_WAVES", "--", "true"}, options);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string log = test::text_of(folder_ / "log");
  EXPECT_LT(log.find("\n-i\n"), log.find("\n--att\n"));
  EXPECT_NE(log.find("\n-i\n"), std::string::npos);
  EXPECT_THAT(values_of("-i"), testing::SizeIs(1));
  EXPECT_THAT(warnings(), HasSubstr("nothing of what was asked for"));
  EXPECT_NE(traced(), "none");
}

TEST_F(ProfileAtt, OptionsThatCannotBeRightAreRefusedBeforeAnythingRuns) {
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--att-kernel", "scale"},
                                                  {"--att-iteration", "2"},
                                                  {"--att-target-cu", "3"},
                                                  {"--att-shader-engines", "0x1"},
                                                  {"--att-buffer", "1G"},
                                                  {"--att", "--no-rocprof"},
                                                  {"--att", "--att-kernel", "sca(le"},
                                                  {"--att", "--att-iteration", "0"},
                                                  {"--att", "--att-target-cu", "128"},
                                                  {"--att", "--att-shader-engines", "0"},
                                                  {"--att", "--att-buffer", "0"}}) {
    std::vector<std::string> arguments = options;
    for (const char* word : {"--", "touch", "started"}) arguments.emplace_back(word);
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << options.back() << outcome.err;
    EXPECT_FALSE(fs::exists(folder_ / "started"));
  }
}

}  // namespace
}  // namespace perflab::cli
