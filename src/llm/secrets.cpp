#include "llm/secrets.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/environment.h"
#include "base/text.h"

namespace perflab::llm {

Secrets Secrets::from_environment() {
  constexpr std::size_t kLeast = 8;
  Secrets secrets;
  for (const char* variable : kKeyVariables)
    if (const std::string value = environment(variable); trimmed(value).size() >= kLeast)
      secrets.values_.emplace_back(trimmed(value));
  std::ranges::sort(secrets.values_, std::ranges::greater(), &std::string::size);
  return secrets;
}

std::string Secrets::without(std::string text) const {
  constexpr std::string_view kInstead = "[key]";
  for (const std::string& value : values_)
    for (std::size_t at = 0; (at = text.find(value, at)) != std::string::npos;
         at += kInstead.size())
      text.replace(at, value.size(), kInstead);
  return text;
}

Result<std::string> read_key(const char* variable) {
  const std::string value = environment(variable);
  const std::string_view key = trimmed(value);
  if (!std::ranges::all_of(key, [](char c) { return c > ' ' && c <= '~'; }))
    return fail(ErrorCode::usage,
                fmt::format("{} holds characters that no key has: blanks or line ends inside, or "
                            "others than ASCII's",
                            variable));
  return std::string(key);
}

}  // namespace perflab::llm
