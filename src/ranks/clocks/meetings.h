// Where ranks and nodes meet: the operations of each, and what two of them say of their clocks.
// Facts: docs/facts/ranks.md "Which collectives wait how".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ranks/values/matching.h"
#include "ranks/values/rank_summary.h"

namespace perflab::ranks {

/// A rank within its node: what is added to its times, and how wrong that may be, ns.
struct InNode {
  RankIndex rank = 0;
  double offset = 0, near = 0;
};

/// What a node (or a single rank) did in an operation, on the node's clock.
struct Meeting {
  std::uint32_t operation = 0;        ///< Matching::operations
  std::optional<std::int64_t> come;   ///< the latest entry that others wait for
  std::optional<std::int64_t> leave;  ///< the earliest exit that waits for others
  std::int64_t exit = 0;              ///< the earliest exit
  std::int64_t shortest = 0;          ///< ns, the shortest stay
  RankIndex comes = 0, leaves = 0;    ///< whose `come` and `leave` these are
};

/// Operations of every rank.
class Meetings {
 public:
  Meetings(std::span<const RankSummary> ranks, const Matching& matching);
  /// Of a node, by operation.
  [[nodiscard]] std::vector<Meeting> of(std::span<const InNode> node) const;
  [[nodiscard]] const Matching& matching() const { return matching_; }
  [[nodiscard]] std::span<const RankSummary> ranks() const { return ranks_; }

 private:
  struct Met {
    std::uint32_t operation = 0, collective = 0;
  };
  void add(const Met& met, const InNode& rank, Meeting& to) const;
  std::span<const RankSummary> ranks_;
  const Matching& matching_;
  std::vector<std::vector<Met>> by_rank_;
};

/// What one operation says of two clocks: what is added to the first's times to have the second's.
struct Common {
  std::uint32_t operation = 0;
  std::int64_t t = 0;                     ///< the first's exit, on its clock
  std::int64_t difference = 0;            ///< of exits
  std::optional<std::int64_t> low, high;  ///< bounds
  std::int64_t shortest = 0;              ///< ns
  bool together = false;                  ///< all wait for all: exits are close
};

/// Operations that both are in, by `t`.
std::vector<Common> common_of(const Matching& matching, std::span<const Meeting> first,
                              std::span<const Meeting> second);

}  // namespace perflab::ranks
