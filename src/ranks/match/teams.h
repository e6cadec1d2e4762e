// Communicators across ranks: which units of different ranks are one communicator, and where each
// stands against the others. Rules: docs/models/ranks_matching.md "Groups".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "ranks/match/options.h"
#include "ranks/match/places.h"
#include "ranks/match/units.h"

namespace perflab::ranks {

/// A unit in a team.
struct Player {
  Unit* unit = nullptr;
  std::optional<std::int64_t> by;  ///< its first operation stands at this place; null: see `why`
  Unmatched why = Unmatched::start_ambiguous;
  std::vector<std::uint32_t> places;  ///< by its own sequence numbers, where all have them
  bool assumed = false;               ///< Place::assumed
};

/// A communicator.
struct Team {
  KeySource key = KeySource::kernels;
  std::string id;
  std::optional<std::int64_t> size;
  std::vector<std::int64_t> members;  ///< global ranks, where listed
  std::vector<Player> players;        ///< by rank
  bool unknown = false;               ///< which ranks belong to it could not be found
  bool numbered = false;              ///< each rank of the job has a number of its own
};

/// Compares units: places of one against another, with what is known of clocks.
class Judge {
 public:
  Judge(std::span<const RankSummary> ranks, const MatchOptions& options)
      : ranks_(ranks), options_(options) {}
  Place place(const Unit& reference, const Unit& other);
  [[nodiscard]] std::span<const RankSummary> ranks() const { return ranks_; }
  [[nodiscard]] std::int64_t farthest() const { return options_.farthest; }
  /// Fills in what is known of the clocks of two ranks.
  void clocks_of_pair(RankIndex reference, RankIndex other, Pair& pair) const;
  /// How many of a unit's places the clocks have refuted.
  [[nodiscard]] std::uint32_t denied(const Unit& unit) const;
  /// Forgets sequences of an earlier bucket.
  void next_bucket() { shifts_.clear(); }

 private:
  std::span<const RankSummary> ranks_;
  const MatchOptions& options_;
  // Places by values, by both sequences: most ranks have the same.
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::size_t, std::size_t>, std::vector<Shift>>
      shifts_;
};

/// Whether both say that they are of one machine.
bool say_same_machine(const RankIdentity& one, const RankIdentity& other);

/// Ranks of one machine have clocks that differ by less than this, ns (docs/facts/ranks.md
/// "Clocks").
inline constexpr std::int64_t kOneMachine = 10'000;

/// The communicators of all units, placed. Deterministic.
std::vector<Team> teams_of(std::vector<Unit>& units, const CommonNames& names, Judge& judge);

}  // namespace perflab::ranks
