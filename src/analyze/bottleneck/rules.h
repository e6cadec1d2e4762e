// The rules of the bottleneck verdict: the only table of them (rules.cpp).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analyze/bottleneck/feature_table.h"

namespace perflab::analyze {

/// What limits a kernel. In the order in which equal scores are decided.
enum class Bottleneck : std::uint8_t {
  launch,
  under_occupied,
  divergence,
  memory_bandwidth,
  compute_throughput,
  latency,
  insufficient_data,
};
inline constexpr std::size_t kVerdicts = 7;
std::string_view to_string(Bottleneck verdict);  ///< as documents have it: "memory-bandwidth-bound"
std::string_view label_of(Bottleneck verdict);   ///< for people: "memory-bandwidth bound"

/// How a figure stands to a threshold. (analyze::InspectionDiff is that of two inspections.)
enum class Relation : std::uint8_t { at_least, below };

struct Condition {
  FeatureId feature{};
  Relation comparison = Relation::at_least;
  double threshold = 0;
  std::string_view why;  ///< where the threshold is from
};

struct Rule {
  std::string_view id;  ///< "bandwidth.near_hbm_roof"
  Bottleneck verdict = Bottleneck::insufficient_data;
  int weight = 0;                      ///< 1: a hint, 2: enough for a verdict, 3 and 4: stronger
  std::span<const Condition> when;     ///< all must hold
  std::span<const Condition> against;  ///< each that holds takes 1 from what the rule counts
  std::string_view says;               ///< "HBM works near its bandwidth"
  std::string_view advice;             ///< what to try
  bool advice_at_lines = false;  ///< the advice is about the lines that waits or stalls point to

  /// Features without which the rule cannot be decided.
  [[nodiscard]] std::vector<FeatureId> needs() const;
};

std::span<const Rule> bottleneck_rules();

}  // namespace perflab::analyze
