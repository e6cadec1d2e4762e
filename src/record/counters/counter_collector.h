// Counts the launches of this process by CUPTI's range profiler: each launch is a range, and CUPTI
// repeats it for every pass with its memory restored. Sessions of some launches are begun and ended
// at the begin of a launch, as NVIDIA's own injection sample does. What cannot be repeated is left
// alone (docs/facts/cuda_counters.md "Replay").
//
// For record/tool: one collector, made when PERFLAB_RECORD_COUNTERS is set.
//  - enable the callbacks of driver_callbacks() in the domain driver_api and the whole domain
//    runtime_api, and pass each to callback(); resource_callback::context_destroy_starting to
//    leave();
//  - finish() in the exit handler, before CUPTI is given up, and on the thread that may call it;
//  - no activity kind is enabled meanwhile: see CountedLaunch. take() and finish() give every
//  launch,
//    counted or not.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "cuda/api.h"
#include "cuda/range_profiler.h"
#include "record/counters/counter_results.h"
#include "record/counters/counter_settings.h"

namespace perflab::record {

class CounterCollector {
 public:
  /// Both tables outlive the collector.
  CounterCollector(const cuda::Driver& driver, const cuda::Profiler& profiler,
                   CounterSettings settings);
  CounterCollector(const CounterCollector&) = delete;
  CounterCollector& operator=(const CounterCollector&) = delete;
  ~CounterCollector();

  /// Calls of the driver that callback() has to see.
  static std::span<const cuda::CallbackId> driver_callbacks();

  /// Prepares counting in a context, which must be current. Without it the first launch does.
  void start(cuda::Context context);
  /// Enter and exit of calls; of any thread. Between the two of a launch no other thread launches
  /// in the same context.
  void callback(cuda::CallbackDomain domain, cuda::CallbackId id, const cuda::CallbackData& data);
  /// The context is about to go: its session ends.
  void leave(cuda::Context context);
  /// The launches that ended since the last call, for writing early; of any thread.
  std::vector<CountedLaunch> take();
  /// Ends all sessions and counts no more. The launches are those that take() did not give.
  CounterResults finish();

  /// A launch as a callback shows it.
  struct Launch {
    std::string kernel;
    std::array<std::uint32_t, 3> grid{}, block{};
    std::uint32_t shared_bytes = 0;
    cuda::Stream stream = nullptr;
    bool graph = false;
  };

 private:
  using Clock = std::chrono::steady_clock;
  using Geometry = std::tuple<std::string, std::array<std::uint32_t, 3>,
                              std::array<std::uint32_t, 3>, std::uint32_t>;
  struct ContextState;

  ContextState& state_of(cuda::Context context);
  void enter(cuda::CallbackId id, const cuda::CallbackData& data);
  void exit(const cuda::CallbackData& data);
  /// Why this launch is not to be counted; nothing: it is.
  std::optional<CounterSkip> objection(const ContextState& state, const Launch& launch);
  [[nodiscard]] bool captured(const Launch& launch) const;
  [[nodiscard]] bool too_much_memory() const;
  bool open(ContextState& state);
  [[nodiscard]] std::vector<CountedMetric> described(const std::string& chip,
                                                     const std::vector<std::string>& names) const;
  bool count(ContextState& state, CountedLaunch launch);
  void pause(ContextState& state);
  void fail_with(ContextState& state, CounterFailure failure);

  const cuda::Driver& driver_;
  const cuda::Profiler& profiler_;
  const CounterSettings settings_;

  std::mutex mutex_;  ///< of everything below but the insides of a ContextState
  std::map<cuda::Context, std::unique_ptr<ContextState>> contexts_;
  std::map<Geometry, std::uint64_t> counted_;
  CounterResults results_;
  Clock::duration spent_{0};
  bool initialized_ = false, finished_ = false;
};

}  // namespace perflab::record
