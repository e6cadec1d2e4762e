// The structures of the profiler, their sizes as CUPTI wants them and their numbers, against the
// toolkit's headers (CUPTI_API_VERSION 130001). Compiled where the build found them.
#include <gtest/gtest.h>

#ifdef PERFLAB_CUPTI_HEADERS
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <cstddef>

#include "cuda/profiler_types.h"

namespace perflab::cuda {
namespace {

// NOLINTBEGIN(cppcoreguidelines-macro-usage)
#define SAME_PARAMETER(ours, theirs)                               \
  static_assert(offsetof(Ours, ours) == offsetof(Theirs, theirs)); \
  static_assert(sizeof(static_cast<Ours*>(nullptr)->ours) ==       \
                sizeof(static_cast<Theirs*>(nullptr)->theirs))
// NOLINTEND(cppcoreguidelines-macro-usage)

TEST(ProfilerLayout, HostInitialize) {
  using Ours = HostInitialize;
  using Theirs = CUpti_Profiler_Host_Initialize_Params;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_EQ(used_bytes<Ours>(), CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE);
  SAME_PARAMETER(size, structSize);
  SAME_PARAMETER(reserved, pPriv);
  SAME_PARAMETER(type, profilerType);
  SAME_PARAMETER(chip, pChipName);
  SAME_PARAMETER(availability, pCounterAvailabilityImage);
  SAME_PARAMETER(host, pHostObject);
}

TEST(ProfilerLayout, HostDeinitialize) {
  using Ours = HostDeinitialize;
  using Theirs = CUpti_Profiler_Host_Deinitialize_Params;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_EQ(used_bytes<Ours>(), CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE);
  SAME_PARAMETER(size, structSize);
  SAME_PARAMETER(reserved, pPriv);
  SAME_PARAMETER(host, pHostObject);
}

TEST(ProfilerLayout, HostSupportedChips) {
  using Ours = HostSupportedChips;
  using Theirs = CUpti_Profiler_Host_GetSupportedChips_Params;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_EQ(used_bytes<Ours>(), CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE);
  SAME_PARAMETER(size, structSize);
  SAME_PARAMETER(reserved, pPriv);
  SAME_PARAMETER(count, numChips);
  SAME_PARAMETER(chips, ppChipNames);
}

TEST(ProfilerLayout, HostBaseMetrics) {
  using Ours = HostBaseMetrics;
  using Theirs = CUpti_Profiler_Host_GetBaseMetrics_Params;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_EQ(used_bytes<Ours>(), CUpti_Profiler_Host_GetBaseMetrics_Params_STRUCT_SIZE);
  SAME_PARAMETER(size, structSize);
  SAME_PARAMETER(reserved, pPriv);
  SAME_PARAMETER(host, pHostObject);
  SAME_PARAMETER(type, metricType);
  SAME_PARAMETER(metrics, ppMetricNames);
  SAME_PARAMETER(count, numMetrics);
}

TEST(ProfilerLayout, HostMetricProperties) {
  using Ours = HostMetricProperties;
  using Theirs = CUpti_Profiler_Host_GetMetricProperties_Params;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_EQ(used_bytes<Ours>(), CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE);
  SAME_PARAMETER(size, structSize);
  SAME_PARAMETER(reserved, pPriv);
  SAME_PARAMETER(host, pHostObject);
  SAME_PARAMETER(metric, pMetricName);
  SAME_PARAMETER(description, pDescription);
  SAME_PARAMETER(unit, pHwUnit);
  SAME_PARAMETER(dimension, pDimUnit);
  SAME_PARAMETER(type, metricType);
}

TEST(ProfilerLayout, HostAddMetrics) {
  using Ours = HostAddMetrics;
  using Theirs = CUpti_Profiler_Host_ConfigAddMetrics_Params;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_EQ(used_bytes<Ours>(), CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE);
  SAME_PARAMETER(size, structSize);
  SAME_PARAMETER(reserved, pPriv);
  SAME_PARAMETER(host, pHostObject);
  SAME_PARAMETER(metrics, ppMetricNames);
  SAME_PARAMETER(count, numMetrics);
}

TEST(ProfilerLayout, HostConfigImageSize) {
  using Ours = HostConfigImageSize;
  using Theirs = CUpti_Profiler_Host_GetConfigImageSize_Params;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_EQ(used_bytes<Ours>(), CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE);
  SAME_PARAMETER(size, structSize);
  SAME_PARAMETER(reserved, pPriv);
  SAME_PARAMETER(host, pHostObject);
  SAME_PARAMETER(bytes, configImageSize);
}

TEST(ProfilerLayout, HostConfigImage) {
  using Ours = HostConfigImage;
  using Theirs = CUpti_Profiler_Host_GetConfigImage_Params;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_EQ(used_bytes<Ours>(), CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE);
  SAME_PARAMETER(size, structSize);
  SAME_PARAMETER(reserved, pPriv);
  SAME_PARAMETER(host, pHostObject);
  SAME_PARAMETER(bytes, configImageSize);
  SAME_PARAMETER(image, pConfigImage);
}

TEST(ProfilerLayout, HostPasses) {
  using Ours = HostPasses;
  using Theirs = CUpti_Profiler_Host_GetNumOfPasses_Params;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_EQ(used_bytes<Ours>(), CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE);
  SAME_PARAMETER(size, structSize);
  SAME_PARAMETER(reserved, pPriv);
  SAME_PARAMETER(bytes, configImageSize);
  SAME_PARAMETER(image, pConfigImage);
  SAME_PARAMETER(passes, numOfPasses);
}

TEST(ProfilerLayout, HostEvaluate) {
  using Ours = HostEvaluate;
  using Theirs = CUpti_Profiler_Host_EvaluateToGpuValues_Params;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_EQ(used_bytes<Ours>(), CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE);
  SAME_PARAMETER(size, structSize);
  SAME_PARAMETER(reserved, pPriv);
  SAME_PARAMETER(host, pHostObject);
  SAME_PARAMETER(image, pCounterDataImage);
  SAME_PARAMETER(bytes, counterDataImageSize);
  SAME_PARAMETER(range, rangeIndex);
  SAME_PARAMETER(metrics, ppMetricNames);
  SAME_PARAMETER(count, numMetrics);
  SAME_PARAMETER(values, pMetricValues);
}

TEST(ProfilerLayout, ProfilerInitialize) {
  using Ours = ProfilerInitialize;
  using Theirs = CUpti_Profiler_Initialize_Params;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_EQ(used_bytes<Ours>(), CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
  SAME_PARAMETER(size, structSize);
  SAME_PARAMETER(reserved, pPriv);
}

TEST(ProfilerLayout, CounterAvailability) {
  using Ours = CounterAvailability;
  using Theirs = CUpti_Profiler_GetCounterAvailability_Params;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_EQ(used_bytes<Ours>(), CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE);
  SAME_PARAMETER(size, structSize);
  SAME_PARAMETER(reserved, pPriv);
  SAME_PARAMETER(context, ctx);
  SAME_PARAMETER(bytes, counterAvailabilityImageSize);
  SAME_PARAMETER(image, pCounterAvailabilityImage);
}

TEST(ProfilerLayout, DeviceSupported) {
  using Ours = DeviceSupported;
  using Theirs = CUpti_Profiler_DeviceSupported_Params;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_EQ(used_bytes<Ours>(), CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE);
  SAME_PARAMETER(size, structSize);
  SAME_PARAMETER(reserved, pPriv);
  SAME_PARAMETER(device, cuDevice);
  SAME_PARAMETER(supported, isSupported);
  SAME_PARAMETER(architecture, architecture);
  SAME_PARAMETER(sli, sli);
  SAME_PARAMETER(vgpu, vGpu);
  SAME_PARAMETER(confidential, confidentialCompute);
  SAME_PARAMETER(cmp, cmp);
  SAME_PARAMETER(wsl, wsl);
  SAME_PARAMETER(api, api);
}

TEST(ProfilerLayout, DeviceChipName) {
  using Ours = DeviceChipName;
  using Theirs = CUpti_Device_GetChipName_Params;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_EQ(used_bytes<Ours>(), CUpti_Device_GetChipName_Params_STRUCT_SIZE);
  SAME_PARAMETER(size, structSize);
  SAME_PARAMETER(reserved, pPriv);
  SAME_PARAMETER(device, deviceIndex);
  SAME_PARAMETER(chip, pChipName);
}

TEST(ProfilerLayout, RangeEnable) {
  using Ours = RangeEnable;
  using Theirs = CUpti_RangeProfiler_Enable_Params;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_EQ(used_bytes<Ours>(), CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE);
  SAME_PARAMETER(size, structSize);
  SAME_PARAMETER(reserved, pPriv);
  SAME_PARAMETER(context, ctx);
  SAME_PARAMETER(object, pRangeProfilerObject);
}

TEST(ProfilerLayout, RangeSetConfig) {
  using Ours = RangeSetConfig;
  using Theirs = CUpti_RangeProfiler_SetConfig_Params;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_EQ(used_bytes<Ours>(), CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE);
  SAME_PARAMETER(size, structSize);
  SAME_PARAMETER(reserved, pPriv);
  SAME_PARAMETER(object, pRangeProfilerObject);
  SAME_PARAMETER(config_bytes, configSize);
  SAME_PARAMETER(config, pConfig);
  SAME_PARAMETER(counter_data_bytes, counterDataImageSize);
  SAME_PARAMETER(counter_data, pCounterDataImage);
  SAME_PARAMETER(range, range);
  SAME_PARAMETER(replay, replayMode);
  SAME_PARAMETER(most_ranges, maxRangesPerPass);
  SAME_PARAMETER(nesting_levels, numNestingLevels);
  SAME_PARAMETER(least_nesting_level, minNestingLevel);
  SAME_PARAMETER(pass, passIndex);
  SAME_PARAMETER(target_nesting_level, targetNestingLevel);
}

TEST(ProfilerLayout, RangeStop) {
  using Ours = RangeStop;
  using Theirs = CUpti_RangeProfiler_Stop_Params;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_EQ(used_bytes<Ours>(), CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE);
  SAME_PARAMETER(size, structSize);
  SAME_PARAMETER(reserved, pPriv);
  SAME_PARAMETER(object, pRangeProfilerObject);
  SAME_PARAMETER(pass, passIndex);
  SAME_PARAMETER(target_nesting_level, targetNestingLevel);
  SAME_PARAMETER(all_submitted, isAllPassSubmitted);
}

TEST(ProfilerLayout, RangeDecode) {
  using Ours = RangeDecode;
  using Theirs = CUpti_RangeProfiler_DecodeData_Params;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_EQ(used_bytes<Ours>(), CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE);
  SAME_PARAMETER(size, structSize);
  SAME_PARAMETER(reserved, pPriv);
  SAME_PARAMETER(object, pRangeProfilerObject);
  SAME_PARAMETER(dropped, numOfRangeDropped);
}

TEST(ProfilerLayout, RangeCounterDataSize) {
  using Ours = RangeCounterDataSize;
  using Theirs = CUpti_RangeProfiler_GetCounterDataSize_Params;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_EQ(used_bytes<Ours>(), CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE);
  SAME_PARAMETER(size, structSize);
  SAME_PARAMETER(reserved, pPriv);
  SAME_PARAMETER(object, pRangeProfilerObject);
  SAME_PARAMETER(metrics, pMetricNames);
  SAME_PARAMETER(count, numMetrics);
  SAME_PARAMETER(most_ranges, maxNumOfRanges);
  SAME_PARAMETER(most_tree_nodes, maxNumRangeTreeNodes);
  SAME_PARAMETER(bytes, counterDataSize);
}

TEST(ProfilerLayout, RangeCounterDataInitialize) {
  using Ours = RangeCounterDataInitialize;
  using Theirs = CUpti_RangeProfiler_CounterDataImage_Initialize_Params;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_EQ(used_bytes<Ours>(), CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE);
  SAME_PARAMETER(size, structSize);
  SAME_PARAMETER(reserved, pPriv);
  SAME_PARAMETER(object, pRangeProfilerObject);
  SAME_PARAMETER(bytes, counterDataSize);
  SAME_PARAMETER(image, pCounterData);
}

TEST(ProfilerLayout, RangeCounterDataInfo) {
  using Ours = RangeCounterDataInfo;
  using Theirs = CUpti_RangeProfiler_GetCounterDataInfo_Params;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_EQ(used_bytes<Ours>(), CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE);
  SAME_PARAMETER(size, structSize);
  SAME_PARAMETER(reserved, pPriv);
  SAME_PARAMETER(image, pCounterDataImage);
  SAME_PARAMETER(bytes, counterDataImageSize);
  SAME_PARAMETER(ranges, numTotalRanges);
}

TEST(ProfilerLayout, RangeInfo) {
  using Ours = RangeInfo;
  using Theirs = CUpti_RangeProfiler_CounterData_GetRangeInfo_Params;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_EQ(used_bytes<Ours>(), CUpti_RangeProfiler_CounterData_GetRangeInfo_Params_STRUCT_SIZE);
  SAME_PARAMETER(size, structSize);
  SAME_PARAMETER(reserved, pPriv);
  SAME_PARAMETER(image, pCounterDataImage);
  SAME_PARAMETER(bytes, counterDataImageSize);
  SAME_PARAMETER(range, rangeIndex);
  SAME_PARAMETER(delimiter, rangeDelimiter);
  SAME_PARAMETER(name, rangeName);
}

TEST(ProfilerLayout, CallsWithTheObjectAlone) {
  using Ours = RangeCall;
  const auto same = []<class Theirs>(const Theirs&, std::size_t size) {
    static_assert(offsetof(Ours, object) == offsetof(Theirs, pRangeProfilerObject));
    EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
    EXPECT_EQ(used_bytes<Ours>(), size);
  };
  same(CUpti_RangeProfiler_Start_Params{}, CUpti_RangeProfiler_Start_Params_STRUCT_SIZE);
  same(CUpti_RangeProfiler_Disable_Params{}, CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE);
}

template <class Ours, class Theirs>
bool same_number(Ours ours, Theirs theirs) {
  return static_cast<std::uint32_t>(ours) == static_cast<std::uint32_t>(theirs);
}

TEST(ProfilerLayout, Numbers) {
  EXPECT_TRUE(same_number(MetricType::counter, CUPTI_METRIC_TYPE_COUNTER));
  EXPECT_TRUE(same_number(MetricType::ratio, CUPTI_METRIC_TYPE_RATIO));
  EXPECT_TRUE(same_number(MetricType::throughput, CUPTI_METRIC_TYPE_THROUGHPUT));
  EXPECT_TRUE(same_number(ProfilerType::range_profiler, CUPTI_PROFILER_TYPE_RANGE_PROFILER));
  EXPECT_TRUE(same_number(ProfilerType::pm_sampling, CUPTI_PROFILER_TYPE_PM_SAMPLING));
  EXPECT_TRUE(same_number(RangeMode::by_launch, CUPTI_AutoRange));
  EXPECT_TRUE(same_number(RangeMode::by_user, CUPTI_UserRange));
  EXPECT_TRUE(same_number(ReplayMode::by_program, CUPTI_ApplicationReplay));
  EXPECT_TRUE(same_number(ReplayMode::by_cupti, CUPTI_KernelReplay));
  EXPECT_TRUE(same_number(ReplayMode::by_user, CUPTI_UserReplay));
  EXPECT_TRUE(same_number(SupportLevel::unknown, CUPTI_PROFILER_CONFIGURATION_UNKNOWN));
  EXPECT_TRUE(same_number(SupportLevel::unsupported, CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED));
  EXPECT_TRUE(same_number(SupportLevel::disabled, CUPTI_PROFILER_CONFIGURATION_DISABLED));
  EXPECT_TRUE(same_number(SupportLevel::supported, CUPTI_PROFILER_CONFIGURATION_SUPPORTED));
  EXPECT_EQ(CUPTI_PROFILER_RANGE_PROFILING, 0);
}

}  // namespace
}  // namespace perflab::cuda

#else
TEST(ProfilerLayout, AsInTheToolkit) {
  GTEST_SKIP() << "the build found no headers of CUPTI 13";
}
#endif
