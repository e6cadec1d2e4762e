// What the operations of all ranks say: who waits how long, who came last, how fast the transfer
// was, who makes the others wait. In tiers: durations alone first, which need no clocks; then
// aligned times, with the error of each. Model: docs/models/ranks.md "Figures"; facts:
// docs/facts/ranks.md "Which collectives wait how", "Bandwidth".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ranks/values/matching.h"
#include "ranks/values/rank_summary.h"

namespace perflab::ranks {

/// What a figure rests on.
enum class Tier : std::uint8_t {
  durations,  ///< no clocks; its error assumes how far exits lie apart (rules.h)
  clocks,     ///< aligned times; the error is what the collectives certify
};
std::string_view name(Tier tier);

/// A time, ns, and how wrong it may be: the truth lies within [value - error, value + error].
struct Uncertain {
  std::int64_t value = 0, error = 0;
  friend bool operator==(const Uncertain&, const Uncertain&) = default;
};

/// A rank in an operation.
struct MemberFigures {
  RankIndex rank = 0;
  std::int64_t duration = 0;  ///< ns in the kernel
  /// Duration less the shortest of the group. Null: ranks of this kind do not wait for everyone.
  std::optional<Uncertain> wait_by_durations;
  /// Aligned arrival of whom it waits for less its own entry, at least 0. Null: no common clock
  /// with a bound, or the kind does not say who waits.
  std::optional<Uncertain> wait_by_clocks;
};

/// One operation of several ranks.
struct OperationFigures {
  std::uint32_t operation = 0;         ///< Matching::operations
  std::vector<MemberFigures> members;  ///< as Matched::members
  std::int64_t shortest = 0;           ///< ns, of the members' durations
  std::int64_t exits_apart = 0;        ///< ns, assumed; at least as large as seen on one clock
  /// Latest less earliest entry, and exit. Null: no common clock with a bound.
  std::optional<Uncertain> entry_skew, exit_skew;
  /// Whom the others waited for: the last to arrive; of kinds with a root, the root where it was
  /// late, or the last before the root that waits. Null: it is not decided (`last_margin` is
  /// within its error), nobody waited, or the kind does not say who waits.
  std::optional<RankIndex> last;
  std::optional<Tier> last_by;
  /// What mending the last gains here at most: its arrival less the second latest; of a late root,
  /// the longest wait for it.
  std::optional<Uncertain> last_margin;
  /// The time the data took: from the last arrival to the end, as the shortest duration has it; of
  /// kinds in which not everyone waits, the longest of [its arrival, exit] on aligned clocks. Null:
  /// neither is known, or a rank of it was not recorded.
  std::optional<std::int64_t> transfer;
  /// Of algorithm bandwidth (docs/facts/ranks.md "Bandwidth"). Null: no size is known.
  std::optional<std::int64_t> bytes;

