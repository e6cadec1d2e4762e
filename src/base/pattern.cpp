// RE2 behind Pattern. Latin-1 mode: names in damaged files are bytes, not always UTF-8.
#include "base/pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

namespace perflab {

Result<Pattern> Pattern::compile(std::string_view text) {
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  auto compiled = std::make_shared<const RE2>(re2::StringPiece(text.data(), text.size()), options);
  if (!compiled->ok())
    return fail(ErrorCode::usage,
                fmt::format("'{}' is not a regular expression: {}", text, compiled->error()));
  return Pattern(std::move(compiled));
}

bool Pattern::found_in(std::string_view text) const {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

const std::string& Pattern::text() const {
  return compiled_->pattern();
}

}  // namespace perflab
