// How much could be gained at most under a verdict, each bound with the figures it is from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/bottleneck/feature_table.h"
#include "analyze/bottleneck/rules.h"
#include "base/missing.h"

namespace perflab::analyze {

struct KernelCriticality;
struct Measurements;

/// How much could be gained at most, each by a different argument. "roofline", "occupancy" and
/// "lanes" bound the kernel: the smallest of them holds. "launch" is of the kernel's dispatches
/// with the idle time before them, "critical path" of the whole run.
struct GainBound {
  std::string_view from;         ///< "roofline", "occupancy", "lanes", "launch", "critical path"
  std::optional<double> factor;  ///< at most so many times faster; at least 1
  std::string text;              ///< the figures it is from
};

struct Bound {
  std::vector<GainBound> parts;
  std::optional<double> kernel_factor;        ///< smallest; nullopt: nothing bounds it
  std::optional<std::int64_t> end_to_end_ns;  ///< of the run at most, by the critical path
  std::optional<double> end_to_end_share;     ///< of the run
  std::vector<Missing> missing;
};

/// The bound on what could be gained under the verdict.
Bound find_bound(const FeatureSet& features, Bottleneck verdict, const Measurements& analysis,
                 const KernelCriticality* criticality);

}  // namespace perflab::analyze
