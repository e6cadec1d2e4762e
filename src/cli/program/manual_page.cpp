// The pages have the sections of man-pages(7). Descriptions, options and examples are the help's
// own; what a footer says of exit codes stands with the exit codes.
#include "cli/program/manual_page.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/error.h"
#include "base/text/text.h"
#include "base/version.h"
#include "cli/kit/help.h"
#include "cli/kit/program_info.h"
#include "report/kit/document.h"

namespace perflab::cli {
namespace {

/// Exit codes in the order of a page (docs/ARCHITECTURE.md "Errors").
std::vector<std::pair<int, std::string>> exit_statuses() {
  return {
      {0, "Done."},
      {exit_code(ErrorCode::refused), "Done, and the answer is no."},
      {exit_code(ErrorCode::usage),
       "The command line is wrong, or names a place that cannot be written."},
      {exit_code(ErrorCode::bad_input),
       "An input file is missing, unreadable, damaged or of another format."},
      {exit_code(ErrorCode::missing_tool), "A tool or device that the command needs is missing."},
      {exit_code(ErrorCode::target_failed), "The target program failed or was stopped."},
      {exit_code(ErrorCode::internal), "Internal error."},
      {exit_code(ErrorCode::interrupted), "Interrupted (Ctrl-C)."}};
}

/// What a footer holds.
struct FooterParts {
  std::vector<std::string> notes;
  std::vector<std::string> exit_notes;
};

FooterParts footer_parts(std::string_view footer) {
  FooterParts out;
  while (!footer.empty()) {
    const std::size_t end = std::min(footer.find('\n'), footer.size());
    const std::string_view line = footer.substr(0, end);
    footer.remove_prefix(std::min(end + 1, footer.size()));
    const std::size_t codes = std::min(line.find("Exit code"), line.size());
    if (codes > 0) out.notes.emplace_back(trimmed(line.substr(0, codes)));
    if (codes < line.size()) out.exit_notes.emplace_back(trimmed(line.substr(codes)));
  }
  return out;
}

std::string roff_bold(std::string_view text) {
  return "\\fB" + roff_text(text) + "\\fR";
}

std::string roff_italic(std::string_view text) {
  return "\\fI" + roff_text(text) + "\\fR";
}

/// "rocm-perf replay verify" as the name of a page.
std::string page_name(std::string name) {
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string roff_section(std::string_view name) {
  return fmt::format(".SH {}\n", name);
}

/// Paragraphs, one per text.
std::string roff_paragraphs(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += ".PP\n" + roff_text(text) + "\n";
  return out;
}

/// What a value is called: that of its type in the help, choices told behind it.
std::string value_name(const OptionInfo& option) {
  return option.number ? "NUMBER" : option.choices.empty() ? "TEXT" : "CHOICE";
}

std::string option_item(const OptionInfo& option) {
  std::string names;
  for (std::size_t i = 0; i < option.names.size(); ++i) {
    if (i > 0) names += ", ";
    const bool dashed = option.names[i].starts_with('-');
    names += dashed ? roff_bold(option.names[i]) : roff_italic(option.names[i]);
    if (dashed && !option.flag) names += " " + roff_italic(value_name(option));
  }
  if (option.many) names += " ...";
  std::string text = roff_text(option.description);
  const auto add = [&](const std::string& sentence) {
    text += (text.empty() ? "" : "\n.br\n") + sentence;
  };
  if (!option.choices.empty()) {
    std::string choices;
    for (const std::string& choice : option.choices)
      choices += (choices.empty() ? "" : ", ") + roff_bold(choice);
    add("One of: " + choices + ".");
  }
  if (!option.default_text.empty()) add("Default: " + roff_bold(option.default_text) + ".");
  if (option.required) add("Required.");
  return ".TP\n" + names + "\n" + text + "\n";
}

std::string option_items(const std::vector<OptionInfo>& options, bool positional) {
  std::string out;
  for (const OptionInfo& option : options)
    if (option.positional == positional) out += option_item(option);
  return out;
}

std::string synopsis(const std::string& program, const CommandInfo& command, bool groups) {
  std::string out = roff_bold(program);
  if (!command.name.empty()) out += " " + roff_bold(command.name);
  out += " [" + roff_italic("OPTIONS") + "]";
  for (const OptionInfo& option : command.options) {
    if (!option.positional) continue;
    const std::string name = roff_italic(option.names.front()) + (option.many ? "..." : "");
    out += option.required ? " " + name : " [" + name + "]";
  }
  if (groups) out += " " + roff_italic("COMMAND");
  if (command.takes_words) out += " [" + roff_bold("--") + " " + roff_italic("WORD") + "...]";
  return roff_section("SYNOPSIS") + out + "\n";
}

std::string exit_section(const std::vector<std::string>& notes) {
  std::string out = roff_section("EXIT STATUS");
  for (const auto& [code, text] : exit_statuses())
    out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", code, roff_text(text));
  return out + roff_paragraphs(notes);
}

std::string example_section(const std::vector<std::string>& examples) {
  constexpr std::size_t kRoom = 64;  // of 80 columns, behind two indents
  if (examples.empty()) return "";
  std::string out;
  for (const std::string& example : examples) {
    out += out.empty() ? ".RS 4\n.nf\n" : ".PP\n.RS 4\n.nf\n";
    for (const std::string& line : example_lines(example, kRoom)) out += roff_text(line) + "\n";
    out += ".fi\n.RE\n";
  }
  return roff_section("EXAMPLES") + out;
}

std::string see_also(const std::vector<std::string>& pages) {
  std::string out;
  for (const std::string& page : pages) out += (out.empty() ? "" : ",\n") + roff_bold(page) + "(1)";
  return out.empty() ? "" : roff_section("SEE ALSO") + out + "\n";
}

/// What all pages of one writing share.
struct ManualContents {
  ProgramInfo program;
  std::string date;

  /// Whether the command stands right below the other ("": the program).
  static bool is_below(const std::string& name, const std::string& parent) {
    const std::string start = parent.empty() ? "" : parent + " ";
    return name.starts_with(start) && name.find(' ', start.size()) == name.npos && name != parent;
  }
  std::string page_of(const std::string& command) const {
    return page_name(command.empty() ? program.name : program.name + " " + command);
  }
};

/// Its commands with their descriptions; empty when it has none.
std::string command_list(const ManualContents& manual, const std::string& parent) {
  std::string out;
  for (const CommandInfo& command : manual.program.commands)
    if (ManualContents::is_below(command.name, parent))
      out += ".TP\n" + roff_bold(command.name) + "\n" + roff_text(command.description) + ".\nSee " +
             roff_bold(manual.page_of(command.name)) + "(1).\n";
  return out.empty() ? "" : roff_section("COMMANDS") + out;
}

/// Pages above and right below.
std::vector<std::string> neighbour_pages(const ManualContents& manual, const std::string& name) {
  std::vector<std::string> pages;
  if (!name.empty()) pages.push_back(manual.program.name);
  if (const std::size_t space = name.rfind(' '); space != name.npos)
    pages.push_back(manual.page_of(name.substr(0, space)));
  for (const CommandInfo& command : manual.program.commands)
    if (ManualContents::is_below(command.name, name)) pages.push_back(manual.page_of(command.name));
  return pages;
}

ManualPage written_page(const ManualContents& manual, const CommandInfo& command) {
  const std::string name = manual.page_of(command.name);
  const FooterParts footer = footer_parts(command.footer);
  const std::string below = command_list(manual, command.name);
  std::string title = name;
  std::ranges::transform(title, title.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  std::string text = fmt::format(
      ".\\\" Written by `{} manual` from the program's own help.\n"
      ".TH \"{}\" 1 \"{}\" \"{} {}\" \"User Commands\"\n",
      manual.program.name, roff_text(title), manual.date, roff_text(manual.program.name),
      roff_text(kProgramVersion));
  // Left-aligned and without hyphens of the formatter's own: names of options stay whole.
  text += ".ad l\n.nh\n";
  text += roff_section("NAME") + roff_text(name) + " \\- " + roff_text(command.description) + "\n";
  text += synopsis(manual.program.name, command, !below.empty());
  text += roff_section("DESCRIPTION") + roff_text(command.description + ".") + "\n";
  text += roff_paragraphs(footer.notes) + below;
  if (const std::string arguments = option_items(command.options, true); !arguments.empty())
    text += roff_section("ARGUMENTS") + arguments;
  text += roff_section("OPTIONS") + option_items(command.options, false);
  if (!command.name.empty()) text += option_item(manual.program.help);
  text += exit_section(footer.exit_notes) + example_section(command.examples) +
          see_also(neighbour_pages(manual, command.name));
  return {.file = name + ".1", .text = std::move(text)};
}

/// The code point at the start of the text, which loses it; U+FFFD for bytes that are no UTF-8.
std::uint32_t next_code_point(std::string_view& text) {
  constexpr std::uint32_t kReplacement = 0xfffd;
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const std::uint32_t first = byte(0);
  const std::size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  std::uint32_t value = length == 1 ? first : first & (0x7fU >> length);
  std::size_t read = 1;
  for (; read < std::min(length, text.size()) && (byte(read) & 0xc0U) == 0x80; ++read)
    value = (value << 6U) | (byte(read) & 0x3fU);
  const bool whole = read == length && (length == 1 || first >= 0xc2);
  text.remove_prefix(read);
  return whole ? value : kReplacement;
}

}  // namespace

std::string roff_text(std::string_view text) {
  constexpr std::array<std::pair<char, std::string_view>, 8> kSigns = {{{'\\', "\\(rs"},
                                                                        {'-', "\\-"},
                                                                        {'\'', "\\(aq"},
                                                                        {'`', "\\(ga"},
                                                                        {'^', "\\(ha"},
                                                                        {'~', "\\(ti"},
                                                                        {'"', "\\(dq"},
                                                                        {'@', "\\(at"}}};
  std::string out;
  bool line_start = true;
  while (!text.empty()) {
    const std::uint32_t c = next_code_point(text);
    const auto* const sign = std::ranges::find(kSigns, static_cast<char>(c < 0x80 ? c : 0),
                                               &std::pair<char, std::string_view>::first);
    if (line_start && c == '.') out += "\\&";
    if (sign != kSigns.end())
      out += sign->second;
    else if (c >= 0x80)
      out += fmt::format("\\[u{:04X}]", c);
    else
      out += static_cast<char>(c);
    line_start = c == '\n';
  }
  return out;
}

std::vector<ManualPage> manual_pages(const CLI::App& app, const std::string& date) {
  const ManualContents manual{.program = describe_program(app), .date = date};
  std::vector<ManualPage> pages = {written_page(manual, manual.program.root)};
  for (const CommandInfo& command : manual.program.commands)
    pages.push_back(written_page(manual, command));
  return pages;
}

}  // namespace perflab::cli
