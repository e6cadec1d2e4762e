// The C ABI of CUPTI's profiler: the profiler host (which counters a chip has, how many passes they
// take, values from what was counted) and the range profiler (counting inside the program). Every
// structure begins with its size, as the library of CUDA 13.0 has it; compared with the toolkit's
// headers in tests/cuda. Facts: docs/facts/cuda_counters.md "Calls".
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/cupti_types.h"

namespace perflab::cuda {

/// Kinds of base metrics.
enum class MetricType : std::uint32_t { counter = 0, ratio = 1, throughput = 2 };

/// What a host object is for. We use the first.
enum class ProfilerType : std::uint32_t { range_profiler = 0, pm_sampling = 1 };

/// What begins and ends a range of counting: each launch, or the caller.
enum class RangeMode : std::uint32_t { by_launch = 1, by_user = 2 };
/// What is repeated for all passes: the program, each launch by CUPTI (which saves and restores
/// memory), or a range by the caller.
enum class ReplayMode : std::uint32_t { by_program = 1, by_cupti = 2, by_user = 3 };

/// What a device can do for a profiler.
enum class SupportLevel : std::uint32_t {
  unknown = 0,
  unsupported = 1,
  disabled = 2,
  supported = 3
};

struct HostObjectTag;
using HostObject = HostObjectTag*;
struct RangeObjectTag;
using RangeObject = RangeObjectTag*;

// Parameters of the calls, named like them. `size` is sized<T>()'s; `reserved` stays null.

struct HostInitialize {
  std::size_t size;
  void* reserved;
  ProfilerType type;
  const char* chip;
  const std::uint8_t* availability;  ///< of the device; null: everything that the chip has
  HostObject host;                   ///< out
};

struct HostDeinitialize {
  std::size_t size;
  void* reserved;
  HostObject host;
};

struct HostSupportedChips {
  std::size_t size;
  void* reserved;
  std::size_t count;         ///< out
  const char* const* chips;  ///< out
};

struct HostBaseMetrics {
  std::size_t size;
  void* reserved;
  HostObject host;
  MetricType type;
  const char** metrics;  ///< out
  std::size_t count;     ///< out
};

struct HostMetricProperties {
  std::size_t size;
  void* reserved;
  HostObject host;
  const char* metric;
  const char* description;  ///< out
  const char* unit;         ///< out: of the hardware ("sm")
  const char* dimension;    ///< out: "instruction"
  MetricType type;          ///< out
};

struct HostAddMetrics {
  std::size_t size;
  void* reserved;
  HostObject host;
  const char** metrics;
  std::size_t count;
};

struct HostConfigImageSize {
  std::size_t size;
  void* reserved;
  HostObject host;
  std::size_t bytes;  ///< out
};

struct HostConfigImage {
  std::size_t size;
  void* reserved;
  HostObject host;
  std::size_t bytes;
  std::uint8_t* image;
};

struct HostPasses {
  std::size_t size;
  void* reserved;
  std::size_t bytes;
  std::uint8_t* image;
  std::size_t passes;  ///< out
};

struct HostEvaluate {
  std::size_t size;
  void* reserved;
  HostObject host;
  const std::uint8_t* image;
  std::size_t bytes;
  std::size_t range;
  const char** metrics;
  std::size_t count;
  double* values;  ///< out
};

struct ProfilerInitialize {
  std::size_t size;
  void* reserved;
};

struct CounterAvailability {
  std::size_t size;
  void* reserved;
  Context context;
  std::size_t bytes;    ///< in and out
  std::uint8_t* image;  ///< null: only `bytes` is answered
};

struct DeviceSupported {
  std::size_t size;
  void* reserved;
  Device device;
  SupportLevel supported;     ///< out, of everything below
  SupportLevel architecture;  ///< out
  SupportLevel sli;           ///< out
  SupportLevel vgpu;          ///< out
  SupportLevel confidential;  ///< out
  SupportLevel cmp;           ///< out
  SupportLevel wsl;           ///< out
  std::uint32_t api;          ///< 0: range profiling
};

struct DeviceChipName {
  std::size_t size;
  void* reserved;
  std::size_t device;
  const char* chip;  ///< out
};

struct RangeEnable {
  std::size_t size;
  void* reserved;
  Context context;
  RangeObject object;  ///< out
};

/// Of cuptiRangeProfilerDisable and cuptiRangeProfilerStart.
struct RangeCall {
  std::size_t size;
  void* reserved;
  RangeObject object;
};

struct RangeSetConfig {
  std::size_t size;
  void* reserved;
  RangeObject object;
  std::size_t config_bytes;
  const std::uint8_t* config;
  std::size_t counter_data_bytes;
  std::uint8_t* counter_data;
  RangeMode range;
  ReplayMode replay;
  std::size_t most_ranges;
  std::uint16_t nesting_levels;
  std::uint16_t least_nesting_level;
  std::size_t pass;
  std::uint16_t target_nesting_level;
};

struct RangeStop {
  std::size_t size;
  void* reserved;
  RangeObject object;
  std::size_t pass;                  ///< out
  std::size_t target_nesting_level;  ///< out
  std::uint8_t all_submitted;        ///< out: 1 when no pass is left to run
};

struct RangeDecode {
  std::size_t size;
  void* reserved;
  RangeObject object;
  std::size_t dropped;  ///< out: ranges that found no room
};

struct RangeCounterDataSize {
  std::size_t size;
  void* reserved;
  RangeObject object;
  const char** metrics;
  std::size_t count;
  std::size_t most_ranges;
  std::uint32_t most_tree_nodes;
  std::size_t bytes;  ///< out
};

struct RangeCounterDataInitialize {
  std::size_t size;
  void* reserved;
  RangeObject object;
  std::size_t bytes;
  std::uint8_t* image;
};

struct RangeCounterDataInfo {
  std::size_t size;
  void* reserved;
  const std::uint8_t* image;
  std::size_t bytes;
  std::size_t ranges;  ///< out
};

struct RangeInfo {
  std::size_t size;
  void* reserved;
  const std::uint8_t* image;
  std::size_t bytes;
  std::size_t range;
  const char* delimiter;
  const char* name;  ///< out: "0", "1", ... by launch
};

/// Bytes up to the end of the last field, which is what CUPTI wants in `size`: without the padding
/// at the end of the structure.
template <class T>
constexpr std::size_t used_bytes() {
  return sizeof(T);
}
template <>
constexpr std::size_t used_bytes<HostMetricProperties>() {
  return offsetof(HostMetricProperties, type) + sizeof(MetricType);
}
template <>
constexpr std::size_t used_bytes<DeviceSupported>() {
  return offsetof(DeviceSupported, api) + sizeof(std::uint32_t);
}
template <>
constexpr std::size_t used_bytes<RangeSetConfig>() {
  return offsetof(RangeSetConfig, target_nesting_level) + sizeof(std::uint16_t);
}
template <>
constexpr std::size_t used_bytes<RangeStop>() {
  return offsetof(RangeStop, all_submitted) + sizeof(std::uint8_t);
}

/// Zeroed parameters with their size.
template <class T>
constexpr T sized() {
  T parameters{};
  parameters.size = used_bytes<T>();
  return parameters;
}

// NOLINTBEGIN(cppcoreguidelines-macro-usage)
// clang-format off

/// X(member, exported name, needed, signature): the profiler of libcupti.so.13 and .12. Needed is
/// what planning takes; counting needs the rest as well.
#define PERFLAB_CUDA_PROFILER(X)                                                                  \
  X(host_initialize, cuptiProfilerHostInitialize, true, CuptiResult(HostInitialize*))             \
  X(host_deinitialize, cuptiProfilerHostDeinitialize, true, CuptiResult(HostDeinitialize*))       \
  X(host_supported_chips, cuptiProfilerHostGetSupportedChips, true,                               \
    CuptiResult(HostSupportedChips*))                                                             \
  X(host_base_metrics, cuptiProfilerHostGetBaseMetrics, true, CuptiResult(HostBaseMetrics*))      \
  X(host_metric_properties, cuptiProfilerHostGetMetricProperties, true,                           \
    CuptiResult(HostMetricProperties*))                                                           \
  X(host_add_metrics, cuptiProfilerHostConfigAddMetrics, true, CuptiResult(HostAddMetrics*))      \
  X(host_config_image_size, cuptiProfilerHostGetConfigImageSize, true,                            \
    CuptiResult(HostConfigImageSize*))                                                            \
  X(host_config_image, cuptiProfilerHostGetConfigImage, true, CuptiResult(HostConfigImage*))      \
  X(host_passes, cuptiProfilerHostGetNumOfPasses, true, CuptiResult(HostPasses*))                 \
  X(host_evaluate, cuptiProfilerHostEvaluateToGpuValues, true, CuptiResult(HostEvaluate*))        \
  X(initialize, cuptiProfilerInitialize, false, CuptiResult(ProfilerInitialize*))                 \
  X(counter_availability, cuptiProfilerGetCounterAvailability, false,                             \
    CuptiResult(CounterAvailability*))                                                            \
  X(device_supported, cuptiProfilerDeviceSupported, false, CuptiResult(DeviceSupported*))         \
  X(device_chip_name, cuptiDeviceGetChipName, false, CuptiResult(DeviceChipName*))                \
  X(range_enable, cuptiRangeProfilerEnable, false, CuptiResult(RangeEnable*))                     \
  X(range_disable, cuptiRangeProfilerDisable, false, CuptiResult(RangeCall*))                     \
  X(range_set_config, cuptiRangeProfilerSetConfig, false, CuptiResult(RangeSetConfig*))           \
  X(range_start, cuptiRangeProfilerStart, false, CuptiResult(RangeCall*))                         \
  X(range_stop, cuptiRangeProfilerStop, false, CuptiResult(RangeStop*))                           \
  X(range_decode, cuptiRangeProfilerDecodeData, false, CuptiResult(RangeDecode*))                 \
  X(range_counter_data_size, cuptiRangeProfilerGetCounterDataSize, false,                         \
    CuptiResult(RangeCounterDataSize*))                                                           \
  X(range_counter_data_initialize, cuptiRangeProfilerCounterDataImageInitialize, false,           \
    CuptiResult(RangeCounterDataInitialize*))                                                     \
  X(range_counter_data_info, cuptiRangeProfilerGetCounterDataInfo, false,                         \
    CuptiResult(RangeCounterDataInfo*))                                                           \
  X(range_info, cuptiRangeProfilerCounterDataGetRangeInfo, false, CuptiResult(RangeInfo*))

// clang-format on
// NOLINTEND(cppcoreguidelines-macro-usage)

}  // namespace perflab::cuda
