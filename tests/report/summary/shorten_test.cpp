// What a summary that is too long does without, and in which order.
#include "report/summary/shorten.h"

#include <gtest/gtest.h>

#include "report/excerpt/parts.h"
#include "report/summary/summary.h"

namespace perflab::report {
namespace {

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

}  // namespace
}  // namespace perflab::report
