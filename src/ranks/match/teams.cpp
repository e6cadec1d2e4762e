#include "ranks/match/teams.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "ranks/match/line.h"
#include "ranks/values/numbering.h"
#include "stats/median.h"

namespace perflab::ranks {
namespace {

// Spreads of exits further apart than this many times are those of other communicators, from 20 us
// on, where no spread of one communicator's exits is (docs/facts/ranks.md "Clocks").
constexpr double kApart = 4;
constexpr double kApartFrom = 20'000;

// Who fits by chance (docs/models/ranks_matching.md "Groups"). Not asked is who is about as near as
// the nearest unit, or was compared in so few operations that nothing is proved.
constexpr double kAsNear = 1.5;
constexpr double kLeastNear = 1000;  // ns: times are no finer
constexpr double kCloser = 2;        // so many times closer are a stranger's own
constexpr double kOwnLast = 2;       // by so much less than the spread the shortest stays differ
constexpr std::size_t kFewestCompared = 8;
// So many units speak for each side: what bounds the cost.
constexpr std::size_t kWitnesses = 7;

const Communicator& communicator(std::span<const RankSummary> ranks, const Unit& unit) {
  return ranks[unit.rank].communicators[unit.communicator];
}

// Units that may be of one communicator.
struct Bucket {
  KeySource key = KeySource::kernels;
  std::string id;
  std::vector<std::int64_t> members;
  std::int64_t size = -1;
  friend auto operator<=>(const Bucket&, const Bucket&) = default;
};

bool has_rank_twice(std::span<Unit* const> units) {
  for (std::size_t i = 1; i < units.size(); ++i) {
    if (units[i]->rank == units[i - 1]->rank) return true;
  }
  return false;
}

// The numbers of a unit's operations, where each has another.
std::optional<std::vector<std::int64_t>> sequence_of(std::span<const RankSummary> ranks,
                                                     const Unit& unit) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(unit.operations.size());
  for (const std::uint32_t index : unit.operations) {
    const auto number = ranks[unit.rank].collectives[index].sequence;
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  std::vector<std::int64_t> sorted = numbers;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return std::nullopt;
  return numbers;
}

// Places by the numbers that the recordings give; false where one has none.
bool place_by_sequence(const Judge& judge, Team& team) {
  const std::span<const RankSummary> ranks = judge.ranks();
  std::vector<std::vector<std::int64_t>> numbers;
  std::vector<std::int64_t> all;
  for (const Player& player : team.players) {
    auto own = sequence_of(ranks, *player.unit);
    if (!own) return false;
    std::vector<std::int64_t> sorted = *own;
    std::sort(sorted.begin(), sorted.end());
    if (!std::includes(all.begin(), all.end(), sorted.begin(), sorted.end())) {
      std::vector<std::int64_t> both;
      std::set_union(all.begin(), all.end(), sorted.begin(), sorted.end(),
                     std::back_inserter(both));
      all = std::move(both);
    }
    numbers.push_back(std::move(*own));
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    Player& player = team.players[i];
    if (judge.denied(*player.unit) > 0) {
      player.why = Unmatched::denied_by_times;
      continue;
    }
    player.by = 0;
    player.places.reserve(numbers[i].size());
    for (const std::int64_t number : numbers[i]) {
      player.places.push_back(static_cast<std::uint32_t>(
          std::lower_bound(all.begin(), all.end(), number) - all.begin()));
    }
  }
  return true;
}

// Places of all players against one of them; how many have one.
std::size_t place_against(Judge& judge, Team& team, std::size_t reference) {
  std::size_t placed = 0;
  for (std::size_t i = 0; i < team.players.size(); ++i) {
    Player& player = team.players[i];
    if (i == reference) {
      player.by = 0;
      player.assumed = false;
    } else {
      const Place place = judge.place(*team.players[reference].unit, *player.unit);
      player.by = place.by;
      player.why = place.why;
      player.assumed = place.assumed;
    }
    if (player.by) ++placed;
  }
  return placed;
}

// Places without numbers: against the player with most operations, or a next one where less than
// half of the players find a place against it.
void place_by_order(Judge& judge, Team& team) {
  constexpr std::size_t kTries = 3;
  std::vector<std::size_t> order(team.players.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t l, std::size_t r) {
    return team.players[l].unit->operations.size() > team.players[r].unit->operations.size();
  });
  std::size_t most = 0, best = 0, last = 0;
  for (std::size_t i = 0; i < std::min(kTries, order.size()); ++i) {
    last = order[i];
    const std::size_t placed = place_against(judge, team, last);
    if (placed > most) {
      most = placed;
      best = last;
    }
    if (2 * placed > team.players.size()) break;
  }
  if (best != last) place_against(judge, team, best);
}

void place_all(Judge& judge, Team& team) {
  if (!place_by_sequence(judge, team)) place_by_order(judge, team);
}

// A unit of another rank that fits one.
struct Fits {
  Unit* unit = nullptr;
  TimesOf times;
  std::int64_t by = 0;  // its place against that one
};

// The units that fit `first`, one a rank, closest exits first.
std::vector<Fits> fitting(Judge& judge, Unit& first, std::span<Unit* const> others) {
  std::map<RankIndex, Fits> by_rank;
  for (Unit* other : others) {
    if (other->rank == first.rank) continue;
    const Place place = judge.place(first, *other);
    if (!place.by) continue;
    const auto [at, fresh] = by_rank.try_emplace(other->rank, Fits{other, place.times, *place.by});
    if (!fresh && place.times.spread < at->second.times.spread)
      at->second = {other, place.times, *place.by};
  }
  std::vector<Fits> fits;
  fits.reserve(by_rank.size());
  for (const auto& [rank, fit] : by_rank) fits.push_back(fit);
  std::stable_sort(fits.begin(), fits.end(),
                   [](const Fits& l, const Fits& r) { return l.times.spread < r.times.spread; });
  return fits;
}

// Whether two units contradict each other: no place, or another one than a third unit gives.
bool contradict(Judge& judge, const Fits& one, const Fits& other) {
  const Place place = judge.place(*one.unit, *other.unit);
  if (!place.by)
    return place.why == Unmatched::denied_by_times || place.why == Unmatched::disagrees;
  return *place.by != other.by - one.by;
}

// How long a unit stayed in the operation at place `at` of the first; null: it has none there.
std::optional<std::int64_t> stay_at(std::span<const RankSummary> ranks, const Fits& fit,
                                    std::int64_t at) {
  const std::int64_t own = at - fit.by;
  if (own < 0 || own >= static_cast<std::int64_t>(fit.unit->operations.size())) return std::nullopt;
  const Collective& of =
      ranks[fit.unit->rank].collectives[fit.unit->operations[static_cast<std::size_t>(own)]];
  return of.exit - of.entry;
}

// The median difference of the shortest stays of two sets, operation by operation, ns. The last to
// come stays shortest: of one communicator it is in one of the sets, and the other's shortest stay
// is longer by what it waited; of two communicators each set has a last of its own.
double shortest_apart(std::span<const RankSummary> ranks, std::span<const Fits> one,
                      std::span<const Fits> other, std::size_t operations) {
  constexpr std::size_t kStays = 256;
  std::vector<double> apart;
  const auto shortest = [&](std::span<const Fits> of, std::int64_t at) {
    std::optional<std::int64_t> least;
    for (const Fits& fit : of) {
      const auto stay = stay_at(ranks, fit, at);
      if (stay) least = std::min(least.value_or(*stay), *stay);
    }
    return least;
  };
  const std::size_t count = std::min(operations, kStays);
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::int64_t>(i * operations / count);
    const auto left = shortest(one, at), right = shortest(other, at);
    if (left && right) apart.push_back(std::abs(static_cast<double>(*left - *right)));
  }
  return apart.empty() ? kApartFrom : stats::upper_median(apart);
}

