// Names that the program's help shows: what completion and manual pages must have, read from the
// text that people see and not from the same objects.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.h"

namespace perflab::cli {

/// First words of the indented lines of a section of --help ("Options", "Subcommands").
inline std::vector<std::string> help_section(const std::string& help, const std::string& section) {
  std::vector<std::string> words;
  std::istringstream lines(help);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(' ')) inside = line == section + ":";
    if (inside && line.starts_with("  ") && !line.starts_with("   "))
      words.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return words;
}

/// "-h" and "--help" of "-h,--help", sorted.
inline std::vector<std::string> names_of(const std::vector<std::string>& lists) {
  std::vector<std::string> names;
  for (const std::string& list : lists) {
    std::istringstream parts(list);
    for (std::string name; std::getline(parts, name, ',');) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

/// A command of the help, with its words ("replay", "verify"), and its own help.
struct HelpOfCommand {
  std::vector<std::string> words;
  std::string help;
  std::vector<std::string> below;  ///< names of the commands that it groups
};

/// Every command and every group of commands, the program itself first.
inline std::vector<HelpOfCommand> help_of_all_commands(const std::filesystem::path& folder) {
  std::vector<HelpOfCommand> all;
  std::vector<std::vector<std::string>> open = {{}};
  while (!open.empty()) {
    HelpOfCommand one{.words = open.front(), .help = {}, .below = {}};
    open.erase(open.begin());
    std::vector<std::string> arguments = one.words;
    arguments.emplace_back("--help");
    one.help = rocm_perf(folder, arguments).out;
    one.below = help_section(one.help, "Subcommands");
    for (const std::string& name : one.below) {
      std::vector<std::string> words = one.words;
      words.push_back(name);
      open.push_back(words);
    }
    all.push_back(one);
  }
  return all;
}

}  // namespace perflab::cli
