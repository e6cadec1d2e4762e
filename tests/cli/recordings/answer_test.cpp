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
  const Outcome outcome = run({"analyze", run_});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("Recorded\n"));
  std::size_t at = 0;  // in the order of a person's questions
  for (const char* part :
       {"  10 dispatches, 2 kernels, 350 us of kernel time", "\nWhere the time went\n",
        "\nKernels by time\n", "\nWhat limits the kernel that could shorten the run most\n",
        "\nNext\n  rocm-perf profile ",
        "\nThe rest: --details kernels|critical-path|profile|bottleneck; --json; --out DIR; "}) {
    const std::size_t found = outcome.out.find(part);
    ASSERT_NE(found, std::string::npos) << part << outcome.out;
    EXPECT_GE(found, at) << part;
    at = found;
  }
  EXPECT_LE(lines(outcome.out), 40);
}

TEST_F(Answer, AsADocumentIsASummary) {
  for (const char* command : {"analyze", "critical-path"}) {
    const Outcome outcome = run({command, run_, "--brief", "--json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    const Json summary = document("summary", outcome.out);
    const Json& recorded = summary["parts"][0]["rows"];
    EXPECT_EQ(recorded.at(0).at("command"), "/app/demo") << command;
    EXPECT_EQ(recorded.at(1).at("dispatches"), 10) << command;
    EXPECT_LE(outcome.out.size(), 8192U);
    ASSERT_FALSE(summary["next"].empty()) << command;
  }
}

TEST_F(Answer, SaysWhatAWhatIfGives) {
  const Outcome outcome = run({"critical-path", run_, "--what-if", "gemm=2x"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json dag =
      document("dag", run({"critical-path", run_, "--what-if", "gemm=2x", "--json"}).out);
  ASSERT_EQ(dag["what_if"]["gain_ns"], 125'000);
  EXPECT_THAT(outcome.out, HasSubstr("What if\n  gemm=2x (5 matched): the whole run takes 359 us "
                                     "instead of 484 us, 125 us ("));
}

TEST_F(Answer, DetailsAreTheSectionsTogetherOrOne) {
  const Outcome all = run({"analyze", run_, "--details"});
  EXPECT_EQ(all.exit_code, 0) << all.err;
  std::string together;
  for (const char* section : {"kernels", "critical-path", "profile", "bottleneck"}) {
    const Outcome one = run({"analyze", run_, "--details", section});
    EXPECT_EQ(one.exit_code, 0) << one.err;
    EXPECT_NE(one.out, "") << section;
    together += one.out;
  }
  EXPECT_EQ(together, all.out);
  EXPECT_EQ(run({"analyze", run_, "--details=all"}).out, all.out);
  EXPECT_EQ(run({"analyze", run_, "--details", "all"}).out, all.out);
}

// The option takes the next word only when it is a section.
TEST_F(Answer, DetailsTakeNoInputForASection) {
  const Outcome all = run({"analyze", run_, "--details"});
  const Outcome before = run({"analyze", "--details", run_});
  EXPECT_EQ(before.exit_code, 0) << before.err;
  EXPECT_EQ(before.out, all.out);
  EXPECT_EQ(run({"analyze", "--details", "kernels", run_}).out,
            run({"analyze", run_, "--details=kernels"}).out);
  EXPECT_THAT(run({"critical-path", "--details", "roof"}).err, HasSubstr("roof: "));
}

TEST_F(Answer, OfAnUnknownSectionIsExit2WithTheNames) {
  for (const char* wrong : {"--details=roof", "--details=roofline"}) {
    const Outcome outcome = run({"analyze", run_, wrong, "--out", "docs"});
    EXPECT_EQ(outcome.exit_code, 2) << wrong;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(": there is no such section here"));
    EXPECT_THAT(outcome.err, HasSubstr("one of: kernels, critical-path, profile, bottleneck, all"));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "docs"));
  }
  EXPECT_EQ(run({"analyze", run_, "--details", "kernels", "--brief"}).exit_code, 2);
}

TEST_F(Answer, StandsInTheFolderAndNotInThePage) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--details"}, {"--json"}, {"--json", "--brief"}}) {
    std::filesystem::remove_all(folder_ / "docs");
    std::vector<std::string> command = {"analyze", run_, "--out", "docs", "--html", "page.html"};
    command.insert(command.end(), more.begin(), more.end());
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(document("summary", test::text_of(folder_ / "docs/summary.json"))["made_from"][0],
              "analysis");
    for (const Json& shown : test::unpacked_page(test::text_of(folder_ / "page.html"))["documents"])
      EXPECT_NE(shown["name"], "summary");
  }
  const Outcome report = run({"report", "docs", "--html", "page.html"});
  EXPECT_EQ(report.exit_code, 0) << report.err;
  const Json page = test::unpacked_page(test::text_of(folder_ / "page.html"));
  EXPECT_EQ(page["documents"].size(), 4U);
  for (const Json& shown : page["documents"]) EXPECT_NE(shown["name"], "summary");
}

// What is offered to be pasted runs here, where there is a GPU or none is needed.
TEST_F(Answer, OffersCommandsThatRun) {
  const Json path = document("summary", run({"critical-path", run_, "--json", "--brief"}).out);
  const Outcome next = run_in(folder_.path(), {"sh", "-c",
                                               "PATH=\"$(dirname " PERFLAB_PROGRAM "):$PATH\"; " +
                                                   path["next"][0]["command"].get<std::string>()});
  EXPECT_EQ(next.exit_code, 0) << next.err;
  EXPECT_EQ(next.out, run({"analyze", run_}).out);
}

}  // namespace
}  // namespace perflab::cli
