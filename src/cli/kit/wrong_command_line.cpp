// CLI11 asks for a subcommand without saying that the word in its place is none.
#include "cli/kit/wrong_command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>

namespace perflab::cli {
namespace {

/// The command that the words chose so far: the program itself, or "replay full-vm".
const CLI::App& chosen_command(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  return chosen.empty() ? app : chosen_command(*chosen.front());
}

/// The command's name as it is typed.
std::string typed_name(const CLI::App& command) {
  const CLI::App* const parent = command.get_parent();
  return parent == nullptr ? command.get_name()
                           : fmt::format("{} {}", typed_name(*parent), command.get_name());
}

/// The commands that a command has; those for the program itself have no group.
std::vector<std::string> commands_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* one : command.get_subcommands({}))
    if (!one->get_group().empty()) names.push_back(one->get_name());
  std::ranges::sort(names);
  return names;
}

/// What is wrong where a command was looked for, behind the command's own name: the first word that
/// is no option; else an option that there is none of; else that nothing is there.
std::string without_command(const CLI::App& command, const std::vector<std::string>& words) {
  auto begin = words.begin();
  if (command.get_parent() != nullptr) begin = std::ranges::find(words, command.get_name());
  if (begin != words.end() && command.get_parent() != nullptr) ++begin;
  const std::string name = typed_name(command);
  const auto is_option = [](const std::string& word) { return word.starts_with('-'); };
  const auto is_unknown = [&](const std::string& word) {
    return command.get_option_no_throw(word.substr(0, word.find('='))) == nullptr;
  };
  if (const auto word = std::find_if_not(begin, words.end(), is_option); word != words.end())
    return fmt::format("{} has no command '{}'", name, *word);
  if (const auto word = std::find_if(begin, words.end(), is_unknown); word != words.end())
    return fmt::format("{} has no option '{}'", name, *word);
  return fmt::format("{} needs a command", name);
}

}  // namespace

Error wrong_command_line(const CLI::App& app, const CLI::ParseError& refusal,
                         const std::vector<std::string>& words) {
  const CLI::App& command = chosen_command(app);
  const std::vector<std::string> commands = commands_of(command);
  const std::string name = typed_name(command);
  if (!commands.empty()) {
    return {.code = ErrorCode::usage,
            .message = without_command(command, words),
            .notes = {},
            .remedy = fmt::format("one of: {}; {} --help says what they do",
                                  fmt::join(commands, ", "), name)};
  }
  return {.code = ErrorCode::usage,
          .message = refusal.what(),
          .notes = {},
          .remedy = fmt::format("{} --help shows its options and an example", name)};
}

}  // namespace perflab::cli
