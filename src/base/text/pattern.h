// Regular expressions that users give: for kernel names, and for figures that a program prints. RE2
// matches in linear time whatever the pattern and the text; std::regex overflows its stack on long
// names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace perflab {

/// What the text is that a pattern is tried on.
enum class PatternScope {
  text,   ///< one piece: `^` and `$` are its ends
  lines,  ///< many lines: `^` and `$` are the ends of a line, no match goes across one
};

/// A compiled pattern, cheap to copy.
class Pattern {
 public:
  /// Compiles RE2 syntax. Error (usage) with the place that is wrong.
  static Result<Pattern> compile(std::string_view text, PatternScope scope = PatternScope::text);

  /// Whether the pattern is found anywhere in `text`; bytes that are no UTF-8 are characters too.
  [[nodiscard]] bool found_in(std::string_view text) const;
  /// Number of groups, "(…)" that are not "(?:…)".
  [[nodiscard]] int groups() const;
  /// The first group of every match, from left to right, without overlap: views into `text`, empty
  /// where the group took no part. At most `most`. Precondition: groups() > 0.
  [[nodiscard]] std::vector<std::string_view> first_groups(std::string_view text,
                                                           std::size_t most = SIZE_MAX) const;
  /// The pattern as given.
  [[nodiscard]] const std::string& text() const;

 private:
  struct Compiled;
  explicit Pattern(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled_;
};

/// A pattern that finds this text: what means something in a pattern has a backslash before it.
std::string quoted_pattern(std::string_view text);

}  // namespace perflab
