// The further metrics of the runs of one job: numbers that the command prints, and what the GPU's
// sensors say while it runs.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tune/evaluate/job.h"
#include "tune/values/metrics.h"

namespace perflab::tune {

/// A shorter run says nothing of power or energy: NVIDIA's sensors average over a second
/// (docs/facts/sensors.md).
inline constexpr double kShortestSensedSeconds = 1;

class RunMetrics {
 public:
  /// Sensors that are not there are no error: their metrics are missing. Error (usage): a pattern.
  static Result<RunMetrics> prepare(const Job& job);
  RunMetrics(RunMetrics&&) noexcept;
  RunMetrics& operator=(RunMetrics&&) = delete;
  RunMetrics(const RunMetrics&) = delete;
  RunMetrics& operator=(const RunMetrics&) = delete;
  ~RunMetrics();

  /// A run begins.
  void begin();
  /// Its output: 1 is stdout, 2 is stderr.
  void feed(int stream, std::string_view bytes);
  /// It ended after so many seconds. Gives a sentence when a metric that is needed is missing.
  std::string end(double seconds);
  /// Medians over the runs.
  [[nodiscard]] std::vector<MetricValue> finish() const;

 private:
  struct State;
  explicit RunMetrics(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Error (missing_tool): a metric of the sensors is needed, and this GPU (its PCI address; empty:
/// the only one) gives none.
Result<void> check_sensors(const std::vector<Metric>& metrics, const std::string& pci_address);

}  // namespace perflab::tune
