// Command templates: split into an argument array first, filled after. There is no shell, and a
// value can never become a second argument.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tune/values/value.h"

namespace perflab::tune {

class CommandTemplate {
 public:
  /// Splits as a shell would quote (base rules of collect's one-string commands: quotes and
  /// backslashes), then finds placeholders: {NAME}; "{{" and "}}" are braces. `known`: names that
  /// may be used. Errors (usage): unclosed quote or brace, an unknown name (the known ones are
  /// listed), no program.
  static Result<CommandTemplate> parse(std::string_view text, std::span<const std::string> known);

  /// One argument per argument of the template. Precondition: every name it uses is bound. Error
  /// (bad_input): a value with a NUL.
  [[nodiscard]] Result<std::vector<std::string>> fill(std::span<const Binding> values) const;

  [[nodiscard]] const std::string& text() const { return text_; }
  /// Names that it uses, in order of first use.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// The program, when it has no placeholder; empty otherwise.
  [[nodiscard]] std::string fixed_program() const;

 private:
  struct Piece {
    std::string text;  ///< literal, or the name
    bool placeholder = false;
  };
  std::string text_;
  std::vector<std::string> names_;
  std::vector<std::vector<Piece>> arguments_;
};

/// The name of the folder that belongs to one configuration: {build_dir} in both templates.
inline constexpr std::string_view kBuildFolderName = "build_dir";
/// The file that a build for a capture leaves: {code_object} in the build's template.
inline constexpr std::string_view kCodeObjectName = "code_object";

}  // namespace perflab::tune
