// Documents are checked by their compiled schemas, and where these are not sure by valijson (draft
// 7), which also words what is wrong; its headers are heavy and stay in this file.
#include "report/kit/document.h"

#include <fmt/format.h>

#include <algorithm>
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
#include "report/kit/compiled_schema.h"
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

const Result<Json>& common_parts() {
  static const Result<Json> parts = parse_json(embedded(kCommonParts).value_or("{}"), kCommonParts);
  return parts;
}

/// The complete schema of a document.
Result<const Json*> whole_schema(std::string_view name) {
  static Cache<Json> schemas;
  return schemas.get(name, [&]() -> Result<std::unique_ptr<Json>> {
    const auto source = embedded(std::string(name) + std::string(kSuffix));
    if (!source)
      return fail(ErrorCode::usage, fmt::format("there is no document named '{}'", name),
                  fmt::format("one of: {}", fmt::join(schema_names(), ", ")));
    PERFLAB_TRY(const Json json, parse_json(*source, name));
    const Result<Json>& common = common_parts();
    if (!common) return std::unexpected(common.error());
    PERFLAB_TRY(Json whole, complete_schema(json, *common));
    return std::make_unique<Json>(std::move(whole));
  });
}

Result<const CompiledSchema*> compiled_schema(std::string_view name) {
  static Cache<CompiledSchema> compiled;
  return compiled.get(name, [&]() -> Result<std::unique_ptr<CompiledSchema>> {
    PERFLAB_TRY(const Json* const whole, whole_schema(name));
    return std::make_unique<CompiledSchema>(*whole);
  });
}

Result<void> put_in_order(std::string_view name, Json& document) {
  PERFLAB_TRY(const CompiledSchema* const schema, compiled_schema(name));
  schema->put_in_order(document);
  return {};
}

/// The words of a general validator.
Result<void> validate_by_library(std::string_view name, const Json& document) {
  try {
    PERFLAB_TRY(const Json* const whole, whole_schema(name));
    valijson::Schema schema;
    const nlohmann::json plain_schema(*whole), plain(document);
    valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(plain_schema),
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
  PERFLAB_TRY(const CompiledSchema* const schema, compiled_schema(name));
  if (schema->surely_allows(document)) return {};
  return validate_by_library(name, document);
}

Result<std::string> render(std::string_view name, Json document) {
  PERFLAB_TRY_VOID(put_in_order(name, document));
  PERFLAB_TRY_VOID(validate(name, document));
  return to_canonical_text(document);
}

Result<void> read_schema(std::string_view name) {
  PERFLAB_TRY_VOID(compiled_schema(name));
  return {};
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

Json array_of(std::size_t count, const std::function<Json(std::size_t)>& make) {
  constexpr std::size_t kFewest = 16;  // of one thread: fewer are made before another begins
  Json out = Json::array();
  auto& items = out.get_ref<Json::array_t&>();
  items.resize(count);
  const auto threads = std::min<std::size_t>(thread_count(0), 1 + count / kFewest);
  parallel_each(count, static_cast<unsigned>(threads),
                [&](std::size_t index) { items[index] = make(index); });
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
