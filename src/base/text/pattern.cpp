// RE2 behind Pattern. Latin-1 mode: names in damaged files are bytes, not always UTF-8.
#include "base/text/pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <array>

namespace perflab {

struct Pattern::Compiled {
  Compiled(std::string_view given, std::string_view pattern, const RE2::Options& options)
      : text(given), expression(re2::StringPiece(pattern.data(), pattern.size()), options) {}
  std::string text;
  RE2 expression;
};

Result<Pattern> Pattern::compile(std::string_view text, PatternScope scope) {
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  std::string pattern(text);
  if (scope == PatternScope::lines) {
    options.set_never_nl(true);
    pattern.insert(0, "(?m)");
  }
  auto compiled = std::make_shared<const Compiled>(text, pattern, options);
  if (!compiled->expression.ok())
    return fail(
        ErrorCode::usage,
        fmt::format("'{}' is not a regular expression: {}", text, compiled->expression.error()),
        "a backslash before ( [ { * + ? . $ ^ | makes them plain");
  return Pattern(std::move(compiled));
}

bool Pattern::found_in(std::string_view text) const {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), compiled_->expression);
}

int Pattern::groups() const {
  return compiled_->expression.NumberOfCapturingGroups();
}

std::vector<std::string_view> Pattern::first_groups(std::string_view text, std::size_t most) const {
  PERFLAB_CHECK(groups() > 0);
  std::vector<std::string_view> found;
  const re2::StringPiece whole(text.data(), text.size());
  std::array<re2::StringPiece, 2> match;
  std::size_t at = 0;
  while (at <= text.size() && found.size() < most &&
         compiled_->expression.Match(whole, at, text.size(), RE2::UNANCHORED, match.data(), 2)) {
    found.emplace_back(match[1].data() == nullptr
                           ? std::string_view()
                           : std::string_view(match[1].data(), match[1].size()));
    const auto end = static_cast<std::size_t>(match[0].data() - text.data()) + match[0].size();
    at = match[0].empty() ? end + 1 : end;  // an empty match must not be found again
  }
  return found;
}

const std::string& Pattern::text() const {
  return compiled_->text;
}

std::string quoted_pattern(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace perflab
