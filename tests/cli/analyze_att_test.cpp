// rocm-perf analyze --att: recorded thread traces (real MI300, MI350 and RDNA4 captures) with and
// without a recording of times, and what is refused.
#include <gmock/gmock.h>

#include <sstream>

#include "cli/program.h"
#include "report/kit/text_table.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

/// A recorded capture; empty when it is not part of this checkout.
fs::path capture(const std::string& name) {
  const fs::path folder = fs::path(PERFLAB_SHARED_DIR) / "data/att" / name;
  return fs::exists(folder) ? folder : fs::path();
}

class AnalyzeAtt : public testing::TestWithParam<const char*> {};

TEST_P(AnalyzeAtt, ReadsARecordedCapture) {
  const fs::path place = capture(GetParam());
  if (place.empty()) GTEST_SKIP() << "skipped: " << GetParam() << " is not there";
  const test::TempFolder folder;
  const Outcome outcome =
      rocm_perf(folder.path(), {"analyze", "--att", place.string(), "--out", "docs", "--details"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(names_in(folder / "docs"),
              ElementsAre("analysis.json", "summary.json", "thread_trace.json"));
  EXPECT_THAT(outcome.out, HasSubstr("no recording of times\n"));
  EXPECT_THAT(outcome.out, HasSubstr("Thread trace of "));
  EXPECT_THAT(outcome.out, HasSubstr("What limits "));
  const Json analysis = document("analysis", test::text_of(folder / "docs/analysis.json"));
  const Json& kernels = analysis["thread_traces"]["kernels"];
  ASSERT_GE(kernels.size(), 1U);
  EXPECT_EQ(analysis["bottlenecks"]["kernels"].size(), kernels.size());
  EXPECT_TRUE(analysis["selected_kernel"].is_null());
  // The identity of docs/facts/thread_trace.md "Sums": the five parts are latency + idle.
  for (const Json& kernel : kernels)
    EXPECT_EQ(kernel["time"]["cycles"], kernel["cycles"]["cost"]) << kernel["name"];
  const Json detail = document("thread_trace", test::text_of(folder / "docs/thread_trace.json"));
  ASSERT_EQ(detail["kernels"].size(), kernels.size());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    EXPECT_EQ(detail["kernels"][i]["name"], kernels[i]["name"]);
    EXPECT_EQ(detail["kernels"][i]["cycles"]["cost"], kernels[i]["cycles"]["cost"]);
  }
}

TEST_P(AnalyzeAtt, AnswersOnOnePage) {
  const fs::path place = capture(GetParam());
  if (place.empty()) GTEST_SKIP() << "skipped: " << GetParam() << " is not there";
  const test::TempFolder folder;
  const Outcome outcome =
      rocm_perf(folder.path(), {"analyze", "--att", place.string(), "--out", "docs"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_LE(lines(outcome.out), 40);
  for (const char* part :
       {"Traced\n", "\nWhere its waves spent their time\n   share ", "\nHot instructions\n",
        "\nWhat limits ", "\nNext\n  rocm-perf profile "})
    EXPECT_THAT(outcome.out, HasSubstr(part));
  const Json analysis = document("analysis", test::text_of(folder / "docs/analysis.json"));
  const Json summary = document("summary", test::text_of(folder / "docs/summary.json"));
  std::size_t followed = 0;
  for (const Json& part : summary["parts"])
    for (const Json& row : part["rows"]) {
      const std::string from = row["from"];
      ASSERT_TRUE(from.starts_with("analysis.json#")) << from;
      const Json& at = analysis.at(Json::json_pointer(from.substr(from.find('#') + 1)));
      for (const char* field : {"text", "cost_share", "cycles", "share", "name", "line", "waves"})
        if (row.contains(field) && row[field].is_primitive()) {
          EXPECT_EQ(row[field], at.at(field)) << from << "/" << field;
          ++followed;
        }
    }
  EXPECT_GT(followed, 10U);
}

INSTANTIATE_TEST_SUITE_P(Captures, AnalyzeAtt,
                         testing::Values("mi300_pc2", "mi300_shaderdata", "navi4_barriernop",
                                         "navi4_sdata"));

TEST(AnalyzeAttWith, ARecordingHasAllDocuments) {
  const fs::path place = capture("navi4_barriernop");
  if (place.empty()) GTEST_SKIP() << "skipped: navi4_barriernop is not there";
  const test::TempFolder folder;
  const Outcome outcome = rocm_perf(
      folder.path(), {"analyze", PERFLAB_SAMPLE, "--att", place.string(), "--out", "docs"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(names_in(folder / "docs"),
              ElementsAre("analysis.json", "dag.json", "profile.json", "summary.json",
                          "thread_trace.json", "timeline.json"));
  const Json analysis = document("analysis", test::text_of(folder / "docs/analysis.json"));
  const Json& traced = analysis["thread_traces"]["kernels"][0];
  EXPECT_TRUE(traced["kernel"].is_null());  // no kernel of that run, and said so
  EXPECT_THAT(analysis["warnings"].dump(),
              HasSubstr("barriernop() was traced, but is not a kernel of the recordings"));
  EXPECT_EQ(
      document("profile", test::text_of(folder / "docs/profile.json"))["bottleneck"]["verdict"],
      analysis["bottlenecks"]["kernels"][0]["verdict"]);
  // Without the recording, what this folder holds of it would be stale.
  const Outcome alone =
      rocm_perf(folder.path(), {"analyze", "--att", place.string(), "--out", "docs"});
  EXPECT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_THAT(names_in(folder / "docs"),
              ElementsAre("analysis.json", "summary.json", "thread_trace.json"));
  EXPECT_THAT(alone.err, HasSubstr("removed docs/profile.json of an earlier run"));
}

TEST(AnalyzeAttWith, SeveralPlacesIsTheSameInAnyOrder) {
  const fs::path one = capture("navi4_barriernop"), two = capture("mi300_shaderdata");
  if (one.empty() || two.empty()) GTEST_SKIP() << "skipped: recorded captures are not there";
  const test::TempFolder folder;
  const Outcome ahead =
      rocm_perf(folder.path(), {"analyze", "--att", one.string(), "--att", two.string(), "--json"});
  const Outcome behind = rocm_perf(folder.path(), {"analyze", "--att", two.string(), "--att",
                                                   one.string(), "--att", two.string(), "--json"});
  ASSERT_EQ(ahead.exit_code, 0) << ahead.err;
  EXPECT_EQ(ahead.out, behind.out);
}

TEST(AnalyzeAttWith, ThreadsAndWidthsIsTheSameAndFits) {
  const fs::path place = capture("mi300_shaderdata");
  if (place.empty()) GTEST_SKIP() << "skipped: mi300_shaderdata is not there";
  const test::TempFolder folder;
  const std::vector<std::string> call = {"analyze", "--att", place.string()};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), call.begin(), call.end());
    return more;
  };
  const Outcome one = rocm_perf(folder.path(), with({"--json", "--threads", "1"}));
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(rocm_perf(folder.path(), with({"--json", "--threads", "5"})).out, one.out);
  document("analysis", one.out);
  for (const std::size_t width : {80U, 120U}) {
    ProcessOptions options;
    options.set_environment = {{"COLUMNS", std::to_string(width)}};
    for (const auto& shown : {call, with({"--details"})})
      for (const std::string& line : text_lines(rocm_perf(folder.path(), shown, options).out))
        EXPECT_LE(report::display_width(line), width) << line;
  }
}

/// A call that ends with this exit code, says this, and leaves nothing behind.
void expect_refused(const std::vector<std::string>& arguments, int exit_code,
                    const std::string& says) {
  const test::TempFolder folder;
  fs::create_directory(folder / "empty");
  static_cast<void>(folder.write("file.txt", "no thread trace"));
  fs::create_directories(folder / "broken/ui_output_agent_1_dispatch_1");
  static_cast<void>(folder.write("broken/ui_output_agent_1_dispatch_1/filenames.json", "{"));
  static_cast<void>(folder.write("broken/ui_output_agent_1_dispatch_1/code.json", "{"));
  std::vector<std::string> call = {"analyze"};
  call.insert(call.end(), arguments.begin(), arguments.end());
  call.insert(call.end(), {"--out", "docs"});
  const Outcome outcome = rocm_perf(folder.path(), call);
  EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(says));
  EXPECT_EQ(outcome.out, "");
  EXPECT_FALSE(fs::exists(folder / "docs"));
}

TEST(AnalyzeAttRefuses, WhatHoldsNoThreadTrace) {
  expect_refused({"--att", "nowhere"}, 3, "nowhere");
  expect_refused({"--att", "empty"}, 3, "empty");
  expect_refused({"--att", "file.txt"}, 3, "file.txt");
  expect_refused({"--att", "broken"}, 3, "broken/ui_output_agent_1_dispatch_1/");
  expect_refused({PERFLAB_SAMPLE, "--att", "nowhere"}, 3, "nowhere");
}

TEST(AnalyzeAttRefuses, NothingToAnalyse) {
  expect_refused({}, 2, "no TRACE and no --att");
}

TEST(AnalyzeAttRefuses, OptionsAboutRecordingsWithoutOne) {
  for (const char* option : {"--counters", "--code", "--roofs", "--roofs-device", "--what-if",
                             "--segment", "--perfetto", "--handover"})
    expect_refused({"--att", "empty", option, "1"}, 2,
                   std::string(option) + " has no effect without a recording");
  for (const char* flag : {"--full", "--no-critical-path"})
    expect_refused({"--att", "empty", flag}, 2, " has no effect without a recording");
}

}  // namespace
}  // namespace perflab::cli
