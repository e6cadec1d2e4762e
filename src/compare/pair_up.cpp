#include "compare/pair_up.h"

#include <map>
#include <string>

namespace perflab::compare {

Pairs pair_up(const SampleSide& a, const SampleSide& b) {
  Pairs pairs;
  std::vector<bool> taken_a(a.series.size()), taken_b(b.series.size());
  for (const auto member : {&SampleSeries::name, &SampleSeries::mangled_name}) {
    std::map<std::string, std::size_t> places;
    for (std::size_t j = 0; j < b.series.size(); ++j)
      if (!taken_b[j] && !(b.series[j].*member).empty()) places.emplace(b.series[j].*member, j);
    for (std::size_t i = 0; i < a.series.size(); ++i) {
      if (taken_a[i]) continue;
      const auto found = places.find(a.series[i].*member);
      if (found == places.end()) continue;
      pairs.emplace_back(i, found->second);
      taken_a[i] = taken_b[found->second] = true;
      places.erase(found);
    }
  }
  if (pairs.empty() && a.series.size() == 1 && b.series.size() == 1) pairs.emplace_back(0, 0);
  return pairs;
}

}  // namespace perflab::compare
