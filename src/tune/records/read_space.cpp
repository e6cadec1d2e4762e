// Readers of search-space files. Facts: docs/facts/tuning.md "Formats"; T1 is the schema of
// Kernel Tuner, KTT and BAT, BaCO's is that of its "input_parameters".
#include "tune/records/read_space.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/enum_names.h"
#include "base/system/packed.h"
#include "tune/records/recording.h"
#include "tune/space/command_template.h"
#include "tune/space/space_rules.h"

namespace perflab::tune {
namespace {

constexpr std::size_t kMostLevelsOfOne = 65'535;

std::unexpected<Error> bad_file(std::string_view what, const std::string& text) {
  return fail(ErrorCode::bad_input, fmt::format("{}: {}", what, text),
              "docs/AUTOTUNE.md says what a space looks like");
}

/// The field when it is there and not null.
const Json* field(const Json& object, std::string_view name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

Result<const Json*> field_of_kind(const Json& object, std::string_view name, Json::value_t kind,
                                  std::string_view what) {
  const Json* found = field(object, name);
  if (found != nullptr && found->type() != kind)
    return bad_file(what, fmt::format("{} is {}, where {} belongs", name, found->type_name(),
                                      Json(kind).type_name()));
  return found;
}

Result<void> check_name(const std::string& name, std::string_view what) {
  const bool odd =
      name.empty() || std::ranges::any_of(name, [](char c) {
        return c == '{' || c == '}' || static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
      });
  if (odd)
    return bad_file(what,
                    fmt::format("\"{}\" is not a name for a parameter: it goes into a command "
                                "template as {{NAME}}, without braces and blanks",
                                name));
  if (name == kBuildFolderName)
    return bad_file(what, fmt::format("a parameter called {}, which is the name of the folder of "
                                      "a configuration",
                                      name));
  return {};
}

/// Appends a value unless it is there; its level.
class LevelCollector {
 public:
  explicit LevelCollector(Parameter& parameter) : parameter_(parameter) {}

  Result<Level> add(Value value, std::string_view what) {
    const auto [found, is_new] =
        levels_.emplace(value, static_cast<Level>(parameter_.values.size()));
    if (!is_new) return found->second;
    if (parameter_.values.size() == kMostLevelsOfOne)
      return bad_file(what,
                      fmt::format("{} has more than {} values", parameter_.name, kMostLevelsOfOne));
    parameter_.values.push_back(std::move(value));
    return found->second;
  }

 private:
  Parameter& parameter_;
  std::unordered_map<Value, Level, ValueHash, ValueEqual> levels_;
};

std::optional<Level> level_of(const Parameter& parameter, const Value& value) {
  const auto found = std::ranges::find_if(
      parameter.values, [&](const Value& each) { return same_value(each, value); });
  if (found == parameter.values.end()) return std::nullopt;
  return static_cast<Level>(found - parameter.values.begin());
}

/// Values of a parameter: a JSON list, or a string that holds a list expression of Python.
Result<Parameter> parameter_of(const std::string& name, const Json& values, std::string_view what) {
  PERFLAB_TRY_VOID(check_name(name, what));
  Parameter parameter{name, {}, {}};
  std::vector<Value> all;
  const std::string place = fmt::format("{}: values of {}", what, name);
  if (values.is_string()) {
    Result<std::vector<Value>> listed = evaluate_list(values.get_ref<const std::string&>());
    if (!listed) return bad_file(place, listed.error().message);
    all = std::move(*listed);
  } else if (values.is_array()) {
    for (const Json& each : values) {
      PERFLAB_TRY(Value value, value_from_json(each, place));
      all.push_back(std::move(value));
    }
  } else {
    return bad_file(place, fmt::format("{} where a list belongs", values.type_name()));
  }
  if (all.empty()) return bad_file(what, fmt::format("{} has no values", name));
  LevelCollector levels(parameter);
  for (Value& value : all) PERFLAB_TRY_VOID(levels.add(std::move(value), what));
  return parameter;
}

Result<std::vector<std::string>> texts_of(const Json& object, std::string_view name,
                                          std::string_view what) {
  std::vector<std::string> texts;
  PERFLAB_TRY(const Json* list, field_of_kind(object, name, Json::value_t::array, what));
  if (list == nullptr) return texts;
  for (const Json& each : *list) {
    if (!each.is_string())
      return bad_file(what,
                      fmt::format("{} has {}, where a string belongs", name, each.type_name()));
    texts.push_back(each.get<std::string>());
  }
  return texts;
}

/// Every parameter with more than one value must have a default, and one that it can have.
Result<void> read_default(const Json& object, SpaceDescription& description,
                          std::string_view what) {
  PERFLAB_TRY(const Json* defaults, field_of_kind(object, "default", Json::value_t::object, what));
  if (defaults == nullptr) return {};
  for (const auto& [name, value] : defaults->items())
    if (std::ranges::find(description.parameters, name, &Parameter::name) ==
        description.parameters.end())
      return bad_file(what, fmt::format("the default names {}, which is not a parameter", name));
  for (Parameter& parameter : description.parameters) {
    const Json* given = field(*defaults, parameter.name);
    if (given == nullptr) {
      if (parameter.values.size() > 1)
        return bad_file(what, fmt::format("the default has no {}", parameter.name));
      parameter.default_level = Level{0};
      continue;
    }
    PERFLAB_TRY(const Value value,
                value_from_json(*given, fmt::format("{}: default of {}", what, parameter.name)));
    parameter.default_level = level_of(parameter, value);
    if (!parameter.default_level)
      return bad_file(what, fmt::format("the default of {} is {}, which is none of its values",
                                        parameter.name, to_text(value)));
  }
  description.default_declared = true;
  return {};
}

/// restrictions, derived and default: what the compact form and a list of ours have.
Result<void> read_rules(const Json& object, SpaceDescription& description, std::string_view what) {
  PERFLAB_TRY(description.restrictions, texts_of(object, "restrictions", what));
  PERFLAB_TRY(const Json* derived, field_of_kind(object, "derived", Json::value_t::object, what));
  if (derived != nullptr)
    for (const auto& [name, text] : derived->items()) {
      PERFLAB_TRY_VOID(check_name(name, what));
      if (!text.is_string())
        return bad_file(what, fmt::format("the derived value {} is {}, where an expression in a "
                                          "string belongs",
                                          name, text.type_name()));
      description.derived.emplace_back(name, text.get<std::string>());
    }
  return read_default(object, description, what);
}

Result<void> check_keys(const Json& object, std::span<const std::string_view> known,
                        std::string_view what) {
  for (const auto& [key, value] : object.items())
    if (std::ranges::find(known, key) == known.end())
      return bad_file(
          what, fmt::format("\"{}\" is not known here; known are {}", key, fmt::join(known, ", ")));
  return {};
}

Result<SpaceDescription> read_compact(const Json& file, std::string_view what) {
  constexpr std::array<std::string_view, 4> kKnown{"tune_params", "restrictions", "default",
                                                   "derived"};
  PERFLAB_TRY_VOID(check_keys(file, kKnown, what));
  PERFLAB_TRY(const Json* parameters,
              field_of_kind(file, "tune_params", Json::value_t::object, what));
  if (parameters == nullptr || parameters->empty())
    return bad_file(what, "tune_params has no parameters");
  SpaceDescription description;
  for (const auto& [name, values] : parameters->items()) {
    PERFLAB_TRY(Parameter parameter, parameter_of(name, values, what));
    description.parameters.push_back(std::move(parameter));
  }
  PERFLAB_TRY_VOID(read_rules(file, description, what));
  return description;
}

/// One entry of a list of configurations: its names and values, in the file's order.
using Entry = std::vector<std::pair<std::string, const Json*>>;

/// Parameters are the names of the first entry; every entry must have the same.
Result<SpaceDescription> listed_from(const std::vector<Entry>& entries, std::string_view what) {
  if (entries.empty()) return bad_file(what, "a list without configurations");
  SpaceDescription description;
  for (const auto& [name, value] : entries.front()) {
    PERFLAB_TRY_VOID(check_name(name, what));
    description.parameters.push_back({name, {}, {}});
  }
  if (description.parameters.empty())
    return bad_file(what, "the first configuration has no parameters");
  std::vector<LevelCollector> levels;
  for (Parameter& parameter : description.parameters) levels.emplace_back(parameter);
  description.listed.emplace();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::vector<Level> row;
    for (std::size_t p = 0; p < levels.size(); ++p) {
      const std::string& name = description.parameters[p].name;
      // Entries of one file nearly always have their names in one order.
      auto found = p < entries[i].size() && entries[i][p].first == name
                       ? entries[i].begin() + static_cast<std::ptrdiff_t>(p)
                       : std::ranges::find(entries[i], name, &Entry::value_type::first);
      if (found == entries[i].end())
        return bad_file(what,
                        fmt::format("configuration {} has no {}, which others have", i + 1, name));
      PERFLAB_TRY(Value value,
                  value_from_json(*found->second,
                                  fmt::format("{}: {} of configuration {}", what, name, i + 1)));
      PERFLAB_TRY(const Level level, levels[p].add(std::move(value), what));
      row.push_back(level);
    }
    for (const auto& [name, value] : entries[i])
      if (std::ranges::find(description.parameters, name, &Parameter::name) ==
          description.parameters.end())
        return bad_file(
            what, fmt::format("configuration {} has a {}, which others have not", i + 1, name));
    description.listed->push_back(std::move(row));
  }
  return description;
}

Result<SpaceDescription> read_listed(const Json& list, std::string_view what) {
  std::vector<Entry> entries;
  for (const Json& each : list) {
    if (!each.is_object())
      return bad_file(what, fmt::format("configuration {} is {}, where an object belongs",
                                        entries.size() + 1, each.type_name()));
    Entry& entry = entries.emplace_back();
    for (const auto& [name, value] : each.items()) entry.emplace_back(name, &value);
  }
  return listed_from(entries, what);
}

Result<SpaceDescription> read_listed_object(const Json& file, std::string_view what) {
  constexpr std::array<std::string_view, 4> kKnown{"configurations", "restrictions", "default",
                                                   "derived"};
  PERFLAB_TRY_VOID(check_keys(file, kKnown, what));
  PERFLAB_TRY(const Json* list, field_of_kind(file, "configurations", Json::value_t::array, what));
  if (list == nullptr) return bad_file(what, "configurations is null");
  PERFLAB_TRY(SpaceDescription description, read_listed(*list, what));
  PERFLAB_TRY_VOID(read_rules(file, description, what));
  return description;
}

/// Triton's Config: kwargs and its own numbers beside them; hooks and whatever is null are no
/// parameters.
Result<Entry> triton_entry(const Json& config, std::size_t number, std::string_view what) {
  Entry entry;
  PERFLAB_TRY(const Json* kwargs, field_of_kind(config, "kwargs", Json::value_t::object,
                                                fmt::format("{}: configuration {}", what, number)));
  if (kwargs == nullptr)
    return bad_file(what, fmt::format("configuration {} has no kwargs", number));
  for (const auto& [name, value] : kwargs->items()) entry.emplace_back(name, &value);
  for (const auto& [name, value] : config.items())
    if (name != "kwargs" && !value.is_null()) entry.emplace_back(name, &value);
  return entry;
}

Result<SpaceDescription> read_triton(const Json& configs, std::string_view what) {
  std::vector<Entry> entries;
  for (const Json& each : configs) {
    // In the cache of Triton's autotuner a configuration stands with its timings.
    const Json& config = each.is_array() && !each.empty() ? each[0] : each;
    if (!config.is_object())
      return bad_file(what, fmt::format("configuration {} is {}, where an object belongs",
                                        entries.size() + 1, config.type_name()));
    PERFLAB_TRY(Entry entry, triton_entry(config, entries.size() + 1, what));
    entries.push_back(std::move(entry));
  }
  return listed_from(entries, what);
}

/// The value as the Type of T1 wants it: a bool may be written 0, a real 1.
Value as_type(Value value, std::string_view type) {
  const std::optional<double> number = number_of(value);
  if (type == "bool" && number && (*number == 0 || *number == 1)) return Value(*number != 0);
  if (type == "float" && number) return Value(*number);
  if ((type == "int" || type == "uint") && std::holds_alternative<double>(value) &&
      std::floor(*number) == *number && std::abs(*number) < 0x1p53)
    return Value(static_cast<std::int64_t>(*number));
  return value;
}

Result<Parameter> t1_parameter(const Json& entry, std::string_view what) {
  if (!entry.is_object()) return bad_file(what, "an entry of TuningParameters is not an object");
  PERFLAB_TRY(const Json* name, field_of_kind(entry, "Name", Json::value_t::string, what));
  if (name == nullptr) return bad_file(what, "an entry of TuningParameters has no Name");
  const Json* values = field(entry, "Values");
  if (values == nullptr)
    return bad_file(what, fmt::format("{} has no Values", name->get<std::string>()));
  PERFLAB_TRY(const Json* type, field_of_kind(entry, "Type", Json::value_t::string, what));
  const std::string type_name = type == nullptr ? "" : type->get<std::string>();
  PERFLAB_TRY(const Parameter read, parameter_of(name->get<std::string>(), *values, what));
  Parameter parameter{read.name, {}, {}};
  LevelCollector levels(parameter);
  for (const Value& value : read.values)
    PERFLAB_TRY_VOID(levels.add(as_type(value, type_name), what));
  const Json* given = field(entry, "Default");
  if (given != nullptr && given->is_array() && given->size() == 1) given = &(*given)[0];
  if (given != nullptr && given->is_primitive()) {
    PERFLAB_TRY(Value value,
                value_from_json(*given, fmt::format("{}: Default of {}", what, parameter.name)));
    parameter.default_level = level_of(parameter, as_type(std::move(value), type_name));
  }
  return parameter;
}

Result<SpaceDescription> read_t1(const Json& file, std::string_view what) {
  const Json& space = file.at("ConfigurationSpace");
  SpaceDescription description;
  description.default_may_fail = true;
  PERFLAB_TRY(const Json* parameters,
              field_of_kind(space, "TuningParameters", Json::value_t::array, what));
  if (parameters == nullptr || parameters->empty())
    return bad_file(what, "TuningParameters has no parameters");
  bool any_default = false;
  for (const Json& entry : *parameters) {
    PERFLAB_TRY(Parameter parameter, t1_parameter(entry, what));
    any_default = any_default || field(entry, "Default") != nullptr;
    description.parameters.push_back(std::move(parameter));
  }
  description.default_declared = any_default;
  PERFLAB_TRY(const Json* conditions,
              field_of_kind(space, "Conditions", Json::value_t::array, what));
  if (conditions == nullptr) return description;
  for (const Json& condition : *conditions) {
    if (!condition.is_object()) return bad_file(what, "an entry of Conditions is not an object");
    PERFLAB_TRY(const Json* text,
                field_of_kind(condition, "Expression", Json::value_t::string, what));
    if (text == nullptr) return bad_file(what, "an entry of Conditions has no Expression");
    description.restrictions.push_back(text->get<std::string>());
  }
  return description;
}

/// Values of a BaCO parameter: lists, but for whole numbers first and last.
Result<Parameter> baco_parameter(const std::string& name, const Json& entry,
                                 std::string_view what) {
  if (!entry.is_object()) return bad_file(what, fmt::format("{} is not an object", name));
  PERFLAB_TRY(const Json* type,
              field_of_kind(entry, "parameter_type", Json::value_t::string, what));
  const Json* values = field(entry, "values");
  if (type == nullptr || values == nullptr)
    return bad_file(what, fmt::format("{} has no parameter_type or no values", name));
  const auto kind = type->get<std::string>();
  if (kind == "ordinal" || kind == "categorical") return parameter_of(name, *values, what);
  if (kind == "permutation")
    return bad_file(what, fmt::format("{} is a permutation, which cannot be tuned here: list the "
                                      "permutations as strings of a categorical parameter",
                                      name));
  if (kind != "integer")
    return bad_file(what, fmt::format("{} is of the type {}; known are ordinal, categorical and "
                                      "integer",
                                      name, kind));
  if (!values->is_array() || values->size() != 2 || !(*values)[0].is_number_integer() ||
      !(*values)[1].is_number_integer())
    return bad_file(what,
                    fmt::format("values of {} are not its first and last whole number", name));
  return parameter_of(
      name, Json(fmt::format("range({}, {} + 1)", (*values)[0].dump(), (*values)[1].dump())), what);
}

Result<SpaceDescription> read_baco(const Json& file, std::string_view what) {
  PERFLAB_TRY(const Json* parameters,
              field_of_kind(file, "input_parameters", Json::value_t::object, what));
  SpaceDescription description;
  description.default_may_fail = true;
  for (const auto& [name, entry] : parameters->items()) {
    PERFLAB_TRY(Parameter parameter, baco_parameter(name, entry, what));
    if (const Json* given = field(entry, "parameter_default"); given != nullptr) {
      PERFLAB_TRY(const Value value,
                  value_from_json(*given, fmt::format("{}: default of {}", what, name)));
      parameter.default_level = level_of(parameter, value);
      description.default_declared = true;
    }
    description.parameters.push_back(std::move(parameter));
    PERFLAB_TRY(const std::vector<std::string> constraints, texts_of(entry, "constraints", what));
    for (const std::string& text : constraints)
      if (std::ranges::find(description.restrictions, text) == description.restrictions.end())
        description.restrictions.push_back(text);
  }
  if (description.parameters.empty()) return bad_file(what, "input_parameters is empty");
  return description;
}

bool has_kwargs(const Json& list) {
  if (list.empty()) return false;
  const Json& first = list[0].is_array() && !list[0].empty() ? list[0][0] : list[0];
  return first.is_object() && first.contains("kwargs");
}

/// Which form the file has; nothing: none.
std::optional<SpaceFormat> format_of(const Json& file) {
  const auto has = [&](const char* name, bool (Json::*is_kind)() const noexcept) {
    return file.is_object() && file.contains(name) && (file[name].*is_kind)();
  };
  if (file.is_array()) return has_kwargs(file) ? SpaceFormat::triton : SpaceFormat::listed;
  if (has("tune_params", &Json::is_object)) return SpaceFormat::compact;
  if (has("configurations", &Json::is_array)) return SpaceFormat::listed;
  if (has("ConfigurationSpace", &Json::is_object)) return SpaceFormat::t1;
  if (has("configs_timings", &Json::is_array)) return SpaceFormat::triton;
  if (has("input_parameters", &Json::is_object)) return SpaceFormat::baco;
  return std::nullopt;
}

Result<SpaceDescription> read_as(SpaceFormat format, const Json& file, std::string_view what) {
  switch (format) {
    case SpaceFormat::compact:
      return read_compact(file, what);
    case SpaceFormat::listed:
      return file.is_array() ? read_listed(file, what) : read_listed_object(file, what);
    case SpaceFormat::t1:
      return read_t1(file, what);
    case SpaceFormat::triton:
      return read_triton(file.is_array() ? file : file.at("configs_timings"), what);
    case SpaceFormat::baco:
      break;
  }
  return read_baco(file, what);
}

}  // namespace

std::string_view to_string(SpaceFormat format) {
  using enum SpaceFormat;
  static constexpr auto kNames = enum_names<SpaceFormat>(
      {{compact, "compact"}, {listed, "listed"}, {t1, "t1"}, {triton, "triton"}, {baco, "baco"}});
  return kNames[format];
}

Result<SpaceFile> parse_space(std::string_view text, std::string_view what) {
  PERFLAB_TRY(const Json file, parse_json(text, what));
  const std::optional<SpaceFormat> format = format_of(file);
  if (!format)
    return fail(ErrorCode::bad_input, fmt::format("{}: no known form of a search space", what),
                "known are {\"tune_params\": {\"NAME\": [VALUES]}, \"restrictions\": [...], "
                "\"default\": {...}, \"derived\": {...}}, a list of configurations, T1, Triton "
                "configs and BaCO's input_parameters");
  Result<SpaceDescription> description = read_as(*format, file, what);
  if (!description) return std::unexpected(on_one_line(std::move(description).error()));
  description->source = what;
  return SpaceFile{*format, std::move(*description)};
}

Result<SpaceFile> read_space(const std::filesystem::path& file) {
  PERFLAB_TRY(const std::string text, read_maybe_packed(file));
  return parse_space(text, file.string());
}

Json to_json(const SpaceDescription& description) {
  Json json = Json::object();
  if (description.listed) {
    json["configurations"] = description.listed->size();
  } else {
    Json parameters = Json::object();
    for (const Parameter& parameter : description.parameters) {
      Json values = Json::array();
      for (const Value& value : parameter.values) values.push_back(to_json(value));
      parameters[parameter.name] = std::move(values);
    }
    json["tune_params"] = std::move(parameters);
  }
  json["restrictions"] = description.restrictions;
  Json derived = Json::object();
  for (const auto& [name, text] : description.derived) derived[name] = text;
  json["derived"] = std::move(derived);
  if (!description.default_declared) return json;
  Json defaults = Json::object();
  for (const Parameter& parameter : description.parameters)
    if (parameter.default_level || parameter.values.size() == 1)
      defaults[parameter.name] = to_json(parameter.values[parameter.default_level.value_or(0)]);
  json["default"] = std::move(defaults);
  return json;
}

}  // namespace perflab::tune
