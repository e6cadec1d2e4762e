// Figures of one operation: waits by durations and by clocks, the last arriver, transfer, bytes.
// Model: docs/models/ranks.md "Figures"; facts: docs/facts/ranks.md "Which collectives wait how".
#include <algorithm>
#include <cmath>
#include <limits>

#include "ranks/figures/figures.h"
#include "ranks/figures/rules.h"

namespace perflab::ranks {
namespace {

/// The times of an operation's members.
struct Times {
  std::vector<std::int64_t> entry, exit;  ///< on the members' clocks
  std::vector<std::int64_t> came, left;   ///< aligned; empty: no common zone
  [[nodiscard]] bool one_zone() const { return !came.empty(); }
};

Times times_of(std::span<const RankSummary> ranks, const Matched& matched, const Clocks& clocks) {
  Times times;
  for (const Member& member : matched.members) {
    const Collective& own = ranks[member.rank].collectives[member.collective];
    times.entry.push_back(own.entry);
    times.exit.push_back(own.exit);
  }
  const auto zone = [&](const Member& member) { return clocks.ranks[member.rank].zone; };
  const bool known = std::ranges::all_of(
      matched.members, [&](const Member& member) { return member.rank < clocks.ranks.size(); });
  if (!known || std::ranges::any_of(matched.members, [&](const Member& member) {
        return zone(member) != zone(matched.members.front());
      }))
    return times;
  for (std::size_t i = 0; i < matched.members.size(); ++i) {
    const RankIndex rank = matched.members[i].rank;
    times.came.push_back(clocks.aligned(rank, times.entry[i]));
    times.left.push_back(clocks.aligned(rank, times.exit[i]));
  }
  return times;
}

/// Places of members: who is waited for, and who waits.
struct Roles {
  std::vector<std::size_t> awaited, waiting;
};

Roles roles_of(const Matched& matched) {
  Roles roles;
  const Waits waits = info(matched.kind).waits;
  const std::size_t count = matched.members.size();
  if (waits == Waits::unknown || count < 2) return roles;
  if (waits == Waits::everyone) {
    for (std::size_t i = 0; i < count; ++i) {
      roles.awaited.push_back(i);
      roles.waiting.push_back(i);
    }
    return roles;
  }
  const auto is_root = [&](std::size_t i) { return matched.root == matched.members[i].rank; };
  bool has_root = false;
  for (std::size_t i = 0; i < count; ++i) has_root = has_root || is_root(i);
  if (!has_root) return roles;
  for (std::size_t i = 0; i < count; ++i)
    (is_root(i) == (waits == Waits::root_waits) ? roles.waiting : roles.awaited).push_back(i);
  return roles;
}

/// Latest less earliest, with the error of the two; null without a bound.
std::optional<Uncertain> skew(const Matched& matched, const Clocks& clocks,
                              const std::vector<std::int64_t>& own,
                              const std::vector<std::int64_t>& aligned) {
  if (aligned.empty()) return std::nullopt;
  const auto [low, high] = std::ranges::minmax_element(aligned);
  const auto first = static_cast<std::size_t>(low - aligned.begin());
  const auto last = static_cast<std::size_t>(high - aligned.begin());
  const auto error =
      clocks.error(matched.members[first].rank, matched.members[last].rank, own[first]);
  if (!error) return std::nullopt;
  return Uncertain{*high - *low, *error};
}

/// What durations alone say, of kinds in which everyone waits for everyone.
void by_durations(const Matched& matched, OperationFigures& out) {
  if (matched.members.size() < 2) return;
  for (MemberFigures& member : out.members)
    member.wait_by_durations = Uncertain{member.duration - out.shortest, out.exits_apart};
  const auto shorter = [](const MemberFigures& left, const MemberFigures& right) {
    return left.duration < right.duration;
  };
  const auto last = std::ranges::min_element(out.members, shorter);
  std::int64_t second = std::numeric_limits<std::int64_t>::max();
  for (const MemberFigures& member : out.members)
    if (member.rank != last->rank) second = std::min(second, member.duration);
  const Uncertain margin{second - last->duration, out.exits_apart};
  if (margin.value <= margin.error) return;
  out.last = last->rank;
  out.last_by = Tier::durations;
  out.last_margin = margin;
}

/// The last of those that are waited for, and how sure that is.
struct Latest {
  std::size_t place = 0;
  std::int64_t came = 0;
  std::int64_t slack = 0;  ///< ns by which another one may have come later still
  bool decided = true;
  Uncertain margin;  ///< to the second latest
};

/// Null: no bound between some two. `others`: whom the margin counts too (a root that waits).
std::optional<Latest> latest_of(const Matched& matched, const Clocks& clocks, const Times& times,
                                const std::vector<std::size_t>& awaited,
                                const std::vector<std::size_t>& others) {
  Latest found;
  found.place = *std::ranges::max_element(awaited, [&](std::size_t left, std::size_t right) {
    return times.came[left] < times.came[right];
  });
  found.came = times.came[found.place];
  std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = low, value = low;
  const auto against = [&](std::size_t place, bool may_be_last) {
    if (place == found.place) return true;
    const auto error = clocks.error(matched.members[place].rank, matched.members[found.place].rank,
                                    times.entry[place]);
    if (!error) return false;
    const std::int64_t ahead = found.came - times.came[place];
    if (may_be_last) {
      found.slack = std::max(found.slack, *error - ahead);
      found.decided = found.decided && ahead > *error;
    }
    low = std::min(low, ahead - *error);
    high = std::min(high, ahead + *error);
    value = std::min(value, ahead);
    return true;
  };
  for (const std::size_t place : awaited)
    if (!against(place, true)) return std::nullopt;
  for (const std::size_t place : others)
    if (!against(place, false)) return std::nullopt;
  if (value == std::numeric_limits<std::int64_t>::max()) value = low = high = 0;
  found.margin = {std::max<std::int64_t>(value, 0), std::max(value - low, high - value)};
  return found;
}

/// Whom aligned times make the last; replaces what durations alone say where it is decided.
void decide_last(const Matched& matched, const Roles& roles, const Latest& latest,
                 OperationFigures& out) {
  const RankIndex rank = matched.members[latest.place].rank;
  Uncertain margin = latest.margin;
  const Waits waits = info(matched.kind).waits;
  if (waits == Waits::for_root || waits == Waits::for_peer) {
    margin = {};
    for (const std::size_t place : roles.waiting)
      if (const auto& wait = out.members[place].wait_by_clocks;
          wait && (margin.value == 0 || wait->value > margin.value))
        margin = *wait;
    if (margin.value <= margin.error) return;
  } else if (!latest.decided || margin.value <= 0 || out.members.size() < 2) {
    return;
  }
  const bool same = out.last == rank && out.last_margin->error <= margin.error;
  out.last = rank;
  if (same) return;  // the durations know it better
  out.last_by = Tier::clocks;
  out.last_margin = margin;
}

void by_clocks(const Matched& matched, const Clocks& clocks, const Times& times, const Roles& roles,
               OperationFigures& out) {
  if (!times.one_zone() || roles.awaited.empty() || roles.waiting.empty()) return;
  const bool root_waits = info(matched.kind).waits == Waits::root_waits;
  const auto latest = latest_of(matched, clocks, times, roles.awaited,
                                root_waits ? roles.waiting : std::vector<std::size_t>());
  if (!latest) return;
  for (const std::size_t place : roles.waiting) {
    const auto error = clocks.error(matched.members[place].rank,
                                    matched.members[latest->place].rank, times.entry[place]);
    if (!error) continue;
    out.members[place].wait_by_clocks = Uncertain{
        std::max<std::int64_t>(latest->came - times.came[place], 0), *error + latest->slack};
  }
  decide_last(matched, roles, *latest, out);
}

std::optional<std::int64_t> transfer_of(const Matched& matched, const Times& times,
                                        const Roles& roles, const OperationFigures& figures) {
  // Who was not recorded may have come last: the rest of the wait would count as transfer.
  if (!matched.complete) return std::nullopt;
  const Waits waits = info(matched.kind).waits;
  if (waits == Waits::everyone) return figures.shortest;
  if (!times.one_zone() || roles.waiting.empty()) return std::nullopt;
  std::int64_t longest = 0;
  std::int64_t arrival = std::numeric_limits<std::int64_t>::min();
  for (const std::size_t place : roles.awaited) arrival = std::max(arrival, times.came[place]);
  for (const std::size_t place : roles.waiting)
    longest = std::max(longest, times.left[place] - std::max(arrival, times.came[place]));
  return longest > 0 ? std::optional(longest) : std::nullopt;
}

std::optional<std::int64_t> bytes_of(std::span<const RankSummary> ranks, const Matched& matched,
                                     std::int64_t group_size) {
  std::optional<std::int64_t> most;
  double sum = 0;
  for (const Member& member : matched.members) {
    const Collective& own = ranks[member.rank].collectives[member.collective];
    auto bytes = algorithm_bytes(matched.kind, own.send_bytes, own.receive_bytes, group_size);
    std::int64_t of_all = 0;
    if (!bytes && own.part_bytes && *own.part_bytes > 0 && group_size > 0 &&
        !__builtin_mul_overflow(*own.part_bytes, group_size, &of_all))
      bytes = of_all;
    if (matched.kind == CollectiveKind::all_to_all_v) {
      if (!bytes) return std::nullopt;  // each rank has its own
      sum += static_cast<double>(*bytes);
    }
    if (bytes) most = std::max(most.value_or(0), *bytes);
  }
  if (matched.kind == CollectiveKind::all_to_all_v && !matched.members.empty())
    return std::llround(std::min(sum / static_cast<double>(matched.members.size()), 9e18));
  return most;
}

}  // namespace

std::string_view name(Tier tier) {
  return tier == Tier::durations ? "durations" : "clocks";
}

std::optional<Uncertain> OperationFigures::wait(const MemberFigures& member) {
  const auto& one = member.wait_by_durations;
  const auto& other = member.wait_by_clocks;
  if (!one || !other) return one ? one : other;
  // What is certified counts where an assumption contradicts it.
  if (std::abs(one->value - other->value) > one->error + other->error) return other;
  return one->error <= other->error ? one : other;
}

std::optional<std::int64_t> algorithm_bytes(CollectiveKind kind,
                                            std::optional<std::int64_t> send_bytes,
                                            std::optional<std::int64_t> receive_bytes,
                                            std::int64_t ranks) {
  const std::int64_t send = send_bytes.value_or(0), receive = receive_bytes.value_or(0);
  const auto of_all = [ranks](std::int64_t one) {
    std::int64_t all = 0;
    return __builtin_mul_overflow(one, ranks, &all) ? 0 : all;
  };
  std::int64_t bytes = 0;
  switch (kind) {
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::scatter:
      bytes = std::max(send, of_all(receive));
      break;
    case CollectiveKind::all_gather:
    case CollectiveKind::gather:
      bytes = std::max(of_all(send), receive);
      break;
    case CollectiveKind::barrier:
    case CollectiveKind::group:
    case CollectiveKind::unknown:
      break;
    default:
      bytes = std::max(send, receive);
  }
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

double bus_factor(CollectiveKind kind, std::int64_t ranks) {
  const int times = info(kind).factor_times;
  return times == 0 || ranks < 1 ? 1.0
                                 : static_cast<double>(times) * static_cast<double>(ranks - 1) /
                                       static_cast<double>(ranks);
}

OperationFigures operation_figures(std::span<const RankSummary> ranks, const Matching& matching,
                                   const Clocks& clocks, std::uint32_t operation) {
  const Matched& matched = matching.operations[operation];
  OperationFigures out;
  out.operation = operation;
  const Times times = times_of(ranks, matched, clocks);
  out.shortest = matched.members.empty() ? 0 : std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < matched.members.size(); ++i) {
    out.members.push_back({.rank = matched.members[i].rank,
                           .duration = times.exit[i] - times.entry[i],
                           .wait_by_durations = std::nullopt,
                           .wait_by_clocks = std::nullopt});
    out.shortest = std::min(out.shortest, out.members.back().duration);
  }
  out.entry_skew = skew(matched, clocks, times.entry, times.came);
  out.exit_skew = skew(matched, clocks, times.exit, times.left);
  out.exits_apart = std::max(
      rules::kExitsApart,
      static_cast<std::int64_t>(rules::kExitsApartShare * static_cast<double>(out.shortest)));
  if (times.one_zone() && !times.left.empty()) {
    const auto [low, high] = std::ranges::minmax(times.left);
    out.exits_apart = std::max(out.exits_apart, high - low);
  }
  const Roles roles = roles_of(matched);
  if (info(matched.kind).waits == Waits::everyone) by_durations(matched, out);
  by_clocks(matched, clocks, times, roles, out);
  out.transfer = transfer_of(matched, times, roles, out);
  // Where nobody says the size, it is that of the whole operation.
  const std::int64_t size = matching.groups[matched.group].size.value_or(
      matched.complete ? static_cast<std::int64_t>(matched.members.size()) : 0);
  out.bytes = bytes_of(ranks, matched, size);
  return out;
}

}  // namespace perflab::ranks
