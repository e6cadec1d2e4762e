// Excerpts name their place, and parts count what they leave out.
#include "report/excerpt/excerpt.h"

#include <gtest/gtest.h>

#include "report/excerpt/parts.h"

namespace perflab::report {
namespace {

TEST(NextStep, IsLeftOutWhereItsCommandIsTooLong) {
  Json summary = summary_head(std::vector<NamedDocument>{{"analysis", Json::object()}});
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

TEST(Excerpt, LeavesOutWhatIsNotThereAndKeepsNullAndWholeTexts) {
  const NamedDocument document{
      "dag", {{"a/b", {{"null", nullptr}, {"long", std::string(500, 'x')}, {"n", 3}}}}};
  const DocumentPlace place = DocumentPlace(&document)["a/b"];
  const Json excerpt = place.excerpt({"null", "nothing", "long", "n"}, "it");
  EXPECT_EQ(excerpt["from"], "dag.json#/a~1b");
  EXPECT_EQ(excerpt["what"], "it");
  EXPECT_TRUE(excerpt["null"].is_null());
  EXPECT_FALSE(excerpt.contains("nothing"));
  EXPECT_EQ(excerpt["long"], std::string(500, 'x'));
  EXPECT_EQ(excerpt["n"], 3);
  EXPECT_FALSE(DocumentPlace(&document)["a/b"]["null"]);
  EXPECT_FALSE(DocumentPlace(nullptr)["x"][std::size_t{2}]);
}

}  // namespace
}  // namespace perflab::report
