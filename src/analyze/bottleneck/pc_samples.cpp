// Which samples stand for a kernel; samples against other sources.
#include "analyze/bottleneck/pc_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string_view>
#include <tuple>

namespace perflab::analyze {
namespace {

using enum FeatureId;

/// Samples weigh CUs, counters and thread traces weigh waves, and a thread trace is of a few CUs:
/// figures of one run differ by that much without any error.
constexpr double kTolerance = 0.15;

constexpr std::array kCheckedMemory = {pc_memory_wait};
constexpr std::array kCheckedLds = {pc_lds_wait};
constexpr std::array kCheckedBarrier = {pc_barrier};
constexpr std::array kCheckedWaits = {pc_memory_wait, pc_lds_wait, pc_scalar_wait, pc_wait_unknown,
                                      pc_barrier};

struct CheckedPair {
  std::span<const FeatureId> sampled;  ///< added up
  FeatureId other;
  std::string_view what;
  std::string_view by;
};

constexpr std::array kCheckedPairs = {
    CheckedPair{kCheckedWaits, wait_dependency, "waits of all kinds", "counters"},
    CheckedPair{kCheckedMemory, att_memory_wait, "waits for memory", "the thread trace"},
    CheckedPair{kCheckedLds, att_lds_wait, "waits for LDS", "the thread trace"},
    CheckedPair{kCheckedBarrier, att_barrier, "barriers", "the thread trace"}};

/// Sum of features with the sum of their bounds, which is wider than the interval of the sum.
struct SampledSum {
  double value = 0, low = 0, high = 0;
};

std::optional<SampledSum> sum_of(std::span<const FeatureId> ids, const FeatureSet& features) {
  SampledSum sum;
  for (const FeatureId id : ids) {
    const Feature& feature = features[id];
    if (!feature.value || !feature.low || !feature.high) return std::nullopt;
    sum.value += *feature.value;
    sum.low += *feature.low;
    sum.high += *feature.high;
  }
  return sum;
}

/// What may be concluded from, then reasons before places, then the most samples.
auto worth(const KernelPcSamples& samples) {
  return std::tuple(samples.refusals.empty(), samples.method != pc_sampling::Method::host_trap,
                    samples.samples);
}

void choose_samples(const std::vector<KernelPcSamples>& all, std::size_t candidate,
                    std::optional<std::size_t>& chosen) {
  if (!chosen || worth(all[candidate]) > worth(all[*chosen])) chosen = candidate;
}

}  // namespace

std::vector<CrossCheck> cross_check(const FeatureSet& features) {
  std::vector<CrossCheck> out;
  for (const CheckedPair& pair : kCheckedPairs) {
    const std::optional<SampledSum> sampled = sum_of(pair.sampled, features);
    const std::optional<double>& other = features[pair.other].value;
    if (!sampled || !other) continue;
    const bool agrees = *other >= sampled->low - kTolerance && *other <= sampled->high + kTolerance;
    out.push_back(
        {.feature = pair.sampled.front(),
         .other = pair.other,
         .agrees = agrees,
         .text = fmt::format("{}: {:.1f} % of the PC samples, {:.1f} % of the time by {}: they {}",
                             pair.what, 100 * sampled->value, 100 * *other, pair.by,
                             agrees ? "agree" : "contradict each other")});
  }
  return out;
}

std::vector<std::optional<std::size_t>> samples_of_kernels(const Measurements& analysis) {
  std::vector<std::optional<std::size_t>> best(analysis.kernels.size());
  if (!analysis.pc_sampling) return best;
  const std::vector<KernelPcSamples>& all = analysis.pc_sampling->kernels;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].analysis_kernel) choose_samples(all, i, best[*all[i].analysis_kernel]);
  return best;
}

std::vector<std::size_t> samples_without_kernel(const PcSampling& sampling) {
  std::vector<std::optional<std::size_t>> best;
  std::map<std::string_view, std::size_t> groups;
  for (std::size_t i = 0; i < sampling.kernels.size(); ++i) {
    const KernelPcSamples& samples = sampling.kernels[i];
    if (samples.analysis_kernel) continue;
    const std::string& name = samples.mangled_name.empty() ? samples.kernel : samples.mangled_name;
    const auto [group, added] = groups.emplace(name, best.size());
    if (added) best.emplace_back();
    choose_samples(sampling.kernels, i, best[group->second]);
  }
  std::vector<std::size_t> chosen;
  for (const std::optional<std::size_t>& one : best) chosen.push_back(*one);
  return chosen;
}

}  // namespace perflab::analyze