// Units that are much closer to `fit` than it is to the first: those that it may belong to.
std::vector<Fits> closer_to(Judge& judge, const Fits& fit, std::span<Unit* const> units) {
  std::vector<Unit*> order(units.begin(), units.end());
  const auto away = [&](const Unit* unit) {
    return unit->rank > fit.unit->rank ? unit->rank - fit.unit->rank : fit.unit->rank - unit->rank;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const Unit* l, const Unit* r) { return away(l) < away(r); });
  std::vector<Fits> closer = {fit};
  for (Unit* unit : order) {
    if (unit->rank == fit.unit->rank) continue;
    const Place place = judge.place(*fit.unit, *unit);
    if (!place.by || kCloser * place.times.spread > fit.times.spread) continue;
    closer.push_back({unit, place.times, fit.by + *place.by});
    if (closer.size() > kWitnesses) break;
  }
  return closer;
}

// Takes out of `fits` who fits `first` by chance. Of one communicator every two units fit; and a
// unit that has others much closer to it, with a last of their own, is of theirs.
void take_strangers_out(Judge& judge, Unit& first, std::span<Unit* const> units,
                        std::vector<Fits>& fits) {
  if (fits.empty()) return;
  const double near = kAsNear * std::max(fits.front().times.spread, kLeastNear);
  std::vector<Fits> kept = {{&first, {}, 0}};
  std::set<const Unit*> known, strangers;
  for (const Fits& fit : fits) {
    if (fit.times.points < kFewestCompared || fit.times.spread <= near ||
        known.contains(fit.unit)) {
      kept.push_back(fit);
      continue;
    }
    if (strangers.contains(fit.unit)) continue;
    const auto witnesses = std::span(kept).first(std::min(kept.size(), kWitnesses + 1)).subspan(1);
    if (std::any_of(witnesses.begin(), witnesses.end(),
                    [&](const Fits& witness) { return contradict(judge, witness, fit); }))
      continue;
    const std::vector<Fits> closer = closer_to(judge, fit, units);
    const bool strange =
        closer.size() > 1 &&
        kOwnLast * shortest_apart(judge.ranks(), std::span(kept), closer, first.operations.size()) <
            fit.times.spread;
    for (const Fits& of : closer) (strange ? strangers : known).insert(of.unit);
    if (!strange) kept.push_back(fit);
  }
  fits.assign(kept.begin() + 1, kept.end());
}

