// What a summary that is too long does without, and in which order.
#include "report/summary/shorten.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "report/excerpt/parts.h"
#include "report/kit/text_table.h"
#include "report/report_cases.h"
#include "report/summary/command_documents.h"
#include "report/summary/summary.h"
#include "support/prng.h"

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

TEST(Shorten, LeavesThreeRowsOfATableBeforeItTakesWarnings) {
  Json summary = made_up(5, 2, 5);
  summary["parts"][0]["details"] = "kernels";
  const auto rows = [&] { return summary["parts"][0]["rows"].size(); };
  const auto warnings = [&] { return summary["warnings"]["texts"].size(); };
  shorten(summary, [](const Json& made) { return made["parts"][0]["rows"].size() == 3; });
  EXPECT_EQ(warnings(), 5U);
  shorten(summary, [](const Json& made) { return made["warnings"]["texts"].size() == 1; });
  EXPECT_EQ(rows(), kLeastTableRows);
  EXPECT_EQ(summary["warnings"]["left_out"], 4);
  shorten(summary, [](const Json& made) { return made["parts"][0]["rows"].size() == 1; });
  EXPECT_EQ(warnings(), 1U);
  EXPECT_EQ(summary["parts"][1]["rows"].size(), 2U);
  shorten(summary, [](const Json&) { return false; });  // ends
  EXPECT_EQ(summary["parts"][1]["rows"].size(), 1U);
  EXPECT_EQ(warnings(), 0U);
}

std::size_t bytes_of(const Json& summary) {
  return to_canonical_text(summary).size();
}

TEST(FitInBytes, CutsALongNameInTheMiddleAndSaysSo) {
  Json summary = made_up(1, 1, 0);
  summary["parts"][0]["rows"][0]["name"] = "begin" + std::string(10'000, 'x') + "end";
  summary["parts"][0]["rows"][0]["inner"] = {{"from", "a.json#/b"}, {"label", "short"}};
  fit_in_bytes(summary, kMostSummaryBytes);
  const std::string name = summary["parts"][0]["rows"][0]["name"];
  EXPECT_EQ(display_width(name), kMostNameColumns);
  EXPECT_TRUE(name.starts_with("beginxx") && name.ends_with("xxend")) << name;
  EXPECT_EQ(summary["cut"], Json({{"texts", 1}, {"parts", 0}, {"next", 0}}));
  EXPECT_EQ(summary["parts"][0]["rows"][0]["inner"]["label"], "short");
}

TEST(FitInBytes, CutsTextsShorterBeforeItLeavesPartsOut) {
  Json summary = made_up(1, 1, 0);
  Json& row = summary["parts"][0]["rows"][0];
  for (int i = 0; i < 50; ++i) row["field_" + std::to_string(i)] = std::string(200, 'x');
  fit_in_bytes(summary, 5000);
  EXPECT_LE(bytes_of(summary), 5000U);
  EXPECT_EQ(summary["cut"]["texts"], 50);
  EXPECT_EQ(summary["cut"]["parts"], 0);
  EXPECT_EQ(display_width(summary["parts"][0]["rows"][0]["field_7"].get<std::string>()), 40U);
}

TEST(FitInBytes, LeavesPartsAndStepsOutAtLast) {
  Json summary = made_up(1, 1, 4);
  for (Json& part : summary["parts"])
    for (int i = 0; i < 500; ++i) part["rows"][0]["field_" + std::to_string(i)] = i;
  for (int i = 0; i < 20; ++i) add_next(summary, {std::string(kMostCommandBytes, 'x'), "why"});
  fit_in_bytes(summary, kMostSummaryBytes);
  EXPECT_LE(bytes_of(summary), kMostSummaryBytes);
  EXPECT_EQ(summary["cut"]["parts"], 2);
  EXPECT_EQ(summary["cut"]["next"].get<std::size_t>() + summary["next"].size(), 20U);
  EXPECT_GE(summary["next"].size(), 5U);
}

/// The value with long texts in place of about one in `every` of its own; of several bytes to a
/// character, or of what JSON has to escape.
Json with_long_texts(const Json& value, test::Prng& prng, std::int64_t every) {
  if (value.is_string()) {
    if (prng.below(every) != 0) return value;
    static constexpr std::array<const char*, 4> kPieces = {"void f<T, 1>::", "\xe6\x96\x87", "\x01",
                                                           "\\\"a "};
    const char* const piece = kPieces.at(static_cast<std::size_t>(prng.below(4)));
    const std::int64_t pieces = prng.below(4) == 0 ? 3000 : prng.below(300);
    std::string text;
    for (std::int64_t i = 0; i < pieces; ++i) text += piece;
    return text;
  }
  if (!value.is_structured()) return value;
  Json out = value;
  for (auto& [key, one] : out.items()) one = with_long_texts(one, prng, every);
  return out;
}

// Whatever the documents say: at most 8 KB, with the schema.
TEST(FitInBytes, HoldsForDocumentsWithTextsOfAnyLength) {
  test::Prng prng(24);
  std::size_t cut = 0;
  for (const CommandDocument& one : command_documents()) {
    const NamedDocument document = one.make();
    for (const std::int64_t every : {1, 2, 10}) {
      const NamedDocument grown{document.name, with_long_texts(document.value, prng, every)};
      const Json summary = summary_document(std::vector<NamedDocument>{grown});
      ASSERT_LE(bytes_of(summary), kMostSummaryBytes) << one.name;
      const Json kept = rendered_json("summary", summary);  // it has the schema
      cut += kept["cut"]["texts"].get<std::size_t>();
    }
  }
  EXPECT_GT(cut, 100U);
}

}  // namespace
}  // namespace perflab::report
