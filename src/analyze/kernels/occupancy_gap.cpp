// The split of an occupancy gap. Each step takes no more than the step before left, so that shares
// always add up. Little's law gives the lifetime of a wave as a share of the dispatch: waves in
// flight / waves of the launch. Formulas: docs/models/occupancy_gap.md.
#include "analyze/kernels/occupancy_gap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/enum_names.h"

namespace perflab::analyze {
namespace {

/// An achieved occupancy so far above the theoretical one is no matter of rounding.
constexpr double kMostAbove = 1.05;

/// Where the gap that is left lies.
struct Left {
  double idle = 0;      ///< on CUs without waves
  double unfilled = 0;  ///< on the others
  bool split = false;   ///< idle and unfilled are told apart; else all of it is in `unfilled`

  double take_idle(double wanted) {
    const double taken = std::clamp(wanted, 0.0, idle);
    idle -= taken;
    return taken;
  }
  double take_unfilled(double wanted) {
    const double taken = std::clamp(wanted, 0.0, unfilled);
    unfilled -= taken;
    return taken;
  }
};

class Splitter {
 public:
  explicit Splitter(const GapInput& input) : in_(input) {}

  OccupancyGap split() {
    for (std::size_t i = 0; i < kGapCauses; ++i) out_.causes[i].cause = static_cast<GapCause>(i);
    out_.theoretical = in_.theoretical;
    out_.achieved = in_.achieved;
    out_.gap = std::max(in_.theoretical - in_.achieved, 0.0);
    places();
    launch();
    last_round();
    rest();
    double sum = 0;
    for (const GapShare& part : out_.causes) sum += part.share.value_or(0);
    out_.not_attributed = std::max(out_.gap - sum, 0.0);
    return std::move(out_);
  }

 private:
  void give(GapCause cause, double share) {
    out_.causes[static_cast<std::size_t>(cause)].share = share;
  }
  void lack(GapCause cause, const std::string& reason) {
    out_.causes[static_cast<std::size_t>(cause)].reason = reason;
  }

  void places() {
    left_.unfilled = out_.gap;
    if (!in_.cus_busy) return;
    left_.split = true;
    left_.idle = std::min(out_.gap, in_.theoretical * (1 - *in_.cus_busy));
    left_.unfilled = out_.gap - left_.idle;
    out_.idle_cus = left_.idle;
    out_.unfilled_cus = left_.unfilled;
  }

  void launch() {
    if (!left_.split) return lack(GapCause::launch, in_.no_cus);
    if (!in_.engines_busy) return lack(GapCause::launch, in_.no_engines);
    give(GapCause::launch, left_.take_idle(in_.theoretical * (1 - *in_.engines_busy)));
  }

  /// With rounds of equal length the last one leaves `rounds - ceil` of the GPU empty for as long
  /// as a wave lives, which is achieved / theoretical / rounds of the dispatch.
  void last_round() {
    if (!in_.rounds) {
      for (const GapCause cause : {GapCause::few_workgroups, GapCause::tail})
        lack(cause, in_.no_rounds);
      return;
    }
    const LaunchRounds& launch = *in_.rounds;
    const double rounds = launch.workgroups / (launch.cus * launch.workgroups_per_cu);
    out_.rounds = rounds;
    const double all = std::max(std::ceil(rounds), 1.0);
    const double last = rounds - (all - 1);  // of the GPU, that the last round fills
    const double alive = in_.achieved / rounds;
    double taken = 0;
    double wanted_idle = 0;
    if (left_.split) {
      // Work-groups go to CUs without any first.
      const double cus_of_last = last * launch.workgroups_per_cu;
      wanted_idle = alive * std::max(1 - cus_of_last, 0.0);
      taken += left_.take_idle(wanted_idle);
    }
    taken += left_.take_unfilled(alive * (1 - last) - wanted_idle);
    const bool once = all == 1.0;
    give(GapCause::few_workgroups, once ? taken : 0);
    give(GapCause::tail, once ? 0 : taken);
  }

  void rest() {
    if (!left_.split) return lack_rest(in_.no_cus);
    if (!in_.rounds) return lack_rest(in_.no_rounds);
    if (in_.engines_busy)
      give(GapCause::imbalance, left_.take_idle(left_.idle));
    else
      lack(GapCause::imbalance, in_.no_engines);
    if (!in_.resource_wait) {
      lack(GapCause::limiter, in_.no_wait);
      lack(GapCause::launch_rate, in_.no_wait);
      return;
    }
    const double waited = left_.take_unfilled(*in_.resource_wait * left_.unfilled);
    give(GapCause::limiter, waited);
    give(GapCause::launch_rate, left_.take_unfilled(left_.unfilled));
  }

  void lack_rest(const std::string& reason) {
    for (const GapCause cause : {GapCause::imbalance, GapCause::limiter, GapCause::launch_rate})
      lack(cause, reason);
  }

  const GapInput& in_;
  OccupancyGap out_;
  Left left_;
};

bool is_share(const std::optional<double>& value) {
  return !value || (std::isfinite(*value) && *value >= 0 && *value <= 1);
}

}  // namespace

std::string_view to_string(GapCause cause) {
  using enum GapCause;
  static constexpr auto kNames = enum_names<GapCause>({{launch, "launch"},
                                                       {few_workgroups, "few_workgroups"},
                                                       {tail, "tail"},
                                                       {imbalance, "imbalance"},
                                                       {limiter, "limiter"},
                                                       {launch_rate, "launch_rate"}});
  return kNames[cause];
}

std::string_view label_of(GapCause cause) {
  using enum GapCause;
  static constexpr auto kLabels =
      enum_names<GapCause>({{launch, "launch and flush, no wave anywhere"},
                            {few_workgroups, "too few work-groups to fill the GPU"},
                            {tail, "the last round of work-groups is not full"},
                            {imbalance, "CUs without work while others have some"},
                            {limiter, "work-groups waiting for a resource"},
                            {launch_rate, "room that no work-group waited for"}});
  return kLabels[cause];
}

Result<OccupancyGap> split_occupancy_gap(const GapInput& input) {
  if (!is_share(input.theoretical) || input.theoretical <= 0 || !is_share(input.achieved) ||
      !is_share(input.cus_busy) || !is_share(input.engines_busy) || !is_share(input.resource_wait))
    return fail(ErrorCode::bad_input, "a share of the occupancy is not between 0 and 1");
  if (input.achieved > input.theoretical * kMostAbove)
    return fail(
        ErrorCode::bad_input,
        fmt::format("the achieved occupancy ({:.1f} %) is above what the kernel's resources "
                    "allow ({:.1f} %)",
                    100 * input.achieved, 100 * input.theoretical));
  if (input.rounds && !(input.rounds->workgroups > 0 && input.rounds->cus > 0 &&
                        input.rounds->workgroups_per_cu > 0))
    return fail(ErrorCode::bad_input, "the launch has no work-group, or the GPU holds none");
  return Splitter(input).split();
}

}  // namespace perflab::analyze
