// The calls in the order that worked on hardware: enable, size and image of the counter data,
// config, start; stop, decode, evaluate.
#include "cuda/range_profiler.h"

#include <utility>

namespace perflab::cuda {
namespace {

std::unexpected<ProfilerFailure> range_failed(const char* call, CuptiResult result) {
  return std::unexpected(ProfilerFailure{.call = call, .result = result, .detail = {}});
}

}  // namespace

Profiled<void> initialize_profiler(const Profiler& profiler) {
  auto call = sized<ProfilerInitialize>();
  if (const auto result = profiler.initialize(&call); result != CuptiResult::success)
    return range_failed("cuptiProfilerInitialize", result);
  return {};
}

Profiled<std::vector<std::uint8_t>> counter_availability(const Profiler& profiler,
                                                         Context context) {
  auto call = sized<CounterAvailability>();
  call.context = context;
  if (const auto result = profiler.counter_availability(&call); result != CuptiResult::success)
    return range_failed("cuptiProfilerGetCounterAvailability", result);
  std::vector<std::uint8_t> image(call.bytes);
  call.image = image.data();
  if (const auto result = profiler.counter_availability(&call); result != CuptiResult::success)
    return range_failed("cuptiProfilerGetCounterAvailability", result);
  image.resize(call.bytes);
  return image;
}

Profiled<DeviceSupported> device_support(const Profiler& profiler, Device device) {
  auto call = sized<DeviceSupported>();
  call.device = device;
  if (const auto result = profiler.device_supported(&call); result != CuptiResult::success)
    return range_failed("cuptiProfilerDeviceSupported", result);
  return call;
}

Profiled<std::string> chip_name(const Profiler& profiler, Device device) {
  auto call = sized<DeviceChipName>();
  call.device = static_cast<std::size_t>(device);
  if (const auto result = profiler.device_chip_name(&call); result != CuptiResult::success)
    return range_failed("cuptiDeviceGetChipName", result);
  return std::string(call.chip == nullptr ? "" : call.chip);
}

Profiled<RangeProfiler> RangeProfiler::enable(const Profiler& profiler, Context context,
                                              const std::string& chip, MetricGroup group,
                                              std::span<const std::uint8_t> availability,
                                              std::size_t most_launches) {
  auto host = ProfilerHost::open(profiler, chip, availability);
  if (!host) return std::unexpected(std::move(host).error());
  // The host evaluates what it was told to count.
  if (auto added = host->add(group.metrics); !added)
    return std::unexpected(std::move(added).error());
  auto call = sized<RangeEnable>();
  call.context = context;
  if (const auto result = profiler.range_enable(&call); result != CuptiResult::success)
    return range_failed("cuptiRangeProfilerEnable", result);
  RangeProfiler enabled(profiler, *std::move(host), call.object, std::move(group), most_launches);
  if (auto made = enabled.make_image(); !made) {
    enabled.disable();
    return std::unexpected(std::move(made).error());
  }
  return enabled;
}

RangeProfiler::RangeProfiler(RangeProfiler&& other) noexcept = default;
RangeProfiler& RangeProfiler::operator=(RangeProfiler&& other) noexcept = default;

Profiled<void> RangeProfiler::make_image() {
  std::vector<const char*> names;
  names.reserve(group_.metrics.size());
  for (const std::string& metric : group_.metrics) names.push_back(metric.c_str());
  auto size = sized<RangeCounterDataSize>();
  size.object = object_;
  size.metrics = names.data();
  size.count = names.size();
  size.most_ranges = most_launches_;
  size.most_tree_nodes = static_cast<std::uint32_t>(most_launches_);
  if (const auto result = profiler_->range_counter_data_size(&size); result != CuptiResult::success)
    return range_failed("cuptiRangeProfilerGetCounterDataSize", result);
  counter_data_.assign(size.bytes, 0);
  return {};
}

Profiled<void> RangeProfiler::start() {
  auto fresh = sized<RangeCounterDataInitialize>();
  fresh.object = object_;
  fresh.bytes = counter_data_.size();
  fresh.image = counter_data_.data();
  if (const auto result = profiler_->range_counter_data_initialize(&fresh);
      result != CuptiResult::success)
    return range_failed("cuptiRangeProfilerCounterDataImageInitialize", result);
  auto config = sized<RangeSetConfig>();
  config.object = object_;
  config.config_bytes = group_.config_image.size();
  config.config = group_.config_image.data();
  config.counter_data_bytes = counter_data_.size();
  config.counter_data = counter_data_.data();
  config.range = RangeMode::by_launch;
  config.replay = ReplayMode::by_cupti;
  config.most_ranges = most_launches_;
  config.nesting_levels = 1;
  config.least_nesting_level = 1;
  if (const auto result = profiler_->range_set_config(&config); result != CuptiResult::success)
    return range_failed("cuptiRangeProfilerSetConfig", result);
  auto call = sized<RangeCall>();
  call.object = object_;
  if (const auto result = profiler_->range_start(&call); result != CuptiResult::success)
    return range_failed("cuptiRangeProfilerStart", result);
  started_ = true;
  return {};
}

Profiled<RangeValues> RangeProfiler::stop() {
  started_ = false;
  auto call = sized<RangeStop>();
  call.object = object_;
  if (const auto result = profiler_->range_stop(&call); result != CuptiResult::success)
    return range_failed("cuptiRangeProfilerStop", result);
  auto decode = sized<RangeDecode>();
  decode.object = object_;
  if (const auto result = profiler_->range_decode(&decode); result != CuptiResult::success)
    return range_failed("cuptiRangeProfilerDecodeData", result);
  auto found = values();
  if (found) found->dropped = decode.dropped;
  return found;
}

Profiled<RangeValues> RangeProfiler::values() const {
  auto data = sized<RangeCounterDataInfo>();
  data.image = counter_data_.data();
  data.bytes = counter_data_.size();
  if (const auto result = profiler_->range_counter_data_info(&data); result != CuptiResult::success)
    return range_failed("cuptiRangeProfilerGetCounterDataInfo", result);
  RangeValues found;
  for (std::size_t range = 0; range < data.ranges; ++range) {
    auto row = host_.evaluate(counter_data_, range, group_.metrics);
    if (!row) return std::unexpected(std::move(row).error());
    found.ranges.push_back(*std::move(row));
  }
  return found;
}

void RangeProfiler::disable() {
  if (object_ == nullptr) return;
  auto call = sized<RangeCall>();
  call.object = std::exchange(object_, nullptr);
  profiler_->range_disable(&call);
}

}  // namespace perflab::cuda
