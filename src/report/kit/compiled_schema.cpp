// Only what is understood completely is allowed for sure: a keyword that is not known here, or a
// value that is not plainly good (a whole number written as 1.0), is left to a validator.
#include "report/kit/compiled_schema.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "report/kit/schema_source.h"

namespace perflab::report {
namespace {

using Type = Json::value_t;

constexpr unsigned bit(Type type) {
  return 1U << static_cast<unsigned>(type);
}

struct TypeName {
  std::string_view name;
  unsigned types;
};

/// A float can be an integer to JSON Schema: that is for a validator.
constexpr unsigned kWhole = bit(Type::number_integer) | bit(Type::number_unsigned);
constexpr auto kTypeNames = std::to_array<TypeName>({{"null", bit(Type::null)},
                                                     {"boolean", bit(Type::boolean)},
                                                     {"integer", kWhole},
                                                     {"number", kWhole | bit(Type::number_float)},
                                                     {"string", bit(Type::string)},
                                                     {"array", bit(Type::array)},
                                                     {"object", bit(Type::object)}});

/// 0: no such type.
unsigned types_of(const Json& name) {
  const auto known =
      std::ranges::find_if(kTypeNames, [&](const TypeName& type) { return name == type.name; });
  return known == kTypeNames.end() ? 0 : known->types;
}

/// Keywords that restrict nothing.
constexpr auto kSilent = std::to_array<std::string_view>(
    {"$schema", "$id", "$comment", "title", "description", "definitions"});

/// Bounds up to here are told from every whole number as double.
constexpr double kExact = 9007199254740992;

/// Options that are equal where nlohmann says so and their types are the same.
bool is_plain_option(const Json& option) {
  return option.is_null() || option.is_boolean() || option.is_string() ||
         option.is_number_integer();
}

}  // namespace

CompiledSchema::Rule CompiledSchema::compile(const Json& root, const Json& schema) {
  const auto reference = schema.is_object() ? schema.find("$ref") : schema.end();
  const bool refers = schema.is_object() && reference != schema.end();
  if (refers)
    if (const auto known = referred_.find(reference->get_ref<const std::string&>());
        known != referred_.end())
      return known->second;
  const Rule rule = rules_.size();
  rules_.emplace_back();
  if (refers) referred_.emplace(reference->get<std::string>(), rule);  // before what refers to it
  const Json& own = refers ? resolve_reference(root, schema) : schema;
  Rules rules;
  rules.understood = own.is_object();
  if (rules.understood) {
    take_members(root, own, rules);
    for (const auto& [keyword, value] : own.items()) take(root, keyword, value, rules);
  }
  rules_[rule] = std::move(rules);
  return rule;
}

void CompiledSchema::take(const Json& root, const std::string& keyword, const Json& value,
                          Rules& rules) {
  const auto bound = [&](double& limit) {
    rules.understood =
        rules.understood && value.is_number() && std::abs(value.get<double>()) < kExact;
    if (rules.understood) limit = value.get<double>();
  };
  const auto count = [&](std::size_t& limit) {
    rules.understood = rules.understood && value.is_number_unsigned();
    if (rules.understood) limit = value.get<std::size_t>();
  };
  const auto option = [&](const Json& one) {
    rules.understood = rules.understood && is_plain_option(one);
    rules.options.push_back(one);
  };
  if (keyword == "type") {
    for (const Json& name : value.is_array() ? value : Json::array({value})) {
      rules.understood = rules.understood && types_of(name) != 0;
      rules.types |= types_of(name);
    }
  } else if (keyword == "minimum") {
    bound(rules.least);
  } else if (keyword == "exclusiveMinimum") {
    bound(rules.above);
  } else if (keyword == "maximum") {
    bound(rules.most);
  } else if (keyword == "minItems") {
    count(rules.fewest);
  } else if (keyword == "maxItems") {
    count(rules.many);
  } else if (keyword == "const") {
    option(value);
  } else if (keyword == "enum") {
    for (const Json& one : value) option(one);
  } else if (keyword == "items") {
    rules.items = compile(root, value);
  } else if (keyword == "additionalProperties") {
    rules.allows_others = value != false;
    if (value.is_object()) rules.others = compile(root, value);
  } else if (keyword == "anyOf") {
    for (const Json& one : value) rules.either.push_back(compile(root, one));
  } else if (keyword != "properties" && keyword != "required" &&
             std::ranges::find(kSilent, keyword) == kSilent.end()) {
    rules.understood = false;
  }
}

void CompiledSchema::take_members(const Json& root, const Json& schema, Rules& rules) {
  const auto properties = schema.find("properties");
  if (properties != schema.end())
    for (const auto& [name, member] : properties->items())
      rules.members.push_back({.name = name, .rule = compile(root, member)});
  const auto required = schema.find("required");
  if (required == schema.end()) return;
  for (const Json& name : *required) {
    const auto member =
        std::ranges::find_if(rules.members, [&](const Member& one) { return name == one.name; });
    if (member == rules.members.end())
      rules.understood = false;
    else
      member->required = true;
  }
}

std::size_t CompiledSchema::Rules::find(std::string_view name, std::size_t likely) const {
  if (likely < members.size() && members[likely].name == name) return likely;
  return static_cast<std::size_t>(
      std::ranges::find(members, name,
                        [](const Member& one) { return std::string_view(one.name); }) -
      members.begin());
}

void CompiledSchema::put_in_order(Rule rule, Json& value) const {
  const Rules& rules = rules_[rule];
  if (value.is_array() && rules.items)
    for (Json& item : value) put_in_order(*rules.items, item);
  if (!value.is_object() || rules.members.empty()) return;
  auto& members = value.get_ref<Json::object_t&>();
  std::size_t next = 0;  // those that the schema does not have belong behind all others
  bool in_order = true;
  for (auto& [name, member] : members) {
    const std::size_t place = rules.find(name, next);
    in_order = in_order && place >= next;
    next = std::min(place + 1, rules.members.size());
    if (place < rules.members.size()) put_in_order(rules.members[place].rule, member);
  }
  if (in_order) return;
  Json::object_t ordered;
  ordered.reserve(members.size());  // a vector of pairs: growing it would copy all that is in it
  for (const Member& known : rules.members)
    if (const auto member = members.find(known.name); member != members.end())
      ordered.emplace_back(known.name, std::move(member->second));
  for (auto& [name, member] : members)
    if (rules.find(name, 0) == rules.members.size()) ordered.emplace_back(name, std::move(member));
  members.swap(ordered);
}

bool CompiledSchema::surely_allows(Rule rule, const Json& value) const {
  const Rules& rules = rules_[rule];
  if (!rules.understood) return false;
  if (rules.types != 0 && (rules.types & bit(value.type())) == 0) return false;
  if (value.is_number()) {
    const auto number = value.get<double>();
    if (!std::isfinite(number) || number < rules.least || number <= rules.above ||
        number > rules.most)
      return false;
  }
  const auto is_value = [&](const Json& option) {
    return option.is_number() == value.is_number() && option == value;
  };
  if (!rules.options.empty() && std::ranges::none_of(rules.options, is_value)) return false;
  if (value.is_array()) {
    if (value.size() < rules.fewest || value.size() > rules.many) return false;
    if (rules.items && !std::ranges::all_of(value, [&](const Json& item) {
          return surely_allows(*rules.items, item);
        }))
      return false;
  }
  if (value.is_object() && !surely_allows_members(rules, value)) return false;
  return rules.either.empty() ||
         std::ranges::any_of(rules.either, [&](Rule one) { return surely_allows(one, value); });
}

bool CompiledSchema::surely_allows_members(const Rules& rules, const Json& value) const {
  std::size_t next = 0, required = 0;
  for (const auto& [name, member] : value.get_ref<const Json::object_t&>()) {
    const std::size_t place = rules.find(name, next);
    next = place + 1;
    if (place < rules.members.size()) {
      required += rules.members[place].required ? 1U : 0U;
      if (!surely_allows(rules.members[place].rule, member)) return false;
    } else if (!rules.allows_others || (rules.others && !surely_allows(*rules.others, member))) {
      return false;
    }
  }
  return required ==
         static_cast<std::size_t>(std::ranges::count(rules.members, true, &Member::required));
}

}  // namespace perflab::report
