// What counting gave: values per launch, and what was not counted, with why.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/profiler_host.h"
#include "record/counters/counter_problem.h"

namespace perflab::record {

/// Why launches were left uncounted. They ran as they would without us.
enum class CounterSkip : std::uint8_t {
  graph,        ///< kernels of a graph: launches of graphs, not kernels
  other_ranks,  ///< it waits for other GPUs (NCCL, NVSHMEM): repeating it would hang
  enough,       ///< the limit of launches with this geometry
  time,         ///< the limit of time
  memory,       ///< the limit of memory that CUPTI would save and restore
  failed,       ///< after a failure: see CounterResults::failure
};
inline constexpr std::size_t kCounterSkips = 6;

/// Stable name for the recording: "graph", ...
std::string_view to_string(CounterSkip skip);

/// A metric as it is counted on a chip.
struct CountedMetric {
  std::string name, description, units;
  bool derived = false;  ///< a mean, share or extreme: values of launches do not add up
};

/// One launch of a kernel. Activity records of launches that CUPTI repeats have no times, and make
/// its worker thread free memory that is not its own (CUDA 13.0, seen on an H200): in a counter
/// pass there are none, and what a dispatch's row needs is here.
struct CountedLaunch {
  std::string kernel;            ///< mangled
  std::uint64_t index = 0;       ///< among the process's launches of kernels, from 0
  std::int64_t device = 0;       ///< CUDA ordinal
  std::uint32_t context = 0;     ///< CUPTI's number
  const void* stream = nullptr;  ///< handle
  std::uint32_t call = 0;        ///< correlation id of the outermost call
  std::int64_t tid = 0;          ///< of the thread
  std::array<std::uint32_t, 3> grid{}, block{};
  /// When the call began and ended, ns of CLOCK_BOOTTIME: all repetitions are in between.
  std::int64_t start = 0, end = 0;
  std::shared_ptr<const std::vector<CountedMetric>> metrics;  ///< null: it was not counted
  std::vector<double> values;  ///< by `metrics`; not finite where CUPTI has none
};

struct CounterResults {
  /// All that ran, counted or not, in the order in which they or their sessions ended.
  std::vector<CountedLaunch> launches;
  std::uint64_t launches_counted = 0;  ///< also those that were taken before
  std::uint64_t launches_seen = 0;     ///< of kernels; those during stream capture do not run
  std::array<std::uint64_t, kCounterSkips> skipped{};  ///< by CounterSkip
  std::size_t passes = 0;  ///< how often each launch was repeated; 0: nothing was counted
  std::vector<cuda::RefusedMetric> refused;
  std::optional<CounterFailure> failure;  ///< the first; launches counted before it stay
};

/// The summary for info_process.extdata, as JSON: {"counted", "seen", "passes", "skipped",
/// "refused", "problem", "reason", "remedy"}; without values.
std::string counters_json(const CounterResults& results);

}  // namespace perflab::record
