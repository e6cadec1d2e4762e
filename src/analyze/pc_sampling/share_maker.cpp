// Ticks become clusters: numbered in order of time, and joined where there are very many.
#include "analyze/pc_sampling/share_maker.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace perflab::analyze {
namespace {

/// Ticks renumbered from 0 on in their order, as the samples have them.
std::vector<std::uint32_t> dense(std::span<const std::uint32_t> ticks, std::uint64_t& count) {
  std::vector<std::uint32_t> there(ticks.begin(), ticks.end());
  std::ranges::sort(there);
  const auto rest = std::ranges::unique(there);
  there.erase(rest.begin(), rest.end());
  count = there.size();
  std::vector<std::uint32_t> out;
  out.reserve(ticks.size());
  for (const std::uint32_t tick : ticks)
    out.push_back(
        static_cast<std::uint32_t>(std::ranges::lower_bound(there, tick) - there.begin()));
  return out;
}

stats::Interval wider(const stats::Interval& a, const stats::Interval& b) {
  return {.low = std::min(a.low, b.low), .high = std::max(a.high, b.high)};
}

}  // namespace

double total(const ClusterSums& sums) {
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

void add(ClusterSums& to, const ClusterSums& more) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += more[i];
}

ShareMaker::ShareMaker(std::span<const std::uint32_t> ticks,
                       std::span<const std::uint64_t> weights) {
  PERFLAB_CHECK(ticks.empty() || ticks.size() == weights.size());
  std::size_t clusters = 1;
  if (!ticks.empty()) {
    cluster_ = dense(ticks, ticks_);
    clusters = std::min<std::size_t>(ticks_, kMostClusters);
    for (std::uint32_t& tick : cluster_)
      tick = static_cast<std::uint32_t>(std::uint64_t{tick} * clusters / ticks_);
    intervals_ = ticks_ < kFewestTicks ? PcIntervals::none : PcIntervals::ticks;
  } else if (!weights.empty()) {
    intervals_ = PcIntervals::independent;
  }
  all_.assign(clusters, 0);
  for (std::size_t i = 0; i < weights.size(); ++i)
    all_[cluster(i)] += static_cast<double>(weights[i]);
  if (intervals_ != PcIntervals::ticks) return;
  bootstrap_ = stats::ClusterBootstrap(clusters);
  all_drawn_ = bootstrap_.resampled(all_);
}

void ShareMaker::take_design_effect(std::span<const ClusterSums* const> kinds) {
  design_effect_ = 1;
  const auto clusters = static_cast<double>(all_.size());
  const double samples = total(all_);
  if (intervals_ != PcIntervals::ticks || samples == 0) return;
  double between = 0, independent = 0;
  for (const ClusterSums* const kind : kinds) {
    const double share = total(*kind) / samples;
    independent += samples * share * (1 - share);
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const double off = (*kind)[i] - share * all_[i];
      between += off * off;
    }
  }
  // One kind alone tells nothing: then the ticks' samples may all be equal.
  design_effect_ = independent > 0 ? between * clusters / (clusters - 1) / independent
                                   : samples / static_cast<double>(ticks_);
  design_effect_ = std::max(design_effect_, 1.0);
}

std::vector<double> ShareMaker::below(const ClusterSums& of) const {
  return &of == &all_ ? all_drawn_ : bootstrap_.resampled(of);
}

PcEstimate ShareMaker::share(const ClusterSums& hits, const ClusterSums& of) const {
  const double above = total(hits), whole = total(of);
  PcEstimate out;
  if (!(whole > 0)) return out;
  out.value = std::min(above / whole, 1.0);
  if (intervals_ == PcIntervals::none) return out;
  if (intervals_ == PcIntervals::independent) {
    out.interval = stats::wilson(std::min(above, whole), whole);
    return out;
  }
  const double effect = std::max(1.0, stats::design_effect(hits, of).value_or(design_effect_));
  const auto plain = stats::wilson(std::min(above, whole) / effect, whole / effect);
  const auto drawn = bootstrap_.ratio_of_sums(bootstrap_.resampled(hits), below(of));
  if (plain && drawn) out.interval = wider(*plain, *drawn);
  return out;
}

PcShare ShareMaker::counted(const ClusterSums& hits) const {
  return {.samples = static_cast<std::uint64_t>(std::llround(total(hits))), .share = share(hits)};
}

PcEstimate ShareMaker::mean(const ClusterSums& values, const ClusterSums& of) const {
  const double whole = total(of);
  PcEstimate out;
  if (!(whole > 0)) return out;
  out.value = total(values) / whole;
  if (intervals_ == PcIntervals::ticks)
    out.interval = bootstrap_.ratio_of_sums(bootstrap_.resampled(values), below(of));
  return out;
}

bool ShareMaker::tied(const ClusterSums& a, const ClusterSums& b) const {
  if (intervals_ == PcIntervals::none) return true;
  const double samples = total(all_);
  if (intervals_ == PcIntervals::independent) {
    // Of two counts of one multinomial: their difference varies as their sum does.
    const double apart = std::abs(total(a) - total(b)), both = total(a) + total(b);
    return apart <=
           stats::normal_quantile(0.975) * std::sqrt(std::max(0.0, both - apart * apart / samples));
  }
  ClusterSums apart = a;
  for (std::size_t i = 0; i < apart.size(); ++i) apart[i] -= b[i];
  const auto interval = bootstrap_.ratio_of_sums(bootstrap_.resampled(apart), all_drawn_);
  return !interval || (interval->low <= 0 && interval->high >= 0);
}

}  // namespace perflab::analyze
