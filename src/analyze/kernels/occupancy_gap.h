// Why a kernel's achieved occupancy is below its theoretical one: where the room stands empty (CUs
// without waves, CUs with too few) and why, as far as counters and the launch tell it. Pure:
// figures in, shares out. Model, assumptions and bounds: docs/models/occupancy_gap.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace perflab::analyze {

/// Why wave slots that the kernel could use stand empty. In the order in which the gap is given
/// out.
enum class GapCause : std::uint8_t {
  launch,          ///< no wave anywhere: launch and flush, within the counted cycles
  few_workgroups,  ///< the launch does not fill the GPU once
  tail,            ///< the last round of work-groups is not full
  imbalance,       ///< CUs without waves while their shader engine has some, the above apart
  limiter,         ///< a work-group waits until what it needs is free in one place
  launch_rate,     ///< CUs have room that no work-group waits for: work-groups come too slowly, or
                   ///< end unevenly
};
inline constexpr std::size_t kGapCauses = 6;
std::string_view to_string(GapCause cause);  ///< as documents have it: "few_workgroups"
std::string_view label_of(GapCause cause);   ///< for people: "the last round is not full"

/// The launch against what the GPU holds at once, in work-groups.
struct LaunchRounds {
  double workgroups = 0;         ///< of the launch
  double cus = 0;                ///< CUs of the GPU
  double workgroups_per_cu = 0;  ///< resident model; with WGPs half of what one holds
};

/// All shares are 0 to 1.
struct GapInput {
  double theoretical = 0;                   ///< of a CU's wave slots: what its resources allow
  double achieved = 0;                      ///< of all wave slots, over all counted cycles
  std::optional<double> cus_busy;           ///< of CU time: with waves
  std::optional<double> engines_busy;       ///< of the time of shader engines: with waves
  std::optional<double> resource_wait;      ///< of that: a work-group waits for a resource
  std::optional<LaunchRounds> rounds;       ///< nullopt: unknown, or launches differ
  std::string no_cus, no_engines, no_wait;  ///< why the figures above are missing
  std::string no_rounds;
};

/// A part of the gap, in wave slots of the GPU like the gap itself.
struct GapShare {
  GapCause cause{};
  std::optional<double> share;
  std::string reason;  ///< without a share: why it cannot be told apart
};

/// A resource that work-groups waited for, by the counters.
struct WaitedFor {
  std::string resource;  ///< "vgpr"
  double share = 0;      ///< of SIMD or CU cycles
};

/// theoretical - achieved, taken apart. idle_cus + unfilled_cus = gap where both are known; the
/// shares of causes and not_attributed add up to the gap.
struct OccupancyGap {
  double theoretical = 0, achieved = 0, gap = 0;  ///< gap: at least 0
  std::optional<double> idle_cus;                 ///< on CUs without any wave
  std::optional<double> unfilled_cus;             ///< on CUs that have waves
  std::array<GapShare, kGapCauses> causes{};      ///< by GapCause
  double not_attributed = 0;
  std::optional<double> rounds;  ///< work-groups of the launch / those that the GPU holds at once
  std::vector<WaitedFor> waited_for;  ///< most first; empty: not counted, or nothing waited

  [[nodiscard]] const GapShare& operator[](GapCause cause) const {
    return causes[static_cast<std::size_t>(cause)];
  }
};

/// Splits the gap. Error (bad_input): the figures contradict each other beyond what rounding and
/// passes explain, so that one of them is wrong.
Result<OccupancyGap> split_occupancy_gap(const GapInput& input);

}  // namespace perflab::analyze
