// How --help looks: as CLI11 has it, with descriptions broken between words so that they fit the
// terminal.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

namespace perflab::cli {

/// CLI11's layout within `width` columns. Footers stay as they were written: they hold commands.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::size_t width) : width_(width) {}

  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* command) const override;

 private:
  [[nodiscard]] std::string entry(const std::string& name, const std::string& text) const;

  std::size_t width_;
};

}  // namespace perflab::cli
