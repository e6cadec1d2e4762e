// summary.json of every recorded and written input: it is true (each figure stands where it says),
// complete (what a document has more is counted) and short.
#include "report/summary/summary.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "report/analysis/profile_document.h"
#include "report/analysis/recording_documents.h"
#include "report/report_cases.h"
#include "report/summary/command_documents.h"
#include "report/summary/followed.h"

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

// A what-if simulates another run: the shares are still those of the recording.
TEST(Summary, SaysThatTheTimeIsAsRecordedBesideAWhatIf) {
  const Json kernel_time = {{"share", 1.0}, {"time_ns", 100.0}};
  const Json path = {{"critical_path_ns", 100.0}, {"attribution", {{"kernel", kernel_time}}}};
  Json asked = path;
  asked["what_if"] = {{"makespan_ns", 50.0},
                      {"gain_ns", 50.0},
                      {"gain_share", 0.5},
                      {"bound", false},
                      {"changes", Json::array()}};
  const auto page = [](std::vector<NamedDocument> documents) {
    return summary_text(summary_document(documents), {}, "");
  };
  EXPECT_THAT(page({{"dag", path}}), HasSubstr("Where the time went\n"));
  EXPECT_THAT(page({{"dag", asked}}), HasSubstr("Where the time went, as recorded\n"));
  const Json analysis = {{"critical_path", path}, {"kernels", Json::array()}};
  EXPECT_THAT(page({{"analysis", analysis}, {"dag", path}}), HasSubstr("Where the time went\n"));
  EXPECT_THAT(page({{"analysis", analysis}, {"dag", asked}}),
              HasSubstr("Where the time went, as recorded\n"));
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
