#include "ranks/match/assemble.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace perflab::ranks {
namespace {

// An operation at a place.
struct Stands {
  std::uint32_t player = 0;
  std::uint32_t operation = 0;  ///< Unit::operations
};

// Operations by place: those of place p are within [begin[p], begin[p + 1]), by rank.
struct Places {
  std::vector<std::size_t> begin;
  std::vector<Stands> stands;
};

std::int64_t place_of_operation(const Player& player, std::size_t operation, std::int64_t first) {
  if (!player.places.empty()) return static_cast<std::int64_t>(player.places[operation]);
  return static_cast<std::int64_t>(operation) + *player.by - first;
}

Places places_of(const Team& team) {
  std::int64_t first = 0, last = -1;
  for (const Player& player : team.players) {
    if (!player.by) continue;
    if (player.places.empty()) first = std::min(first, *player.by);
  }
  for (const Player& player : team.players) {
    if (!player.by) continue;
    const std::size_t count = player.unit->operations.size();
    if (count == 0) continue;
    if (player.places.empty()) {
      last = std::max(last, place_of_operation(player, count - 1, first));
    } else {
      last = std::max<std::int64_t>(last,
                                    *std::max_element(player.places.begin(), player.places.end()));
    }
  }
  Places places;
  places.begin.assign(static_cast<std::size_t>(last + 2), 0);
  const auto each = [&](const auto& act) {
    for (std::uint32_t i = 0; i < team.players.size(); ++i) {
      const Player& player = team.players[i];
      if (!player.by) continue;
      for (std::uint32_t k = 0; k < player.unit->operations.size(); ++k) {
        act(static_cast<std::size_t>(place_of_operation(player, k, first)), Stands{i, k});
      }
    }
  };
  each([&](std::size_t place, const Stands&) { ++places.begin[place + 1]; });
  for (std::size_t i = 1; i < places.begin.size(); ++i) places.begin[i] += places.begin[i - 1];
  places.stands.resize(places.begin.back());
  std::vector<std::size_t> next = places.begin;
  each([&](std::size_t place, const Stands& of) { places.stands[next[place]++] = of; });
  return places;
}

// What most of those at a place have; of equally many, what the lowest rank has.
std::uint32_t token_of_most(const Team& team, std::span<const Stands> stands) {
  const auto token = [&](const Stands& of) {
    return team.players[of.player].unit->tokens[of.operation];
  };
  const std::uint32_t first = token(stands.front());
  if (std::all_of(stands.begin(), stands.end(),
                  [&](const Stands& of) { return token(of) == first; })) {
    return first;
  }
  std::map<std::uint32_t, std::size_t> counts;
  for (const Stands& of : stands) ++counts[token(of)];
  std::uint32_t best = first;
  for (const auto& [value, count] : counts) {
    if (count > counts[best]) best = value;
  }
  return best;
}

bool is_whole(const Team& team, std::size_t members, bool all_ranks_there) {
  if (team.size) return static_cast<std::int64_t>(members) == *team.size;
  return all_ranks_there && members == team.players.size();
}

// The root where the recordings say it.
std::optional<RankIndex> root_of(std::span<const RankSummary> ranks, const Team& team,
                                 const Collective& operation) {
  const Waits waits = info(operation.kind).waits;
  if (waits != Waits::for_root && waits != Waits::root_waits) return std::nullopt;
  if (!operation.root) return std::nullopt;
  return rank_of(ranks, team, *operation.root);
}

Group group_of(const Team& team) {
  Group group;
  group.key = team.key;
  group.id = team.id;
  group.size = team.size;
  for (const Player& player : team.players) {
    group.ranks.push_back(player.unit->rank);
    group.assumed_starts += player.by && player.assumed ? 1U : 0U;
  }
  group.offsets.assign(team.players.size(), 0);
  return group;
}

// Counts what each placed player has before `place`, the first common one.
void set_offsets(const Team& team, const Places& places, std::size_t place, Group& group) {
  std::vector<std::int64_t> before(team.players.size(), 0);
  if (place + 1 < places.begin.size()) {
    for (std::size_t i = 0; i < places.begin[place]; ++i) ++before[places.stands[i].player];
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    group.offsets[i] = team.players[i].by ? before[i] : -1;
  }
}

void add_unplaced(const Team& team, Matching& to) {
  for (const Player& player : team.players) {
    if (player.by && !team.unknown) continue;
    for (const std::uint32_t index : player.unit->operations) {
      to.unmatched.push_back(
          {{player.unit->rank, index}, team.unknown ? Unmatched::group_unknown : player.why});
    }
  }
}

}  // namespace

