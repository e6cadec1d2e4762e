// Estimates of one kernel's samples: sums by cluster of ticks in, shares with intervals out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyze/pc_sampling/pc_figures.h"
#include "stats/shares.h"

namespace perflab::analyze {

/// Something summed over samples, by cluster.
using ClusterSums = std::vector<double>;

/// More ticks than this are joined, neighbours in time with each other.
inline constexpr std::size_t kMostClusters = 200;

class ShareMaker {
 public:
  /// `ticks`: of each of the kernel's samples, in its order; empty: nothing tells them. `weights`:
  /// samples that each row stands for.
  ShareMaker(std::span<const std::uint32_t> ticks, std::span<const std::uint64_t> weights);

  [[nodiscard]] std::uint64_t ticks() const { return ticks_; }
  [[nodiscard]] PcIntervals intervals() const { return intervals_; }
  [[nodiscard]] std::size_t cluster(std::size_t row) const {
    return cluster_.empty() ? 0 : cluster_[row];
  }
  [[nodiscard]] ClusterSums zero() const { return ClusterSums(all_.size(), 0); }
  /// All samples.
  [[nodiscard]] const ClusterSums& all() const { return all_; }

  /// How much the distribution over these kinds (which are all samples) varies between clusters,
  /// against independent samples: what intervals of shares of 0 and 1 are made with. At least 1.
  void take_design_effect(std::span<const ClusterSums* const> kinds);
  [[nodiscard]] double design_effect() const { return design_effect_; }

  /// Share of the hits, of all samples or of others. The interval is the wider of the bootstrap and
  /// Wilson's of the effective number of samples.
  [[nodiscard]] PcEstimate share(const ClusterSums& hits) const { return share(hits, all_); }
  [[nodiscard]] PcEstimate share(const ClusterSums& hits, const ClusterSums& of) const;
  /// The same with the number, which must be of whole samples.
  [[nodiscard]] PcShare counted(const ClusterSums& hits) const;
  /// A mean: its interval is the bootstrap's.
  [[nodiscard]] PcEstimate mean(const ClusterSums& values, const ClusterSums& of) const;
  /// Whether two shares of all samples cannot be told apart.
  [[nodiscard]] bool tied(const ClusterSums& a, const ClusterSums& b) const;

 private:
  [[nodiscard]] std::vector<double> below(const ClusterSums& of) const;

  std::vector<std::uint32_t> cluster_;  ///< by row; empty: one for all
  std::uint64_t ticks_ = 0;
  PcIntervals intervals_ = PcIntervals::none;
  ClusterSums all_;
  stats::ClusterBootstrap bootstrap_{0};
  std::vector<double> all_drawn_;  ///< `all_` by resample
  double design_effect_ = 1;
};

/// Sum over the clusters.
double total(const ClusterSums& sums);
/// Adds element by element.
void add(ClusterSums& to, const ClusterSums& more);

}  // namespace perflab::analyze
