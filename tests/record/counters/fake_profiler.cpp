// The functions of the two tables.
#include "record/counters/fake_profiler.h"

#include <algorithm>
#include <cstring>

#include "cuda/launch_parameters.h"

namespace perflab::record {
namespace {

using cuda::CuptiResult;
using cuda::DriverResult;

FakeProfiler* fake = nullptr;

template <class Tag>
Tag* handle(std::uintptr_t number) {
  return reinterpret_cast<Tag*>(number);  // NOLINT(performance-no-int-to-ptr)
}

/// Notes a call of the range profiler; false and a complaint where it is not its turn.
bool in_turn(const char* call, bool may) {
  fake->calls.emplace_back(call);
  if (!may) fake->wrong.emplace_back(call);
  return may;
}

cuda::Profiler host_functions() {
  cuda::Profiler p{};
  p.host_initialize = [](cuda::HostInitialize* call) {
    if (std::strcmp(call->chip, "GH100") != 0) return CuptiResult::invalid_chip_name;
    call->host = handle<cuda::HostObjectTag>(0x10);
    fake->added.clear();
    return CuptiResult::success;
  };
  p.host_deinitialize = [](cuda::HostDeinitialize*) { return CuptiResult::success; };
  p.host_supported_chips = [](cuda::HostSupportedChips*) { return CuptiResult::not_supported; };
  p.host_base_metrics = [](cuda::HostBaseMetrics*) { return CuptiResult::not_supported; };
  p.host_metric_properties = [](cuda::HostMetricProperties*) { return CuptiResult::not_supported; };
  p.host_add_metrics = [](cuda::HostAddMetrics* call) {
    for (std::size_t i = 0; i < call->count; ++i) {
      if (std::ranges::find(fake->known, call->metrics[i]) == fake->known.end())
        return CuptiResult::invalid_metric_name;
      fake->added.emplace_back(call->metrics[i]);
    }
    return CuptiResult::success;
  };
  p.host_config_image_size = [](cuda::HostConfigImageSize* call) {
    call->bytes = fake->added.size();
    return CuptiResult::success;
  };
  p.host_config_image = [](cuda::HostConfigImage* call) {
    std::memset(call->image, 1, call->bytes);
    return CuptiResult::success;
  };
  p.host_passes = [](cuda::HostPasses* call) {
    call->passes = call->bytes;  // a pass per metric
    return CuptiResult::success;
  };
  p.host_evaluate = [](cuda::HostEvaluate* call) {
    for (std::size_t i = 0; i < call->count; ++i)
      call->values[i] = static_cast<double>(10 * fake->session.at(call->range) + i);
    return CuptiResult::success;
  };
  return p;
}

void add_device_functions(cuda::Profiler& p) {
  p.initialize = [](cuda::ProfilerInitialize*) { return CuptiResult::success; };
  p.counter_availability = [](cuda::CounterAvailability* call) {
    call->bytes = 16;
    return fake->availability;
  };
  p.device_supported = [](cuda::DeviceSupported* call) {
    call->vgpu = fake->vgpu;
    call->supported = fake->vgpu == cuda::SupportLevel::supported ? cuda::SupportLevel::supported
                                                                  : cuda::SupportLevel::unsupported;
    return CuptiResult::success;
  };
  p.device_chip_name = [](cuda::DeviceChipName* call) {
    call->chip = "GH100";
    return CuptiResult::success;
  };
}

void add_range_functions(cuda::Profiler& p) {
  p.range_enable = [](cuda::RangeEnable* call) {
    in_turn("enable", !fake->enabled);
    if (fake->enable != CuptiResult::success) return fake->enable;
    fake->enabled = true;
    call->object = handle<cuda::RangeObjectTag>(0x20);
    return CuptiResult::success;
  };
  p.range_disable = [](cuda::RangeCall*) {
    in_turn("disable", fake->enabled && !fake->started);
    fake->enabled = false;
    return CuptiResult::success;
  };
  p.range_set_config = [](cuda::RangeSetConfig* call) {
    in_turn("config", fake->enabled && !fake->started &&
                          call->range == cuda::RangeMode::by_launch &&
                          call->replay == cuda::ReplayMode::by_cupti && call->pass == 0 &&
                          call->nesting_levels == 1 && call->target_nesting_level == 0);
    fake->most_ranges = call->most_ranges;
    return CuptiResult::success;
  };
  p.range_start = [](cuda::RangeCall*) {
    in_turn("start", fake->enabled && !fake->started);
    fake->started = true;
    fake->session.clear();
    return CuptiResult::success;
  };
  p.range_stop = [](cuda::RangeStop* call) {
    in_turn("stop", fake->started);
    fake->started = false;
    call->all_submitted = 1;
    return CuptiResult::success;
  };
  p.range_decode = [](cuda::RangeDecode* call) {
    in_turn("decode", !fake->started);
    call->dropped =
        fake->session.size() > fake->most_ranges ? fake->session.size() - fake->most_ranges : 0;
    return CuptiResult::success;
  };
  p.range_counter_data_size = [](cuda::RangeCounterDataSize* call) {
    call->bytes = 64;
    return CuptiResult::success;
  };
  p.range_counter_data_initialize = [](cuda::RangeCounterDataInitialize*) {
    return CuptiResult::success;
  };
  p.range_counter_data_info = [](cuda::RangeCounterDataInfo* call) {
    call->ranges = fake->session.size();
    return CuptiResult::success;
  };
  p.range_info = [](cuda::RangeInfo*) { return CuptiResult::not_supported; };
}

}  // namespace

FakeProfiler::FakeProfiler() {
  fake = this;
}
FakeProfiler::~FakeProfiler() {
  fake = nullptr;
}

cuda::Profiler FakeProfiler::profiler() {
  cuda::Profiler p = host_functions();
  add_device_functions(p);
  add_range_functions(p);
  return p;
}

cuda::Driver FakeProfiler::driver() {
  cuda::Driver d{};
  d.context_get_device = [](cuda::Device* device) {
    *device = 3;
    return DriverResult::success;
  };
  d.context_get_current = [](cuda::Context* context) {
    *context = nullptr;
    return DriverResult::success;
  };
  d.context_set_current = [](cuda::Context) { return DriverResult::success; };
  d.stream_is_capturing = [](cuda::Stream, std::uint32_t* status) {
    *status = fake->capturing ? 1 : 0;
    return DriverResult::success;
  };
  d.memory_get_info = [](std::size_t* free_bytes, std::size_t* all_bytes) {
    *all_bytes = std::size_t{80} << 30;
    *free_bytes = *all_bytes - fake->used_memory;
    return DriverResult::success;
  };
  return d;
}

void FakeProfiler::run() {
  const std::uint64_t number = launches++;
  if (!started) return;
  for (std::size_t i = 0; i < ranges_per_launch; ++i) session.push_back(number);
}

std::uint32_t FakeProgram::launch(const std::string& kernel, const Options& options) {
  const std::uint32_t outer = next_++;
  const std::uint32_t inner = options.runtime ? next_++ : outer;
  const cuda::LaunchKernelParameters plain{.function = nullptr,
                                           .grid = {options.blocks, 1, 1},
                                           .block = {128, 1, 1},
                                           .shared_bytes = 0,
                                           .stream = nullptr};
  const cuda::LaunchConfig config{.grid = {options.blocks, 1, 1},
                                  .block = {128, 1, 1},
                                  .shared_bytes = 0,
                                  .stream = nullptr,
                                  .attributes = nullptr,
                                  .attribute_count = 0};
  const cuda::LaunchKernelExParameters ex{.config = &config, .function = nullptr};
  DriverResult answer = options.fails ? DriverResult::invalid_value : DriverResult::success;
  cuda::CallbackData data{};
  data.function_parameters = options.id == cuda::driver_call::launch_kernel_ex
                                 ? static_cast<const void*>(&ex)
                                 : static_cast<const void*>(&plain);
  data.function_return_value = &answer;
  data.symbol_name = kernel.c_str();
  data.context = handle<cuda::ContextTag>(options.context);
  const auto call_back = [&](cuda::CallbackDomain domain, cuda::CallbackSite site,
                             std::uint32_t correlation) {
    data.site = site;
    data.correlation_id = correlation;
    collector_.callback(domain, options.id, data);
  };
  using enum cuda::CallbackSite;
  if (options.runtime) call_back(cuda::CallbackDomain::runtime_api, enter, outer);
  call_back(cuda::CallbackDomain::driver_api, enter, inner);
  if (!options.fails && !gpu_.capturing) gpu_.run();
  call_back(cuda::CallbackDomain::driver_api, exit, inner);
  if (options.runtime) call_back(cuda::CallbackDomain::runtime_api, exit, outer);
  return outer;
}

}  // namespace perflab::record
