// An entry is its name, and its description in a column of its own; a long name has a line to
// itself, or several: one with many choices is broken after their commas. Examples are kept in the
// command's formatter: a CLI::App has no place for data of ours.
#include "cli/kit/help.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <utility>

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

/// The words of a command line, each with its quotes; what stands between quotes is not parted.
std::vector<std::string> quoted_words(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  char open = 0;
  for (const char c : line) {
    if (c == ' ' && open == 0) {
      if (!word.empty()) words.push_back(std::exchange(word, {}));
      continue;
    }
    if (open == 0 && (c == '\'' || c == '"'))
      open = c;
    else if (c == open)
      open = 0;
    word += c;
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

constexpr std::string_view kGoesOn = " \\";  ///< at the end of a line

/// Whether the word is an option whose value is the next one.
bool takes_next(const std::vector<std::string>& words, std::size_t at) {
  return at + 1 < words.size() && words[at].starts_with('-') && words[at] != "--" &&
         !words[at].contains('=') && !words[at + 1].starts_with('-');
}

/// Columns of so many words, and of what says that the line goes on.
std::size_t room_of(const std::vector<std::string>& words, std::size_t at, std::size_t count) {
  std::size_t room = at + count == words.size() ? 0 : kGoesOn.size();
  for (std::size_t i = 0; i < count; ++i)
    room += report::display_width(words[at + i]) + (i > 0 ? 1 : 0);
  return room;
}

const HelpFormatter* help_formatter(const CLI::App& command) {
  return dynamic_cast<const HelpFormatter*>(command.get_formatter().get());
}

}  // namespace

void set_examples(CLI::App& command, std::vector<std::string> examples) {
  const HelpFormatter* const before = help_formatter(command);
  const auto formatter = before == nullptr ? std::make_shared<HelpFormatter>(kHelpWidth)
                                           : std::make_shared<HelpFormatter>(*before);
  formatter->set_examples(std::move(examples));
  command.formatter(formatter);
}

std::vector<std::string> examples_of(const CLI::App& command) {
  const HelpFormatter* const formatter = help_formatter(command);
  return formatter == nullptr ? std::vector<std::string>() : formatter->examples();
}

std::vector<std::string> example_lines(std::string_view example, std::size_t width) {
  const std::vector<std::string> words = quoted_words(example);
  std::vector<std::string> lines(1);
  bool first = true;  // word of its line
  for (std::size_t i = 0; i < words.size(); ++i) {
    // With its value, unless that is too long for any line.
    std::size_t needed = room_of(words, i, takes_next(words, i) ? 2 : 1);
    if (2 * kIndent + needed > width) needed = room_of(words, i, 1);
    if (!first && report::display_width(lines.back()) + 1 + needed > width) {
      lines.back() += kGoesOn;
      lines.emplace_back(2 * kIndent, ' ');
      first = true;
    }
    lines.back() += (first ? "" : " ") + words[i];
    first = false;
  }
  return lines;
}

std::string HelpFormatter::make_help(const CLI::App* command, std::string name,
                                     CLI::AppFormatMode mode) const {
  std::string out;
  for (const std::string& example : examples_)
    for (const std::string& line : example_lines(example, width_ - kIndent))
      out += std::string(kIndent, ' ') + line + "\n";
  if (!out.empty()) out = (examples_.size() == 1 ? "Example:\n" : "Examples:\n") + out + "\n";
  out += CLI::Formatter::make_help(command, std::move(name), mode);
  if (out.ends_with("\n\n")) out.pop_back();  // CLI11's, in front of a footer that is not there
  return out;
}

std::string HelpFormatter::make_footer(const CLI::App* command) const {
  const std::string footer = command->get_footer();
  std::string out;
  for (std::string_view rest = footer; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    for (const std::string& line : report::wrapped(rest.substr(0, end), width_)) out += line + "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

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

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  std::string text = CLI::Formatter::make_option_opts(option);
  // "INT:INT in [1 - 9]" and "TEXT:{a,b}": what a validator says is enough.
  const std::size_t colon = text.find(':');
  if (!text.starts_with(' ') || colon == text.npos || text.find(' ', 1) < colon) return text;
  const std::string type = text.substr(1, colon - 1);
  const std::string_view rest = std::string_view(text).substr(colon + 1);
  if (rest.starts_with('{') || rest.starts_with(type + " in [")) text.erase(1, colon);
  return text;
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  return entry(command->get_display_name(true), command->get_description());
}

}  // namespace perflab::cli
