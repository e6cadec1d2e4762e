// Tools as data: their schema, and the command line of a call.
#include "mcp/tool.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text/numbers.h"

namespace perflab::mcp {
namespace {

Json choices_json(const Parameter& parameter) {
  Json values = Json::array();
  for (const std::string& choice : parameter.choices) {
    const auto number = whole_number<std::int64_t>(choice);
    values.push_back(parameter.kind == ValueKind::number && number ? Json(*number) : Json(choice));
  }
  return values;
}

Json property_schema(const Parameter& parameter) {
  Json value = Json::object();
  switch (parameter.kind) {
    case ValueKind::text:
      value["type"] = "string";
      break;
    case ValueKind::number:
      value["type"] = "number";
      break;
    case ValueKind::boolean:
      value["type"] = "boolean";
      break;
  }
  if (!parameter.choices.empty()) value["enum"] = choices_json(parameter);
  Json schema = std::move(value);
  if (parameter.many) {
    schema = {{"type", "array"}, {"items", std::move(schema)}};
    if (parameter.required) schema["minItems"] = 1;
  }
  schema["description"] = parameter.description;
  return schema;
}

std::unexpected<Error> wrong_value(const Parameter& parameter, std::string_view wanted) {
  return fail(ErrorCode::usage, fmt::format("argument '{}' has to be {}", parameter.name, wanted));
}

/// A scalar as a word of the command line.
Result<std::string> word_of(const Parameter& parameter, const Json& value) {
  std::string word;
  if (parameter.kind == ValueKind::number) {
    if (!value.is_number())
      return wrong_value(parameter, parameter.many ? "an array of numbers" : "a number");
    if (value.is_number_float()) {
      std::array<char, 40> buffer{};
      const auto end =
          std::to_chars(buffer.data(), buffer.data() + buffer.size(), value.get<double>()).ptr;
      word.assign(buffer.data(), end);
    } else {
      word = value.dump();
    }
  } else {
    if (!value.is_string())
      return wrong_value(parameter, parameter.many ? "an array of strings" : "a string");
    word = value.get<std::string>();
    // "--name=" would take the next word for its value.
    if (word.empty() && parameter.place != Place::words)
      return wrong_value(parameter, "something: leave it out instead of giving an empty text");
  }
  if (!parameter.choices.empty() &&
      std::ranges::find(parameter.choices, word) == parameter.choices.end())
    return wrong_value(parameter, fmt::format("one of: {}", fmt::join(parameter.choices, ", ")));
  return word;
}

/// The values of a parameter as words, in order.
Result<std::vector<std::string>> values_of(const Parameter& parameter, const Json& value) {
  std::vector<std::string> words;
  if (!parameter.many) {
    PERFLAB_TRY(words.emplace_back(), word_of(parameter, value));
    return words;
  }
  if (!value.is_array() || (parameter.required && value.empty()))
    return wrong_value(parameter, value.is_array() ? "an array with something in it" : "an array");
  for (const Json& item : value) {
    PERFLAB_TRY(words.emplace_back(), word_of(parameter, item));
  }
  return words;
}

/// What one parameter adds to a place of the command line.
Result<std::vector<std::string>> parameter_words(const Parameter& parameter, const Json& value) {
  if (parameter.kind == ValueKind::boolean) {
    if (!value.is_boolean()) return wrong_value(parameter, "true or false");
    return value.get<bool>() ? std::vector{parameter.option} : std::vector<std::string>{};
  }
  PERFLAB_TRY(std::vector<std::string> words, values_of(parameter, value));
  for (std::string& word : words) {
    // The value is in the word of its option, and a file name cannot be taken for an option.
    if (parameter.place == Place::option) word = parameter.option + "=" + word;
    if (parameter.place == Place::positional && word.starts_with('-')) word = "./" + word;
  }
  return words;
}

/// Every argument is one that the tool has and that is not withheld.
Result<void> check_names(const Tool& tool, const Json& arguments) {
  for (const auto& [name, value] : arguments.items()) {
    const auto known = std::ranges::find(tool.parameters, name, &Parameter::name);
    if (known == tool.parameters.end()) {
      std::vector<std::string> names;
      for (const Parameter& parameter : tool.parameters)
        if (!parameter.withheld) names.push_back(parameter.name);
      return fail(ErrorCode::usage, fmt::format("{} has no argument '{}'", tool.name, name),
                  fmt::format("it has: {}", fmt::join(names, ", ")));
    }
    if (known->withheld)
      return fail(ErrorCode::usage,
                  fmt::format("argument '{}' of {} writes or runs something, and this server only "
                              "reads",
                              name, tool.name),
                  "leave it out, or have the server started with --allow-run");
  }
  return {};
}

}  // namespace

std::vector<Parameter> selection_parameters() {
  const auto parameter = [](const char* name, ValueKind kind, const char* description) {
    return Parameter{.name = name,
                     .option = {},
                     .place = Place::server,
                     .kind = kind,
                     .choices = {},
                     .description = description};
  };
  return {parameter("section", ValueKind::text, "Part of the full document: kernels, /kernels/0"),
          parameter("kernel", ValueKind::text, "Only kernels of this name"),
          parameter("top", ValueKind::number, "Rows at most"),
          parameter("offset", ValueKind::number, "First row")};
}

Tool read_tool() {
  Tool tool{.name = std::string(kReadTool),
            .description =
                "Read more of the documents that an earlier call left, without running "
                "it again. Use it to follow `from`, `cut` and `next` of an answer.",
            .command = {},
            .always = {},
            .parameters = {},
            .read_only = true};
  tool.reads_kept = true;
  tool.parameters = selection_parameters();
  tool.parameters.insert(tool.parameters.begin(), {.name = "uri",
                                                   .option = {},
                                                   .place = Place::server,
                                                   .required = true,
                                                   .choices = {},
                                                   .description = "As an answer names it"});
  return tool;
}

bool summarises(const Tool& tool, const Json& arguments) {
  return tool.summarises && std::ranges::none_of(tool.parameters, [&](const Parameter& one) {
           const auto given = arguments.find(one.name);
           return (one.without_document || one.without_summary) && given != arguments.end() &&
                  *given != false;
         });
}

Json read_call(const std::string& uri) {
  return {{"tool", kReadTool}, {"arguments", {{"uri", uri}}}};
}

Json list_entry(const Tool& tool) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const Parameter& parameter : tool.parameters) {
    if (parameter.withheld) continue;
    properties[parameter.name] = property_schema(parameter);
    if (parameter.required) required.push_back(parameter.name);
  }
  Json schema = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  Json entry = {
      {"name", tool.name}, {"description", tool.description}, {"inputSchema", std::move(schema)}};
  // What holds of others is the default of the protocol: it may change things, and the world.
  if (tool.read_only) entry["annotations"] = {{"readOnlyHint", true}, {"openWorldHint", false}};
  return entry;
}

