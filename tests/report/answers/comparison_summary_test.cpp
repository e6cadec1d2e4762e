// The answer of compare: what stands first, what decides, what was not compared.
#include <gmock/gmock.h>

#include "report/excerpt/parts.h"
#include "report/summary/command_documents.h"
#include "report/summary/summary.h"

namespace perflab::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Json comparison_answer(const NamedDocument& document) {
  return summary_document(std::vector<NamedDocument>{document});
}

/// The page at 100 columns.
std::string comparison_page(const NamedDocument& document) {
  return summary_text(comparison_answer(document), {}, "");
}

/// The part of that name; null: there is none.
Json part_of_answer(const Json& summary, std::string_view name) {
  for (const Json& part : summary["parts"])
    if (part["part"] == name) return part;
  return nullptr;
}

TEST(ComparisonSummary, BeginsWithTheVerdictAndItsExitCode) {
  EXPECT_THAT(comparison_page(command_document("regression")),
              HasSubstr("Verdict (exit code 1)\n  regression: "));
  EXPECT_THAT(comparison_page(command_document("same")),
              HasSubstr("Verdict (exit code 0)\n  pass: 4 comparisons decided"));
  EXPECT_THAT(comparison_page(command_document("undecided")),
              HasSubstr("Verdict (exit code 0)\n  no regression shown: "));
  EXPECT_THAT(comparison_page(
                  compared_kernels({.factors = {1.01, 1}, .runs = 3}, {.fail_undecided = true})),
              HasSubstr("Verdict (exit code 1)\n  no regression shown: "));
}

TEST(ComparisonSummary, ListsWhatFailsFirstAndThenWhatChanged) {
  const NamedDocument document = command_document("regression");
  const Json changed = part_of_answer(comparison_answer(document), "changed");
  ASSERT_EQ(changed["rows"].size(), kMostSummaryRows);
  EXPECT_EQ(changed["left_out"], 2);
  // By the time that they take: 4 units of time by 30 %, 2 by 10 %; then the one that gained.
  EXPECT_EQ(changed["rows"][0]["name"], "k3");
  EXPECT_EQ(changed["rows"][1]["name"], "k1");
  EXPECT_EQ(changed["rows"][2]["name"], "k4");
  EXPECT_EQ(changed["rows"][2]["verdict"], "FASTER");
  EXPECT_NEAR(changed["rows"][0]["a"]["median"].get<double>(), 4e6, 1e5);
  EXPECT_NEAR(changed["rows"][0]["b"]["median"].get<double>(), 5.2e6, 1e5);
  EXPECT_THAT(comparison_page(document), HasSubstr("SLOWER (fails)  k3\n"));
}

TEST(ComparisonSummary, SaysWhichFiguresDecide) {
  EXPECT_THAT(
      comparison_page(command_document("regression")),
      AllOf(HasSubstr("What decides it\n  k3\n  - B / A is 1."),
            HasSubstr(", above 1.020: a regression\n"), HasSubstr(", lies above 1: SLOWER\n")));
  EXPECT_THAT(comparison_page(command_document("same")),
              HasSubstr("lies within 0.980 to 1.020: SAME\n"));
  EXPECT_THAT(comparison_page(command_document("few")),
              HasSubstr("it takes three samples of each side, and there are 2 and 2\n"));
  // Of rates less is worse.
  NamedDocument rates = command_document("same");
  rates.value["larger_is_better"] = true;
  EXPECT_THAT(comparison_page(rates), HasSubstr("; a regression would be below 0.980\n"));
}

// The exit code is 0 without --fail-undecided: the page must not read like a pass.
TEST(ComparisonSummary, SaysThatUndecidedIsNoPass) {
  const std::string kNoPass =
      "  This is no pass: the samples are too few to rule a regression out.\n";
  EXPECT_THAT(comparison_page(command_document("undecided")), HasSubstr(kNoPass));
  EXPECT_THAT(comparison_page(command_document("same")), Not(HasSubstr(kNoPass)));
  EXPECT_THAT(comparison_page(command_document("regression")), Not(HasSubstr(kNoPass)));
}

TEST(ComparisonSummary, SaysWhichChangeSoFewRunsCouldHaveShown) {
  const std::string none = comparison_page(compared_kernels({.factors = {1.05}, .runs = 4}));
  EXPECT_THAT(none,
              HasSubstr("lies above 1, but 4 and 4 samples are too few to be sure\n  - it "
                        "takes 5 samples of each side: fewer show no change, however large\n"));
  // Enough of them, but they spread: an interval as wide would leave 1 out from ratio / low on.
  NamedDocument spread = compared_kernels({.factors = {1.05}, .runs = 6});
  Json& kernel = spread.value["kernels"][0];
  spread.value["verdict"] = "undecided";
  kernel["verdict"] = "UNDECIDED";
  kernel["regression"] = false;
  kernel["ratio"] = 1.05;
  kernel["interval"] = {{"low", 0.75}, {"high", 1.26}};
  EXPECT_THAT(
      comparison_page(spread),
      HasSubstr("- at this spread, 6 and 6 samples show a regression only from 40.0 % on\n"));
  spread.value["larger_is_better"] = true;
  EXPECT_THAT(
      comparison_page(spread),
      HasSubstr("- at this spread, 6 and 6 samples show a regression only from 20.0 % on\n"));
  kernel["interval"] = {{"low", 1.049}, {"high", 1.051}};  // never below the threshold
  EXPECT_THAT(comparison_page(spread), HasSubstr(" show a regression only from 2.0 % on\n"));
}

