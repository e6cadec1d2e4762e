// The schemas themselves: completed from their sources, draft 7 in every keyword, the same shared
// parts in all, and strict enough to refuse a wrong document.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "report/kit/document.h"
#include "report/kit/schema_source.h"
#include "report/report_cases.h"

namespace perflab::report {
namespace {

nlohmann::json parsed(std::string_view text) {
  return nlohmann::json::parse(text.begin(), text.end());
}

nlohmann::json schema_json(const std::string& name) {
  return parsed(schema_text(name).value_or("{}"));
}

TEST(Schemas, AreFoundByName) {
  const auto names = schema_names();
  for (const char* name :
       {"analysis",     "autotune",       "autotune_app", "capture",    "certificate", "comparison",
        "dag",          "dispatch_table", "doctor",       "inspection", "isolate",     "occupancy",
        "optimization", "profile",        "ranks",        "replay",     "reservation", "roofline",
        "self_test",    "summary",        "thread_trace", "timeline"})
    EXPECT_EQ(std::ranges::count(names, name), 1) << name;
  EXPECT_EQ(schema_json("analysis").at("title"), "analysis.json of rocm-perf");
}

TEST(Schemas, OfUnknownNamesAreAUsageError) {
  for (const char* name : {"nope", "", "analysis.schema.json", "../profile"}) {
    const auto text = schema_text(name);
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code, ErrorCode::usage);
    EXPECT_EQ(text.error().message, "there is no document named '" + std::string(name) + "'");
    EXPECT_EQ(text.error().remedy.find("one of: analysis, "), 0U);
  }
}

/// Every subschema of a schema, with its path.
void visit(const nlohmann::json& schema, const std::string& path,
           const std::function<void(const nlohmann::json&, const std::string&)>& see) {
  if (!schema.is_object()) return;
  see(schema, path);
  for (const char* map : {"properties", "definitions"})
    if (schema.contains(map))
      for (const auto& [key, sub] : schema.at(map).items()) visit(sub, path + "/" + key, see);
  for (const char* one : {"items", "additionalProperties"})
    if (schema.contains(one)) visit(schema.at(one), path + "/" + one, see);
  if (schema.contains("anyOf"))
    for (const auto& sub : schema.at("anyOf")) visit(sub, path + "/anyOf", see);
}

Json source_of(const std::string& file) {
  std::ifstream stream(std::string(PERFLAB_SOURCE_DIR) + "/schemas/" + file);
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  return parse_json(text, file).value_or(Json());
}

TEST(Schemas, AreTheCompletedFilesOfTheProject) {
  std::size_t files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(PERFLAB_SOURCE_DIR) + "/schemas"))
    files += entry.path().filename() != "common.json";
  EXPECT_EQ(files, schema_names().size());
  for (const std::string& name : schema_names()) {
    const Json source = source_of(name + ".schema.json");
    const auto complete = complete_schema(source, source_of("common.json"));
    ASSERT_TRUE(complete) << name;
    EXPECT_EQ(schema_text(name).value_or(""), to_canonical_text(*complete)) << name;
    // What holds everywhere is in no source.
    visit(nlohmann::json(source), name, [](const nlohmann::json& schema, const std::string& path) {
      EXPECT_FALSE(schema.contains("required")) << path;
      EXPECT_FALSE(schema.value("additionalProperties", nlohmann::json()).is_boolean()) << path;
    });
  }
}

const Json kCommonSample = Json::parse(R"({"definitions": {
  "pair": {"properties": {"a": {"$ref": "#/definitions/one"}, "b": {}}},
  "one": {"type": "integer"},
  "other": {"type": "string"}}})");

TEST(CompleteSchema, RequiresEveryPropertyAndTakesDefinitionsAlong) {
  const Json source = Json::parse(R"({
    "type": "object",
    "properties": {
      "x": {"items": {"$ref": "common.json#/definitions/pair"}},
      "required": {"anyOf": [{"properties": {"k": {"const": 1}}}]}},
    "definitions": {"mine": {"additionalProperties": {"type": "null"}}}})");
  const Json expected = Json::parse(R"({
    "type": "object", "additionalProperties": false, "required": ["x", "required"],
    "properties": {
      "x": {"items": {"$ref": "#/definitions/pair"}},
      "required": {"anyOf": [{
        "additionalProperties": false, "required": ["k"], "properties": {"k": {"const": 1}}}]}},
    "definitions": {
      "mine": {"additionalProperties": {"type": "null"}},
      "pair": {"additionalProperties": false, "required": ["a", "b"],
               "properties": {"a": {"$ref": "#/definitions/one"}, "b": {}}},
      "one": {"type": "integer"}}})");
  EXPECT_EQ(complete_schema(source, kCommonSample).value_or(Json()).dump(1), expected.dump(1));
}

TEST(CompleteSchema, KeepsWhatAnObjectSaysItself) {
  const Json source = Json::parse(
      R"({"required": ["a"], "additionalProperties": true, "properties": {"a": {}, "b": {}}})");
  EXPECT_EQ(complete_schema(source, kCommonSample).value_or(Json()), source);
}

