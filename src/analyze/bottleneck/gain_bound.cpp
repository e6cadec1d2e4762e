// How much could be gained at most. Roofline: a kernel cannot take less than its bytes and FLOP
// take at the binding roof. Little's law: with the same latency, throughput grows at most with the
// waves in flight. Critical path: the old path with this kernel scaled is still a path of the
// changed run, so that the run cannot lose more than the kernel's time on it.
#include "analyze/bottleneck/gain_bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/bottleneck/in_words.h"
#include "analyze/bottleneck/measurements.h"

namespace perflab::analyze {
namespace {

using enum FeatureId;

class BoundFinder {
 public:
  BoundFinder(const FeatureSet& features, Bottleneck verdict, const Measurements& analysis,
              const KernelCriticality* criticality)
      : features_(features),
        verdict_(verdict),
        path_(analysis.critical_path ? &*analysis.critical_path : nullptr),
        path_missing_(analysis.critical_path_missing),
        criticality_(criticality) {}

  Bound find() {
    roofline();
    if (verdict_ == Bottleneck::under_occupied) occupancy();
    lanes();
    for (const GainBound& part : out_.parts)
      if (part.factor)
        out_.kernel_factor = std::min(out_.kernel_factor.value_or(*part.factor), *part.factor);
    if (!out_.kernel_factor) {
      const Feature& roof = features_[nearest_roof];
      miss("bound.kernel_factor", roof.value ? "the binding roof has no share" : roof.reason,
           roof.remedy);
    }
    // Waves that wait can also have more accesses in flight each: for them it is no bound.
    if (verdict_ == Bottleneck::latency) occupancy();
    launches();
    end_to_end();
    return std::move(out_);
  }

 private:
  void miss(std::string field, std::string reason, std::string remedy) {
    out_.missing.push_back(
        {.field = std::move(field), .reason = std::move(reason), .remedy = std::move(remedy)});
  }

  /// 1 / share, at least 1: a share above 1 leaves nothing to gain.
  void add(std::string_view from, double share, std::string text) {
    if (share <= 0 || !std::isfinite(1 / share)) return;
    out_.parts.push_back(
        {.from = from, .factor = std::max(1 / share, 1.0), .text = std::move(text)});
  }

  /// Lanes that are switched off do no work that has to be done: where arithmetic is the binding
  /// roof its share counts as far as lanes were at work, but never less than memory's shares.
  void roofline() {
    const auto nearest = features_[nearest_roof].value;
    if (!nearest) return;
    double memory = 0;
    for (const FeatureId id : {hbm_share, l2_share, lds_share})
      memory = std::max(memory, features_[id].value.value_or(0));
    const double lanes = std::min(features_[lanes_active].value.value_or(1), 1.0);
    const double share = memory < *nearest ? std::max(memory, *nearest * lanes) : *nearest;
    add("roofline", share,
        fmt::format("the nearest roof alone explains {} of the time{}",
                    value_in_words(nearest_roof, share),
                    share < *nearest ? ", without the lanes that are switched off" : ""));
  }

  /// Where waves are not full, the lanes at work: full waves do as much with fewer of them. 1: not
  /// known to be so.
  [[nodiscard]] double filled_lanes() const {
    const auto lanes = features_[lanes_active].value;
    const bool partial = features_[partial_waves].value.value_or(0) >= kPartial;
    return verdict_ == Bottleneck::under_occupied && partial && lanes ? std::min(*lanes, 1.0) : 1;
  }

  /// Little's law.
  void occupancy() {
    const double lanes = filled_lanes();
    const std::string filled = lanes < 1 ? fmt::format(", with {} of their lanes at work",
                                                       value_in_words(lanes_active, lanes))
                                         : std::string();
    if (const auto share = features_[achieved_occupancy].value)
      return add("occupancy", *share * lanes,
                 fmt::format("by {} alone: {} of the wave slots were in use on average{}",
                             lanes < 1 ? "more and fuller waves" : "more waves",
                             value_in_words(achieved_occupancy, *share), filled));
    const auto fill = features_[work_fill].value;
    const auto resident = features_[theoretical_occupancy].value;
    if (verdict_ != Bottleneck::under_occupied || !fill || !resident) return;
    const double share = std::min(*fill, 1.0) * *resident;
    add("occupancy", share * lanes,
        fmt::format("the launch has waves for {} of the wave slots{}",
                    value_in_words(work_fill, share), filled));
  }

