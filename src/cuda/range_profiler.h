// CUPTI's range profiler on one context: counts each launch between start() and stop() by itself,
// repeating it for every pass with its memory restored (kernel replay). Facts:
// docs/facts/cuda_counters.md "Order of calls", "Replay".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda/profiler_host.h"

namespace perflab::cuda {

/// What a device can count, as the profiler host wants it. Failure: insufficient_privileges where
/// only an administrator may read counters; others where no counters can be read at all.
Profiled<std::vector<std::uint8_t>> counter_availability(const Profiler& profiler, Context context);

/// Loads what the profiler needs; once per process, before anything else of this file.
Profiled<void> initialize_profiler(const Profiler& profiler);

/// Whether the device can be counted on, by the fields of the answer.
Profiled<DeviceSupported> device_support(const Profiler& profiler, Device device);

/// Chip of a device ("GH100").
Profiled<std::string> chip_name(const Profiler& profiler, Device device);

/// What was counted between start() and stop().
struct RangeValues {
  std::vector<std::vector<double>> ranges;  ///< in the order of the launches; by the metrics
  std::size_t dropped = 0;                  ///< launches that found no room
};

/// One enabled range profiler. Calls of other CUDA functions in between are the program's.
class RangeProfiler {
 public:
  /// Enables counting of `group` on the context, at most `most_launches` per session.
  static Profiled<RangeProfiler> enable(const Profiler& profiler, Context context,
                                        const std::string& chip, MetricGroup group,
                                        std::span<const std::uint8_t> availability,
                                        std::size_t most_launches);
  RangeProfiler(RangeProfiler&& other) noexcept;
  RangeProfiler& operator=(RangeProfiler&& other) noexcept;
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;
  /// Leaves the context as it is: it may be gone. See disable().
  ~RangeProfiler() = default;

  /// Launches in the context are counted from here on.
  Profiled<void> start();
  /// Ends the session and gives what was counted. A started session only.
  Profiled<RangeValues> stop();
  /// Gives the context back; the profiler cannot be used any more.
  void disable();
  [[nodiscard]] bool started() const { return started_; }
  [[nodiscard]] const std::vector<std::string>& metrics() const { return group_.metrics; }
  [[nodiscard]] std::size_t passes() const { return group_.passes; }

 private:
  RangeProfiler(const Profiler& profiler, ProfilerHost host, RangeObject object, MetricGroup group,
                std::size_t most_launches)
      : profiler_(&profiler),
        host_(std::move(host)),
        object_(object),
        group_(std::move(group)),
        most_launches_(most_launches) {}
  Profiled<void> make_image();
  Profiled<RangeValues> values() const;

  const Profiler* profiler_;
  ProfilerHost host_;
  RangeObject object_;
  MetricGroup group_;
  std::size_t most_launches_;
  std::vector<std::uint8_t> counter_data_;
  bool started_ = false;
};

}  // namespace perflab::cuda
