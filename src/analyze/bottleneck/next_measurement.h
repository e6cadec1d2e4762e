// The cheapest measurement that could change a verdict.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/bottleneck/score.h"

namespace perflab::analyze {

/// A measurement that would decide what is open.
struct NextMeasurement {
  FeatureSource source{};
  std::string command;  ///< "rocm-perf profile --roofline -- ./app"
  std::string why;
  std::vector<FeatureId> features;  ///< that it would give
  std::vector<Bottleneck> decides;  ///< that it could make the verdict, or take away
};

/// The cheapest measurement that could change the verdict; nullopt: none can.
std::optional<NextMeasurement> find_next_measurement(
    const FeatureSet& features, const std::vector<ScoredBottleneck>& candidates);

}  // namespace perflab::analyze