Result<std::vector<std::string>> command_words(const Tool& tool, const Json& arguments) {
  if (tool.withheld)
    return fail(
        ErrorCode::usage,
        fmt::format("{} runs programs or writes files, and this server only reads", tool.name),
        "have the server started with --allow-run");
  PERFLAB_TRY_VOID(check_names(tool, arguments));
  std::vector<std::string> positionals, options, behind_dashes;
  std::vector<std::string> always = tool.always;
  std::string left_out;  // the first positional that is
  for (const Parameter& parameter : tool.parameters) {
    const auto given = arguments.find(parameter.name);
    if (given == arguments.end()) {
      if (parameter.required)
        return fail(ErrorCode::usage,
                    fmt::format("{} needs the argument '{}'", tool.name, parameter.name));
      if (parameter.place == Place::positional && left_out.empty()) left_out = parameter.name;
      continue;
    }
    PERFLAB_TRY(const std::vector<std::string> words, parameter_words(parameter, *given));
    if (parameter.place == Place::server) continue;
    if (parameter.place == Place::positional && !left_out.empty() && !words.empty())
      return fail(ErrorCode::usage,
                  fmt::format("argument '{}' takes '{}' before it", parameter.name, left_out));
    if (parameter.without_document && !words.empty()) always.clear();
    auto& place = parameter.place == Place::positional ? positionals
                  : parameter.place == Place::option   ? options
                                                       : behind_dashes;
    place.insert(place.end(), words.begin(), words.end());
  }
  std::vector<std::string> words = tool.command;
  // Positionals first: an option of several values would take them for its own.
  words.insert(words.end(), positionals.begin(), positionals.end());
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), always.begin(), always.end());
  if (summarises(tool, arguments))
    words.insert(words.end(), tool.for_summary.begin(), tool.for_summary.end());
  if (!behind_dashes.empty()) {
    words.emplace_back("--");
    words.insert(words.end(), behind_dashes.begin(), behind_dashes.end());
  }
  return words;
}

}  // namespace perflab::mcp
