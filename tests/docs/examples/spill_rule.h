// An example of a bottleneck rule (docs/DEVELOPER_GUIDE.md): scratch memory that waves wait for.
#pragma once

#include <array>

#include "analyze/bottleneck/rules.h"

namespace perflab::analyze {

inline constexpr std::array kScratchWaits = {
    Condition{FeatureId::scratch_bytes, Relation::at_least, 1, "registers were spilled to memory"},
    Condition{FeatureId::wait_dependency, Relation::at_least, 0.5,
              "more than half of the time goes there"}};
inline constexpr std::array kScratchWaitsAgainst = {
    Condition{FeatureId::nearest_roof, Relation::at_least, 0.6, "something is used well"}};

inline constexpr Rule kScratchRule{.id = "latency.scratch_waits",
                                   .verdict = Bottleneck::latency,
                                   .weight = 1,
                                   .when = kScratchWaits,
                                   .against = kScratchWaitsAgainst,
                                   .says = "waves wait, and the kernel has scratch memory",
                                   .advice = "lower the registers: smaller tiles, launch bounds"};

}  // namespace perflab::analyze
