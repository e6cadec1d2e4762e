// Schemas are checked with valijson (draft 7); its headers are heavy and stay in this file.
#include "report/kit/document.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "base/parallel.h"
#include "base/version.h"
#include "report/kit/good_numbers.h"
#include "report/kit/schema_source.h"
#include "schemas.h"

namespace perflab::report {
namespace {

constexpr std::string_view kSuffix = ".schema.json";
constexpr std::string_view kCommonParts = "common.json";

/// A file of schemas/.
std::optional<std::string_view> embedded(std::string_view name) {
  for (const EmbeddedFile& file : schemas())
    if (file.name == name) return file.text;
  return std::nullopt;
}

/// Puts every object's keys into the order of its schema's `properties`; other keys behind, as they
/// were. Members are moved: documents can have millions of them.
void put_in_schema_order(const Json& root, const Json& unresolved, Json& value) {
  if (!value.is_structured()) return;
  const Json& schema = resolve_reference(root, unresolved);
  if (value.is_array()) {
    const auto items = schema.find("items");
    if (items == schema.end()) return;
    for (Json& item : value) put_in_schema_order(root, *items, item);
  }
  const auto properties = schema.find("properties");
  if (!value.is_object() || properties == schema.end()) return;
  Json::object_t ordered;
  ordered.reserve(value.size());  // a vector of pairs: growing it would copy all that is in it
  for (const auto& [key, sub] : properties->items())
    if (const auto member = value.find(key); member != value.end()) {
      put_in_schema_order(root, sub, *member);
      ordered.emplace_back(key, std::move(*member));
    }
  for (auto& [key, member] : value.get_ref<Json::object_t&>())
    if (!properties->contains(key)) ordered.emplace_back(key, std::move(member));
  value.get_ref<Json::object_t&>().swap(ordered);
}

/// What was made once for a name, for ever.
template <class T>
class Cache {
 public:
  /// What `make` gives, the first time that the name is asked for without an error. Others are not
  /// kept waiting meanwhile: of two threads that make the same, one's is kept.
  template <class Make>
  Result<const T*> get(std::string_view name, const Make& make) {
    if (const T* const known = find(name)) return known;
    PERFLAB_TRY(auto value, make());
    const std::scoped_lock lock(guard_);
    return made_.emplace(std::string(name), std::move(value)).first->second.get();
  }

 private:
  const T* find(std::string_view name) {
    const std::scoped_lock lock(guard_);
    const auto known = made_.find(name);
    return known == made_.end() ? nullptr : known->second.get();
  }

  std::mutex guard_;
  std::map<std::string, std::unique_ptr<const T>, std::less<>> made_;
};

/// The complete schema of a document.
Result<const Json*> whole_schema(std::string_view name) {
  static Cache<Json> schemas;
  return schemas.get(name, [&]() -> Result<std::unique_ptr<Json>> {
    const auto source = embedded(std::string(name) + std::string(kSuffix));
    if (!source)
      return fail(ErrorCode::usage, fmt::format("there is no document named '{}'", name),
                  fmt::format("one of: {}", fmt::join(schema_names(), ", ")));
    PERFLAB_TRY(const Json json, parse_json(*source, name));
    PERFLAB_TRY(const Json common, parse_json(embedded(kCommonParts).value_or("{}"), kCommonParts));
    PERFLAB_TRY(Json whole, complete_schema(json, common));
    return std::make_unique<Json>(std::move(whole));
  });
}

Result<void> put_in_order(std::string_view name, Json& document) {
  PERFLAB_TRY(const Json* const root, whole_schema(name));
  put_in_schema_order(*root, *root, document);
  return {};
}

}  // namespace

std::vector<std::string> schema_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : schemas())
    if (file.name.ends_with(kSuffix))
      names.emplace_back(file.name.substr(0, file.name.size() - kSuffix.size()));
  return names;
}

Result<std::string_view> schema_text(std::string_view name) {
  static Cache<std::string> texts;
  PERFLAB_TRY(const std::string* const text,
              texts.get(name, [&]() -> Result<std::unique_ptr<std::string>> {
                PERFLAB_TRY(const Json* const whole, whole_schema(name));
                return std::make_unique<std::string>(to_canonical_text(*whole));
              }));
  return std::string_view(*text);
}

Result<void> validate(std::string_view name, const Json& document) {
  static Cache<valijson::Schema> compiled;
  try {
    PERFLAB_TRY(const valijson::Schema* const schema,
                compiled.get(name, [&]() -> Result<std::unique_ptr<valijson::Schema>> {
                  PERFLAB_TRY(const Json* const whole, whole_schema(name));
                  const nlohmann::json plain(*whole);
                  auto made = std::make_unique<valijson::Schema>();
                  valijson::SchemaParser().populateSchema(
                      valijson::adapters::NlohmannJsonAdapter(plain), *made);
                  return made;
                }));
    PERFLAB_TRY(const Json* const root, whole_schema(name));
    const nlohmann::json plain = without_good_numbers(*root, *root, document);
    valijson::ValidationResults results;
    if (valijson::Validator().validate(*schema, valijson::adapters::NlohmannJsonAdapter(plain),
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

Result<std::string> render(std::string_view name, Json document) {
  PERFLAB_TRY_VOID(put_in_order(name, document));
  PERFLAB_TRY_VOID(validate(name, document));
  return to_canonical_text(document);
}

Result<std::vector<RenderedDocument>> render_all(std::vector<NamedDocument> documents) {
  std::vector<RenderedDocument> rendered(documents.size());
  PERFLAB_TRY_VOID(
      parallel_for(documents.size(), thread_count(0), [&](unsigned, std::size_t index) {
        return put_in_order(documents[index].name, documents[index].value);
      }));
  // One document can be most of all of them: it is validated while its text is made.
  PERFLAB_TRY_VOID(parallel_for(2 * documents.size(), thread_count(0),
                                [&](unsigned, std::size_t index) -> Result<void> {
                                  const NamedDocument& one = documents[index % documents.size()];
                                  if (index < documents.size())
                                    return validate(one.name, one.value);
                                  rendered[index - documents.size()] = {
                                      .name = one.name, .text = to_canonical_text(one.value)};
                                  return {};
                                }));
  return rendered;
}

Json missing_json(const std::vector<Missing>& missing) {
  Json out = Json::array();
  for (const Missing& entry : missing)
    out.push_back(
        {{"field", entry.field}, {"reason", entry.reason}, {"remedy", or_null(entry.remedy)}});
  return out;
}

Json object_with_room(std::size_t members) {
  Json out = Json::object();
  out.get_ref<Json::object_t&>().reserve(members);
  return out;
}

Json generator_json() {
  return {{"name", "rocm-perf"}, {"version", kProgramVersion}};
}

}  // namespace perflab::report
