// The schemas themselves: draft 7 in every keyword, the same shared parts in all, and strict enough
// to refuse a wrong document.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "report/kit/document.h"
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
       {"analysis", "autotune", "capture", "certificate", "comparison", "dag", "doctor",
        "inspection", "isolate", "occupancy", "optimization", "profile", "replay", "reservation",
        "roofline", "self_test", "thread_trace", "timeline"})
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

TEST(Schemas, AreTheFilesOfTheProject) {
  for (const std::string& name : schema_names()) {
    std::ifstream file(std::string(PERFLAB_SOURCE_DIR) + "/schemas/" + name + ".schema.json");
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    EXPECT_EQ(schema_text(name).value_or(""), text) << name;
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

/// The keywords of draft 7 that the schemas use: a misspelt one would be ignored by every
/// validator.
TEST(Schemas, UseOnlyKeywordsAndTypesOfDraft7) {
  const std::set<std::string> keywords = {
      "$schema",    "$ref",     "title",      "description",
      "type",       "required", "properties", "additionalProperties",
      "items",      "minItems", "maxItems",   "minimum",
      "maximum",    "const",    "enum",       "anyOf",
      "definitions"};
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

TEST(Schemas, UseOnlyKeywordsThatAreChecked) {
  // An unknown keyword is ignored by every validator: a typing error would check nothing.
  const std::set<std::string> known = {"$schema",
                                       "$ref",
                                       "title",
                                       "description",
                                       "type",
                                       "properties",
                                       "items",
                                       "const",
                                       "enum",
                                       "required",
                                       "minItems",
                                       "maxItems",
                                       "minimum",
                                       "maximum",
                                       "anyOf",
                                       "definitions",
                                       "additionalProperties"};
  for (const std::string& name : schema_names())
    visit(schema_json(name), name, [&](const nlohmann::json& schema, const std::string& path) {
      for (const auto& [keyword, value] : schema.items())
        EXPECT_TRUE(known.contains(keyword)) << path << ": " << keyword;
    });
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
