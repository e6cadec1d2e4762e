// Samples without repetition. Robert Floyd's method: Bentley and Floyd, "A sample of brilliance",
// Communications of the ACM 30 (1987).
#include "tune/model/search_random.h"

#include <algorithm>
#include <set>
#include <utility>

namespace perflab::tune {

std::vector<std::size_t> Random::sample(std::size_t size, std::size_t count) {
  count = std::min(count, size);
  std::set<std::size_t> taken;
  std::vector<std::size_t> picks;
  picks.reserve(count);
  for (std::size_t last = size - count; last < size; ++last) {
    std::size_t pick = below(last + 1);
    if (!taken.insert(pick).second) {
      pick = last;
      taken.insert(pick);
    }
    picks.push_back(pick);
  }
  for (std::size_t i = picks.size(); i > 1; --i) std::swap(picks[i - 1], picks[below(i)]);
  return picks;
}

}  // namespace perflab::tune
