// See autotune_metrics.h.
#include "measure/tuning/autotune_metrics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "tune/evaluate/metric.h"
#include "tune/evaluate/run_metrics.h"
#include "tune/evaluate/visible_gpus.h"

namespace perflab::measure {
namespace {

using tune::Metric;
using tune::MetricSource;

/// A metric without a pattern: of the recording, or of the sensors.
Result<Metric> named_metric(const std::string& name, const tune::Recording* recording) {
  Metric metric;
  metric.name = name;
  if (recording != nullptr) {
    metric.source = MetricSource::recorded;
    std::set<std::string> known;
    for (const tune::RecordedConfiguration& one : recording->configurations)
      for (const auto& [has, value] : one.metrics) known.insert(has);
    if (!known.contains(name))
      return fail(ErrorCode::bad_input, fmt::format("the recording has no metric {}", name),
                  known.empty() ? "it has none besides its value"
                                : fmt::format("it has {}", fmt::join(known, ", ")));
    if (const auto unit = recording->metric_units.find(name); unit != recording->metric_units.end())
      metric.unit = unit->second;
    return metric;
  }
  metric.source = MetricSource::sensors;
  if (name == tune::kPowerMetric)
    metric.unit = "W";
  else if (name == tune::kEnergyMetric)
    metric.unit = "J";
  else
    return fail(ErrorCode::usage, fmt::format("there is no metric {}", name),
                fmt::format("--metric '{}=REGEX' reads it from what the command prints; {} and {} "
                            "come from the GPU's sensors",
                            name, tune::kPowerMetric, tune::kEnergyMetric));
  return metric;
}

/// The one of that name, which is added where nobody named it yet.
Result<Metric*> find_metric(std::vector<Metric>& metrics, const std::string& name,
                            const tune::Recording* recording) {
  const auto found = std::ranges::find(metrics, name, &Metric::name);
  if (found != metrics.end()) return &*found;
  PERFLAB_TRY(Metric metric, named_metric(name, recording));
  metrics.push_back(std::move(metric));
  return &metrics.back();
}

}  // namespace

Result<std::vector<Metric>> metrics_of(const MetricTexts& texts, const tune::Recording* recording) {
  std::vector<Metric> metrics;
  for (const std::string& text : texts.metrics) {
    PERFLAB_TRY(Metric metric, tune::parse_metric(text));
    if (std::ranges::find(metrics, metric.name, &Metric::name) != metrics.end())
      return fail(ErrorCode::usage, fmt::format("--metric {} is there twice", metric.name));
    if (metric.pattern.empty()) {
      PERFLAB_TRY(metric, named_metric(metric.name, recording));
    } else if (recording != nullptr) {
      return fail(ErrorCode::usage,
                  fmt::format("--metric {}: with --simulate nothing is printed", text),
                  fmt::format("--metric {}, as the recording calls it", metric.name));
    }
    if (metric.source == MetricSource::printed)
      PERFLAB_TRY_VOID(tune::compile_metric_pattern(metric.pattern));
    metrics.push_back(std::move(metric));
  }
  for (const std::string& text : texts.limits) {
    PERFLAB_TRY(const tune::LimitText limit, tune::parse_limit(text));
    PERFLAB_TRY(Metric* const metric, find_metric(metrics, limit.name, recording));
    PERFLAB_TRY_VOID(tune::set_limit(*metric, limit));
  }
  if (!texts.second_objective.empty()) {
    PERFLAB_TRY(Metric* const metric, find_metric(metrics, texts.second_objective, recording));
    metric->objective = true;
    metric->maximize = texts.maximize_second;
  }
  return metrics;
}

Result<std::vector<tune::Metric>> live_metrics(
    const MetricTexts& texts, tune::ObjectiveKind objective,
    const std::optional<std::vector<std::string>>& gpus) {
  PERFLAB_TRY(std::vector<tune::Metric> metrics, metrics_of(texts, nullptr));
  if (objective == tune::ObjectiveKind::gpu_time &&
      std::ranges::find(metrics, MetricSource::printed, &Metric::source) != metrics.end())
    return fail(ErrorCode::usage,
                "--metric has no effect with GPU time: the output of profiled runs is not read",
                "--metric-regex or --objective wall");
  if (!gpus) return metrics;
  PERFLAB_TRY(const std::vector<std::string> addresses, tune::sensor_addresses({}, *gpus));
  for (const std::string& address : addresses)
    PERFLAB_TRY_VOID(tune::check_sensors(metrics, address));
  return metrics;
}

std::string metrics_key(const std::vector<Metric>& metrics) {
  std::string key;
  for (const Metric& metric : metrics)
    key += fmt::format("\n{} {} {}", tune::to_string(metric.source), metric.name, metric.pattern);
  return key;
}

}  // namespace perflab::measure
