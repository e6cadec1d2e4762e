// Text out of a hostile file, for error messages.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace perflab::code {

/// The text in quotes, on one line and short: what is not printable ASCII becomes '?', and what is
/// beyond 100 characters "...".
inline std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMost = 100;
  std::string out = "\"";
  out += text.substr(0, kMost);
  std::ranges::replace_if(out, [](char c) { return c < ' ' || c > '~'; }, '?');
  out += text.size() > kMost ? "...\"" : "\"";
  return out;
}

}  // namespace perflab::code