bool is_apart(const Fits& near, const Fits& far) {
  return far.times.spread > kApartFrom &&
         far.times.spread > kApart * std::max(near.times.spread, kApartFrom / kApart);
}

// How many of the fitting units are of the same communicator; null: not to be told.
std::optional<std::size_t> belonging(std::span<const Fits> fits, std::optional<std::int64_t> size) {
  if (size && *size >= 1) {
    const auto others = static_cast<std::size_t>(*size - 1);
    if (fits.size() <= others) return fits.size();
    if (others == 0 || is_apart(fits[others - 1], fits[others])) return others;
    return std::nullopt;
  }
  for (std::size_t i = 1; i < fits.size(); ++i) {
    if (is_apart(fits[i - 1], fits[i])) return i;
  }
  return fits.size();
}

Team unknown_team(const Bucket& bucket, std::optional<std::int64_t> size, Unit& unit) {
  Team team{bucket.key, bucket.id, size, bucket.members, {}, true};
  team.players.push_back({&unit, {}, Unmatched::group_unknown, {}});
  return team;
}

// A bucket with units of several communicators: those whose values and exits agree.
void split(Judge& judge, const Bucket& bucket, std::vector<Unit*> units, std::vector<Team>& teams) {
  const std::optional<std::int64_t> size =
      bucket.size < 0 ? std::nullopt : std::optional(bucket.size);
  while (!units.empty()) {
    Unit* first = units.front();
    std::vector<Fits> fits = fitting(judge, *first, units);
    take_strangers_out(judge, *first, units, fits);
    const auto count = belonging(fits, size);
    if (!count) {
      for (Unit* unit : units) teams.push_back(unknown_team(bucket, size, *unit));
      return;
    }
    if (*count == 0 && size != 1) {
      teams.push_back(unknown_team(bucket, size, *first));
      units.erase(units.begin());
      continue;
    }
    Team team{bucket.key, bucket.id, size, bucket.members, {}, false};
    std::vector<Unit*> taken = {first};
    for (std::size_t i = 0; i < *count; ++i) taken.push_back(fits[i].unit);
    std::sort(taken.begin(), taken.end(),
              [](const Unit* l, const Unit* r) { return l->rank < r->rank; });
    for (Unit* unit : taken) team.players.push_back({unit, {}, Unmatched::group_unknown, {}});
    place_all(judge, team);
    teams.push_back(std::move(team));
    std::erase_if(units, [&](const Unit* unit) {
      return std::find(taken.begin(), taken.end(), unit) != taken.end();
    });
  }
}

}  // namespace

