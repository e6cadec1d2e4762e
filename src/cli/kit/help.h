// How --help looks: its examples, then what CLI11 has, with every line broken so that it fits the
// terminal, and 80 columns wherever it is. Examples are data of a command: the manual page has them
// too.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace perflab::cli {

/// No line of a help is longer, however wide the terminal is.
constexpr std::size_t kHelpWidth = 80;

/// The examples in front, then CLI11's layout, within `width` columns.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::size_t width) : width_(width < kHelpWidth ? width : kHelpWidth) {}

  std::string make_help(const CLI::App* command, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_footer(const CLI::App* command) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_subcommand(const CLI::App* command) const override;

  void set_examples(std::vector<std::string> examples) { examples_ = std::move(examples); }
  [[nodiscard]] const std::vector<std::string>& examples() const { return examples_; }

 private:
  [[nodiscard]] std::string entry(const std::string& name, const std::string& text) const;

  std::size_t width_;
  std::vector<std::string> examples_;
};

/// Gives a command the command lines with which its help begins. It gets a formatter of its own,
/// like the one that it had.
void set_examples(CLI::App& command, std::vector<std::string> examples);

/// Those of set_examples.
std::vector<std::string> examples_of(const CLI::App& command);

/// A command line of a shell in lines of at most `width` columns, to be typed as they stand: broken
/// between words, never between quotes or in front of an option's value where that can be helped,
/// with a backslash at the end and indented from the second.
std::vector<std::string> example_lines(std::string_view example, std::size_t width);

}  // namespace perflab::cli
