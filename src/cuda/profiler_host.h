// CUPTI's profiler host: which metrics a chip has, in how many passes a set of them is counted, and
// values from what was counted. It needs neither a GPU nor a driver. Facts:
// docs/facts/cuda_counters.md "Profiler host".
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/libraries.h"
#include "cuda/profiler_types.h"

namespace perflab::cuda {

// A declaration per entry cannot be written otherwise.
// NOLINTBEGIN(bugprone-macro-parentheses,cppcoreguidelines-macro-usage)
#define PERFLAB_CUDA_PROFILER_MEMBER(name, exported, needed, ...) \
  using name##_t = __VA_ARGS__;                                   \
  name##_t* name;

/// The profiler's entry points; null where the library has none.
struct Profiler {
  PERFLAB_CUDA_PROFILER(PERFLAB_CUDA_PROFILER_MEMBER)
};

#undef PERFLAB_CUDA_PROFILER_MEMBER
// NOLINTEND(bugprone-macro-parentheses,cppcoreguidelines-macro-usage)

/// All entries, in the order of the members.
std::span<const EntryName> profiler_entries();
/// The entry points of an opened library (dlopen's handle).
Profiler profiler_of_library(void* library);
/// Those of the library that open_cupti() found; all null where that has a problem.
Profiler profiler_of(const CuptiLibrary& library);
/// Name of the first entry that is null, of those that planning needs, or of all (`counting`);
/// null: none is.
const char* missing_entry(const Profiler& profiler, bool counting);

/// A call of the profiler that failed. `result` success: CUPTI answered, but not what was asked.
struct ProfilerFailure {
  const char* call = "";  ///< exported name
  CuptiResult result = CuptiResult::success;
  std::string detail;  ///< the metric or chip it was about; may be empty
};

/// Value or what failed.
template <class T>
using Profiled = std::expected<T, ProfilerFailure>;

/// Chips that the library knows ("GH100"), in its order.
Profiled<std::vector<std::string>> supported_chips(const Profiler& profiler);

/// What the library says of a metric.
struct MetricProperties {
  std::string description, unit, dimension;
  MetricType type = MetricType::counter;
};

/// One host object. Metrics are added to it for good: one per plan.
class ProfilerHost {
 public:
  /// `availability`: what the device can count (range_profiler.h); empty: everything that the chip
  /// has. Failure: invalid_chip_name or invalid_parameter for a chip that is not known.
  static Profiled<ProfilerHost> open(const Profiler& profiler, const std::string& chip,
                                     std::span<const std::uint8_t> availability = {});
  ProfilerHost(ProfilerHost&& other) noexcept;
  ProfilerHost& operator=(ProfilerHost&& other) noexcept;
  ProfilerHost(const ProfilerHost&) = delete;
  ProfilerHost& operator=(const ProfilerHost&) = delete;
  ~ProfilerHost();

  /// Base metrics of a kind, without rollup: "sm__inst_executed".
  [[nodiscard]] Profiled<std::vector<std::string>> base_metrics(MetricType type) const;
  /// Of a metric with or without rollup. Failure: invalid_metric_name.
  [[nodiscard]] Profiled<MetricProperties> properties(const std::string& metric) const;
  /// Adds metrics to what is to be counted. Failure: invalid_parameter (or invalid_metric_name),
  /// for any of them.
  [[nodiscard]] Profiled<void> add(std::span<const std::string> metrics) const;
  /// What counting the added metrics takes, for the range profiler.
  [[nodiscard]] Profiled<std::vector<std::uint8_t>> config_image() const;
  /// Values of a range of decoded counter data, by `metrics`.
  [[nodiscard]] Profiled<std::vector<double>> evaluate(std::span<const std::uint8_t> counter_data,
                                                       std::size_t range,
                                                       std::span<const std::string> metrics) const;

 private:
  ProfilerHost(const Profiler& profiler, HostObject host) : profiler_(&profiler), host_(host) {}

  const Profiler* profiler_;
  HostObject host_;
};

/// Launches of a kernel that counting takes by a config image.
Profiled<std::size_t> passes_of(const Profiler& profiler, std::span<const std::uint8_t> image);

/// A metric that is not counted, and why.
struct RefusedMetric {
  std::string name;
  CuptiResult result = CuptiResult::invalid_metric_name;
};

/// Metrics that are counted together: each launch is repeated `passes` times in one run of the
/// program.
struct MetricGroup {
  std::vector<std::string> metrics;
  std::vector<std::uint8_t> config_image;
  std::size_t passes = 0;
};

struct MetricPlan {
  std::string chip;
  std::vector<MetricGroup> groups;  ///< one, unless the limit asks for more: a run each
  std::vector<RefusedMetric> refused;
};

/// Plans `wanted` (each name once) on a chip. Names that it does not have are refused, one by one.
/// `most_passes`: of a group, 0 for no limit; a single metric may need more all the same.
/// Failure: the chip is not known, or the library fails.
Profiled<MetricPlan> plan_metrics(const Profiler& profiler, const std::string& chip,
                                  std::span<const std::string> wanted, std::size_t most_passes = 0,
                                  std::span<const std::uint8_t> availability = {});

}  // namespace perflab::cuda
