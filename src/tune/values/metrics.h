// Numbers of every evaluation beside the one that is tuned: what the command prints, what the GPU's
// sensors say, what a recording has. They can have limits, and one of them can be a second
// objective.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace perflab::tune {

enum class MetricSource {
  printed,   ///< a pattern finds it in the command's output
  sensors,   ///< kPowerMetric or kEnergyMetric of the GPU while the command runs
  recorded,  ///< a recording has it
};
/// Stable names: "printed", "sensors", "recorded".
std::string_view to_string(MetricSource source);

/// Watts: the highest reading during a run.
inline constexpr std::string_view kPowerMetric = "power";
/// Joules of one run.
inline constexpr std::string_view kEnergyMetric = "energy";

struct Metric {
  std::string name;
  std::string unit;  ///< empty: not said
  MetricSource source = MetricSource::printed;
  std::string pattern{};  ///< of printed ones; RE2 with one group around the number
  std::optional<double> at_least{}, at_most{};  ///< limits, in its unit
  bool objective = false;                       ///< the second one
  bool maximize = false;                        ///< likewise: more is better

  [[nodiscard]] bool limited() const { return at_least || at_most; }
  /// An evaluation without this number is worth nothing.
  [[nodiscard]] bool needed() const { return limited() || objective; }
  [[nodiscard]] bool within(double value) const {
    return (!at_least || value >= *at_least) && (!at_most || value <= *at_most);
  }
  friend bool operator==(const Metric&, const Metric&) = default;
};

/// What an evaluation has of one metric.
struct MetricValue {
  std::string name;
  std::optional<double> value;  ///< median over the runs
  std::string detail{};         ///< why there is none, one line; empty: there is
  friend bool operator==(const MetricValue&, const MetricValue&) = default;
};

/// The values in the order of `metrics`; missing: the evaluation has none of that name.
std::vector<std::optional<double>> values_of(std::span<const MetricValue> values,
                                             std::span<const Metric> metrics);
/// Whether every limit is known to be kept; `values` in the order of `metrics`.
bool within_limits(std::span<const std::optional<double>> values, std::span<const Metric> metrics);
bool any_limit(std::span<const Metric> metrics);
/// The index of the second objective; their number: there is one objective.
std::size_t second_objective(std::span<const Metric> metrics);

/// A metric as typed: "NAME=REGEX", "NAME:UNIT=REGEX", or "NAME" alone (no pattern). Error (usage):
/// it is not of that form.
Result<Metric> parse_metric(std::string_view text);

/// A limit as typed: "power<=400W", "throughput >= 3.5e9".
struct LimitText {
  std::string name;
  bool at_most = true;
  double value = 0;
  std::string unit;  ///< empty: that of the metric
};
/// Error (usage): it is not of that form.
Result<LimitText> parse_limit(std::string_view text);

/// Sets the limit of a metric, in the metric's unit: "2kW" of a metric in W is 2000. A metric
/// without unit takes that of the limit. Error (usage): units that cannot be converted, a limit
/// that it has already, limits that no value keeps.
Result<void> set_limit(Metric& metric, const LimitText& limit);

}  // namespace perflab::tune