bool say_same_machine(const RankIdentity& one, const RankIdentity& other) {
  return !one.machine_id.empty() && one.machine_id == other.machine_id &&
         one.hostname == other.hostname;
}

void Judge::clocks_of_pair(RankIndex reference, RankIndex other, Pair& pair) const {
  if (options_.known != nullptr) {
    const Clocks& known = *options_.known;
    const auto& operations = pair.other->collectives;
    if (operations.empty()) return;
    const std::int64_t at = operations[operations.size() / 2].exit;
    if (const auto error = known.error(other, reference, at)) {
      const std::int64_t common = known.aligned(other, at);
      const std::int64_t there = common - std::llround(known.ranks[reference].offset);
      pair.theta = common - at - (known.aligned(reference, there) - there);
      pair.theta_to = *error;
      return;
    }
  }
  if (say_same_machine(ranks_[reference].identity, ranks_[other].identity)) {
    pair.theta_to = kOneMachine;
  }
}

Place Judge::place(const Unit& reference, const Unit& other) {
  Pair pair;
  pair.reference = &ranks_[reference.rank];
  pair.other = &ranks_[other.rank];
  pair.reference_operations = reference.operations;
  pair.other_operations = other.operations;
  pair.reference_tokens = reference.tokens;
  pair.other_tokens = other.tokens;
  clocks_of_pair(reference.rank, other.rank, pair);
  const auto [at, fresh] = shifts_.try_emplace(
      {reference.token_hash, other.token_hash, reference.tokens.size(), other.tokens.size()});
  if (fresh) at->second = agreeing_shifts(reference.tokens, other.tokens, options_.farthest);
  return place_of(pair, at->second, std::max(denied(reference), denied(other)));
}

std::uint32_t Judge::denied(const Unit& unit) const {
  for (const Denied& of : options_.denied) {
    if (of.rank == unit.rank && of.communicator == unit.communicator) return of.places;
  }
  return 0;
}

std::vector<Team> teams_of(std::vector<Unit>& units, const CommonNames& names, Judge& judge) {
  std::map<Bucket, std::vector<Unit*>> buckets;
  for (Unit& unit : units) {
    const Communicator& of = communicator(judge.ranks(), unit);
    Bucket bucket{of.key, of.id, of.members, of.size.value_or(-1)};
    if (!of.members.empty()) bucket.size = static_cast<std::int64_t>(of.members.size());
    buckets[bucket].push_back(&unit);
  }
  std::vector<Team> teams;
  for (const auto& [bucket, of] : buckets) {
    judge.next_bucket();
    give_tokens(judge.ranks(), names, of);
    const bool one = !has_rank_twice(of) &&
                     (!bucket.members.empty() ||
                      (!bucket.id.empty() &&
                       (bucket.size < 0 || static_cast<std::int64_t>(of.size()) <= bucket.size)));
    if (one) {
      Team team{bucket.key, bucket.id, {}, bucket.members, {}, false};
      if (bucket.size >= 0) team.size = bucket.size;
      for (Unit* unit : of) team.players.push_back({unit, {}, Unmatched::group_unknown, {}});
      place_all(judge, team);
      teams.push_back(std::move(team));
    } else {
      split(judge, bucket, of, teams);
    }
  }
  const bool numbered = number_each(judge.ranks());
  for (Team& team : teams) team.numbered = numbered;
  return teams;
}

}  // namespace perflab::ranks
