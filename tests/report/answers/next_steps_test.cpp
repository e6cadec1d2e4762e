// Commands that are offered: they name the program and the files of the recording, and run.
#include "report/answers/next_steps.h"

#include <gtest/gtest.h>

#include "report/summary/summary.h"

namespace perflab::report {
namespace {

/// analysis.json of a recording and a counter pass, with these commands of its processes.
NamedDocument recorded_analysis(const std::vector<std::string>& commands, const Json& synthetic) {
  Json processes = Json::array();
  for (const std::string& command : commands)
    processes.push_back({{"pid", 1}, {"command", command}});
  return {"analysis",
          {{"synthetic", synthetic},
           {"recordings", {{{"pass", nullptr}}, {{"pass", 1}}}},
           {"environment",
            {{"recordings",
              {{{"file", "a b.db"}, {"processes", processes}},
               {{"file", "pass_1/c.db"}, {"processes", processes}}}}}}}};
}

RecordedRun run_of(const std::vector<NamedDocument>& documents) {
  return recorded_run(documents);
}

TEST(RecordedRunOf, ARecordingHasItsProgramAndItsFilesWithoutPasses) {
  const RecordedRun run = run_of({recorded_analysis({"./app -n 3"}, nullptr)});
  EXPECT_EQ(run.program, "./app -n 3");
  EXPECT_EQ(run.files, std::vector<std::string>{"a b.db"});
  EXPECT_FALSE(run.synthetic);
}

TEST(RecordedRunOf, SeveralProgramsOrNoneIsNone) {
  EXPECT_EQ(run_of({recorded_analysis({"./a", "./b"}, nullptr)}).program, "");
  EXPECT_EQ(run_of({recorded_analysis({}, nullptr)}).program, "");
  EXPECT_EQ(run_of({recorded_analysis({""}, nullptr)}).program, "");
  EXPECT_EQ(run_of({recorded_analysis({"./a 'open"}, nullptr)}).program, "");
  EXPECT_EQ(run_of({recorded_analysis({"./a; rm -r ."}, nullptr)}).program,
            "");  // a shell would run both
}

TEST(RecordedRunOf, AMadeUpRecordingHasNoProgram) {
  const RecordedRun run = run_of({recorded_analysis({"./app"}, "made up")});
  EXPECT_TRUE(run.synthetic);
  EXPECT_EQ(run.program, "");
}

TEST(RecordedRunOf, AProfileHasTheWordsThatItWasGiven) {
  const NamedDocument profile{
      "profile", {{"synthetic", nullptr}, {"environment", {{"command", {"./app", "a b"}}}}}};
  EXPECT_EQ(run_of({profile, recorded_analysis({"./app a b"}, nullptr)}).program, "./app 'a b'");
}

TEST(RecordedRunOf, OtherDocumentsNameTheirFiles) {
  const RecordedRun dag = run_of(
      {{"dag", {{"environment", {{"files", {"a.db"}}, {"processes", {{{"command", "./app"}}}}}}}}});
  EXPECT_EQ(dag.program, "./app");
  EXPECT_EQ(dag.files, std::vector<std::string>{"a.db"});
  const RecordedRun roofline =
      run_of({{"roofline", {{"environment", {{"files", {"p.db", "q.db"}}}}}}});
  EXPECT_EQ(roofline.reader, "roofline");
  EXPECT_EQ(roofline.files.size(), 2U);
}

/// analysis.json of two kernels, the longer of a communication library.
std::vector<NamedDocument> analysis_with_communication(const std::string& longest) {
  NamedDocument document = recorded_analysis({}, nullptr);
  document.value["kernels"] = {{{"name", longest}}, {{"name", "gemm"}}};
  document.value["bottlenecks"] = {
      {"kernels", Json::array()},
      {"without_verdict",
       {{{"name", "ncclDevKernel_AllReduce"}, {"verdict", nullptr}, {"reason", "waits"}}}}};
  return {document};
}

TEST(SummaryOfARecording, SendsToTheRanksWhereTheLongestKernelIsOneOfCommunication) {
  Json summary = summary_document(analysis_with_communication("ncclDevKernel_AllReduce"));
  ASSERT_EQ(summary["next"].size(), 1U) << summary.dump(1);
  EXPECT_EQ(summary["next"][0]["command"], "rocm-perf ranks 'a b.db'");
  summary = summary_document(analysis_with_communication("gemm"));
  EXPECT_TRUE(summary["next"].empty()) << summary.dump(1);
}

TEST(KernelPattern, IsTheFunctionWhereNoOtherHasIt) {
  const std::vector<std::string> names = {"void d::attention<float>(float*)",
                                          "d::attention_reduce(float*)", "gemm(float*)",
                                          "Cijk_SB_MT64x64_WG8", "Cijk_SB_MT32x64_WG8"};
  EXPECT_EQ(kernel_pattern(names[2], names), "gemm");
  EXPECT_EQ(kernel_pattern(names[1], names), "attention_reduce");
  EXPECT_EQ(kernel_pattern(names[0], names), "\\battention\\b");
  EXPECT_EQ(kernel_pattern("Cijk_SB_MT64x64_WG8", {"Cijk_SB_MT64x64_WG8"}), "Cijk_SB_MT64x64_WG8");
}

TEST(KernelPattern, OfGeneratedNamesAndVariantsIsThePartThatDiffers) {
  const std::string prefix = "Cijk_Alik_Bljk_BBS_BH_UserArgs_and_so_on_and_on_";
  const std::vector<std::string> names = {prefix + "MT64x64_WG8", prefix + "MT32x64_WG8"};
  EXPECT_EQ(kernel_pattern(names[0], names), "MT64x64");
  EXPECT_EQ(kernel_pattern("axpb<int>()", {"axpb<int>()", "axpb<float>()"}), "axpb<int>");
  EXPECT_EQ(kernel_pattern("f(int)", {"f(int)", "f(float)"}), "int");
  EXPECT_EQ(kernel_pattern("f<1>(int)", {"f<1>(int)", "f<1>(int, float)"}), "");
}

/// A verdict whose next measurement is of this source.
NamedDocument verdict_asking(const char* source, const std::vector<std::string>& decides) {
  return {"analysis",
          {{"verdict", "latency-bound"}, {"next", {{"source", source}, {"decides", decides}}}}};
}

std::string command_for(const char* source, const RecordedRun& run, bool counted = false) {
  const NamedDocument document = verdict_asking(source, {"latency-bound"});
  return measuring_step(DocumentPlace(&document), run, counted).command;
}

TEST(MeasuringStep, IsOfTheProgramThatWasRecorded) {
  const RecordedRun run{.program = "./app 'a b'", .files = {"a b.db"}};
  EXPECT_EQ(command_for("counters", run), "rocm-perf profile --roofline -- ./app 'a b'");
  EXPECT_EQ(command_for("thread_trace", run), "rocm-perf profile --att -- ./app 'a b'");
  EXPECT_EQ(command_for("thread_trace", run, true),
            "rocm-perf profile --roofline --att -- ./app 'a b'");
  EXPECT_EQ(command_for("dispatches", run), "rocm-perf profile -- ./app 'a b'");
  EXPECT_EQ(command_for("critical_path", {}), "rocm-perf profile -- ./app");
  EXPECT_EQ(command_for("resources", run), "rocm-perf analyze 'a b.db' --code ./app");
}

TEST(MeasuringStep, SaysWhatItTellsApart) {
  const auto why = [](const std::vector<std::string>& decides) {
    const NamedDocument document = verdict_asking("counters", decides);
    return measuring_step(DocumentPlace(&document), {}, false).why;
  };
  EXPECT_EQ(why({"latency-bound"}), "hardware counters, to tell whether the verdict stands");
  EXPECT_EQ(why({"a"}), "hardware counters, to tell whether it is a");
  EXPECT_EQ(why({"a", "latency-bound", "b", "c"}),
            "hardware counters, to tell whether it is a, b or c");
  EXPECT_EQ(why({"a", "b", "c", "d"}),
            "hardware counters, to tell whether it is a, b or one of 2 others");
}

}  // namespace
}  // namespace perflab::report
