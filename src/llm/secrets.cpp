#include "llm/secrets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>

#include "base/system/environment.h"
#include "base/text/text.h"

namespace perflab::llm {
namespace {

std::map<std::string, std::string, std::less<>>& held() {
  static std::map<std::string, std::string, std::less<>> values;
  return values;
}

std::string key_value(const char* variable) {
  const auto found = held().find(variable);
  return found != held().end() ? found->second : environment(variable);
}

}  // namespace

void hold_keys() {
  for (const char* variable : kKeyVariables) {
    char* const value = std::getenv(variable);
    if (value == nullptr) continue;
    held()[variable] = value;
    ::explicit_bzero(value, std::strlen(value));
    ::unsetenv(variable);
  }
}

std::vector<std::pair<std::string, std::string>> held_keys() {
  std::vector<std::pair<std::string, std::string>> keys;
  for (const char* variable : kKeyVariables)
    if (const auto found = held().find(variable); found != held().end())
      keys.emplace_back(found->first, found->second);
  return keys;
}

Secrets Secrets::from_environment() {
  constexpr std::size_t kLeast = 8;
  Secrets secrets;
  for (const char* variable : kKeyVariables)
    if (const std::string value = key_value(variable); trimmed(value).size() >= kLeast)
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
  const std::string value = key_value(variable);
  const std::string_view key = trimmed(value);
  if (!std::ranges::all_of(key, [](char c) { return c > ' ' && c <= '~'; }))
    return fail(ErrorCode::usage,
                fmt::format("{} holds characters that no key has: blanks or line ends inside, or "
                            "others than ASCII's",
                            variable));
  return std::string(key);
}

}  // namespace perflab::llm
