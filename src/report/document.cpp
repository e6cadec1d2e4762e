// Schemas are checked with valijson (draft 7); its headers are heavy and stay in this file.
#include "report/document.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "schemas.h"

namespace perflab::report {
namespace {

constexpr std::string_view kSuffix = ".schema.json";

/// Finds what `$ref` "#/definitions/x" names; the schema itself otherwise.
// NOLINTNEXTLINE(bugprone-return-const-ref-from-parameter): both outlive every call
const Json& resolve(const Json& root, const Json& schema) {
  const auto reference = schema.find("$ref");
  if (reference == schema.end()) return schema;
  return root.at(Json::json_pointer(reference->get<std::string>().substr(1)));
}

/// The value with every object's keys in the order of its schema's `properties`; other keys behind,
/// as they were.
Json in_schema_order(const Json& root, const Json& unresolved, const Json& value) {
  const Json& schema = resolve(root, unresolved);
  if (value.is_array()) {
    const auto items = schema.find("items");
    if (items == schema.end()) return value;
    Json ordered = Json::array();
    for (const Json& item : value) ordered.push_back(in_schema_order(root, *items, item));
    return ordered;
  }
  if (!value.is_object()) return value;
  Json ordered = Json::object();
  if (const auto properties = schema.find("properties"); properties != schema.end())
    for (const auto& [key, sub] : properties->items())
      if (const auto member = value.find(key); member != value.end())
        ordered[key] = in_schema_order(root, sub, *member);
  for (const auto& [key, member] : value.items())
    if (!ordered.contains(key)) ordered[key] = member;
  return ordered;
}

}  // namespace

std::vector<std::string> schema_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : schemas())
    names.emplace_back(file.name.substr(0, file.name.size() - kSuffix.size()));
  return names;
}

Result<std::string_view> schema_text(std::string_view name) {
  for (const EmbeddedFile& file : schemas())
    if (file.name == std::string(name) + std::string(kSuffix)) return file.text;
  return fail(ErrorCode::usage, fmt::format("there is no document named '{}'", name),
              fmt::format("one of: {}", fmt::join(schema_names(), ", ")));
}

Result<void> validate(std::string_view name, const Json& document) {
  PERFLAB_TRY(const std::string_view text, schema_text(name));
  try {
    const nlohmann::json schema_json = nlohmann::json::parse(text.begin(), text.end());
    const nlohmann::json plain =
        nlohmann::json::parse(document.dump(-1, ' ', false, Json::error_handler_t::replace));
    valijson::Schema schema;
    valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(schema_json),
                                            schema);
    valijson::ValidationResults results;
    if (valijson::Validator().validate(schema, valijson::adapters::NlohmannJsonAdapter(plain),
                                       &results))
      return {};
    std::string detail;
    valijson::ValidationResults::Error error;
    for (int shown = 0; shown < 3 && results.popError(error); ++shown)
      detail += fmt::format("{}{}: {}", shown > 0 ? "; " : "", fmt::join(error.context, ""),
                            error.description);
    return fail(ErrorCode::internal,
                fmt::format("the {} document does not satisfy its schema: {}", name, detail));
  } catch (const std::exception& error) {
    return fail(ErrorCode::internal,
                fmt::format("the schema of {} cannot be used: {}", name, error.what()));
  }
}

Result<std::string> render(std::string_view name, const Json& document) {
  PERFLAB_TRY_VOID(validate(name, document));
  PERFLAB_TRY(const std::string_view text, schema_text(name));
  PERFLAB_TRY(const Json root, parse_json(text, "schema"));
  return to_canonical_text(in_schema_order(root, root, document));
}

Json or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json missing_json(const std::vector<analyze::Missing>& missing) {
  Json out = Json::array();
  for (const analyze::Missing& entry : missing)
    out.push_back(
        {{"field", entry.field}, {"reason", entry.reason}, {"remedy", or_null(entry.remedy)}});
  return out;
}

Json generator_json() {
  return {{"name", "rocm-perf"}, {"version", kProgramVersion}};
}

}  // namespace perflab::report
