// CLI11 asks for a subcommand without saying that the word in its place is none. Its own texts are
// listed in docs/ERRORS.md.
#include "cli/wrong_command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

/// The word where a command was looked for: the first behind the command's own name that is no
/// option.
std::string word_for_command(const CLI::App& command, const std::vector<std::string>& words) {
  auto word = words.begin();
  if (command.get_parent() != nullptr) word = std::ranges::find(words, command.get_name());
  if (word != words.end() && command.get_parent() != nullptr) ++word;
  word =
      std::find_if(word, words.end(), [](const std::string& one) { return !one.starts_with('-'); });
  return word == words.end() ? "" : *word;
}

}  // namespace

Error wrong_command_line(const CLI::App& app, const CLI::ParseError& refusal,
                         const std::vector<std::string>& words) {
  const CLI::App& command = chosen_command(app);
  const std::vector<std::string> commands = commands_of(command);
  const std::string name = typed_name(command);
  if (!commands.empty()) {
    const std::string word = word_for_command(command, words);
    return {.code = ErrorCode::usage,
            .message = word.empty() ? fmt::format("{} needs a command", name)
                                    : fmt::format("{} has no command '{}'", name, word),
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