  /// The wait that counts of a member: of both tiers the one with the smaller error.
  [[nodiscard]] static std::optional<Uncertain> wait(const MemberFigures& member);
};

/// Figures of one operation.
OperationFigures operation_figures(std::span<const RankSummary> ranks, const Matching& matching,
                                   const Clocks& clocks, std::uint32_t operation);

/// Bytes of the algorithm bandwidth from what one rank gives and gets, in a group of so many ranks
/// (0: not known). Null: neither is known, or what is known does not tell.
std::optional<std::int64_t> algorithm_bytes(CollectiveKind kind,
                                            std::optional<std::int64_t> send_bytes,
                                            std::optional<std::int64_t> receive_bytes,
                                            std::int64_t ranks);
/// Algorithm to bus bandwidth in a group of so many ranks.
double bus_factor(CollectiveKind kind, std::int64_t ranks);

/// Whether time in a communication kernel is waiting or moving data.
enum class SlowOrWaiting : std::uint8_t { transfer_dominated, wait_dominated, mixed, undecided };
std::string_view name(SlowOrWaiting verdict);

/// Operations of a group, function and size: sizes of one bin lie within a factor of two.
struct Statistics {
  std::uint32_t group = 0;  ///< Matching::groups
  CollectiveKind kind = CollectiveKind::unknown;
  std::string function;         ///< as the first rank has it
  std::optional<int> size_bin;  ///< floor of log2 of the bytes; null: no size
  std::uint64_t operations = 0, incomplete = 0, undecided = 0;
  std::int64_t kernel_time = 0;  ///< ns over all ranks
  std::int64_t longest = 0;      ///< ns, the longest kernel
  /// Over all ranks, ns; null: nobody can say who waits.
  std::optional<Uncertain> wait;
  /// Of kernel_time; null as `wait`.
  std::optional<double> wait_share, wait_share_low, wait_share_high;
  SlowOrWaiting verdict = SlowOrWaiting::undecided;
  std::optional<std::int64_t> transfer_median, transfer_shortest, transfer_longest;  ///< ns
  std::optional<std::int64_t> entry_skew_mean, exit_skew_mean;  ///< ns, where clocks allow
  std::optional<std::int64_t> bytes;                            ///< median
  /// Bytes of all operations by the time of all transfers, GB/s (10^9). Null: no sizes, no times.
  std::optional<double> algorithm_gb_per_s, bus_gb_per_s;
};

/// One rank over all operations.
struct RankFigures {
  std::uint64_t operations = 0;  ///< that it took part in, and somebody is waited for
  std::uint64_t last = 0;        ///< in which it was decided the last
  std::uint64_t undecided = 0;   ///< in which nobody was decided, and it could be
  std::int64_t kernel_time = 0;  ///< ns in communication kernels
  std::int64_t judged_time = 0;  ///< of it, where its wait is known
  Uncertain wait;                ///< ns that it waited, of judged_time
  Uncertain lateness;            ///< sum of last_margin where it was last
  Uncertain delay_caused;        ///< sum of the others' waits where it was last
};

/// How lateness is spread over the ranks; the rules: rules.h.
enum class Pattern : std::uint8_t { persistent, by_node, imbalance, rotating, undecided };
std::string_view name(Pattern pattern);

/// Why no pattern is decided.
enum class PatternDoubt : std::uint8_t {
  none,
  few_operations,  ///< fewer than rules::kFewestDecided have a decided last arriver
  clocks,          ///< most of the waiting is in operations whose last arriver is undecided
  within_error,    ///< the waits are not longer than their error
  no_rule,         ///< none of the rules holds
};
std::string_view name(PatternDoubt doubt);

struct PatternFigures {
  Pattern pattern = Pattern::undecided;
  PatternDoubt doubt = PatternDoubt::none;
  std::optional<RankIndex> rank;    ///< of persistent
  std::optional<std::string> node;  ///< of by_node
  /// Of all delay, and of the last arrivals that are decided: of that rank or node, else of the
  /// rank with the most delay. Null: there is no delay; of no operation the last is decided.
  std::optional<double> delay_share, last_share;
  std::optional<double> correlation, slope;  ///< of work before an operation and lateness
};

/// Wait of one rank where another was the last, ns.
struct WaitsFor {
  RankIndex waits = 0, last = 0;
  std::int64_t wait = 0;
  std::uint64_t operations = 0;
};

struct Figures {
  std::vector<RankFigures> ranks;      ///< by RankIndex
  std::vector<Statistics> statistics;  ///< most kernel time first
  std::vector<WaitsFor> matrix;        ///< by waits, then last; only pairs that occur
  PatternFigures pattern;
  std::vector<RankIndex> stragglers;  ///< most delay caused first; above rules::kStragglerShare
  std::uint64_t operations = 0, decided = 0;
  Uncertain wait, delay;  ///< ns, over all ranks; delay: where the last arriver is decided
  /// The operations with the most waiting, behind them those of which nobody knows how long ranks
  /// wait; by place in Matching::operations.
  std::vector<OperationFigures> worst;
};

}  // namespace perflab::ranks
