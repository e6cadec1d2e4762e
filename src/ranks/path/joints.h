// Where ranks meet: who waits for whom at each matched operation, and how long it takes from the
// last arrival on. Rules: docs/models/ranks_path.md "Where ranks meet".
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ranks/path/job_path.h"

namespace perflab::ranks {

/// What a collective of a rank is in the graph of all.
struct Joint {
  std::uint32_t operation = kNoOperation;  ///< Matching::operations; kNoOperation: it stands alone
  bool comes = false;                      ///< others wait for its entry
  bool waits = false;                      ///< its exit waits for those that come
};

/// To the nearest ns, halves up.
std::int64_t rounded_mean(std::int64_t sum, std::size_t count);

class Joints {
 public:
  /// Of the ranks that take part (by rank).
  Joints(const PathInput& input, const std::vector<bool>& taken);

  [[nodiscard]] Joint joint(RankIndex rank, std::size_t collective) const;
  /// From what it waits for, and its own entry, to its exit: ns, at least 0.
  [[nodiscard]] std::int64_t transfer(RankIndex rank, std::size_t collective) const {
    return transfer_[rank][collective];
  }
  /// The collective that ended last before this one began; kNoOperation: none did.
  [[nodiscard]] std::uint32_t previous(RankIndex rank, std::size_t collective) const {
    return previous_[rank][collective];
  }
  /// ns from the exit of the previous collective (the begin) to the entry, aligned.
  [[nodiscard]] std::int64_t gap(RankIndex rank, std::size_t collective) const;
  /// ns from the last exit (the begin) to the end.
  [[nodiscard]] std::int64_t tail(RankIndex rank) const;
  /// The collective of the last exit; kNoOperation: none.
  [[nodiscard]] std::uint32_t last(RankIndex rank) const { return last_[rank]; }
  /// Mean of the gaps of an operation's members, to the nearest ns.
  [[nodiscard]] std::int64_t mean_gap(std::uint32_t operation) const;
  /// Finds what previous(), last(), gap() and tail() say.
  void find_previous();

  [[nodiscard]] const std::vector<bool>& taken() const { return taken_; }
  [[nodiscard]] const PathInput& input() const { return input_; }

  std::vector<PathResidual> residuals;  ///< largest first, at most twenty
  std::uint64_t residual_count = 0;

 private:
  void measure(RankIndex rank);
  [[nodiscard]] bool taken_all(const std::vector<Member>& members) const;

  const PathInput& input_;
  std::vector<bool> taken_;
  std::vector<bool> joined_;  ///< by operation: its members' exits are tied to entries of others
  std::vector<std::vector<std::uint32_t>> operation_;
  std::vector<std::vector<std::int64_t>> transfer_;
  std::vector<std::vector<std::uint32_t>> previous_;
  std::vector<std::uint32_t> last_;
  std::vector<std::int64_t> arrival_;  ///< by operation: aligned, of those that come
};

}  // namespace perflab::ranks
