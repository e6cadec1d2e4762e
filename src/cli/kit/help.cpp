// An entry is its name, and its description in a column of its own; a long name has a line to
// itself, or several: one with many choices is broken behind their commas.
#include "cli/kit/help.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"

namespace perflab::cli {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kLeastRoom = 30;  ///< for a description, however narrow the terminal is

/// The name with its indent, in lines of at most `width` columns.
std::string indented_name(std::string_view name, std::size_t width) {
  std::string out;
  std::string line(kIndent, ' ');
  while (!name.empty()) {
    const std::size_t part = std::min(name.find(',') + 1, name.size());
    const std::size_t length = part == 0 ? name.size() : part;
    const std::string piece(name.substr(0, length));
    if (report::display_width(line + piece) > width && line.size() > 2 * kIndent) {
      out += line + "\n";
      line = std::string(2 * kIndent, ' ');
    }
    line += piece;
    name.remove_prefix(length);
  }
  return out + line;
}

}  // namespace

std::string HelpFormatter::entry(const std::string& name, const std::string& text) const {
  const std::size_t column = get_column_width();
  std::string out = indented_name(name, width_);
  if (text.empty()) return out + "\n";
  std::size_t at = report::display_width(out.substr(out.rfind('\n') + 1));
  if (at >= column || out.contains('\n')) {
    out += "\n";
    at = 0;
  }
  const std::size_t room = std::max(kLeastRoom, width_ > column ? width_ - column : 0);
  for (const std::string& line : report::wrapped(text, room)) {
    out += std::string(column - at, ' ') + line + "\n";
    at = 0;
  }
  return out;
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  return entry(make_option_name(option, is_positional) + make_option_opts(option),
               make_option_desc(option));
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  return entry(command->get_display_name(true), command->get_description());
}

}  // namespace perflab::cli
