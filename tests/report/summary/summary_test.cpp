// summary.json of every recorded and written input: it is true (each figure stands where it says),
// complete (what a document has more is counted) and short.
#include "report/summary/summary.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "report/analysis/profile_document.h"
#include "report/analysis/recording_documents.h"
#include "report/kit/text_table.h"
#include "report/report_cases.h"
#include "report/summary/command_documents.h"
#include "report/summary/followed.h"
#include "report/summary/parts.h"

namespace perflab::report {
namespace {

using testing::HasSubstr;
using testing::Not;

class SummaryOf : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    const auto runs = analyze_case(all_cases()[GetParam()]);
    if (!runs) GTEST_SKIP() << "skipped: its databases are kept outside the project";
    documents_ = recording_documents(*runs, {});
    summary_ = rendered_json("summary", summary_document(documents_));
  }

  std::vector<NamedDocument> documents_;
  Json summary_;
};

TEST_P(SummaryOf, HasEveryFigureWhereItSays) {
  EXPECT_GT(figures_followed(documents_, summary_), 5U);
}

TEST_P(SummaryOf, IsShort) {
  expect_short(summary_);
}

TEST_P(SummaryOf, CountsTheKernelsThatItLeavesOut) {
  const Json& kernels = documents_.front().value.at("kernels");
  for (const Json& part : summary_["parts"])
    if (part["part"] == "kernels") {
      EXPECT_EQ(part["rows"].size() + part["left_out"].get<std::size_t>(), kernels.size());
    }
}

INSTANTIATE_TEST_SUITE_P(All, SummaryOf, testing::Range(std::size_t{0}, all_cases().size()),
                         [](const auto& one) { return all_cases()[one.param].name; });

/// The same of the commands that read no recording.
class SummaryOfCommand : public testing::TestWithParam<std::size_t> {
 protected:
  std::vector<NamedDocument> documents_ = {written_document(command_documents()[GetParam()])};
  Json summary_ = rendered_json("summary", summary_document(documents_));
};

TEST_P(SummaryOfCommand, HasEveryFigureWhereItSays) {
  EXPECT_GT(figures_followed(documents_, summary_), 2U);
}

TEST_P(SummaryOfCommand, IsShort) {
  expect_short(summary_);
}

INSTANTIATE_TEST_SUITE_P(All, SummaryOfCommand,
                         testing::Range(std::size_t{0}, command_documents().size()),
                         [](const auto& one) { return command_documents()[one.param].name; });

/// A summary with so many rows in its two parts, and warnings.
Json made_up(std::size_t first, std::size_t second, std::size_t warnings) {
  const NamedDocument document{
      "analysis", {{"synthetic", nullptr}, {"warnings", std::vector<std::string>(warnings, "w")}}};
  Json summary = summary_head(std::vector<NamedDocument>{document});
  const auto rows = [](std::size_t count) {
    return std::vector<Json>(count, {{"what", "x"}, {"from", "analysis.json#/warnings"}});
  };
  add_part(summary, {.part = "a", .title = "A", .rows = rows(first)});
  add_part(summary, {.part = "b", .title = "B", .rows = rows(second), .left_out = 3});
  return summary;
}

TEST(Shorten, TakesTheLastRowOfTheLongestPartFirst) {
  Json summary = made_up(2, 4, 0);
  shorten(summary, [](const Json& made) { return made["parts"][1]["rows"].size() < 3; });
  EXPECT_EQ(summary["parts"][0]["rows"].size(), 2U);
  EXPECT_EQ(summary["parts"][1]["rows"].size(), 2U);
  EXPECT_EQ(summary["parts"][1]["left_out"], 5);
}

TEST(Shorten, LeavesWhatWasRecorded) {
  Json summary = made_up(2, 4, 0);
  summary["parts"][1]["part"] = "recorded";
  shorten(summary, [](const Json& made) { return made["parts"][0]["rows"].size() < 2; });
  EXPECT_EQ(summary["parts"][1]["rows"].size(), 4U);
}

