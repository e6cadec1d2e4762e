// From placed communicators to operations: who stands at each place, whether their values agree,
// and the pairs of senders and receivers. Rules: docs/models/ranks_matching.md "Operations".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ranks/match/teams.h"
#include "ranks/values/matching.h"

namespace perflab::ranks {

/// Adds a team's group, its operations and what is not matched.
void add_team(std::span<const RankSummary> ranks, const Team& team, Matching& to);

/// Adds the pairs of a team, which is group `group`.
void add_pairs(const Judge& judge, const Team& team, std::uint32_t group, Matching& to);

/// The rank that a team calls `number`; null: not known.
std::optional<RankIndex> rank_of(std::span<const RankSummary> ranks, const Team& team,
                                 std::int64_t number);

/// Of 0..size-1, who is not among the ranks. Empty where no rank says its number.
std::vector<std::int64_t> missing_ranks(std::span<const RankSummary> ranks);

}  // namespace perflab::ranks
