// Everything about a trace beside its kernels: how busy the GPU was, host API calls, copies,
// allocations, counters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/counters/counter_state.h"
#include "analyze/scope/timing_scope.h"

namespace perflab::analyze {

/// Host API calls of one name and category.
struct ApiCall {
  std::string category, name;
  std::uint64_t count = 0;
  std::int64_t total = 0, min = 0, max = 0;
};

struct CopyKind {
  std::string kind;
  std::uint64_t count = 0;
  std::int64_t total = 0;
  std::optional<std::int64_t> bytes = 0;  ///< nullopt: a recording among them has no sizes
  std::optional<double> gb_per_s;  ///< bytes per ns of copying; nullopt: no time, or no sizes
};

struct AllocationKind {
  std::string type, level;
  std::uint64_t count = 0;
  std::int64_t bytes = 0;
};

/// One counter over the dispatches of one kernel.
struct Counter {
  std::string kernel, name;
  int pass = 0;  ///< as Roofline::passes numbers them
  bool derived = false;
  CounterState state = CounterState::measured;
  std::uint64_t dispatches = 0, instances = 0;
  std::optional<double> total;  ///< nullopt for a derived counter: ratios do not add up
  double min = 0, max = 0,
         mean = 0;  ///< of the per-dispatch values (sums over the hardware instances)
};

/// How the dispatches shared the machine.
struct Activity {
  std::int64_t first_start = 0, last_end = 0;  ///< of dispatches and copies in the timing pass
  std::int64_t dispatch_total = 0;             ///< sum of all dispatches
  std::int64_t gpu_busy = 0;  ///< time during which at least one dispatch ran on some agent
  std::uint64_t overlapping_on_queue =
      0;  ///< dispatches that began before an earlier one of their queue ended
};

/// Busy time and overlaps of the dispatches in the scope.
Activity measure_activity(const trace::Trace& trace, const TimingScope& scope);

/// API calls by (category, name), most time first. Categories are never added up: one call can
/// stand in two.
std::vector<ApiCall> summarize_api(const trace::Trace& trace, const TimingScope& scope);

/// Copies by kind, most time first.
std::vector<CopyKind> summarize_copies(const trace::Trace& trace, const TimingScope& scope);

/// Allocations by (type, level).
std::vector<AllocationKind> summarize_allocations(const trace::Trace& trace,
                                                  const TimingScope& scope);

/// Counters by (kernel, counter, pass), kernels in the order of their names.
std::vector<Counter> summarize_counters(const trace::Trace& trace, const Passes& passes);

}  // namespace perflab::analyze
