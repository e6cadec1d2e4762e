// Results for other programs: T4 (kernel_tuner/schema/T4/1.0.0/results-schema.json) and CSV (RFC
// 4180). parse_recording() reads both back.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/text/json.h"
#include "tune/records/readers.h"

namespace perflab::tune {
namespace {

/// Milliseconds per unit; nothing: the unit is none of time.
std::optional<double> milliseconds_per(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits = {
      {{"ns", 1e-6}, {"us", 1e-3}, {"ms", 1}, {"s", 1e3}}};
  for (const auto& [name, factor] : kUnits)
    if (name == unit) return factor;
  return std::nullopt;
}

/// T4 has no word for a kernel that the device cannot launch: a constraint that it does not keep.
std::string_view t4_invalidity(Outcome outcome) {
  return outcome == Outcome::not_launchable ? "constraints" : to_string(outcome);
}

Json t4_times(const Evaluation& evaluation, std::optional<double> to_ms) {
  Json runtimes = Json::array();
  if (to_ms)
    for (const double sample : evaluation.samples) runtimes.push_back(sample * *to_ms);
  const double compilation = evaluation.build_seconds * 1e3;
  // The schema says compilation_time, the files of Kernel Tuner say compilation.
  return Json{{"compilation_time", compilation},
              {"compilation", compilation},
              {"benchmark", evaluation.run_seconds * 1e3},
              {"framework", 0},
              {"search_algorithm", 0},
              {"validation", 0},
              {"runtimes", std::move(runtimes)}};
}

Json t4_measurements(const Evaluation& evaluation, std::string_view objective,
                     std::string_view unit, std::span<const Metric> metrics) {
  Json measurements = Json::array();
  if (!evaluation.value) return measurements;
  measurements.push_back({{"name", objective}, {"value", *evaluation.value}, {"unit", unit}});
  if (!evaluation.samples.empty())
    measurements.push_back({{"name", "samples"}, {"value", evaluation.samples}, {"unit", unit}});
  if (evaluation.cv)
    measurements.push_back({{"name", "cv"}, {"value", *evaluation.cv}, {"unit", ""}});
  const auto values = values_of(evaluation.metrics, metrics);
  for (std::size_t i = 0; i < metrics.size(); ++i)
    if (values[i])
      measurements.push_back(
          {{"name", metrics[i].name}, {"value", *values[i]}, {"unit", metrics[i].unit}});
  return measurements;
}

/// RFC 4180: in quotes when it holds a comma, a quote or a line break; quotes are doubled.
void append_csv_field(std::string& out, std::string_view field) {
  // A table must not begin as JSON does, behind blanks or a byte order mark: readers look there.
  const bool begins_as_json = out.empty() && field.find_first_of(" \t\xEF[{") == 0;
  if (!begins_as_json && field.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += field;
    return;
  }
  out += '"';
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void append_csv_row(std::string& out, const std::vector<std::string>& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i != 0) out += ',';
    append_csv_field(out, fields[i]);
  }
  out += '\n';
}

/// Shortest text that reads back as the number.
std::string number_text(const std::optional<double>& number) {
  return number ? fmt::format("{}", *number) : std::string();
}

std::string numbers_text(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) {
    if (!text.empty()) text += ';';
    text += fmt::format("{}", number);
  }
  return text;
}

/// In the order of csv_result_columns().
std::vector<std::string> csv_results(const Evaluation& evaluation, std::string_view objective,
                                     std::string_view unit) {
  return {number_text(evaluation.value),
          std::string(unit),
          std::string(objective),
          std::string(to_string(evaluation.outcome)),
          number_text(evaluation.cv),
          evaluation.unstable ? "true" : "false",
          numbers_text(evaluation.samples),
          numbers_text(evaluation.warm_up),
          number_text(evaluation.build_seconds),
          number_text(evaluation.run_seconds),
          evaluation.detail};
}

}  // namespace

std::vector<std::string> csv_result_columns() {
  return {"value",   "unit",    "objective",     "outcome",     "cv",    "unstable",
          "samples", "warm_up", "build_seconds", "run_seconds", "detail"};
}

std::string to_t4(const std::vector<ResultRow>& rows, std::string_view objective,
                  std::string_view unit, std::span<const Metric> metrics) {
  const std::optional<double> to_ms = milliseconds_per(unit);
  Json results = Json::array();
  for (const ResultRow& row : rows) {
    Json configuration = Json::object();
    for (const auto& [name, value] : row.configuration) configuration[name] = to_json(value);
    const Evaluation& evaluation = row.evaluation;
    Json result = {{"configuration", std::move(configuration)},
                   {"times", t4_times(evaluation, to_ms)},
                   {"invalidity", t4_invalidity(evaluation.outcome)},
                   {"correctness", evaluation.outcome == Outcome::correct ? 1 : 0},
                   {"measurements", t4_measurements(evaluation, objective, unit, metrics)},
                   {"objectives", Json::array({std::string(objective)})}};
    if (!evaluation.detail.empty()) result["detail"] = evaluation.detail;
    results.push_back(std::move(result));
  }
  return to_canonical_text(
      {{"metadata", {{"autotuner", "rocm-perf autotune"}, {"timeunit", "milliseconds"}}},
       {"results", std::move(results)},
       {"schema_version", "1.0.0"}});
}

std::string to_csv(const std::vector<ResultRow>& rows, std::string_view objective,
                   std::string_view unit) {
  std::vector<std::string> header;
  std::unordered_map<std::string_view, std::size_t> columns, metrics;
  for (const ResultRow& row : rows)
    for (const auto& [name, value] : row.configuration)
      if (columns.emplace(name, header.size()).second) header.push_back(name);
  for (const ResultRow& row : rows)
    for (const MetricValue& metric : row.evaluation.metrics)
      if (metrics.emplace(metric.name, header.size()).second)
        header.push_back(std::string(kMetricColumn) + metric.name);
  const std::size_t before_results = header.size();
  std::ranges::move(csv_result_columns(), std::back_inserter(header));
  std::string out;
  append_csv_row(out, header);
  for (const ResultRow& row : rows) {
    std::vector<std::string> fields(before_results);
    for (const auto& [name, value] : row.configuration)
      fields[columns.at(name)] = text_from_value(value);
    for (const MetricValue& metric : row.evaluation.metrics)
      fields[metrics.at(metric.name)] = number_text(metric.value);
    std::ranges::move(csv_results(row.evaluation, objective, unit), std::back_inserter(fields));
    append_csv_row(out, fields);
  }
  return out;
}

}  // namespace perflab::tune
