#include "ranks/values/numbering.h"

#include <algorithm>

namespace perflab::ranks {

bool number_each(std::vector<std::optional<std::int64_t>> numbers) {
  std::ranges::sort(numbers);  // what has none comes first
  return (numbers.empty() || numbers.front()) &&
         std::ranges::adjacent_find(numbers) == numbers.end();
}

bool number_each(std::span<const RankSummary> ranks) {
  std::vector<std::optional<std::int64_t>> numbers;
  numbers.reserve(ranks.size());
  for (const RankSummary& rank : ranks) numbers.push_back(rank.identity.facts.rank);
  return number_each(std::move(numbers));
}

}  // namespace perflab::ranks
