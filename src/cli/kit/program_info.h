// The commands and options of the program as data, read from CLI11's own objects: for completion
// scripts, manual pages and the tools that agents see. There is no second list of options.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace perflab::cli {

/// One option or positional argument.
struct OptionInfo {
  /// "-o", "--json"; a positional's own ("TRACE") stands first, and behind it are the names by
  /// which it can be given too: "DIR", "--capture-dir".
  std::vector<std::string> names;
  bool positional = false;
  bool flag = false;  ///< takes no value
  bool many = false;  ///< takes more than one value, or may be given again
  bool required = false;
  bool number = false;  ///< its value is a number (CLI11's type name says INT, UINT or FLOAT)
  std::vector<std::string> excludes;  ///< long names of options that cannot be given with it
  std::vector<std::string> choices;   ///< of CLI::IsMember; empty: any value
  std::string default_text;           ///< empty: none that CLI11 knows
  std::string description;
};

/// One command; `name` has its parent's in front: "replay verify".
struct CommandInfo {
  std::string name, description, footer;
  std::vector<std::string> examples;  ///< command lines, as set_examples has them
  std::vector<OptionInfo> options;    ///< in the order of the help, without --help
  bool takes_words = false;           ///< a program's words behind "--"
};

/// The whole program.
struct ProgramInfo {
  std::string name;
  CommandInfo root;                   ///< its own options, --help among them; without a name
  OptionInfo help;                    ///< every command has it
  std::vector<CommandInfo> commands;  ///< with groups, by name: a group stands before its commands
};
ProgramInfo describe_program(const CLI::App& app);

/// All commands of the help, by name; those that only group others ("replay") are left out, and so
/// are hidden ones.
std::vector<CommandInfo> describe_commands(const CLI::App& app);

/// Those that describe_commands leaves out because they only group others.
std::vector<CommandInfo> describe_groups(const CLI::App& app);

/// One option as it is described; for those of the program itself (--version) and --help.
OptionInfo describe_option(const CLI::Option& option);

/// Whether the command takes a program's words behind "--".
bool takes_words(const std::string& command);

}  // namespace perflab::cli
