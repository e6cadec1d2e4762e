// How lateness is spread over the ranks: gathered operation by operation, judged by the rules of
// rules.h (docs/models/ranks.md "Patterns").
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ranks/figures/figures.h"

namespace perflab::ranks {

class PatternFinder {
 public:
  explicit PatternFinder(std::span<const RankSummary> ranks);
  /// `busy`: of each member before the operation; empty: not known.
  void add(const OperationFigures& figures, std::span<const std::int64_t> busy);
  /// `figures`: its ranks, wait and delay are read.
  [[nodiscard]] PatternFigures pattern(const Figures& figures) const;

 private:
  void find_correlation(PatternFigures& out) const;
  [[nodiscard]] bool persistent(const Figures& figures, PatternFigures& out) const;
  [[nodiscard]] bool by_node(const Figures& figures, PatternFigures& out) const;
  [[nodiscard]] bool rotating(const Figures& figures) const;

  std::span<const RankSummary> ranks_;
  std::vector<double> expected_, variance_;  ///< of last arrivals, by rank, if all were alike
  double work_square_ = 0, late_square_ = 0, work_late_ = 0;  ///< of deviations within operations
  std::uint64_t pairs_ = 0;
  std::uint64_t judged_ = 0;  ///< operations of which waits are known
  std::int64_t wait_ = 0, decided_wait_ = 0;
};

}  // namespace perflab::ranks
