// Reading the list and the three limits.
#include "record/counters/counter_settings.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace perflab::record {
namespace {

/// A variable's number; `otherwise` where it is not set or empty.
Result<std::uint64_t> number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
  if (text == nullptr || *text == '\0') return otherwise;
  const std::string_view digits(text);
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(digits.begin(), digits.end(), value);
  if (problem != std::errc() || end != digits.end())
    return fail(ErrorCode::usage, std::string(variable) + ": \"" + text + "\" is no whole number",
                "give a number, 0 for no limit");
  return value;
}

}  // namespace

Result<CounterSettings> counter_settings(std::string_view metrics) {
  CounterSettings settings;
  for (std::size_t at = 0; at <= metrics.size();) {
    const std::size_t end = std::min(metrics.find(',', at), metrics.size());
    const std::string name(metrics.substr(at, end - at));
    at = end + 1;
    if (name.empty())
      return fail(ErrorCode::usage, "the list of metrics has an empty name",
                  "give names with commas between them: sm__cycles_elapsed.max,dram__bytes.sum");
    if (std::ranges::find(settings.metrics, name) == settings.metrics.end())
      settings.metrics.push_back(name);
  }
  CounterLimits& limits = settings.limits;
  PERFLAB_TRY(limits.launches_per_geometry,
              number_from(kCounterLaunchesVariable, limits.launches_per_geometry));
  PERFLAB_TRY(
      const std::uint64_t seconds,
      number_from(kCounterSecondsVariable, static_cast<std::uint64_t>(limits.time.count())));
  limits.time = std::chrono::seconds(std::min<std::uint64_t>(seconds, INT32_MAX));
  PERFLAB_TRY(limits.memory_mib, number_from(kCounterMemoryVariable, limits.memory_mib));
  return settings;
}

}  // namespace perflab::record
