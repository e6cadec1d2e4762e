// rocm-perf roofline and analyze --counters from outside: recorded passes, written counters,
// errors.
#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "cli/program.h"
#include "hal/counter_catalogue.h"
#include "report/kit/text_table.h"
#include "support/rocpd_writer.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kPassStart = 5'000'000'000'000;
constexpr std::int64_t kDuration = 10'000;  // ns

/// Every counter of gfx942's formulas, per dispatch: 10^6 fused multiply-adds FP64 of whole waves,
/// 200,000 reads of 64 bytes and 100,000 writes of 64 bytes at memory; nothing else.
std::map<std::string, double> axpy_counters() {
  std::map<std::string, double> values;
  for (const hal::CounterFormula& formula : hal::find_counter_table("gfx942")->formulas)
    for (const std::string& counter : formula.alternatives.front().counters) values[counter] = 0;
  values["GRBM_GUI_ACTIVE"] = 8 * 18'000;
  values["SQ_WAVES"] = 1024;  // of the writer's default launch
  values["SQ_WAVE_CYCLES"] = 1e6;
  values["SQ_INSTS"] = 2e6;
  values["SQ_INSTS_VALU"] = 1.5e6;
  values["SQ_ACTIVE_INST_VALU"] = 2e6;
  values["SQ_THREAD_CYCLES_VALU"] = 64 * 2e6;
  values["SQ_INSTS_VALU_FMA_F64"] = 1e6;
  values["TCC_EA0_RDREQ_sum"] = 200'000;
  values["TCC_EA0_WRREQ_sum"] = 100'000;
  values["TCC_EA0_WRREQ_64B_sum"] = 100'000;
  return values;
}

/// A database of that kernel on an MI300X: two dispatches, with these counters or none.
void write_axpy(const fs::path& path, const std::string& guid,
                const std::map<std::string, double>& counters) {
  if (path.has_parent_path()) fs::create_directories(path.parent_path());
  test::WriterOptions options;
  options.guid = guid;
  test::RocpdWriter writer(path, options);
  writer.agent(test::host_agent());
  writer.agent(test::mi300x_agent());
  writer.queue();
  writer.stream();
  writer.code_object();
  writer.kernel({.name = "_Z4axpyPd", .display_name = "axpy(double*)"});
  std::map<std::string, test::Id> ids;
  for (const auto& [name, value] : counters) ids[name] = writer.counter({.name = name});
  for (int i = 0; i < 2; ++i) {
    const std::int64_t start = kPassStart + i * 100'000;
    const auto launched = writer.launch({.start = start - 50, .end = start - 10},
                                        {.start = start, .end = start + kDuration});
    for (const auto& [name, value] : counters)
      writer.counter_value(launched.dispatch.event, ids[name], value);
  }
  const auto done = writer.close();
  ASSERT_TRUE(done.has_value()) << done.error().message;
}

/// The 13 recorded passes on an MI210; nothing when they are not part of this checkout.
std::vector<std::string> mi210_passes() {
  const fs::path folder = fs::path(PERFLAB_SHARED_DIR) / "data/rocpd/mi210_vcopy_13_passes";
  if (!fs::exists(folder)) return {};
  std::vector<std::string> files;
  for (int pass = 1; pass <= 13; ++pass)
    files.push_back(
        (folder / ("pass_" + std::to_string(pass)) / (std::to_string(1000 + pass) + "_results.db"))
            .string());
  return files;
}

/// Text for people in one line: without the breaks that the terminal's width makes.
std::string unbroken(const std::string& text) {
  std::string line;
  for (const char c : text)
    if (const bool blank = c == ' ' || c == '\n'; !blank || !line.ends_with(' '))
      line += blank ? ' ' : c;
  return line;
}

class RooflineCommand : public ::testing::Test {
 protected:
  Outcome run(std::vector<std::string> arguments, const std::string& columns = "80") const {
    ProcessOptions options;
    options.set_environment = {{"COLUMNS", columns}};
    return rocm_perf(folder.path(), std::move(arguments), options);
  }
  test::TempFolder folder;
};

