// Reads commands and options out of CLI11's objects (version 2.3): what an option takes stands in
// its counts and in the text of its type, "INT:INT in [1 - 9]" or "TEXT:{a,b}".
#include "cli/kit/program_info.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "cli/kit/help.h"

namespace perflab::cli {
namespace {

/// The first part of a type text, in front of what validators add.
std::string_view base_type(std::string_view type) {
  return type.substr(0, type.find(':'));
}

/// What CLI::IsMember writes for its set; its members have no comma and no brace.
std::vector<std::string> set_members(std::string_view type) {
  std::vector<std::string> out;
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}', open);
  if (open == type.npos || close == type.npos) return out;
  std::string_view rest = type.substr(open + 1, close - open - 1);
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    out.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return out;
}

bool is_in_help(const CLI::App& command) {
  return !command.get_name().empty() && !command.get_group().empty() && !command.get_disabled();
}

std::vector<const CLI::App*> in_help_below(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* one) { return is_in_help(*one); });
}

bool only_groups(const CLI::App& command) {
  return command.get_require_subcommand_min() > 0 && !in_help_below(command).empty();
}

CommandInfo described_command(const CLI::App& command, const std::string& name) {
  CommandInfo out{.name = name,
                  .description = command.get_description(),
                  .footer = command.get_footer(),
                  .examples = examples_of(command),
                  .options = {},
                  .takes_words = takes_words(name)};
  for (const CLI::Option* option : command.get_options())
    if (option != command.get_help_ptr() && !option->get_group().empty())
      out.options.push_back(describe_option(*option));
  return out;
}

void collect_commands(const CLI::App& parent, const std::string& prefix, bool groups,
                      std::vector<CommandInfo>& out) {
  for (const CLI::App* command : in_help_below(parent)) {
    const std::string name = prefix + command->get_name();
    if (only_groups(*command) == groups) out.push_back(described_command(*command, name));
    collect_commands(*command, name + " ", groups, out);
  }
}

std::vector<CommandInfo> sorted_commands(const CLI::App& app, bool groups) {
  std::vector<CommandInfo> out;
  collect_commands(app, "", groups, out);
  std::ranges::sort(out, {}, &CommandInfo::name);
  return out;
}

}  // namespace

OptionInfo describe_option(const CLI::Option& option) {
  OptionInfo out;
  out.positional = option.get_positional();
  if (out.positional) out.names.push_back(option.get_name(true));
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  out.flag = option.get_items_expected_max() == 0;
  out.many = option.get_items_expected_max() > 1;
  out.required = option.get_required();
  for (const CLI::Option* other : option.get_excludes())
    for (const std::string& name : other->get_lnames()) out.excludes.push_back("--" + name);
  std::ranges::sort(out.excludes);
  const std::string type = option.get_type_name();
  constexpr std::array<std::string_view, 3> kNumbers = {"INT", "UINT", "FLOAT"};
  out.number = !out.flag && std::ranges::find(kNumbers, base_type(type)) != kNumbers.end();
  out.choices = set_members(type);
  out.default_text = option.get_default_str();
  out.description = option.get_description();
  return out;
}

std::vector<CommandInfo> describe_commands(const CLI::App& app) {
  return sorted_commands(app, false);
}

std::vector<CommandInfo> describe_groups(const CLI::App& app) {
  return sorted_commands(app, true);
}

ProgramInfo describe_program(const CLI::App& app) {
  ProgramInfo out{.name = app.get_name(),
                  .root = {.name = "",
                           .description = app.get_description(),
                           .footer = app.get_footer(),
                           .examples = examples_of(app),
                           .options = {}},
                  .help = {},
                  .commands = describe_commands(app)};
  std::ranges::move(describe_groups(app), std::back_inserter(out.commands));
  std::ranges::sort(out.commands, {}, &CommandInfo::name);
  for (const CLI::Option* option : app.get_options()) {
    out.root.options.push_back(describe_option(*option));
    if (option == app.get_help_ptr()) out.help = out.root.options.back();
  }
  return out;
}

bool takes_words(const std::string& command) {
  constexpr std::array<std::string_view, 4> kCommands = {"inspect", "isolate", "optimize",
                                                         "profile"};
  return std::ranges::find(kCommands, command) != kCommands.end();
}

}  // namespace perflab::cli
