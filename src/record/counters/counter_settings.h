// What is to be counted, as the environment asks for it: a list of metrics, and limits that keep
// the repeated launches from taking for ever (docs/facts/cuda_counters.md "Replay").
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace perflab::record {

// Variables beside PERFLAB_RECORD_COUNTERS; each a whole number, 0 for no limit.
/// Launches of a kernel with one geometry that are counted, from the first on.
inline constexpr const char* kCounterLaunchesVariable = "PERFLAB_RECORD_COUNTER_LAUNCHES";
/// Seconds that counted launches may take together, saving and restoring memory included.
inline constexpr const char* kCounterSecondsVariable = "PERFLAB_RECORD_COUNTER_SECONDS";
/// MiB of device memory in use beyond which nothing is counted: CUPTI saves and restores it.
inline constexpr const char* kCounterMemoryVariable = "PERFLAB_RECORD_COUNTER_MIB";

struct CounterLimits {
  std::uint64_t launches_per_geometry = 8;  ///< 0: all
  std::chrono::seconds time{600};           ///< 0: no limit
  std::uint64_t memory_mib = 32 * 1024;     ///< 0: no limit
};

struct CounterSettings {
  std::vector<std::string> metrics;  ///< each once, in the order of the list
  CounterLimits limits;
};

/// Reads the list of metrics; limits are the environment's, or those above. Error (usage): an empty
/// name, or a limit that is no number.
Result<CounterSettings> counter_settings(std::string_view metrics);

}  // namespace perflab::record