TEST(Shorten, LeavesARowOfEachAndThenTakesWarnings) {
  Json summary = made_up(2, 2, 3);
  shorten(summary, [](const Json& made) { return made["warnings"]["texts"].size() < 3; });
  EXPECT_EQ(summary["parts"][0]["rows"].size(), 1U);
  EXPECT_EQ(summary["parts"][1]["rows"].size(), 1U);
  EXPECT_EQ(summary["warnings"]["left_out"], 1);
  shorten(summary, [](const Json&) { return false; });  // ends
  EXPECT_EQ(summary["warnings"]["left_out"], 3);
}

TEST(NextStep, IsLeftOutWhereItsCommandIsTooLong) {
  Json summary = made_up(1, 1, 0);
  add_next(summary, {std::string(kMostCommandBytes, 'x'), "why"});
  add_next(summary, {std::string(kMostCommandBytes + 1, 'x'), "why"});
  EXPECT_EQ(summary["next"].size(), 1U);
}

TEST(Excerpt, CountsElementsOfAnArrayByWhatTheySay) {
  const auto one = [](Json reason) { return Json{{"decision", {{"reason", std::move(reason)}}}}; };
  const NamedDocument document{
      "optimization",
      {{"candidates",
        {one("slower"), one(nullptr), one("no_gain"), one("no_gain"), Json::object()}},
       {"none", Json::array()}}};
  const DocumentPlace candidates = DocumentPlace(&document)["candidates"];
  EXPECT_EQ(candidates.count("all"),
            Json({{"what", "all"}, {"from", "optimization.json#/candidates"}, {"elements", 5}}));
  const std::vector<Json> tally = candidates.tally("/decision/reason");
  ASSERT_EQ(tally.size(), 2U);  // null is no reason
  EXPECT_EQ(tally[0], Json({{"from", "optimization.json#/candidates"},
                            {"where", "/decision/reason"},
                            {"is", "no_gain"},
                            {"elements", 2}}));
  EXPECT_EQ(tally[1]["is"], "slower");
  EXPECT_TRUE(DocumentPlace(&document)["none"].tally("/x").empty());
  EXPECT_TRUE(DocumentPlace(&document)["nothing"].tally("/x").empty());
}

TEST(Excerpt, LeavesOutWhatIsNotThereKeepsNullAndCutsNames) {
  const NamedDocument document{
      "dag", {{"a/b", {{"null", nullptr}, {"long", std::string(500, 'x')}, {"n", 3}}}}};
  const DocumentPlace place = DocumentPlace(&document)["a/b"];
  const Json excerpt = place.excerpt({"null", "nothing", "long", "n"}, "it");
  EXPECT_EQ(excerpt["from"], "dag.json#/a~1b");
  EXPECT_EQ(excerpt["what"], "it");
  EXPECT_TRUE(excerpt["null"].is_null());
  EXPECT_FALSE(excerpt.contains("nothing"));
  EXPECT_EQ(display_width(excerpt["long"].get<std::string>()), kMostNameColumns);
  EXPECT_EQ(excerpt["n"], 3);
  EXPECT_FALSE(DocumentPlace(&document)["a/b"]["null"]);
  EXPECT_FALSE(DocumentPlace(nullptr)["x"][std::size_t{2}]);
}

// Two kernels: the one with less time would shorten the run more.
TEST(Summary, IsAboutTheKernelThatShortensTheRunMost) {
  const auto verdict = [](const char* name, double share) {
    return Json{{"name", name},
                {"label", "latency bound"},
                {"confidence", "low"},
                {"evidence", Json::array()},
                {"bound", {{"kernel_factor", 2.0}, {"end_to_end_share", share}}}};
  };
  const NamedDocument document{
      "analysis",
      {{"totals", {{"dispatches", 2}}},
       {"kernels", Json::array({{{"name", "first"}}, {{"name", "second"}}})},
       {"bottlenecks",
        {{"kernels", Json::array({verdict("first", 0.1), verdict("second", 0.2)})}}}}};
  const Json summary = summary_document(std::vector<NamedDocument>{document});
  const std::string text = summary_text(summary, {}, "");
  EXPECT_THAT(
      text, HasSubstr("What limits the kernel that could shorten the run most\n  second\n  latency "
                      "bound: no rule is met strongly enough\n"));
  EXPECT_THAT(text, HasSubstr("  2x as fast at best\n"));
  EXPECT_THAT(text, Not(HasSubstr("The rest")));
}

}  // namespace
}  // namespace perflab::report
