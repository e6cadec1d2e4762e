// Metrics and limits as users type them, and what follows from them.
#include "tune/values/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/enum_names.h"
#include "base/text/numbers.h"
#include "base/text/text.h"

namespace perflab::tune {
namespace {

/// How many of `unit` one of `from` is, where the two differ by a prefix of the SI.
std::optional<double> factor_between(std::string_view from, std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, double>, 7> kPrefixes = {
      {{"", 1}, {"n", 1e-9}, {"u", 1e-6}, {"m", 1e-3}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}}};
  if (from == unit) return 1;
  for (const auto& [a, of_a] : kPrefixes)
    for (const auto& [b, of_b] : kPrefixes)
      if (from.starts_with(a) && unit.starts_with(b) && from.size() > a.size() &&
          from.substr(a.size()) == unit.substr(b.size()))
        return of_a / of_b;
  return std::nullopt;
}

}  // namespace

std::string_view to_string(MetricSource source) {
  using enum MetricSource;
  static constexpr auto kNames = enum_names<MetricSource>(
      {{printed, "printed"}, {sensors, "sensors"}, {recorded, "recorded"}});
  return kNames[source];
}

std::vector<std::optional<double>> values_of(std::span<const MetricValue> values,
                                             std::span<const Metric> metrics) {
  std::vector<std::optional<double>> out;
  for (const Metric& metric : metrics) {
    const auto found = std::ranges::find(values, metric.name, &MetricValue::name);
    out.push_back(found == values.end() ? std::nullopt : found->value);
  }
  return out;
}

bool within_limits(std::span<const std::optional<double>> values, std::span<const Metric> metrics) {
  for (std::size_t i = 0; i < metrics.size(); ++i)
    if (metrics[i].limited() &&
        (i >= values.size() || !values[i] || !metrics[i].within(*values[i])))
      return false;
  return true;
}

bool any_limit(std::span<const Metric> metrics) {
  return std::ranges::any_of(metrics, &Metric::limited);
}

std::size_t second_objective(std::span<const Metric> metrics) {
  return static_cast<std::size_t>(std::ranges::find(metrics, true, &Metric::objective) -
                                  metrics.begin());
}

Result<Metric> parse_metric(std::string_view text) {
  const std::size_t equal = text.find('=');
  const std::string_view named = text.substr(0, std::min(equal, text.size()));
  const std::size_t colon = named.find(':');
  Metric metric;
  metric.name = trimmed(named.substr(0, std::min(colon, named.size())));
  if (colon != std::string_view::npos) metric.unit = trimmed(named.substr(colon + 1));
  if (equal != std::string_view::npos) metric.pattern = text.substr(equal + 1);
  if (metric.name.empty() || (equal != std::string_view::npos && metric.pattern.empty()) ||
      metric.name.find_first_of("<>") != std::string::npos)
    return fail(ErrorCode::usage, fmt::format("--metric {}: it is not NAME=REGEX", text),
                "--metric 'power:W=power: ([0-9.]+)'");
  return metric;
}

Result<LimitText> parse_limit(std::string_view text) {
  const std::size_t sign = text.find_first_of("<>");
  LimitText limit;
  limit.name = trimmed(text.substr(0, std::min(sign, text.size())));
  if (sign != std::string_view::npos && text.substr(sign + 1).starts_with('=')) {
    limit.at_most = text[sign] == '<';
    const std::string_view rest = trimmed(text.substr(sign + 2));
    // What follows the longest number is the unit.
    for (std::size_t length = rest.size(); length > 0 && !limit.name.empty(); --length)
      if (const auto number = finite_number(rest.substr(0, length))) {
        limit.value = *number;
        limit.unit = trimmed(rest.substr(length));
        return limit;
      }
  }
  return fail(ErrorCode::usage,
              fmt::format("--limit {}: it is not NAME<=NUMBER or NAME>=NUMBER", text),
              "--limit 'power<=400W'");
}

Result<void> set_limit(Metric& metric, const LimitText& limit) {
  double value = limit.value;
  if (metric.unit.empty()) metric.unit = limit.unit;
  if (!limit.unit.empty()) {
    const auto factor = factor_between(limit.unit, metric.unit);
    if (!factor)
      return fail(ErrorCode::usage, fmt::format("--limit {}: it is in {}, and the metric in {}",
                                                limit.name, limit.unit, metric.unit));
    value *= *factor;
  }
  std::optional<double>& side = limit.at_most ? metric.at_most : metric.at_least;
  if (side)
    return fail(ErrorCode::usage,
                fmt::format("--limit {}: it has such a limit already", limit.name));
  side = value;
  if (metric.at_least && metric.at_most && *metric.at_least > *metric.at_most)
    return fail(ErrorCode::usage,
                fmt::format("--limit {}: no value keeps both limits", limit.name));
  return {};
}

}  // namespace perflab::tune
