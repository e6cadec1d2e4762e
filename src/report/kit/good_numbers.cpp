// Only what is understood completely is left out: a schema with a keyword that is not known here,
// or a value that is not plainly good, goes to the validator as it is.
#include "report/kit/good_numbers.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "report/kit/schema_source.h"

namespace perflab::report {
namespace {

/// Shorter arrays are not worth it.
constexpr std::size_t kLong = 64;

/// Keywords that say nothing of a member's or an item's value beyond what its own schema says.
constexpr auto kDescended = std::to_array<std::string_view>(
    {"$schema", "$id", "title", "description", "definitions", "type", "properties", "required",
     "additionalProperties", "items", "minItems", "maxItems"});
/// Keywords of an array that an empty one satisfies if a long one does.
constexpr auto kOfEmptied = std::to_array<std::string_view>({"type", "items", "description"});
constexpr auto kOfNumber = std::to_array<std::string_view>({"type", "minimum", "description"});
constexpr auto kOfRow =
    std::to_array<std::string_view>({"type", "items", "minItems", "maxItems", "description"});

bool has_only(const Json& schema, std::span<const std::string_view> keywords) {
  return schema.is_object() && std::ranges::all_of(schema.items(), [&](const auto& member) {
           return std::ranges::find(keywords, member.key()) != keywords.end();
         });
}

/// Values that are good by a schema for sure: whole numbers, null, or rows of these.
class GoodValues {
 public:
  /// nullopt: the schema is of something else.
  static std::optional<GoodValues> of(const Json& schema) {
    GoodValues good;
    const auto type = schema.find("type");
    if (type == schema.end()) return std::nullopt;
    if (*type == "array") {
      const auto items = schema.find("items");
      if (!has_only(schema, kOfRow) || items == schema.end()) return std::nullopt;
      const auto item = of(*items);
      if (!item) return std::nullopt;
      good.item_ = std::make_shared<GoodValues>(*item);
      good.fewest_ = schema.value("minItems", std::size_t{0});
      good.most_ = schema.value("maxItems", std::numeric_limits<std::size_t>::max());
      return good;
    }
    if (!has_only(schema, kOfNumber)) return std::nullopt;
    const auto is_of = [&](const Json& name) {
      return *type == name || (type->is_array() && std::ranges::any_of(*type, [&](const Json& one) {
                                 return one == name;
                               }));
    };
    good.number_ = is_of("integer") || is_of("number");
    good.null_ = is_of("null");
    if (const auto least = schema.find("minimum"); least != schema.end()) {
      if (*least != 0) return std::nullopt;
      good.negative_ = false;
    }
    return good;
  }

  [[nodiscard]] bool has(const Json& value) const {
    if (item_ != nullptr)
      return value.is_array() && value.size() >= fewest_ && value.size() <= most_ &&
             std::ranges::all_of(value, [&](const Json& item) { return item_->has(item); });
    if (value.is_null()) return null_;
    if (value.is_number_unsigned()) return number_;
    return value.is_number_integer() && number_ && (negative_ || value.get<std::int64_t>() >= 0);
  }

 private:
  std::shared_ptr<const GoodValues> item_;  ///< of rows
  std::size_t fewest_ = 0, most_ = 0;       ///< items of a row
  bool number_ = false, null_ = false, negative_ = true;
};

bool is_good_array(const Json& schema, const Json& value) {
  if (value.size() < kLong || !has_only(schema, kOfEmptied)) return false;
  const auto items = schema.find("items");
  if (items == schema.end()) return false;
  const auto good = GoodValues::of(*items);
  return good && std::ranges::all_of(value, [&](const Json& item) { return good->has(item); });
}

}  // namespace

nlohmann::json without_good_numbers(const Json& root, const Json& schema, const Json& document) {
  const Json& known = resolve_reference(root, schema);
  if (!document.is_structured() || !has_only(known, kDescended)) return document;
  if (document.is_array()) {
    nlohmann::json out = nlohmann::json::array();
    if (is_good_array(known, document)) return out;
    const auto items = known.find("items");
    if (items == known.end()) return document;
    for (const Json& item : document) out.push_back(without_good_numbers(root, *items, item));
    return out;
  }
  const auto properties = known.find("properties");
  if (properties == known.end()) return document;
  nlohmann::json out = nlohmann::json::object();
  for (const auto& [name, value] : document.items()) {
    const auto property = properties->find(name);
    out[name] = property == properties->end() ? nlohmann::json(value)
                                              : without_good_numbers(root, *property, value);
  }
  return out;
}

}  // namespace perflab::report
