// Splitting by base/text/command_line.h, then placeholders word by word. Quotes and backslashes are
// gone before placeholders are looked for: '{A}' and "{A}" are placeholders too, and {{ is the way
// to a brace.
#include "tune/space/command_template.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text/command_line.h"

namespace perflab::tune {
namespace {

constexpr std::string_view kBraceRemedy = "a brace that is meant as such is written {{ or }}";
constexpr std::string_view kNoShell =
    "there is no shell; where one is needed: sh -c 'a < \"$1\" | b' sh {NAME}";

Error in_template(Error error, std::string_view text) {
  error.message = fmt::format("command template {}: {}", text, error.message);
  return error;
}

std::unexpected<Error> bad_brace(std::string why) {
  return fail(ErrorCode::usage, std::move(why), std::string(kBraceRemedy));
}

const Value* bound_value(std::span<const Binding> values, std::string_view name) {
  const auto found = std::ranges::find(values, name, &Binding::first);
  return found == values.end() ? nullptr : &found->second;
}

/// Reads the placeholders of one word: calls literal(text) and placeholder(name) from left to
/// right.
template <class Literal, class Placeholder>
Result<void> read_word(std::string_view word, const Literal& literal,
                       const Placeholder& placeholder) {
  std::size_t at = 0;
  while (at < word.size()) {
    const std::size_t brace = word.find_first_of("{}", at);
    literal(word.substr(at, brace - at));
    if (brace == std::string_view::npos) break;
    if (word.substr(brace, 2) == "{{" || word.substr(brace, 2) == "}}") {
      literal(word.substr(brace, 1));
      at = brace + 2;
      continue;
    }
    if (word[brace] == '}') return bad_brace(fmt::format("'{}' has a }} without its {{", word));
    const std::size_t close = word.find_first_of("{}", brace + 1);
    if (close == std::string_view::npos || word[close] == '{')
      return bad_brace(fmt::format("'{}' has a {{ without its }}", word));
    PERFLAB_TRY_VOID(placeholder(word.substr(brace + 1, close - brace - 1)));
    at = close + 1;
  }
  return {};
}

}  // namespace

Result<CommandTemplate> CommandTemplate::parse(std::string_view text,
                                               std::span<const std::string> known) {
  Result<std::vector<std::string>> words = split_command_line(text);
  if (!words)
    return std::unexpected(
        in_template(std::move(words).error(), text).with_remedy(std::string(kNoShell)));
  CommandTemplate result;
  result.text_ = text;
  for (const std::string& word : *words) {
    std::vector<Piece>& pieces = result.arguments_.emplace_back();
    const auto literal = [&](std::string_view part) {
      if (part.empty()) return;
      if (pieces.empty() || pieces.back().placeholder) pieces.emplace_back();
      pieces.back().text += part;
    };
    const auto placeholder = [&](std::string_view name) -> Result<void> {
      if (std::ranges::find(known, name) == known.end())
        return fail(ErrorCode::usage, fmt::format("{{{}}} is not a parameter", name),
                    fmt::format("there are: {}; {}", fmt::join(known, ", "), kBraceRemedy));
      pieces.push_back({.text = std::string(name), .placeholder = true});
      if (std::ranges::find(result.names_, name) == result.names_.end())
        result.names_.emplace_back(name);
      return {};
    };
    if (Result<void> read = read_word(word, literal, placeholder); !read)
      return std::unexpected(in_template(std::move(read).error(), text));
  }
  return result;
}

Result<std::vector<std::string>> CommandTemplate::fill(std::span<const Binding> values) const {
  std::vector<std::string> argv;
  for (const std::vector<Piece>& pieces : arguments_) {
    std::string& argument = argv.emplace_back();
    for (const Piece& piece : pieces) {
      if (!piece.placeholder) {
        argument += piece.text;
        continue;
      }
      const Value* value = bound_value(values, piece.text);
      PERFLAB_CHECK(value != nullptr);
      const std::string filled = to_text(*value);
      if (filled.find('\0') != std::string::npos)
        return fail(ErrorCode::bad_input,
                    fmt::format("the value of {} holds a NUL character: it cannot be an argument",
                                piece.text));
      argument += filled;
    }
  }
  return argv;
}

std::string CommandTemplate::fixed_program() const {
  if (arguments_.empty()) return {};
  std::string program;
  for (const Piece& piece : arguments_.front()) {
    if (piece.placeholder) return {};
    program += piece.text;
  }
  return program;
}

}  // namespace perflab::tune
