#include "report/kit/schema_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace perflab::report {
namespace {

constexpr std::string_view kCommon = "common.json#/definitions/";
constexpr std::string_view kOwn = "#/definitions/";

Json names_of(const Json& properties) {
  Json names = Json::array();
  for (const auto& [name, member] : properties.items()) names.push_back(name);
  return names;
}

class Completion {
 public:
  /// `common_reference`: how a reference to a common definition begins, in common.json as kOwn.
  Json schema(const Json& source, std::string_view common_reference) {
    Json out = Json::object();
    for (const auto& [key, value] : source.items()) {
      if (key == "$ref") {
        out[key] = reference(value.get<std::string>(), common_reference);
      } else if (key == "properties") {
        if (!source.contains("additionalProperties")) out["additionalProperties"] = false;
        if (!source.contains("required")) out["required"] = names_of(value);
        out[key] = members(value, common_reference);
      } else if (key == "definitions") {
        out[key] = members(value, common_reference);
      } else if (value.is_object() && (key == "items" || key == "additionalProperties")) {
        out[key] = schema(value, common_reference);
      } else if (key == "anyOf") {
        for (const Json& one : value) out[key].push_back(schema(one, common_reference));
      } else {
        out[key] = value;
      }
    }
    return out;
  }

  /// Adds the common definitions that were referred to so far, and by these.
  Result<void> add_definitions(Json& root, const Json& common) {
    const Json& known = common.at("definitions");
    for (std::size_t next = 0; next < wanted_.size(); ++next) {
      const std::string name = wanted_[next];
      if (!known.contains(name))
        return fail(ErrorCode::internal, fmt::format("common.json has no definition {}", name));
      root["definitions"][name] = schema(known.at(name), kOwn);
    }
    return {};
  }

 private:
  Json members(const Json& source, std::string_view common_reference) {
    Json out = Json::object();
    for (const auto& [name, member] : source.items()) out[name] = schema(member, common_reference);
    return out;
  }

  std::string reference(const std::string& text, std::string_view common_reference) {
    if (!text.starts_with(common_reference)) return text;
    const std::string name = text.substr(common_reference.size());
    if (std::ranges::find(wanted_, name) == wanted_.end()) wanted_.push_back(name);
    return std::string(kOwn) + name;
  }

  std::vector<std::string> wanted_;  ///< in the order of their first reference
};

}  // namespace

Result<Json> complete_schema(const Json& source, const Json& common) {
  Completion completion;
  Json out = completion.schema(source, kCommon);
  PERFLAB_TRY_VOID(completion.add_definitions(out, common));
  return out;
}

// NOLINTNEXTLINE(bugprone-return-const-ref-from-parameter): both outlive every call
const Json& resolve_reference(const Json& root, const Json& schema) {
  const auto reference = schema.find("$ref");
  if (reference == schema.end()) return schema;
  return root.at(Json::json_pointer(reference->get<std::string>().substr(1)));
}

}  // namespace perflab::report