TEST_F(RooflineCommand, JsonIsOneValidDocumentWithHandComputedFigures) {
  write_axpy(folder / "axpy.db", "one", axpy_counters());
  const Outcome outcome = run({"roofline", "axpy.db", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const Json roofline = document("roofline", outcome.out);
  ASSERT_EQ(roofline["kernels"].size(), 1U);
  const Json& kernel = roofline["kernels"][0];
  EXPECT_EQ(kernel["name"], "axpy(double*)");
  EXPECT_EQ(kernel["dispatches"], 2);
  EXPECT_EQ(kernel["flops"]["raw"], 2.0 * 64 * 2 * 1e6);
  EXPECT_EQ(kernel["flops"]["are"], "lane-corrected");
  EXPECT_EQ(kernel["time"]["total_ns"], 2 * kDuration);
  EXPECT_EQ(kernel["compute"]["gflops"], 12'800);
  const Json& hbm = kernel["levels"][0];
  EXPECT_EQ(hbm["read_bytes"]["value"], 2 * 64 * 200'000);
  EXPECT_EQ(hbm["write_bytes"]["value"], 2 * 64 * 100'000);
  EXPECT_DOUBLE_EQ(hbm["intensity"].get<double>(), 256e6 / 38.4e6);
  EXPECT_DOUBLE_EQ(hbm["gb_per_s"].get<double>(), 1920);
  EXPECT_EQ(hbm["ceiling"]["value"], 5300);
  ASSERT_EQ(roofline["chart"]["gpus"].size(), 1U);
  const Json& mark = roofline["chart"]["gpus"][0]["marks"][0];
  EXPECT_EQ(mark["y"], 12'800);
  EXPECT_EQ(mark["bound"], "memory");
  EXPECT_TRUE(names_in(folder.path()) == std::vector<std::string>{"axpy.db"});
}

TEST_F(RooflineCommand, TextDrawsTheKernelInEightyColumnsWithoutColour) {
  write_axpy(folder / "axpy.db", "one", axpy_counters());
  const Outcome outcome = run({"roofline", "axpy.db", "--details"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Roofline of AMD Instinct MI300X gfx942"));
  EXPECT_THAT(outcome.out, HasSubstr("\n  A       6.67  12.8 T"));
  EXPECT_THAT(outcome.out, HasSubstr("/ memory 5.30 TB/s"));
  EXPECT_THAT(outcome.out, HasSubstr("256 MFLOP vector fp64"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("\033")));
  std::istringstream text(outcome.out.substr(0, outcome.out.find("warning:")));
  for (std::string line; std::getline(text, line);)
    EXPECT_LE(report::display_width(line), 80U) << line;
}

TEST_F(RooflineCommand, MeasuredRoofsGoBeforeThoseOfTheTables) {
  write_axpy(folder / "axpy.db", "one", axpy_counters());
  std::ignore = folder.write(
      "roofline.csv",
      "device,HBMBw,HBMBwLow,HBMBwHigh,L2Bw,L2BwLow,L2BwHigh\n0,4000,3900,4100,0,0,0\n");
  const Outcome outcome = run({"roofline", "axpy.db", "--roofs", "roofline.csv", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json roofline = document("roofline", outcome.out);
  const Json& levels = roofline["kernels"][0]["levels"];
  EXPECT_EQ(levels[0]["ceiling"]["value"], 4000);
  EXPECT_EQ(levels[0]["ceiling"]["from"], "measured");
  EXPECT_EQ(levels[1]["ceiling"]["from"], "tables");  // a test that did not run
  EXPECT_THAT(run({"roofline", "axpy.db", "--roofs", "roofline.csv", "--details"}).out,
              HasSubstr("/ memory 4.00 TB/s (measured)"));
}

TEST_F(RooflineCommand, OfMeasuredRoofsOfTwoDevicesOneIsTakenAndNamed) {
  write_axpy(folder / "axpy.db", "one", axpy_counters());
  write_axpy(folder / "run.db", "base", {});
  std::ignore = folder.write("roofs.csv",
                             "device,HBMBw,HBMBwLow,HBMBwHigh\n0,4000,3900,4100\n1,3000,1,9999\n");
  struct Call {
    std::vector<std::string> arguments;
    double ceiling;
    const char* words;
  };
  for (const Call& call :
       {Call{{}, 4000, "the measured ceilings are those of device 0; the file has 1 too"},
        Call{{"--roofs-device", "1"},
             3000,
             "the measured ceilings are those of device 1; the file has 0 too"}}) {
    std::vector<std::string> roofline{"roofline", "axpy.db", "--roofs", "roofs.csv", "--json"};
    roofline.insert(roofline.end(), call.arguments.begin(), call.arguments.end());
    const Outcome outcome = run(roofline);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Json json = document("roofline", outcome.out);
    EXPECT_EQ(json["kernels"][0]["levels"][0]["ceiling"]["value"], call.ceiling);
    EXPECT_THAT(json["warnings"].dump(), HasSubstr(call.words));
    roofline.at(4) = "--details";
    EXPECT_THAT(unbroken(run(roofline).out), HasSubstr(call.words));
    std::vector<std::string> analyze{"analyze", "run.db",    "--counters", "axpy.db",
                                     "--roofs", "roofs.csv", "--out",      "docs"};
    analyze.insert(analyze.end(), call.arguments.begin(), call.arguments.end());
    const Outcome analyzed = run(analyze);
    ASSERT_EQ(analyzed.exit_code, 0) << analyzed.err;
    const Json of_analyze = document("roofline", test::text_of(folder / "docs/roofline.json"));
    EXPECT_EQ(of_analyze["kernels"][0]["levels"][0]["ceiling"]["value"], call.ceiling);
    EXPECT_THAT(of_analyze["warnings"].dump(), HasSubstr(call.words));
  }
}

TEST_F(RooflineCommand, ADeviceThatTheRoofsDoNotHaveIsExit2) {
  write_axpy(folder / "axpy.db", "one", axpy_counters());
  std::ignore = folder.write("roofs.csv", "device,HBMBw\n0,4000\n1,3000\n");
  for (const char* command : {"roofline", "analyze"}) {
    const Outcome outcome =
        run({command, "axpy.db", "--roofs", "roofs.csv", "--roofs-device", "2", "--out", "docs"});
    EXPECT_EQ(outcome.exit_code, 2) << command;
    EXPECT_EQ(outcome.out, "") << command;
    EXPECT_THAT(outcome.err, HasSubstr("roofs.csv: has no device 2; it has 0, 1"));
    EXPECT_FALSE(fs::exists(folder / "docs"));
  }
}

TEST_F(RooflineCommand, OneDeviceNeedsNoWarning) {
  write_axpy(folder / "axpy.db", "one", axpy_counters());
  std::ignore = folder.write("roofs.csv", "device,HBMBw\n5,4000\n");
  const Outcome outcome = run({"roofline", "axpy.db", "--roofs", "roofs.csv", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json json = document("roofline", outcome.out);
  EXPECT_EQ(json["kernels"][0]["levels"][0]["ceiling"]["value"], 4000);
  EXPECT_EQ(json["warnings"].size(), 0U);
}

TEST_F(RooflineCommand, ABadRoofsFileIsExit3AndNamesIt) {
  write_axpy(folder / "axpy.db", "one", axpy_counters());
  std::ignore = folder.write("roofs.csv", "no,roofs\n1,2\n");
  for (const char* command : {"roofline", "analyze"}) {
    const Outcome outcome = run({command, "axpy.db", "--roofs", "roofs.csv", "--out", "docs"});
    EXPECT_EQ(outcome.exit_code, 3) << command;
    EXPECT_THAT(outcome.err, HasSubstr("roofs.csv"));
    EXPECT_FALSE(fs::exists(folder / "docs"));
  }
}

TEST_F(RooflineCommand, WithoutCountersIsExit3WithTheReasonAndWhatToDo) {
  const Outcome outcome = run({"roofline", PERFLAB_SAMPLE, "--out", "docs", "--json"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("there is no roofline: no hardware counters"));
  EXPECT_THAT(outcome.err, HasSubstr("try: record with counters"));
  EXPECT_FALSE(fs::exists(folder / "docs"));
}

TEST_F(RooflineCommand, KernelSelectsByRegex) {
  write_axpy(folder / "axpy.db", "one", axpy_counters());
  EXPECT_EQ(run({"roofline", "axpy.db", "--kernel", "^axpy"}).exit_code, 0);
  const Outcome none = run({"roofline", "axpy.db", "--kernel", "gemm"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("--kernel gemm: no kernel with counters matches"));
  EXPECT_THAT(none.err, HasSubstr("there are: axpy(double*)"));
  EXPECT_EQ(run({"roofline", "axpy.db", "--kernel", "("}).exit_code, 2);
}

TEST_F(RooflineCommand, OutWritesWhatJsonPrints) {
  write_axpy(folder / "axpy.db", "one", axpy_counters());
  const Outcome json = run({"roofline", "axpy.db", "--json", "--out", "a/b"});
  EXPECT_EQ(json.exit_code, 0) << json.err;
  EXPECT_THAT(names_in(folder / "a/b"), ElementsAre("roofline.json", "summary.json"));
  EXPECT_EQ(test::text_of(folder / "a/b/roofline.json"), json.out);
  EXPECT_THAT(run({"roofline", "axpy.db", "--out", "c"}).err,
              HasSubstr("documents in c: roofline.json, summary.json\n"));
}

TEST_F(RooflineCommand, AnalyzeWithCountersAddsTheRooflineAndTakesTimesFromTheTrace) {
  write_axpy(folder / "run.db", "base", {});
  write_axpy(folder / "pass_1/c.db", "counted", axpy_counters());
  const Outcome outcome =
      run({"analyze", "run.db", "--counters", "pass_1/c.db", "--out", "docs", "--details"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(names_in(folder / "docs"),
              ElementsAre("analysis.json", "dag.json", "profile.json", "roofline.json",
                          "summary.json", "timeline.json"));
  EXPECT_THAT(outcome.err,
              HasSubstr("documents in docs: analysis.json, profile.json, roofline.json"));
  EXPECT_THAT(outcome.out, HasSubstr("Roofline of AMD Instinct MI300X"));
  const Json roofline = document("roofline", test::text_of(folder / "docs/roofline.json"));
  EXPECT_EQ(roofline["kernels"][0]["time"]["from"], "trace");
  const Json profile = document("profile", test::text_of(folder / "docs/profile.json"));
  EXPECT_EQ(profile["roofline"]["gflops"], 12'800);
  EXPECT_EQ(profile["roofline"]["bound"], "memory");
  EXPECT_EQ(profile["runtime"]["total_ns"], 2 * kDuration);
}

TEST_F(RooflineCommand, AnalyzeWithoutCountersWritesNoRooflineAndSaysWhy) {
  write_axpy(folder / "run.db", "base", {});
  const Outcome outcome = run({"analyze", "run.db", "--out", "docs", "--details"});
  EXPECT_THAT(names_in(folder / "docs"), ElementsAre("analysis.json", "dag.json", "profile.json",
                                                     "summary.json", "timeline.json"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("Roofline of")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("no roofline")));
  const Json profile = document("profile", test::text_of(folder / "docs/profile.json"));
  EXPECT_TRUE(profile["roofline"].is_null());
  EXPECT_THAT(profile["missing"].dump(), HasSubstr("no hardware counters were collected"));
}

TEST_F(RooflineCommand, OfThirteenRecordedPassesHasTheBytesOfVecCopy) {
  std::vector<std::string> arguments = mi210_passes();
  if (arguments.empty()) GTEST_SKIP() << "skipped: the recorded MI210 passes are not there";
  std::vector<std::string> backwards(arguments.rbegin(), arguments.rend());
  arguments.insert(arguments.begin(), "roofline");
  arguments.emplace_back("--json");
  backwards.insert(backwards.begin(), "roofline");
  backwards.emplace_back("--json");
  const Outcome outcome = run(arguments);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json roofline = document("roofline", outcome.out);
  EXPECT_EQ(roofline["passes"].size(), 13U);
  const Json& kernel = roofline["kernels"][0];
  EXPECT_EQ(kernel["flops"]["raw"], 0);
  const double reads = kernel["levels"][0]["read_bytes"]["value"];
  EXPECT_NEAR(reads / 3, 8 << 20, 0.01 * (8 << 20));  // three dispatches of 1,048,576 doubles
  EXPECT_NEAR(kernel["per_dispatch"][0]["hbm_write_bytes"].get<double>(), 8 << 20,
              0.01 * (8 << 20));
  EXPECT_EQ(roofline["chart"]["without_mark"][0]["reason"], "it does no floating-point operations");
  EXPECT_EQ(run(backwards).out, outcome.out);  // also the order of files under environment
}

TEST_F(RooflineCommand, ReadsTablesOfCountersWhichAnalyzeRefuses) {
  const fs::path csv = fs::path(PERFLAB_SHARED_DIR) / "data/pmc/vcopy/MI200/pmc_perf.csv";
  if (!fs::exists(csv)) GTEST_SKIP() << "skipped: the recorded tables are not there";
  const Outcome roofline = run({"roofline", csv.string(), "--json"});
  EXPECT_EQ(roofline.exit_code, 0) << roofline.err;
  EXPECT_EQ(document("roofline", roofline.out)["kernels"].size(), 1U);
  const Outcome analyze = run({"analyze", csv.string(), "--out", "docs"});
  EXPECT_EQ(analyze.exit_code, 2);
  EXPECT_EQ(analyze.out, "");
  EXPECT_THAT(analyze.err, HasSubstr("a table of counters is not a trace"));
  EXPECT_THAT(analyze.err, HasSubstr("rocm-perf roofline"));
  EXPECT_FALSE(fs::exists(folder / "docs"));
}

}  // namespace
}  // namespace perflab::cli