std::optional<RankIndex> rank_of(std::span<const RankSummary> ranks, const Team& team,
                                 std::int64_t number) {
  if (number < 0) return std::nullopt;
  const auto at = static_cast<std::size_t>(number);
  if (!team.members.empty()) {
    if (at >= team.members.size()) return std::nullopt;
    for (const Player& player : team.players) {
      if (ranks[player.unit->rank].identity.facts.rank == team.members[at]) {
        return player.unit->rank;
      }
    }
    return std::nullopt;
  }
  // Ranks of a communicator are numbered as those of the job, where nothing says otherwise; and
  // where those of the job have numbers, in whose order they stand.
  if (!team.size || *team.size != static_cast<std::int64_t>(team.players.size()) ||
      at >= team.players.size() || !team.numbered) {
    return std::nullopt;
  }
  return team.players[at].unit->rank;
}

std::vector<std::int64_t> missing_ranks(std::span<const RankSummary> ranks) {
  std::set<std::int64_t> there, wanted;
  for (const RankSummary& rank : ranks) {
    if (rank.identity.facts.rank) there.insert(*rank.identity.facts.rank);
    for (const Communicator& of : rank.communicators) {
      wanted.insert(of.members.begin(), of.members.end());
    }
  }
  std::vector<std::int64_t> missing;
  if (there.empty()) return missing;
  // A job of more ranks than this is a misread number.
  constexpr std::int64_t kMostRanks = 1 << 20;
  std::int64_t size = 0;
  for (const RankSummary& rank : ranks) {
    size = std::max(size, std::min(rank.identity.facts.size.value_or(0), kMostRanks));
  }
  for (std::int64_t i = 0; i < size; ++i) wanted.insert(i);
  std::set_difference(wanted.begin(), wanted.end(), there.begin(), there.end(),
                      std::back_inserter(missing));
  return missing;
}

void add_team(std::span<const RankSummary> ranks, const Team& team, Matching& to) {
  const auto number = static_cast<std::uint32_t>(to.groups.size());
  Group& group = to.groups.emplace_back(group_of(team));
  add_unplaced(team, to);
  if (team.unknown) {
    std::fill(group.offsets.begin(), group.offsets.end(), -1);
    return;
  }
  const Places places = places_of(team);
  std::size_t placed = 0;
  for (const Player& player : team.players) placed += player.by ? 1U : 0U;
  std::optional<std::size_t> common;
  for (std::size_t place = 0; place + 1 < places.begin.size(); ++place) {
    const std::span<const Stands> stands =
        std::span(places.stands)
            .subspan(places.begin[place], places.begin[place + 1] - places.begin[place]);
    if (stands.empty()) continue;
    const std::uint32_t token = token_of_most(team, stands);
    Matched matched;
    matched.group = number;
    std::vector<Member> others;
    matched.members.reserve(stands.size());
    for (const Stands& of : stands) {
      const Unit& unit = *team.players[of.player].unit;
      const bool agrees = unit.tokens[of.operation] == token;
      (agrees ? matched.members : others).push_back({unit.rank, unit.operations[of.operation]});
    }
    for (const Member& member : others) to.unmatched.push_back({member, Unmatched::disagrees});
    if (matched.members.size() < 2 && team.size != 1) {
      for (const Member& member : matched.members) {
        to.unmatched.push_back(
            {member, others.empty() ? Unmatched::no_partner : Unmatched::disagrees});
      }
      continue;
    }
    const Member& first = matched.members.front();
    const Collective& operation = ranks[first.rank].collectives[first.collective];
    matched.kind = operation.kind;
    matched.complete = is_whole(team, matched.members.size(), to.missing_ranks.empty());
    matched.root = root_of(ranks, team, operation);
    if (!common && matched.members.size() == placed) common = place;
    to.operations.push_back(std::move(matched));
  }
  set_offsets(team, places, common.value_or(0), group);
}

}  // namespace perflab::ranks
