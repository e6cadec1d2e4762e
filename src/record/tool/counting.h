// The recorder's side of counting: CUPTI's callbacks go to the collector, values go to the
// dispatches that they are of (docs/facts/cuda_counters.md "In the recording").
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cuda/libraries.h"
#include "record/activity/converter.h"
#include "record/counters/counter_collector.h"
#include "record/database/database.h"

namespace perflab::record {

class Counting {
 public:
  /// Reads what is to be counted. The libraries outlive it. Error (usage): the list or a limit
  /// cannot be used.
  static Result<std::unique_ptr<Counting>> make(const cuda::DriverLibrary& driver,
                                                const cuda::CuptiLibrary& cupti,
                                                std::string_view metrics);

  /// Enables the callbacks that counting needs. Error (refused): CUPTI does not let it.
  Result<void> enable(cuda::Subscriber subscriber);
  /// What CUPTI calls in the domains driver_api and runtime_api.
  void call(cuda::CallbackDomain domain, cuda::CallbackId id, const void* data);
  void context_going(cuda::Context context) { collector_.leave(context); }
  /// In the exit handler: no launch is counted any more.
  void end();
  /// Writes the launches that have ended since the last call, with their values. For the writer's
  /// thread.
  void write(Database& database, Converter& converter);
  /// What became of it, as JSON; empty before end(). For the writer's thread, after the last
  /// write().
  [[nodiscard]] std::string json() const;

 private:
  Counting(const cuda::DriverLibrary& driver, const cuda::CuptiLibrary& cupti,
           CounterSettings settings);
  std::int64_t counter_of(Database& database, std::int64_t device, const CountedMetric& metric);

  const cuda::CuptiLibrary& cupti_;
  cuda::Profiler profiler_;
  CounterCollector collector_;
  /// Numbers of streams by context and handle; the writer's.
  std::map<std::pair<std::uint32_t, const void*>, std::uint32_t> streams_;
  std::map<std::pair<std::int64_t, std::string>, std::int64_t> counters_;
  mutable std::mutex mutex_;
  std::optional<CounterResults> results_;
};

}  // namespace perflab::record
