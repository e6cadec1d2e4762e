// See run_metrics.h.
#include "tune/evaluate/run_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sensors/power_readings.h"
#include "sensors/sensors.h"
#include "stats/summary.h"
#include "tune/evaluate/metric.h"

namespace perflab::tune {
namespace {

/// Why there is no such metric.
std::string why_missing(const sensors::Opened& opened, std::string_view metric) {
  if (opened.sensors == nullptr) return opened.missing_because;
  const auto& missing = opened.sensors->missing();
  const auto found = missing.find("power_w");
  std::string reason = found == missing.end() ? "the sensors gave no power" : found->second;
  if (metric == kEnergyMetric && !opened.sensors->energy_missing().empty())
    reason += "; " + opened.sensors->energy_missing();
  return reason;
}

bool any_sensed(const std::vector<Metric>& metrics) {
  return std::ranges::find(metrics, MetricSource::sensors, &Metric::source) != metrics.end();
}

}  // namespace

struct RunMetrics::State {
  std::vector<Metric> metrics;
  std::vector<std::optional<Pattern>> patterns;        ///< per metric
  std::vector<std::optional<MetricScanner>> scanners;  ///< per metric; of this run
  sensors::Opened opened;
  std::optional<sensors::PowerReadings> readings;
  std::vector<std::vector<double>> values;  ///< per metric, one per run
  std::vector<std::string> missing;         ///< per metric, of the last run without it

  void take(std::size_t i, double seconds, const sensors::Sensed& sensed);
};

/// One metric of the run that ended.
void RunMetrics::State::take(std::size_t i, double seconds, const sensors::Sensed& sensed) {
  if (scanners[i]) {
    const MetricScanner::Found found = scanners[i]->finish();
    if (found.samples.empty())
      missing[i] = found.problem;
    else
      values[i].push_back(*stats::summarize(found.samples).median);
  } else if (metrics[i].source == MetricSource::sensors) {
    const auto& value = metrics[i].name == kPowerMetric ? sensed.power_w : sensed.energy_j;
    if (!value)
      missing[i] = why_missing(opened, metrics[i].name);
    else if (seconds < kShortestSensedSeconds)
      missing[i] = fmt::format(
          "the run took {:.2g} s, and sensors average over {:.0f} s: let the command repeat its "
          "kernel",
          seconds, kShortestSensedSeconds);
    else
      values[i].push_back(*value);
  }
}

RunMetrics::RunMetrics(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunMetrics::RunMetrics(RunMetrics&&) noexcept = default;
RunMetrics::~RunMetrics() = default;

Result<RunMetrics> RunMetrics::prepare(const Job& job) {
  auto state = std::make_unique<State>();
  state->metrics = job.objective.metrics;
  for (const Metric& metric : state->metrics) {
    std::optional<Pattern>& pattern = state->patterns.emplace_back();
    if (metric.source != MetricSource::printed) continue;
    PERFLAB_TRY(pattern, compile_metric_pattern(metric.pattern));
  }
  state->scanners.resize(state->metrics.size());
  state->values.resize(state->metrics.size());
  state->missing.resize(state->metrics.size());
  if (any_sensed(state->metrics)) state->opened = sensors::open_sensors(job.sensor_gpu);
  return RunMetrics(std::move(state));
}

void RunMetrics::begin() {
  for (std::size_t i = 0; i < state_->metrics.size(); ++i)
    if (state_->patterns[i]) state_->scanners[i].emplace(*state_->patterns[i]);
  if (state_->opened.sensors != nullptr) state_->readings.emplace(*state_->opened.sensors);
}

void RunMetrics::feed(int stream, std::string_view bytes) {
  for (std::optional<MetricScanner>& scanner : state_->scanners)
    if (scanner) scanner->feed(stream, bytes);
}

std::string RunMetrics::end(double seconds) {
  sensors::Sensed sensed;
  if (state_->readings) {
    sensed = state_->readings->stop();
    state_->readings.reset();
  }
  for (std::size_t i = 0; i < state_->metrics.size(); ++i) {
    const std::size_t before = state_->values[i].size();
    state_->take(i, seconds, sensed);
    if (state_->metrics[i].needed() && state_->values[i].size() == before)
      return fmt::format("{}: {}", state_->metrics[i].name, state_->missing[i]);
  }
  return {};
}

std::vector<MetricValue> RunMetrics::finish() const {
  std::vector<MetricValue> out;
  for (std::size_t i = 0; i < state_->metrics.size(); ++i) {
    MetricValue& one = out.emplace_back(MetricValue{.name = state_->metrics[i].name, .value = {}});
    if (state_->values[i].empty())
      one.detail = state_->missing[i];
    else
      one.value = stats::summarize(state_->values[i]).median;
  }
  return out;
}

Result<void> check_sensors(const std::vector<Metric>& metrics, const std::string& pci_address) {
  for (const Metric& metric : metrics) {
    if (metric.source != MetricSource::sensors || !metric.needed()) continue;
    const sensors::Opened opened = sensors::open_sensors(pci_address);
    const bool power = opened.sensors != nullptr && opened.sensors->read().power_w.has_value();
    const bool energy = opened.sensors != nullptr && opened.sensors->read_energy().has_value();
    if (power || (energy && metric.name == kEnergyMetric)) continue;
    return fail(
        ErrorCode::missing_tool,
        fmt::format("no sensor gives the {} here: {}", metric.name,
                    why_missing(opened, metric.name)),
        fmt::format("--metric '{}=REGEX' reads it from what the command prints", metric.name));
  }
  return {};
}

}  // namespace perflab::tune
