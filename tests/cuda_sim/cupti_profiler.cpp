// The stand-in CUPTI's profiler host and range profiler: a chip GH100 that knows every name of a
// metric's form. Counted are warps, time and cycles of 1.98 GHz of each launch; the rest is 0.
// Facts: docs/facts/cuda_counters.md "Profiler host", "Order of calls".
#include "cuda_sim/cupti_profiler.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/profiler_types.h"
#include "cuda_sim/faults.h"

namespace perflab::cuda_sim {
namespace {

using cuda::CuptiResult;

constexpr const char* chip = "GH100";
constexpr std::size_t image_bytes = 64;
constexpr std::size_t metrics_of_a_pass = 8;
constexpr double cycles_per_ns = 1.98;

/// A launch that was counted.
struct Counted {
  double warps, ns;
};

/// One range profiler at a time, of whatever context.
struct Session {
  std::mutex mutex;
  bool enabled = false, started = false;
  std::size_t room = 0;
  std::vector<Counted> launches;
};

Session& session() {
  // Never destroyed: exit handlers count.
  static Session& one = *new Session;
  return one;
}

std::size_t metrics_added = 0;  // to the host object that was made last

bool has_form(std::string_view name) {
  const std::size_t unit = name.find("__"), rollup = name.find('.');
  return unit != std::string_view::npos && rollup != std::string_view::npos && rollup > unit;
}

double value_of(std::string_view metric, const Counted& launch) {
  if (metric == "smsp__warps_launched.sum") return launch.warps;
  if (metric == "gpu__time_duration.sum") return launch.ns;
  if (metric == "sm__cycles_elapsed.max") return cycles_per_ns * launch.ns;
  return 0;
}

template <class Body>
CuptiResult answered_by(const char* call, const Body& body) {
  if (const auto fault = Faults::get().answer(call)) return *fault;
  return body();
}

/// A call of the range profiler that has its turn only in one state.
template <class Body>
CuptiResult in_state(const char* call, bool enabled, bool started, const Body& body) {
  return answered_by(call, [&] {
    Session& s = session();
    const std::scoped_lock lock(s.mutex);
    if (s.enabled != enabled || s.started != started) return CuptiResult::invalid_operation;
    body(s);
    return CuptiResult::success;
  });
}

}  // namespace

bool profiler_saw(const Work& work) {
  Session& s = session();
  const std::scoped_lock lock(s.mutex);
  if (!s.started || work.kind != WorkKind::kernel) return false;
  const auto product = [](const Dimensions& size) {
    return static_cast<double>(size.x) * size.y * size.z;
  };
  const double warps_of_block =
      static_cast<double>((static_cast<std::int64_t>(product(work.launch.block)) + 31) / 32);
  s.launches.push_back({.warps = product(work.launch.grid) * warps_of_block,
                        .ns = static_cast<double>(work.nanoseconds)});
  return true;
}

}  // namespace perflab::cuda_sim

namespace cuda = perflab::cuda;
using cuda::CuptiResult;
using perflab::cuda_sim::answered_by;
using perflab::cuda_sim::in_state;
using perflab::cuda_sim::Session;

