// report/kit/good_numbers.h: what is left out of a document before it is validated, and that
// nothing is left out that could be wrong.
#include "report/kit/good_numbers.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

namespace perflab::report {
namespace {

/// A schema of an object with one array, `rows`, whose items are as said.
Json schema_of_rows(const char* items) {
  return Json::parse(std::string(R"({"type": "object", "properties": {"rows": {"type":
      ["array", "null"], "description": "x", "items": )") +
                     items + "}}}");
}

/// An object with an array of a hundred times `usual`, the last but one replaced by `other`.
Json document_of_rows(const Json& usual, const Json& other) {
  Json rows = Json::array();
  for (int i = 0; i < 100; ++i) rows.push_back(i == 98 ? other : usual);
  return {{"rows", std::move(rows)}};
}

bool leaves_out_rows(const Json& schema, const Json& document) {
  const nlohmann::json seen = without_good_numbers(schema, schema, document);
  if (seen.at("rows").empty()) return true;
  EXPECT_EQ(seen, nlohmann::json(document));
  return false;
}

constexpr const char* kNumber = R"({"type": ["integer", "null"], "minimum": 0})";
constexpr const char* kRow = R"({"type": "array", "minItems": 2, "maxItems": 3,
                                 "items": {"type": "integer", "minimum": 0}})";

TEST(GoodNumbers, AreLeftOutOfLongArrays) {
  EXPECT_TRUE(leaves_out_rows(schema_of_rows(kNumber), document_of_rows(1, nullptr)));
  EXPECT_TRUE(leaves_out_rows(schema_of_rows(kRow), document_of_rows({1, 2}, {1, 2, 3})));
  EXPECT_TRUE(leaves_out_rows(schema_of_rows(R"({"type": "integer"})"), document_of_rows(1, -1)));
}

TEST(GoodNumbers, StayWhereOneIsNotGood) {
  for (const Json& bad : std::initializer_list<Json>{-1, 1.5, "1", true, Json::array()})
    EXPECT_FALSE(leaves_out_rows(schema_of_rows(kNumber), document_of_rows(1, bad))) << bad;
  for (const Json& bad : std::initializer_list<Json>{
           1, nullptr, Json::array({1}), Json::array({1, 2, 3, 4}), Json::array({1, nullptr}),
           Json::array({1, -2}), Json::array({1, Json::array({1})})})
    EXPECT_FALSE(leaves_out_rows(schema_of_rows(kRow), document_of_rows({1, 2}, bad))) << bad;
}

TEST(GoodNumbers, StayWhereTheSchemaSaysMoreThanIsUnderstood) {
  for (const char* items :
       {R"({"type": "integer", "maximum": 9})", R"({"type": "integer", "minimum": 1})",
        R"({"enum": [1, 2]})", R"([{"type": "integer"}])", R"({"type": "string"})",
        R"({"type": "array", "uniqueItems": true, "items": {"type": "integer"}})"})
    EXPECT_FALSE(leaves_out_rows(schema_of_rows(items), document_of_rows(1, 2))) << items;
  Json few = schema_of_rows(kNumber);
  few["properties"]["rows"]["maxItems"] = 10;
  EXPECT_FALSE(leaves_out_rows(few, document_of_rows(1, 2)));
  Json either = schema_of_rows(kNumber);
  either["anyOf"] = Json::parse(R"([{"required": ["rows"]}])");
  EXPECT_FALSE(leaves_out_rows(either, document_of_rows(1, 2)));
}

}  // namespace
}  // namespace perflab::report
