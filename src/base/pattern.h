// Regular expressions that users give for kernel names. RE2 matches in linear time whatever the
// pattern and the name; std::regex overflows its stack on long names.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace re2 {
class RE2;
}

namespace perflab {

/// A compiled pattern, cheap to copy.
class Pattern {
 public:
  /// Compiles RE2 syntax. Error (usage) with the place that is wrong.
  static Result<Pattern> compile(std::string_view text);

  /// Whether the pattern is found anywhere in `text`; bytes that are no UTF-8 are characters too.
  [[nodiscard]] bool found_in(std::string_view text) const;
  /// The pattern as given.
  [[nodiscard]] const std::string& text() const;

 private:
  explicit Pattern(std::shared_ptr<const re2::RE2> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace perflab
