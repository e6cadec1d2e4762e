#include "ranks/match/match.h"

#include <algorithm>

#include "ranks/match/assemble.h"
#include "ranks/match/order.h"
#include "ranks/match/teams.h"
#include "ranks/match/units.h"

namespace perflab::ranks {

Matching match(std::span<const RankSummary> ranks, const MatchOptions& options) {
  Matching matching;
  matching.missing_ranks = missing_ranks(ranks);
  {
    std::vector<Unit> units = units_of(ranks);
    const CommonNames names(ranks);
    Judge judge(ranks, options);
    for (const Team& team : teams_of(units, names, judge)) {
      add_team(ranks, team, matching);
      add_pairs(judge, team, static_cast<std::uint32_t>(matching.groups.size() - 1), matching);
    }
  }
  order_operations(ranks, matching);
  std::sort(matching.unmatched.begin(), matching.unmatched.end(),
            [](const NotMatched& l, const NotMatched& r) { return l.member < r.member; });
  return matching;
}

}  // namespace perflab::ranks
