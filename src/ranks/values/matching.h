// Which operations of several ranks are one, and how far their clocks are known: what matching and
// clocks hand over to figures, the path and the document.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ranks/values/collective.h"

namespace perflab::ranks {

/// Index of a rank: its place in the list of summaries, which is ordered by rank (or host, pid).
using RankIndex = std::uint32_t;

/// No operation: of Matching::operations.
inline constexpr std::uint32_t kNoOperation = 0xFFFF'FFFF;

/// A collective of one rank.
struct Member {
  RankIndex rank = 0;
  std::uint32_t collective = 0;  ///< RankSummary::collectives
  friend auto operator<=>(const Member&, const Member&) = default;
};

/// Why something is not matched, or not concluded.
enum class Unmatched : std::uint8_t {
  no_key,           ///< nothing ties it to others (point-to-point without a peer)
  no_partner,       ///< the other ranks recorded none such at that place
  start_ambiguous,  ///< recordings start at different places of a periodic sequence
  disagrees,        ///< kind, size or type differ from the others at that place
  denied_by_times,  ///< no offset of clocks makes every exit follow every entry
  group_unknown,    ///< which ranks belong to the communicator could not be found
};

/// Operations of a communicator that are one operation. `members` by rank, each once.
struct Matched {
  std::uint32_t group = 0;  ///< Matching::groups
  CollectiveKind kind = CollectiveKind::unknown;
  std::vector<Member> members = {};
  bool complete = false;  ///< every rank of the group is there; else "last" is among the recorded
  std::optional<RankIndex> root =
      {};  ///< of a broadcast, scatter, reduce, gather; the sender of a pair
};

/// A communicator across ranks.
struct Group {
  KeySource key = KeySource::kernels;  ///< what tied its operations
  std::string id;
  std::vector<RankIndex> ranks;       ///< that recorded it, ascending
  std::optional<std::int64_t> size;   ///< ranks, recorded or not; null: not said
  std::vector<std::int64_t> offsets;  ///< as `ranks`: operations that it recorded before the first
                                      ///< common one; -1: its start was not found
  /// Ranks whose recordings are taken to begin at the same operation as the others' only because
  /// they have the same operations from first to last: sequences that repeat, in an even rhythm.
  std::size_t assumed_starts = 0;
};

struct NotMatched {
  Member member;
  Unmatched why = Unmatched::no_key;
};

struct Matching {
  std::vector<Group> groups;
  std::vector<Matched> operations;  ///< in an order in which every rank meets its own
  std::vector<NotMatched> unmatched;
  std::vector<std::int64_t> missing_ranks;  ///< of 0..size-1, not among the summaries
};

/// The clock of a rank against that of a reference: reference time = t + offset + drift * (t - at).
struct RankClock {
  std::uint32_t zone = 0;  ///< ranks of one zone can be compared; other zones cannot
  double offset = 0;       ///< ns
  double drift = 0;        ///< ns per ns
  std::int64_t at = 0;     ///< ns on the rank's clock
  /// Certified by the collectives: offset lies within [low, high] at `at`; null: no bound.
  std::optional<double> low, high;
  /// By how much the certified error grows, ns per ns away from `at`.
  double drift_error = 0;
  /// Likely error of the estimate, ns (spread of the residuals); null: too few collectives.
  std::optional<double> likely;
  /// Ranks of one node have one clock but for the translation of GPU times. `near`: certified
  /// error against that clock, ns.
  std::uint32_t node = 0;
  double near = 0;
};

struct Clocks {
  std::vector<RankClock> ranks;  ///< by RankIndex
  std::uint32_t zones = 0;
  std::vector<RankIndex> reference;  ///< by zone
  /// An exit that comes before an entry that it must follow, beyond what clocks allow.
  struct Violation {
    std::uint32_t operation = 0;  ///< Matching::operations
    RankIndex leaves = 0, comes = 0;
    std::int64_t by = 0;  ///< ns
  };
  std::vector<Violation> violations;  ///< largest first, at most twenty
  std::uint64_t violation_count = 0;
  /// Operations with such exits by no more than the translation of GPU times can be wrong: no
  /// violations. And the largest of these, ns.
  std::uint64_t noise_count = 0;
  std::int64_t largest_noise = 0;

  /// A time of a rank on the clock of its zone's reference, ns.
  [[nodiscard]] std::int64_t aligned(RankIndex rank, std::int64_t time) const;
  /// How wrong the difference of two aligned times of two ranks may be, ns: certified where both
  /// are bounded. Null: other zones, or no bound.
  [[nodiscard]] std::optional<std::int64_t> error(RankIndex one, RankIndex other,
                                                  std::int64_t time) const;
};

}  // namespace perflab::ranks
