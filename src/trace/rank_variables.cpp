#include "trace/rank_variables.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>

#include "base/rank_variables.h"
#include "base/text/numbers.h"

namespace perflab::trace {
namespace {

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_separator(char c) {
  return c == '_' || c == '-' || c == '.';
}

/// The numbers behind the word "rank" in a name.
std::set<std::int64_t> ranks_in(std::string name) {
  constexpr std::string_view kWord = "rank";
  constexpr std::string_view kLocal = "local";
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::set<std::int64_t> found;
  for (std::size_t at = name.find(kWord); at != std::string::npos; at = name.find(kWord, at + 1)) {
    if (at > 0 && (is_letter(name[at - 1]) || is_digit(name[at - 1]))) continue;
    if (at > 0 && std::string_view(name).substr(0, at - 1).ends_with(kLocal)) continue;
    std::size_t begin = at + kWord.size();
    if (begin < name.size() && is_separator(name[begin])) ++begin;
    std::size_t end = begin;
    while (end < name.size() && is_digit(name[end])) ++end;
    if (end < name.size() && is_letter(name[end])) continue;
    const auto number =
        whole_number<std::int64_t>(std::string_view(name).substr(begin, end - begin));
    if (number) found.insert(*number);
  }
  return found;
}

}  // namespace

RankFacts rank_of_name(const std::filesystem::path& file) {
  std::set<std::int64_t> numbers = ranks_in(file.filename().string());
  if (numbers.empty()) numbers = ranks_in(file.parent_path().filename().string());
  if (numbers.size() != 1) return {};
  return {.rank = *numbers.begin(), .size = {}, .local_rank = {}, .from = std::string(kFileName)};
}

RankFacts rank_of(const std::function<std::optional<std::string>(std::string_view name)>& value) {
  const auto number = [&](std::string_view name) -> std::optional<std::int64_t> {
    if (name.empty()) return std::nullopt;
    const std::optional<std::string> text = value(name);
    const auto found = text ? whole_number<std::int64_t>(*text) : std::nullopt;
    return found && *found >= 0 ? found : std::nullopt;
  };
  for (const RankVariables& names : kRankVariables) {
    const auto rank = number(names.rank);
    const auto size = number(names.size);
    if (!rank || (names.needs_size && !size) || (size && *rank >= *size)) continue;
    return {.rank = rank,
            .size = size,
            .local_rank = number(names.local_rank),
            .from = std::string(names.rank)};
  }
  return {};
}

RankFacts rank_of_this_process() {
  return rank_of([](std::string_view name) -> std::optional<std::string> {
    const char* text = std::getenv(std::string(name).c_str());
    return text == nullptr ? std::nullopt : std::optional<std::string>(text);
  });
}

}  // namespace perflab::trace
