#include "trace/rank_variables.h"

#include <cstdlib>

#include "base/rank_variables.h"
#include "base/text/numbers.h"

namespace perflab::trace {
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
