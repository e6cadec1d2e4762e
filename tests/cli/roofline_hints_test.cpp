// What rocm-perf says around a roofline: where the rest of it stands, what was not used or filtered
// out, and documents that an earlier command left.
#include <gmock/gmock.h>

#include <sstream>
#include <tuple>

#include "cli/program.h"
#include "report/kit/text_table.h"
#include "support/rocpd_writer.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A database of kernels stage_1 to stage_N on an MI300X, one dispatch each, with two counters or
/// none.
void write_stages(const fs::path& path, int kernels, bool counted) {
  test::RocpdWriter writer(path, {});
  writer.agent(test::host_agent());
  writer.agent(test::mi300x_agent());
  writer.queue();
  writer.stream();
  writer.code_object();
  std::vector<std::pair<test::Id, double>> counters;
  if (counted)
    counters = {{writer.counter({.name = "GRBM_GUI_ACTIVE"}), 8 * 18'000.0},
                {writer.counter({.name = "SQ_WAVES"}), 1024.0}};
  std::int64_t start = 5'000'000'000'000;
  for (int i = 1; i <= kernels; ++i) {
    const std::string name = "stage_" + std::to_string(i);
    const test::Id kernel = writer.kernel({.name = name, .display_name = name});
    const auto launched = writer.launch({.start = start - 50, .end = start - 10},
                                        {.kernel = kernel, .start = start, .end = start + 10'000});
    for (const auto& [counter, value] : counters)
      writer.counter_value(launched.dispatch.event, counter, value);
    start += 100'000;
  }
  const auto done = writer.close();
  ASSERT_TRUE(done.has_value()) << done.error().message;
}

class RooflineHints : public ::testing::Test {
 protected:
  Outcome run(std::vector<std::string> arguments, const std::string& columns = "100") const {
    ProcessOptions options;
    options.set_environment = {{"COLUMNS", columns}};
    return rocm_perf(folder.path(), std::move(arguments), options);
  }
  /// The roofline document of a file as `roofline --json` prints it.
  Json roofline(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "roofline");
    arguments.emplace_back("--json");
    const Outcome outcome = run(std::move(arguments));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return document("roofline", outcome.out);
  }
  test::TempFolder folder;
};

TEST_F(RooflineHints, NameTheOptionThatGivesTheRestOrTheDocumentThatHasIt) {
  write_stages(folder / "a.db", 6, true);
  const std::string either = "see --json or --out DIR";
  for (const auto& [command, hint] :
       {std::pair{"roofline", either}, {"analyze", "see --out DIR"}}) {
    const Outcome without = run({command, "a.db", "--details"}, "300");
    EXPECT_THAT(without.out, HasSubstr("\n1 more kernel: " + hint + "\n"));
    EXPECT_THAT(without.out, HasSubstr("were not recorded (which: " + hint + ")"));
    EXPECT_THAT(without.out, Not(HasSubstr("roofline.json")));
    const Outcome with = run({command, "a.db", "--out", "docs", "--details"}, "300");
    EXPECT_THAT(with.out, HasSubstr("\n1 more kernel: see roofline.json\n"));
    EXPECT_THAT(with.out, HasSubstr("were not recorded (which: see roofline.json)"));
  }
}

TEST_F(RooflineHints, AKernelWithoutMatchIsAnsweredWithTenNamesAtMost) {
  write_stages(folder / "ten.db", 10, true);
  write_stages(folder / "twelve.db", 12, true);
  const Outcome ten = run({"roofline", "ten.db", "--kernel", "gemm"});
  EXPECT_EQ(ten.exit_code, 2);
  EXPECT_THAT(ten.err, HasSubstr("stage_10"));
  EXPECT_THAT(ten.err, Not(HasSubstr("more")));
  const Outcome twelve = run({"roofline", "twelve.db", "--kernel", "gemm"});
  EXPECT_THAT(twelve.err, HasSubstr(", and 2 more"));
  std::size_t names = 0;
  for (std::size_t at = 0; (at = twelve.err.find("stage_", at)) != std::string::npos; ++at) ++names;
  EXPECT_EQ(names, 10U);
}

TEST_F(RooflineHints, TheDocumentSaysWhichKernelsAndRoofsItWasAskedFor) {
  write_stages(folder / "a.db", 3, true);
  std::ignore = folder.write("roofs.csv", "device,HBMBw\n0,4000\n");
  const Json all = roofline({"a.db"});
  EXPECT_TRUE(all["environment"]["kernel_filter"].is_null());
  EXPECT_TRUE(all["environment"]["roofs"].is_null());
  EXPECT_EQ(all["kernels"].size(), 3U);
  const Json some = roofline({"a.db", "--kernel", "_[12]$", "--roofs", "roofs.csv"});
  EXPECT_EQ(some["environment"]["kernel_filter"], "_[12]$");
  EXPECT_EQ(some["environment"]["roofs"], "roofs.csv");
  EXPECT_EQ(some["kernels"].size(), 2U);
  ASSERT_EQ(run({"analyze", "a.db", "--roofs", "roofs.csv", "--out", "docs"}).exit_code, 0);
  const Json analyzed = document("roofline", test::text_of(folder / "docs/roofline.json"));
  EXPECT_EQ(analyzed["environment"]["roofs"], "roofs.csv");
  EXPECT_TRUE(analyzed["environment"]["kernel_filter"].is_null());
}

TEST_F(RooflineHints, RoofsThatWereNotUsedAreNamed) {
  write_stages(folder / "run.db", 1, false);
  write_stages(folder / "counted.db", 1, true);
  std::ignore = folder.write("roofs.csv", "device,HBMBw\n0,4000\n");
  const Outcome outcome = run({"analyze", "run.db", "--roofs", "roofs.csv", "--json"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("--roofs roofs.csv was not used, there is no roofline: "));
  std::ignore = document("analysis", outcome.out);
  EXPECT_EQ(run({"analyze", "counted.db", "--roofs", "roofs.csv", "--json"}).err, "");
  EXPECT_EQ(run({"analyze", "run.db", "--json"}).err, "");
}

TEST_F(RooflineHints, ARooflineOfAnEarlierRunIsRemovedWhereThereIsNoneNow) {
  write_stages(folder / "run.db", 1, false);
  write_stages(folder / "counted.db", 1, true);
  const std::vector<std::vector<std::string>> commands = {
      {"analyze", "run.db", "--out", "docs"},
      {"profile", "--no-rocprof", "--out", "docs", "--", "true"}};
  for (const auto& command : commands) {
    ASSERT_EQ(run({"analyze", "counted.db", "--out", "docs"}).exit_code, 0);
    ASSERT_TRUE(fs::exists(folder / "docs/roofline.json"));
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_FALSE(fs::exists(folder / "docs/roofline.json")) << command.front();
    EXPECT_THAT(outcome.err, HasSubstr("removed docs/roofline.json of an earlier run"));
    EXPECT_THAT(run(command).err, Not(HasSubstr("removed")));
  }
}

TEST_F(RooflineHints, QuietRemovesItWithoutAWord) {
  write_stages(folder / "counted.db", 1, true);
  ASSERT_EQ(run({"roofline", "counted.db", "--out", "docs"}).exit_code, 0);
  const Outcome outcome =
      run({"profile", "--no-rocprof", "--quiet", "--out", "docs", "--", "true"});
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(names_in(folder / "docs"), ElementsAre("profile.json", "summary.json"));
}

TEST_F(RooflineHints, OtherFilesOfThatNameStay) {
  write_stages(folder / "run.db", 1, false);
  fs::create_directory(folder / "docs");
  for (const char* text :
       {"", "not JSON", "[]", "\"roofline\"", R"({"document": "roofline"})",
        R"({"document": "other", "generator": {"name": "rocm-perf"}})",
        R"({"document": "roofline", "generator": {"name": "another program"}})"}) {
    std::ignore = folder.write("docs/roofline.json", text);
    const Outcome outcome = run({"analyze", "run.db", "--out", "docs"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(test::text_of(folder / "docs/roofline.json"), text);
    EXPECT_THAT(outcome.err, Not(HasSubstr("removed")));
  }
}

TEST_F(RooflineHints, WarningsFitTheWidth) {
  write_stages(folder / "a.db", 1, true);
  std::ignore =
      folder.write("roofs.csv", "device,HBMBw\n0,4000\n1,3000\n2,3000\n3,3000\n4,3000\n5,3000\n");
  for (const char* text : {"--details", "--threads=1"}) {  // all of it, and the page
    const Outcome outcome = run({"analyze", "a.db", "--roofs", "roofs.csv", text});
    EXPECT_THAT(outcome.out, HasSubstr("warning:")) << text;
    for (const std::string& line : text_lines(outcome.out))
      EXPECT_LE(report::display_width(line), 100U) << line;
  }
}

}  // namespace
}  // namespace perflab::cli
