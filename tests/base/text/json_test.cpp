// Canonical text: order, indent, numbers, strings.
#include "base/text/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>

namespace perflab {
namespace {

using testing::HasSubstr;

TEST(Json, KeepsTheOrderOfKeys) {
  Json value;
  value["zebra"] = 1;
  value["ant"] = {{"y", true}, {"b", nullptr}};
  EXPECT_EQ(to_canonical_text(value), R"({
  "zebra": 1,
  "ant": {
    "y": true,
    "b": null
  }
}
)");
}

TEST(Json, WritesScalarArraysOnOneLineAndOthersIndented) {
  const Json value = {
      {"flat", {1, 2.5, "x"}}, {"deep", {{1}, Json::object()}}, {"none", Json::array()}};
  EXPECT_EQ(to_canonical_text(value), R"({
  "flat": [1, 2.5, "x"],
  "deep": [
    [1],
    {}
  ],
  "none": []
}
)");
}

TEST(Json, WritesTheShortestNumberThatReadsBack) {
  EXPECT_EQ(to_canonical_text(0.1), "0.1\n");
  EXPECT_EQ(to_canonical_text(1.0 / 3), "0.3333333333333333\n");
  EXPECT_EQ(to_canonical_text(5e-324), "5e-324\n");
  EXPECT_EQ(to_canonical_text(1e22), "1e+22\n");
  EXPECT_EQ(to_canonical_text(3.0), "3.0\n");
  EXPECT_EQ(to_canonical_text(-0.0), "-0.0\n");
  EXPECT_EQ(to_canonical_text(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808\n");
  EXPECT_EQ(to_canonical_text(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615\n");
}

// Brackets in strings are no depth; neither are many lists beside each other.
TEST(Json, ReadsWhatIsNotTooDeep) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(parse_json(nested(200), "it").has_value());
  const auto refused = parse_json(nested(201), "it");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message, "it: is nested more than 200 deep");
  EXPECT_FALSE(parse_json(R"({"\\": )" + nested(200) + "}", "it").has_value());
  std::string wide = R"(["\"[[", {}, ")" + std::string(300, '[') + "\"";
  for (int i = 0; i < 300; ++i) wide += ", [{}]";
  EXPECT_TRUE(parse_json(wide + "]", "it").has_value());
}

TEST(Json, EveryFiniteDoubleReadsBackAsItself) {
  std::mt19937_64 random(20251121);
  for (int i = 0; i < 20'000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    const auto back = parse_json(to_canonical_text(value), "a number");
    ASSERT_TRUE(back.has_value());
    ASSERT_EQ(std::bit_cast<std::uint64_t>(back->get<double>()),
              std::bit_cast<std::uint64_t>(value));
  }
}

TEST(Json, EscapesStringsAndReplacesWhatIsNotUtf8) {
  EXPECT_EQ(to_canonical_text("a\"b\\c\n\t\x01"), "\"a\\\"b\\\\c\\n\\t\\u0001\"\n");
  EXPECT_EQ(to_canonical_text("gr\xC3\xBC\xC3\x9F"), "\"gr\xC3\xBC\xC3\x9F\"\n");
  EXPECT_EQ(to_canonical_text(std::string("bad \xFF byte")), "\"bad \xEF\xBF\xBD byte\"\n");
  const Json key = {{"bad\xFE", 1}};
  EXPECT_TRUE(parse_json(to_canonical_text(key), "the text").has_value());
}

TEST(Json, TextIsAFixedPoint) {
  const std::string text = R"({"b": [1, {"x": 1.50}], "a": "\u00fc", "n": -7})";
  const auto value = parse_json(text, "the text");
  ASSERT_TRUE(value.has_value());
  const std::string canonical = to_canonical_text(*value);
  EXPECT_EQ(to_canonical_text(*parse_json(canonical, "the text")), canonical);
}

TEST(Json, NamesWhatCannotBeParsed) {
  for (const char* text : {"", "{", "[1,]", "nul", "\"\xFF\"", "1 2"}) {
    const auto value = parse_json(text, "space.json");
    ASSERT_FALSE(value.has_value()) << text;
    EXPECT_EQ(value.error().code, ErrorCode::bad_input);
    EXPECT_THAT(value.error().message, HasSubstr("space.json: is not valid JSON"));
  }
}

TEST(JsonDeathTest, AMissingFigureMustBeNull) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(to_canonical_text(std::nan("")), "isfinite");
}

TEST(Json, WhatIsMissingIsNull) {
  EXPECT_EQ(or_null(std::optional<int>(0)), Json(0));
  EXPECT_EQ(or_null(std::optional<double>()), Json());
  EXPECT_EQ(or_null(std::string("a")), Json("a"));
  EXPECT_EQ(or_null(std::string()), Json());
  EXPECT_EQ(or_null(std::optional<std::string>("")), Json("")) << "it is there";
  EXPECT_EQ(or_null(std::optional(ErrorCode::refused)), Json("refused")) << "enums by name";
}

}  // namespace
}  // namespace perflab