#pragma GCC visibility push(default)
extern "C" {

CuptiResult cuptiProfilerHostInitialize(cuda::HostInitialize* call) {
  return answered_by("cuptiProfilerHostInitialize", [&] {
    if (std::strcmp(call->chip, perflab::cuda_sim::chip) != 0)
      return CuptiResult::invalid_chip_name;
    perflab::cuda_sim::metrics_added = 0;
    call->host = reinterpret_cast<cuda::HostObject>(call);
    return CuptiResult::success;
  });
}

CuptiResult cuptiProfilerHostDeinitialize(cuda::HostDeinitialize*) {
  return CuptiResult::success;
}

CuptiResult cuptiProfilerHostGetSupportedChips(cuda::HostSupportedChips* call) {
  static const char* const chips[] = {perflab::cuda_sim::chip};
  call->count = 1;
  call->chips = chips;
  return CuptiResult::success;
}

CuptiResult cuptiProfilerHostGetBaseMetrics(cuda::HostBaseMetrics* call) {
  call->count = 0;
  return CuptiResult::success;
}

CuptiResult cuptiProfilerHostGetMetricProperties(cuda::HostMetricProperties* call) {
  if (!perflab::cuda_sim::has_form(call->metric)) return CuptiResult::invalid_metric_name;
  call->description = "a made-up counter";
  call->unit = call->dimension = "unit";
  return CuptiResult::success;
}

CuptiResult cuptiProfilerHostConfigAddMetrics(cuda::HostAddMetrics* call) {
  return answered_by("cuptiProfilerHostConfigAddMetrics", [&] {
    for (std::size_t i = 0; i < call->count; ++i)
      if (!perflab::cuda_sim::has_form(call->metrics[i])) return CuptiResult::invalid_metric_name;
    perflab::cuda_sim::metrics_added += call->count;
    return CuptiResult::success;
  });
}

CuptiResult cuptiProfilerHostGetConfigImageSize(cuda::HostConfigImageSize* call) {
  call->bytes = sizeof(std::size_t);
  return CuptiResult::success;
}

CuptiResult cuptiProfilerHostGetConfigImage(cuda::HostConfigImage* call) {
  const std::size_t passes =
      1 + perflab::cuda_sim::metrics_added / perflab::cuda_sim::metrics_of_a_pass;
  std::memcpy(call->image, &passes, sizeof(passes));
  return CuptiResult::success;
}

CuptiResult cuptiProfilerHostGetNumOfPasses(cuda::HostPasses* call) {
  std::memcpy(&call->passes, call->image, sizeof(call->passes));
  return CuptiResult::success;
}

CuptiResult cuptiProfilerHostEvaluateToGpuValues(cuda::HostEvaluate* call) {
  Session& s = perflab::cuda_sim::session();
  const std::scoped_lock lock(s.mutex);
  if (call->range >= s.launches.size()) return CuptiResult::invalid_parameter;
  for (std::size_t i = 0; i < call->count; ++i)
    call->values[i] = perflab::cuda_sim::value_of(call->metrics[i], s.launches[call->range]);
  return CuptiResult::success;
}

CuptiResult cuptiProfilerInitialize(cuda::ProfilerInitialize*) {
  return answered_by("cuptiProfilerInitialize", [] { return CuptiResult::success; });
}

CuptiResult cuptiProfilerGetCounterAvailability(cuda::CounterAvailability* call) {
  return answered_by("cuptiProfilerGetCounterAvailability", [&] {
    call->bytes = perflab::cuda_sim::image_bytes;
    return CuptiResult::success;
  });
}

CuptiResult cuptiProfilerDeviceSupported(cuda::DeviceSupported* call) {
  return answered_by("cuptiProfilerDeviceSupported", [&] {
    call->supported = cuda::SupportLevel::supported;
    return CuptiResult::success;
  });
}

CuptiResult cuptiDeviceGetChipName(cuda::DeviceChipName* call) {
  call->chip = perflab::cuda_sim::chip;
  return CuptiResult::success;
}

CuptiResult cuptiRangeProfilerEnable(cuda::RangeEnable* call) {
  return in_state("cuptiRangeProfilerEnable", false, false, [&](Session& s) {
    s.enabled = true;
    call->object = reinterpret_cast<cuda::RangeObject>(&s);
  });
}

CuptiResult cuptiRangeProfilerDisable(cuda::RangeCall*) {
  return in_state("cuptiRangeProfilerDisable", true, false, [](Session& s) { s.enabled = false; });
}

CuptiResult cuptiRangeProfilerSetConfig(cuda::RangeSetConfig* call) {
  return in_state("cuptiRangeProfilerSetConfig", true, false,
                  [&](Session& s) { s.room = call->most_ranges; });
}

CuptiResult cuptiRangeProfilerStart(cuda::RangeCall*) {
  return in_state("cuptiRangeProfilerStart", true, false, [](Session& s) {
    s.started = true;
    s.launches.clear();
  });
}

CuptiResult cuptiRangeProfilerStop(cuda::RangeStop* call) {
  return in_state("cuptiRangeProfilerStop", true, true, [&](Session& s) {
    s.started = false;
    call->all_submitted = 1;
  });
}

CuptiResult cuptiRangeProfilerDecodeData(cuda::RangeDecode* call) {
  return in_state("cuptiRangeProfilerDecodeData", true, false, [&](Session& s) {
    call->dropped = s.launches.size() - std::min(s.launches.size(), s.room);
  });
}

CuptiResult cuptiRangeProfilerGetCounterDataSize(cuda::RangeCounterDataSize* call) {
  call->bytes = perflab::cuda_sim::image_bytes;
  return CuptiResult::success;
}

CuptiResult cuptiRangeProfilerCounterDataImageInitialize(cuda::RangeCounterDataInitialize*) {
  return CuptiResult::success;
}

CuptiResult cuptiRangeProfilerGetCounterDataInfo(cuda::RangeCounterDataInfo* call) {
  Session& s = perflab::cuda_sim::session();
  const std::scoped_lock lock(s.mutex);
  call->ranges = s.launches.size();
  return CuptiResult::success;
}

CuptiResult cuptiRangeProfilerCounterDataGetRangeInfo(cuda::RangeInfo*) {
  return CuptiResult::not_supported;
}

}  // extern "C"
#pragma GCC visibility pop
