// Sentences of faults: document, place of the object, member, what is wrong with it.
#include "base/text/json_fields.h"

#include <fmt/format.h>

#include <algorithm>

namespace perflab {

const Json* member(const Json& json, std::string_view key) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(key);
  return found == json.end() ? nullptr : &*found;
}

const Json* member_at(const Json& json, std::initializer_list<std::string_view> keys) {
  const Json* at = &json;
  for (const std::string_view key : keys)
    if (at = member(*at, key); at == nullptr) return nullptr;
  return at;
}

JsonFields::JsonFields(const Json& object, std::string_view what) : object_(object), what_(what) {
  if (!object.is_object()) wrong("", "is not an object");
}

JsonFields::JsonFields(const JsonFields& outer, const Json& object, std::string_view place)
    : object_(object),
      what_(outer.what_),
      place_(outer.place_.empty() ? std::string(place) : fmt::format("{}.{}", outer.place_, place)),
      fault_(outer.fault_) {
  if (!object.is_object()) wrong("", "is not an object");
}

std::string JsonFields::text_or_null(std::string_view key) {
  return get<std::optional<std::string>>(key).value_or("");
}

JsonFields JsonFields::object(std::string_view key) {
  static const Json kNothing;
  const Json* found = find(key);
  return {*this, found == nullptr ? kNothing : *found, key};
}

const Json& JsonFields::list(std::string_view key) {
  static const Json kEmpty = Json::array();
  const Json* found = find(key);
  if (found == nullptr) return kEmpty;
  if (found->is_array()) return *found;
  wrong(key, "is not a list");
  return kEmpty;
}

const Json* JsonFields::find(std::string_view key) {
  if (!good()) return nullptr;
  read_.emplace_back(key);
  const Json* found = member(object_, key);
  if (found == nullptr) wrong(key, "is missing");
  return found;
}

bool JsonFields::is_null(std::string_view key) {
  const Json* found = find(key);
  return found != nullptr && found->is_null();
}

std::vector<std::string> JsonFields::names() const {
  std::vector<std::string> out;
  if (object_.is_object())
    for (const auto& [name, value] : object_.items()) out.push_back(name);
  return out;
}

void JsonFields::refuse_unknown() {
  if (!good()) return;
  for (const std::string& name : names())
    if (std::ranges::find(read_, name) == read_.end()) return wrong(name, "is not known");
}

void JsonFields::wrong(std::string_view key, std::string_view how) {
  if (!good()) return;
  *fault_ = what_;
  if (!place_.empty()) *fault_ += fmt::format(": {}", place_);
  *fault_ += key.empty() ? fmt::format(": {}", how) : fmt::format(": \"{}\" {}", key, how);
}

Result<void> JsonFields::result(std::string_view remedy) const {
  if (good()) return {};
  return fail(ErrorCode::bad_input, *fault_, std::string(remedy));
}

std::string JsonFields::take(const Json& value, Json& out) {
  out = value;
  return {};
}

std::string JsonFields::take(const Json& value, std::filesystem::path& out) {
  if (!value.is_string()) return "is not a string";
  out = value.get_ref<const std::string&>();
  return {};
}

std::string JsonFields::no_number(bool whole, const Json& least, const Json& most) {
  if (whole) return fmt::format("is not a whole number from {} to {}", least.dump(), most.dump());
  if (least == std::numeric_limits<double>::lowest()) return "is not a number";
  if (most == std::numeric_limits<double>::max())
    return fmt::format("is not a number of at least {}", least.get<double>());
  return fmt::format("is not a number from {} to {}", least.get<double>(), most.get<double>());
}

}  // namespace perflab
