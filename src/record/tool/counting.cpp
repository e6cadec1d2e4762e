// Callbacks in, rows out.
#include "record/tool/counting.h"

#include <cmath>
#include <iterator>

#include "record/tool/needed_call.h"

namespace perflab::record {

Counting::Counting(const cuda::DriverLibrary& driver, const cuda::CuptiLibrary& cupti,
                   CounterSettings settings)
    : cupti_(cupti),
      profiler_(cuda::profiler_of(cupti)),
      collector_(driver.api, profiler_, std::move(settings)) {}

Result<std::unique_ptr<Counting>> Counting::make(const cuda::DriverLibrary& driver,
                                                 const cuda::CuptiLibrary& cupti,
                                                 std::string_view metrics) {
  PERFLAB_TRY(CounterSettings settings, counter_settings(metrics));
  return std::unique_ptr<Counting>(new Counting(driver, cupti, std::move(settings)));
}

Result<void> Counting::enable(cuda::Subscriber subscriber) {
  for (const cuda::CallbackId id : CounterCollector::driver_callbacks())
    PERFLAB_TRY_VOID(
        need(cupti_.api, "cuptiEnableCallback",
             cupti_.api.enable_callback(1, subscriber, cuda::CallbackDomain::driver_api, id)));
  // A session of the profiler ends with the runtime call that it began in.
  return need(cupti_.api, "cuptiEnableDomain",
              cupti_.api.enable_domain(1, subscriber, cuda::CallbackDomain::runtime_api));
}

void Counting::call(cuda::CallbackDomain domain, cuda::CallbackId id, const void* data) {
  collector_.callback(domain, id, *static_cast<const cuda::CallbackData*>(data));
}

void Counting::end() {
  CounterResults results = collector_.finish();
  const std::scoped_lock lock(mutex_);
  if (!results_) results_ = std::move(results);
}

void Counting::write(Database& database, Converter& converter) {
  std::vector<CountedLaunch> launches = collector_.take();
  {
    const std::scoped_lock lock(mutex_);
    if (results_)
      std::ranges::move(std::exchange(results_->launches, {}), std::back_inserter(launches));
  }
  for (const CountedLaunch& launch : launches) {
    const auto stream = static_cast<std::uint32_t>(streams_.size() + 1);
    const std::uint32_t number =
        launch.stream == nullptr
            ? 0
            : streams_.try_emplace({launch.context, launch.stream}, stream).first->second;
    const std::int64_t event =
        converter.launched({.kernel = launch.kernel,
                            .device = static_cast<std::uint32_t>(launch.device),
                            .context = launch.context,
                            .stream = number,
                            .call = launch.call,
                            .tid = launch.tid,
                            .grid = launch.grid,
                            .block = launch.block,
                            .start = launch.start,
                            .end = launch.end});
    for (std::size_t i = 0; i < launch.values.size(); ++i)
      if (std::isfinite(launch.values[i]))
        database.add_value(event, counter_of(database, launch.device, (*launch.metrics)[i]),
                           launch.values[i]);
  }
}

std::int64_t Counting::counter_of(Database& database, std::int64_t device,
                                  const CountedMetric& metric) {
  const auto [place, is_new] = counters_.try_emplace({device, metric.name}, 0);
  if (is_new)
    place->second = database.add(Counter{.agent = 1 + device,
                                         .name = metric.name,
                                         .description = metric.description,
                                         .units = metric.units,
                                         .derived = metric.derived});
  return place->second;
}

std::string Counting::json() const {
  const std::scoped_lock lock(mutex_);
  if (!results_) return {};
  return counters_json(*results_);
}

}  // namespace perflab::record
