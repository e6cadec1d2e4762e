// --brief and --details of the commands that read recordings, on a small written run.
#include <gmock/gmock.h>

#include "cli/program.h"
#include "cli/written_run.h"
#include "support/unpacked_page.h"

namespace perflab::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Answer : public testing::Test {
 protected:
  void SetUp() override { write_steps(run_); }

  Outcome run(std::vector<std::string> arguments) {
    return rocm_perf(folder_.path(), std::move(arguments));
  }

  test::TempFolder folder_;
  std::string run_ = folder_ / "run.db";
};

TEST_F(Answer, OfARecordingIsOnePage) {
  const Outcome outcome = run({"analyze", run_, "--brief"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              StartsWith("Recorded\n  10 dispatches, 2 kernels, 350 us of kernel time"));
  for (const char* part : {"\nWhere the time went\n", "\nKernels by time\n", "\nWhat limits it\n",
                           "\nNext\n  rocm-perf profile ", "\nThe rest: --details kernels|"})
    EXPECT_THAT(outcome.out, HasSubstr(part));
  EXPECT_LE(std::ranges::count(outcome.out, '\n'), 40);
}

TEST_F(Answer, AsADocumentIsASummary) {
  for (const char* command : {"analyze", "critical-path"}) {
    const Outcome outcome = run({command, run_, "--brief", "--json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    const Json summary = document("summary", outcome.out);
    EXPECT_EQ(summary["parts"][0]["rows"][0]["dispatches"], 10) << command;
    EXPECT_LE(outcome.out.size(), 8192U);
  }
}

TEST_F(Answer, SaysWhatAWhatIfGives) {
  const Outcome outcome = run({"critical-path", run_, "--what-if", "gemm=2x", "--brief"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json dag =
      document("dag", run({"critical-path", run_, "--what-if", "gemm=2x", "--json"}).out);
  ASSERT_EQ(dag["what_if"]["gain_ns"], 125'000);
  EXPECT_THAT(outcome.out, HasSubstr("What if\n  the whole run is 125 us ("));
}

TEST_F(Answer, DetailsAreOneSectionOfTheText) {
  const Outcome all = run({"analyze", run_});
  std::string together;
  for (const char* section : {"kernels", "critical-path", "profile", "bottleneck"}) {
    const Outcome one = run({"analyze", run_, "--details", section});
    EXPECT_EQ(one.exit_code, 0) << one.err;
    EXPECT_NE(one.out, "") << section;
    together += one.out;
  }
  EXPECT_EQ(together, all.out);
}

TEST_F(Answer, OfAnUnknownSectionIsExit2WithTheNames) {
  const Outcome outcome = run({"analyze", run_, "--details", "roof"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("--details roof: there is no such section here"));
  EXPECT_THAT(outcome.err, HasSubstr("one of: kernels, critical-path, profile, bottleneck"));
  EXPECT_EQ(run({"analyze", run_, "--details", "kernels", "--brief"}).exit_code, 2);
}

TEST_F(Answer, StandsInTheFolderAndNotInThePage) {
  const Outcome outcome = run({"analyze", run_, "--brief", "--out", "docs", "--html", "page.html"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(document("summary", test::text_of(folder_ / "docs/summary.json"))["made_from"][0],
            "analysis");
  for (const Json& shown : test::unpacked_page(test::text_of(folder_ / "page.html"))["documents"])
    EXPECT_NE(shown["name"], "summary");
  EXPECT_THAT(outcome.out, StartsWith("Recorded\n"));
  // Without --brief the folder has none, and a page of the folder does not show one.
  EXPECT_EQ(run({"report", "docs", "--html", "page.html"}).exit_code, 0);
  EXPECT_EQ(run({"analyze", run_, "--out", "docs"}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "docs/summary.json"));
}

}  // namespace
}  // namespace perflab::cli
