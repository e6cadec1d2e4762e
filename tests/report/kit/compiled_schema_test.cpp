// report/kit/compiled_schema.h: what is allowed for sure is allowed by valijson as well, whatever
// is wrong with a document, and what the program writes is allowed for sure.
#include "report/kit/compiled_schema.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>
#include <vector>

#include "base/random.h"
#include "report/kit/document.h"
#include "report/summary/command_documents.h"

namespace perflab::report {
namespace {

bool allows(const char* schema, const Json& document) {
  return CompiledSchema(Json::parse(schema)).surely_allows(document);
}

TEST(CompiledSchema, KnowsWhatTheKeywordsOfSchemasMean) {
  struct Rule {
    const char *schema, *good, *bad;  ///< arrays of values
  };
  for (const Rule& rule : std::initializer_list<Rule>{
           {R"({"type": "integer"})", "[0, -3, 9223372036854775808]", R"([1.5, "1", null, true])"},
           {R"({"type": ["number", "null"]})", "[0, 1.5, null]", R"(["", false, {}])"},
           {R"({"type": "number", "minimum": 0, "maximum": 2})", "[0, 2, 0.5]", "[-1, 2.5, 3]"},
           {R"({"exclusiveMinimum": 0})", R"([1, 0.1, "text"])", "[0, -1]"},
           {R"({"enum": ["a", 1, null]})", R"(["a", 1, null])", R"(["b", 2, true, false])"},
           {R"({"const": "1.2.0"})", R"(["1.2.0"])", R"(["1.2.1", 1])"},
           {R"({"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2})",
            R"([["a"], ["a", "b"]])", R"([[], [1], ["a", "b", "c"], {}])"},
           {R"({"anyOf": [{"type": "string"}, {"const": 3}]})", R"(["a", 3])", "[4, null]"},
           {R"({"type": "object", "properties": {"a": {"type": "integer"}, "b": {}},
                "required": ["a"], "additionalProperties": {"type": "null"}})",
            R"([{"a": 1}, {"b": "x", "a": 1}, {"a": 1, "c": null}])",
            R"([{}, {"b": 1}, {"a": "1"}, {"a": 1, "c": 1}])"},
           {R"({"properties": {"a": {}}, "additionalProperties": false})",
            R"([{}, {"a": 1}, "text"])", R"([{"b": 1}])"},
           {R"({"definitions": {"list": {"type": "object", "properties": {
                "next": {"anyOf": [{"$ref": "#/definitions/list"}, {"type": "null"}]}}}},
                "$ref": "#/definitions/list"})",
            R"([{}, {"next": null}, {"next": {"next": {}}}])", R"([1, {"next": {"next": 1}}])"}}) {
    for (const Json& value : Json::parse(rule.good))
      EXPECT_TRUE(allows(rule.schema, value)) << value;
    for (const Json& value : Json::parse(rule.bad))
      EXPECT_FALSE(allows(rule.schema, value)) << value;
  }
}

TEST(CompiledSchema, IsNotSureOfWhatItDoesNotKnow) {
  EXPECT_FALSE(allows(R"({"type": "integer"})", 1.0));  // a whole number by draft 7
  EXPECT_FALSE(allows(R"({"items": [{"type": "string"}]})", Json::array({"a"})));
  for (const char* schema :
       {R"({"pattern": "a"})", R"({"type": "text"})", R"({"enum": [1.5]})", R"({"const": []})",
        R"({"required": ["a"]})", R"({"minimum": 1e300})", R"({"minItems": -1})", R"(true)"})
    for (const Json& value : {Json("a"), Json(1), Json::array({"a"}), Json::object()})
      EXPECT_FALSE(allows(schema, value)) << schema << value;
}

TEST(CompiledSchema, PutsKeysInOrderAndOthersBehind) {
  const CompiledSchema schema(Json::parse(
      R"({"properties": {"a": {"items": {"properties": {"x": {}, "y": {}}}}, "b": {}, "c": {}}})"));
  const auto ordered = [&](const char* text) {
    Json document = Json::parse(text);
    schema.put_in_order(document);
    return document.dump();
  };
  EXPECT_EQ(ordered(R"({"c":1,"z":2,"a":[{"y":1,"x":2},{"y":3}]})"),
            R"({"a":[{"x":2,"y":1},{"y":3}],"c":1,"z":2})");
  EXPECT_EQ(ordered(R"({"a":1,"c":{"z":1,"a":2},"z":1,"y":0})"),
            R"({"a":1,"c":{"z":1,"a":2},"z":1,"y":0})");
  EXPECT_EQ(ordered(R"([{"c":1,"a":2}])"), R"([{"c":1,"a":2}])");
}

/// A general validator's verdict, of a schema that is read once.
class Library {
 public:
  explicit Library(const Json& schema) : plain_(schema) {
    valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(plain_),
                                            schema_);
  }
  bool allows(const Json& document) {
    const nlohmann::json plain(document);
    return valijson::Validator().validate(schema_, valijson::adapters::NlohmannJsonAdapter(plain),
                                          nullptr);
  }

 private:
  nlohmann::json plain_;
  valijson::Schema schema_;
};

/// Puts something else into one place of the document.
void spoil(Json& value, SplitMix64& random) {
  if (value.is_structured() && !value.empty() && random.next() % 8 != 0) {
    auto place = value.begin();
    std::advance(place, static_cast<std::ptrdiff_t>(random.next() % value.size()));
    return spoil(*place, random);
  }
  const std::vector<Json> others = {nullptr,       true,          -1, 7, 0.5, "text", "",
                                    Json::array(), Json::object()};
  if (value.is_object() && random.next() % 2 == 0)
    value["not_in_the_schema"] = others[random.next() % others.size()];
  else if (value.is_array() && random.next() % 2 == 0)
    value.push_back(others[random.next() % others.size()]);
  else
    value = others[random.next() % others.size()];
}

TEST(CompiledSchema, AgreesWithTheLibraryOnSpoiltDocuments) {
  SplitMix64 random(29);
  std::size_t allowed = 0, refused = 0;
  for (const CommandDocument& one : command_documents()) {
    const NamedDocument document = written_document(one);
    const auto text = schema_text(document.name);
    ASSERT_TRUE(text) << document.name;
    const Json whole = Json::parse(*text);
    const CompiledSchema schema(whole);
    EXPECT_TRUE(schema.surely_allows(document.value)) << one.name;
    Library library(whole);
    for (int i = 0; i < 12; ++i) {
      Json spoilt = document.value;
      spoil(spoilt, random);
      const bool is_allowed = library.allows(spoilt);
      EXPECT_EQ(schema.surely_allows(spoilt), is_allowed) << one.name << spoilt;
      ++(is_allowed ? allowed : refused);
    }
  }
  EXPECT_GT(allowed, 10U);
  EXPECT_GT(refused, 100U);
}

}  // namespace
}  // namespace perflab::report