TEST(CompleteSchema, RefusesADefinitionThatIsNotThere) {
  const Json source = Json::parse(R"({"$ref": "common.json#/definitions/nothing"})");
  const auto complete = complete_schema(source, kCommonSample);
  ASSERT_FALSE(complete);
  EXPECT_EQ(complete.error().message, "common.json has no definition nothing");
}

/// The keywords of draft 7 that the schemas use: a misspelt one would be ignored by every
/// validator.
TEST(Schemas, UseOnlyKeywordsAndTypesOfDraft7) {
  const std::set<std::string> keywords = {"$schema",     "$ref",
                                          "title",       "description",
                                          "type",        "required",
                                          "properties",  "additionalProperties",
                                          "items",       "minItems",
                                          "maxItems",    "minimum",
                                          "maximum",     "const",
                                          "enum",        "anyOf",
                                          "definitions", "exclusiveMinimum"};
  const std::set<std::string> types = {"null",   "boolean", "object", "array",
                                       "number", "integer", "string"};
  for (const std::string& name : schema_names()) {
    const nlohmann::json document = schema_json(name);
    EXPECT_EQ(document.at("$schema"), "http://json-schema.org/draft-07/schema#") << name;
    visit(document, name, [&](const nlohmann::json& schema, const std::string& path) {
      for (const auto& [keyword, value] : schema.items())
        EXPECT_TRUE(keywords.contains(keyword)) << path << ": " << keyword;
      if (!schema.contains("type")) return;
      const nlohmann::json& type = schema.at("type");
      for (const auto& one : type.is_array() ? type : nlohmann::json::array({type}))
        EXPECT_TRUE(types.contains(one.get<std::string>())) << path << ": " << one;
    });
  }
}

TEST(Schemas, RequireEveryPropertyAndAllowNoOther) {
  for (const std::string& name : schema_names())
    visit(schema_json(name), name, [&](const nlohmann::json& schema, const std::string& path) {
      if (!schema.contains("properties")) return;
      std::set<std::string> properties, required;
      for (const auto& [key, sub] : schema.at("properties").items()) properties.insert(key);
      for (const auto& key : schema.at("required")) required.insert(key.get<std::string>());
      EXPECT_EQ(properties, required) << path;
      EXPECT_EQ(schema.at("additionalProperties"), false) << path;
    });
}

TEST(Schemas, ShareTheirDefinitions) {
  std::map<std::string, std::pair<std::string, nlohmann::json>> seen;
  for (const std::string& name : schema_names()) {
    const nlohmann::json root = schema_json(name);
    for (const auto& [key, definition] : root.at("definitions").items()) {
      const auto [first, added] = seen.try_emplace(key, name, definition);
      EXPECT_EQ(first->second.second, definition)
          << key << " differs between " << first->second.first << " and " << name;
    }
  }
  EXPECT_GE(seen.size(), 6U);
}

TEST(Schemas, ReferToDefinitionsThatAreThere) {
  for (const std::string& name : schema_names()) {
    const nlohmann::json root = schema_json(name);
    visit(root, name, [&](const nlohmann::json& schema, const std::string& path) {
      if (!schema.contains("$ref")) return;
      const auto reference = schema.at("$ref").get<std::string>();
      ASSERT_EQ(reference.substr(0, 2), "#/") << path;
      EXPECT_TRUE(root.contains(nlohmann::json::json_pointer(reference.substr(1)))) << path;
    });
  }
}

/// Changes a valid profile without GPU figures and expects that it is refused.
void expect_refused(const std::function<void(Json&)>& change) {
  Json document = profile_without_gpu();
  ASSERT_TRUE(validate("profile", document));
  change(document);
  const Result<void> valid = validate("profile", document);
  ASSERT_FALSE(valid) << document.dump();
  EXPECT_EQ(valid.error().code, ErrorCode::internal);
  EXPECT_EQ(valid.error().message.find("the profile document does not satisfy its schema: "), 0U);
  EXPECT_FALSE(render("profile", document));
}

TEST(Validate, RefusesAMissingKey) {
  expect_refused([](Json& document) { document.erase("runtime_ms"); });
}

TEST(Validate, RefusesAnUnknownKey) {
  expect_refused([](Json& document) { document["runtime_us"] = 3; });
}

TEST(Validate, RefusesAWrongType) {
  expect_refused([](Json& document) { document["runtime_ms"] = "3"; });
}

TEST(Validate, RefusesAnotherVersion) {
  expect_refused([](Json& document) { document["schema_version"] = "2.0.0"; });
}

TEST(Validate, RefusesAWrongValueDeepInside) {
  expect_refused([](Json& document) { document["stability"]["runs"][0]["run"] = -1; });
}

TEST(Render, PutsKeysInTheOrderOfTheSchema) {
  const Json document = profile_without_gpu();
  Json reversed = Json::object();
  std::vector<std::string> keys;
  for (const auto& [key, value] : document.items()) keys.push_back(key);
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) reversed[*key] = document[*key];
  EXPECT_EQ(rendered("profile", reversed), rendered("profile", document));
}

}  // namespace
}  // namespace perflab::report