TEST(ComparisonSummary, DecidesByTheWorstChangeNotByTheLargest) {
  const NamedDocument document = compared_kernels({.factors = {0.2, 1.1, 1.05}, .runs = 4});
  ASSERT_EQ(document.value["verdict"], "undecided");
  const Json summary = comparison_answer(document);
  EXPECT_EQ(part_of_answer(summary, "changed")["rows"][0]["name"], "k0");
  EXPECT_EQ(part_of_answer(summary, "decides")["rows"][0]["name"], "k1");
  EXPECT_THAT(comparison_page(document), HasSubstr("What keeps it open\n  k1\n"));
  EXPECT_THAT(summary["next"].dump(), HasSubstr("would decide k1"));
  // Of rates the one that fell.
  NamedDocument rates = document;
  rates.value["larger_is_better"] = true;
  EXPECT_EQ(part_of_answer(comparison_answer(rates), "decides")["rows"][0]["name"], "k0");
}

TEST(ComparisonSummary, KeepsThreeRowsUnderManyWarnings) {
  NamedDocument document = command_document("regression");
  std::string warning;
  for (int i = 0; i < 30; ++i) warning += "a warning ";
  document.value["warnings"] = std::vector<std::string>(80, warning);
  for (const std::size_t width : {80U, 100U, 120U}) {
    const std::string page = summary_text(comparison_answer(document), {.width = width}, "x");
    const std::size_t table = page.find("Kernels that changed most\n");
    const std::string rows = page.substr(table, page.find("\n\n", table) - table);
    EXPECT_GE(std::ranges::count(rows, '\n'), 2 + 3) << page;  // heading, titles, "… and 4 more"
    EXPECT_THAT(page, HasSubstr(" more, in comparison.json#/warnings"));
  }
}

TEST(ComparisonSummary, SaysWhatItMeansForTheWholeRun) {
  const Json total = part_of_answer(comparison_answer(command_document("regression")), "total");
  EXPECT_EQ(total["rows"][0]["from"], "comparison.json#/total");
  EXPECT_THAT(comparison_page(command_document("regression")),
              HasSubstr("The whole run\n  all kernels: 27."));
  // A single series is its own total.
  EXPECT_TRUE(part_of_answer(comparison_answer(command_document("numbers")), "total").is_null());
}

// The profile's databases are gone: another kernel can be 20 % slower, and nobody looked.
TEST(ComparisonSummary, SaysAboveTheVerdictWhatWasNotCompared) {
  const NamedDocument document = command_document("alone");
  EXPECT_EQ(document.value["verdict"], "pass");
  EXPECT_EQ(document.value["not_compared"][0]["kernels"], 13);
  EXPECT_EQ(document.value["not_compared"][0]["reason"], "no_databases");
  const std::string page = comparison_page(document);
  const std::size_t warning =
      page.find("NOT COMPARED: 13 kernels of A (62.5 % of its time) and 13");
  EXPECT_LT(warning, page.find("Verdict (exit code 0)\n")) << page;
  EXPECT_THAT(page, AllOf(HasSubstr("Not compared\n  13 kernels of A, 62.5 % of its time: "),
                          HasSubstr("; other kernels were not"), HasSubstr("run_N")));
  const NamedDocument older = command_document("older");
  EXPECT_TRUE(older.value["not_compared"][1]["kernels"].is_null());
  EXPECT_THAT(comparison_page(older), HasSubstr("an unknown number of kernels of B"));
  EXPECT_THAT(comparison_page(command_document("same")), Not(HasSubstr("ot compared")));
}

TEST(ComparisonSummary, NamesTheNextMeasurement) {
  EXPECT_THAT(comparison_page(command_document("regression")),
              HasSubstr("rocm-perf inspect NEW.hsaco --against BASE.hsaco"));
  const Json undecided = comparison_answer(command_document("undecided"));
  EXPECT_THAT(undecided["next"].dump(), HasSubstr("rocm-perf profile --runs "));
  EXPECT_TRUE(comparison_answer(command_document("same"))["next"].empty());
}

TEST(ComparisonSummary, SaysThatRecordingsWereMadeUp) {
  NamedDocument document = command_document("same");
  document.value["b"]["synthetic"] = "made up";
  EXPECT_EQ(comparison_answer(document)["synthetic"], "made up");
}

}  // namespace
}  // namespace perflab::report
