// Made-up jobs of many ranks, as the summaries that their recordings would give and the truth
// behind them: a simulation in common time of ranks that work, enter collectives, wait as the kind
// of collective demands (docs/facts/ranks.md "Which collectives wait how") and leave. Each rank's
// times are then those of its own clock. Deterministic for a seed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ranks/values/rank_summary.h"

namespace perflab::test {

/// `rank` below is always a rank of the job, 0..ranks-1, whether it was recorded or not.
struct RankJobOptions {
  std::uint64_t seed = 1;
  std::uint32_t ranks = 4;
  std::uint32_t ranks_per_node = 8;
  /// Operations of the job; a pair of send and receive is one.
  std::uint32_t operations = 40;
  /// The first one has all ranks, the others are random sets of at least two.
  std::uint32_t communicators = 1;
  /// Drawn from; `send` stands for a pair. Empty: all that wait for everyone.
  std::vector<ranks::CollectiveKind> kinds = {};
  /// Each round of so many operations repeats the first one's kinds, sizes and communicators.
  std::uint32_t period = 0;
  /// Communicators have streams of their own: a collective waits for the one before it on its
  /// stream and for some earlier one, not for all that came before.
  bool overlap = false;

  std::int64_t work = 500'000;     ///< ns before a collective, on average
  std::int64_t work_spread = 300;  ///< permille
  std::int64_t transfer = 30'000;  ///< ns, smallest; grows with the size
  std::int64_t jitter = 2'000;     ///< ns: exits differ by up to so much
  std::int64_t offset_range = 0;   ///< ns: clocks of nodes differ by up to +- so much
  std::int64_t within_node = 0;    ///< ns: clocks of one node's ranks, up to +- so much
  double drift_ppm = 0;            ///< of a node's clock, up to +- so much
  std::vector<std::pair<std::uint32_t, std::int64_t>> late = {};  ///< rank, ns more work each time

  ranks::KeySource key = ranks::KeySource::arguments;  ///< of communicators; `calls` and `kernels`
                                                       ///< know no name of one
  bool sequences = true;     ///< numbers of operations in their communicator, where the key allows
  bool sizes = true;         ///< ranks of a communicator
  bool members = false;      ///< which they are
  bool bytes = true;         ///< bytes and types
  bool peers = true;         ///< roots and peers, where the key allows
  bool rank_numbers = true;  ///< in the identity
  bool size_numbers = true;  ///< the job's size, with `rank_numbers`

  std::vector<std::uint32_t> dropped = {};  ///< ranks not recorded
  std::vector<std::pair<std::uint32_t, std::uint32_t>> cut_start =
      {};  ///< rank, collectives that
           ///< ended before it recorded
  /// Rank, collective (of what it recorded): what is said of it and of the next one is exchanged,
  /// their times are not.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> swapped = {};
  /// Kernel time at these factors, one scenario each; of one rank alone where that is given.
  std::vector<std::pair<double, std::optional<std::uint32_t>>> scenarios = {};
};

/// What happened, in common time (ns).
struct RankJobTruth {
  struct Member {
    std::uint32_t rank = 0;
    std::optional<std::uint32_t> collective;  ///< of the rank's summary; null: not recorded
    std::int64_t entry = 0, exit = 0;
    ranks::CollectiveKind kind = ranks::CollectiveKind::unknown;  ///< `receive` of a pair's other
    friend bool operator==(const Member&, const Member&) = default;
  };
  struct Operation {
    ranks::CollectiveKind kind = ranks::CollectiveKind::unknown;
    std::uint32_t communicator = 0;
    std::vector<Member> members;                 ///< by rank
    std::optional<std::uint32_t> root;           ///< rank; the sender of a pair
    std::int64_t transfer = 0;                   ///< ns without jitter
    [[nodiscard]] std::int64_t arrival() const;  ///< latest entry
    [[nodiscard]] std::uint32_t last() const;    ///< rank that came then; the lowest of several
  };
  struct Clock {
    std::int64_t offset = 0;  ///< ns, at common time 0
    double drift = 0;         ///< ns per ns
  };
  std::vector<Operation> operations;  ///< in an order in which every rank meets its own
  std::vector<std::vector<std::uint32_t>> groups;   ///< ranks by communicator
  std::vector<Clock> clocks;                        ///< by rank
  std::vector<std::optional<std::uint32_t>> place;  ///< by rank: of its summary; null: dropped
  std::vector<std::int64_t> begin, end;             ///< by rank

  /// What the rank's clock says at a common time.
  [[nodiscard]] std::int64_t local(std::uint32_t rank, std::int64_t time) const;
};

struct RankJob {
  std::vector<ranks::RankSummary> summaries;  ///< by rank
  RankJobTruth truth;
};

/// Clocks say kJobStart + common time + their offset and drift.
inline constexpr std::int64_t kJobStart = 1'000'000'000'000;

RankJob make_rank_job(const RankJobOptions& options);

/// A job of random shape (2 to `most` ranks, one to four communicators, all kinds that a job can
/// have, overlap or not), for properties that hold of every job. Nothing is missing in it.
RankJobOptions random_rank_job(std::uint64_t seed, std::uint32_t most = 12);

}  // namespace perflab::test
