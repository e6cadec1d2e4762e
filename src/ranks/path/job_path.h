// One critical path across ranks as values: what it is made from, its hops, slack, what-if.
// Model and assumptions: docs/models/ranks_path.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/critical_path/solve.h"
#include "base/error.h"
#include "ranks/path/rank_what_if.h"
#include "ranks/values/matching.h"
#include "ranks/values/rank_summary.h"

namespace perflab::ranks {

struct PathInput {
  /// By rank; their graphs, work and kernels are not read.
  std::span<const RankSummary> ranks;
  const Matching& matching;
  const Clocks& clocks;
  /// The graph of a rank. Asked once for each rank, again for the ranks on the path, and again for
  /// each what-if that changes ranks inside. Errors go up as they are.
  std::function<Result<LocalGraph>(RankIndex)> load_graph;
  std::vector<RankWhatIf> what_if;
};

/// One stretch of the path: work of a rank, from the exit of a collective (its begin) to the entry
/// of the next one on the path (its end); or what a collective takes from the last arrival on.
struct Hop {
  RankIndex rank = 0;             ///< whose time it is; of a collective: the rank that leaves
  RankIndex from_rank = 0;        ///< of a collective: the rank it waited for; else `rank`
  bool collective = false;        ///< a collective, not work
  std::int64_t from = 0, to = 0;  ///< ns, aligned; `to` of a hop is `from` of the next
  /// Of a collective: it. Of work: the operation that it ends at; kNoOperation: none, or one that
  /// nothing is matched to.
  std::uint32_t operation = kNoOperation;
  /// Of a collective, and of work that ends at one: place in the rank's collectives.
  std::optional<std::uint32_t> member = {};
  /// Of work: adds up to to - from.
  std::array<std::int64_t, analyze::kSpentKinds> spent{};
  Name kernel = kNoName;         ///< of the most time on it; in the names of `rank`
  std::int64_t kernel_time = 0;  ///< ns of it, at least
};

/// What the path has of a rank.
struct RankOnPath {
  RankIndex rank = 0;
  std::uint64_t hops = 0;     ///< of work
  std::int64_t work = 0;      ///< ns
  std::int64_t transfer = 0;  ///< ns of collectives that the path leaves through it
  std::array<std::int64_t, analyze::kSpentKinds> spent{};  ///< of `work`
};

/// An exit that comes before what it must follow: its operation takes 0 in the model then.
struct PathResidual {
  Member member;
  std::int64_t by = 0;  ///< ns
};

struct RankWhatIfAnswer {
  std::string text;
  std::optional<std::int64_t> makespan;  ///< ns
  std::optional<std::int64_t> gain;      ///< ns, of the makespan
  std::string missing;                   ///< why there is none
};

struct JobPath {
  std::uint32_t zone = 0;           ///< ranks whose clocks can be compared; the path is of these
  std::vector<RankIndex> left_out;  ///< ranks of other zones
  std::int64_t begin = 0, end = 0;  ///< ns, aligned
  std::vector<Hop> hops;            ///< from begin to end, without gap; lengths add up
  std::vector<RankOnPath> ranks;    ///< those on it, most work first
  /// By rank and collective: how much later it could enter without a later end; empty for ranks
  /// that were left out.
  std::vector<std::vector<std::int64_t>> slack;
  /// How wrong the whole length may be: that of the two clocks at its ends. Null: no bound.
  std::optional<std::int64_t> error;
  std::vector<PathResidual> residuals;  ///< largest first, at most twenty
  std::uint64_t residual_count = 0;
  std::int64_t shifted = 0;  ///< ns that residuals move the end by; the path is of what is computed
  std::vector<RankWhatIfAnswer> what_if;

  [[nodiscard]] std::int64_t makespan() const { return end - begin; }
};

}  // namespace perflab::ranks