  void lanes() {
    if (verdict_ != Bottleneck::divergence) return;
    if (const auto share = features_[lanes_active].value)
      add("lanes", *share,
          fmt::format("{} of the lanes are at work", value_in_words(lanes_active, *share)));
  }

  /// The time before its dispatches gone, end to end: says nothing of the kernel itself.
  void launches() {
    if (verdict_ != Bottleneck::launch) return;
    if (const auto share = features_[idle_before].value; share && *share < 1)
      out_.parts.push_back({.from = "launch",
                            .factor = 1 / (1 - *share),
                            .text = fmt::format("without the idle time before its dispatches, {} "
                                                "of both together",
                                                value_in_words(idle_before, *share))});
  }

  [[nodiscard]] std::optional<double> gain_of_kernel() {
    if (criticality_ == nullptr) {
      miss_end("the kernel is not in the graph of the critical path", "");
      return std::nullopt;
    }
    const auto time = static_cast<double>(criticality_->path_time);
    double gain = out_.kernel_factor ? time * (1 - 1 / *out_.kernel_factor) : time;
    for (const Gain& known : criticality_->gains)
      if (known.factor == 0) gain = std::min(gain, static_cast<double>(known.gain));
    return gain;
  }

  /// Launch-bound: what the path spends in launches.
  [[nodiscard]] std::optional<double> gain_of_launches() {
    const Feature& share = features_[path_launch_share];
    if (share.value) return *share.value * static_cast<double>(path_->length);
    miss_end(share.reason, share.remedy);
    return std::nullopt;
  }

  void miss_end(const std::string& reason, const std::string& remedy) {
    miss("bound.end_to_end_ns", reason, remedy);
    miss("bound.end_to_end_share", reason, remedy);
  }

  static std::string time(std::int64_t ns) {
    return value_in_words(dispatch_median, static_cast<double>(ns));  // how ns are written
  }

  void end_to_end() {
    if (path_ == nullptr || path_->length <= 0)
      return miss_end(
          path_missing_.reason.empty() ? "there is no critical path" : path_missing_.reason,
          path_missing_.remedy);
    const auto gain = verdict_ == Bottleneck::launch ? gain_of_launches() : gain_of_kernel();
    if (!gain) return;
    const double ns = std::max(*gain, 0.0);
    out_.end_to_end_ns = std::llround(ns);
    out_.end_to_end_share = ns / static_cast<double>(path_->length);
    const bool launch = verdict_ == Bottleneck::launch;
    std::optional<double> factor;
    if (*out_.end_to_end_share < 1) factor = 1 / (1 - *out_.end_to_end_share);
    out_.parts.push_back(
        {.from = "critical path",
         .factor = factor,
         .text = launch ? fmt::format("of the whole run: {} of its path of {} are launches",
                                      time(*out_.end_to_end_ns), time(path_->length))
                        : fmt::format("of the whole run: {} of its path of {} are in the kernel, "
                                      "at most {} can go",
                                      time(criticality_->path_time), time(path_->length),
                                      time(*out_.end_to_end_ns))});
  }

  /// As the rule under_occupied.partial_waves has it.
  static constexpr double kPartial = 0.5;

  const FeatureSet& features_;
  Bottleneck verdict_;
  const CriticalPath* path_;
  const Missing& path_missing_;
  const KernelCriticality* criticality_;
  Bound out_;
};

}  // namespace

Bound find_bound(const FeatureSet& features, Bottleneck verdict, const Measurements& analysis,
                 const KernelCriticality* criticality) {
  return BoundFinder(features, verdict, analysis, criticality).find();
}

}  // namespace perflab::analyze
