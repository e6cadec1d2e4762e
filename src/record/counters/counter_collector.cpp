// Sessions of the range profiler, per context, and the launches that they are of.
#include "record/counters/counter_collector.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/communication_kernels.h"
#include "cuda/launch_parameters.h"
#include "record/database/boot_time.h"

namespace perflab::record {
namespace {

namespace call = cuda::driver_call;

/// Launches of a session: CUPTI refuses thousands, and a kill loses those of the last one.
constexpr std::size_t kMostLaunches = 64;
/// Sessions of a context that may be thrown away before it is not counted further.
constexpr std::size_t kMostMismatches = 8;
constexpr std::uint64_t kBytesOfMib = 1 << 20;

constexpr std::array<cuda::CallbackId, 8> kLaunches = {call::launch_kernel,
                                                       call::launch_kernel_ptsz,
                                                       call::launch_cooperative_kernel,
                                                       call::launch_cooperative_kernel_ptsz,
                                                       call::launch_kernel_ex,
                                                       call::launch_kernel_ex_ptsz,
                                                       call::graph_launch,
                                                       call::graph_launch_ptsz};

// Calls that we make ourselves call back as well.
thread_local bool inside = false;
// The outermost call of the runtime that this thread is in: kernel records have its id.
thread_local std::uint32_t outer_call = 0;
thread_local std::uint32_t outer_depth = 0;

class Inside {
 public:
  Inside() : before_(std::exchange(inside, true)) {}
  ~Inside() { inside = before_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  bool before_;
};

template <class Parameters>
void copy_geometry(const Parameters& from, CounterCollector::Launch& launch) {
  std::ranges::copy(from.grid, launch.grid.begin());
  std::ranges::copy(from.block, launch.block.begin());
  launch.shared_bytes = from.shared_bytes;
  launch.stream = from.stream;
}

CounterCollector::Launch launch_of(cuda::CallbackId id, const cuda::CallbackData& data) {
  CounterCollector::Launch launch;
  if (data.symbol_name != nullptr) launch.kernel = data.symbol_name;
  launch.graph = id == call::graph_launch || id == call::graph_launch_ptsz;
  if (launch.graph || data.function_parameters == nullptr) return launch;
  if (id == call::launch_kernel_ex || id == call::launch_kernel_ex_ptsz) {
    const auto* const given =
        static_cast<const cuda::LaunchKernelExParameters*>(data.function_parameters);
    if (given->config != nullptr) copy_geometry(*given->config, launch);
  } else {
    copy_geometry(*static_cast<const cuda::LaunchKernelParameters*>(data.function_parameters),
                  launch);
  }
  const bool per_thread = id == call::launch_kernel_ptsz ||
                          id == call::launch_cooperative_kernel_ptsz ||
                          id == call::launch_kernel_ex_ptsz;
  if (per_thread && launch.stream == nullptr) launch.stream = cuda::per_thread_stream();
  return launch;
}

}  // namespace

/// Counting in one context. Held by the thread that is between enter and exit of a launch there.
struct CounterCollector::ContextState {
  explicit ContextState(cuda::Context of) : context(of) {}

  cuda::Context context;
  std::mutex turn;
  std::optional<cuda::RangeProfiler> profiler;
  std::shared_ptr<const std::vector<CountedMetric>> metrics;
  std::int64_t device = 0;
  bool unusable = false;
  std::vector<CountedLaunch> pending;  ///< of the running session
  std::uint32_t launching = 0;         ///< correlation id of the launch that has the turn
  bool counting = false;               ///< it belongs to the session
  std::optional<CountedLaunch> seen;   ///< the launch that has the turn, where it is not counted
  std::size_t mismatches = 0;          ///< sessions that were thrown away
  Clock::time_point began;
};

namespace {
// The context whose turn this thread has.
thread_local void* turn_held = nullptr;
// The context in which this thread counted a launch inside the runtime's call that it is in.
thread_local cuda::Context counted_in = nullptr;
}  // namespace

CounterCollector::CounterCollector(const cuda::Driver& driver, const cuda::Profiler& profiler,
                                   CounterSettings settings)
    : driver_(driver), profiler_(profiler), settings_(std::move(settings)) {}

CounterCollector::~CounterCollector() = default;

std::span<const cuda::CallbackId> CounterCollector::driver_callbacks() {
  return kLaunches;
}

CounterCollector::ContextState& CounterCollector::state_of(cuda::Context context) {
  const std::scoped_lock lock(mutex_);
  std::unique_ptr<ContextState>& state = contexts_[context];
  if (state == nullptr) {
    state = std::make_unique<ContextState>(context);
    cuda::Device device = 0;
    driver_.context_get_device(&device);
    state->device = device;
  }
  return *state;
}

void CounterCollector::start(cuda::Context context) {
  const Inside guard;
  ContextState& state = state_of(context);
  const std::scoped_lock lock(state.turn);
  if (!state.profiler && !state.unusable) open(state);
}

void CounterCollector::callback(cuda::CallbackDomain domain, cuda::CallbackId id,
                                const cuda::CallbackData& data) {
  if (inside) return;
  const bool entering = data.site == cuda::CallbackSite::enter;
  if (domain == cuda::CallbackDomain::runtime_api) {
    if (entering && outer_depth++ == 0) outer_call = data.correlation_id;
    if (entering || outer_depth == 0 || --outer_depth != 0) return;
    outer_call = 0;
    // The launch is over, and nothing else of the program is in its session yet.
    if (counted_in == nullptr) return;
    const Inside guard;
    ContextState& state = state_of(std::exchange(counted_in, nullptr));
    const std::scoped_lock turn(state.turn);
    pause(state);
    return;
  }
  if (domain != cuda::CallbackDomain::driver_api ||
      std::ranges::find(kLaunches, id) == kLaunches.end())
    return;
  const Inside guard;
  if (entering)
    enter(id, data);
  else
    exit(data);
}

void CounterCollector::enter(cuda::CallbackId id, const cuda::CallbackData& data) {
  if (turn_held != nullptr) return;  // a launch inside a launch
  ContextState& state = state_of(data.context);
  state.turn.lock();
  turn_held = &state;
  state.launching = data.correlation_id;
  state.counting = false;
  const Launch launch = launch_of(id, data);
  if (captured(launch)) return;
  CountedLaunch counted{.kernel = launch.kernel,
                        .index = 0,
                        .device = state.device,
                        .context = data.context_uid,
                        .stream = launch.stream,
                        .call = outer_call != 0 ? outer_call : data.correlation_id,
                        .tid = gettid(),
                        .grid = launch.grid,
                        .block = launch.block,
                        .start = static_cast<std::int64_t>(boot_time()),
                        .end = 0,
                        .metrics = nullptr,
                        .values = {}};
  {
    const std::scoped_lock lock(mutex_);
    if (finished_) return;
    if (!launch.graph) counted.index = results_.launches_seen++;
  }
  std::optional<CounterSkip> skip = objection(state, launch);
  if (!skip && !count(state, counted)) skip = CounterSkip::failed;
  if (!skip) return;
  pause(state);
  if (!launch.graph) state.seen = std::move(counted);
  const std::scoped_lock lock(mutex_);
  ++results_.skipped[static_cast<std::size_t>(*skip)];
}

void CounterCollector::exit(const cuda::CallbackData& data) {
  auto* const state = static_cast<ContextState*>(turn_held);
  if (state == nullptr || state->launching != data.correlation_id) return;
  const auto* const answer = static_cast<const cuda::DriverResult*>(data.function_return_value);
  const bool launched = answer == nullptr || *answer == cuda::DriverResult::success;
  const auto now = static_cast<std::int64_t>(boot_time());
  if (std::exchange(state->counting, false) && !state->pending.empty()) {
    // What was not launched is no range.
    if (launched)
      state->pending.back().end = now;
    else
      state->pending.pop_back();
    if (outer_call != 0) counted_in = state->context;
    const std::scoped_lock lock(mutex_);
    spent_ += Clock::now() - state->began;
  }
  if (std::optional<CountedLaunch> seen = std::exchange(state->seen, std::nullopt);
      seen && launched) {
    seen->end = now;
    const std::scoped_lock lock(mutex_);
    results_.launches.push_back(*std::move(seen));
  }
  turn_held = nullptr;
  state->turn.unlock();
}

bool CounterCollector::captured(const Launch& launch) const {
  if (driver_.stream_is_capturing == nullptr) return false;
  std::uint32_t status = 0;
  // A default stream cannot be asked while another is captured: then neither is touched.
  return driver_.stream_is_capturing(launch.stream, &status) != cuda::DriverResult::success ||
         status != 0;
}

bool CounterCollector::too_much_memory() const {
  if (settings_.limits.memory_mib == 0 || driver_.memory_get_info == nullptr) return false;
  std::size_t free_bytes = 0, all_bytes = 0;
  if (driver_.memory_get_info(&free_bytes, &all_bytes) != cuda::DriverResult::success) return false;
  return all_bytes > free_bytes &&
         all_bytes - free_bytes > settings_.limits.memory_mib * kBytesOfMib;
}

std::optional<CounterSkip> CounterCollector::objection(const ContextState& state,
                                                       const Launch& launch) {
  if (launch.graph) return CounterSkip::graph;
  if (state.unusable) return CounterSkip::failed;
  if (symbol_waits_for_ranks(launch.kernel)) return CounterSkip::other_ranks;
  const CounterLimits& limits = settings_.limits;
  {
    const std::scoped_lock lock(mutex_);
    if (limits.time.count() > 0 && spent_ >= limits.time) return CounterSkip::time;
    const std::uint64_t before =
        counted_[{launch.kernel, launch.grid, launch.block, launch.shared_bytes}];
    if (limits.launches_per_geometry > 0 && before >= limits.launches_per_geometry)
      return CounterSkip::enough;
  }
  if (too_much_memory()) return CounterSkip::memory;
  const std::scoped_lock lock(mutex_);
  ++counted_[{launch.kernel, launch.grid, launch.block, launch.shared_bytes}];
  return std::nullopt;
}

void CounterCollector::fail_with(ContextState& state, CounterFailure failure) {
  state.unusable = true;
  const std::scoped_lock lock(mutex_);
  if (!results_.failure) results_.failure = std::move(failure);
}

std::vector<CountedMetric> CounterCollector::described(
    const std::string& chip, const std::vector<std::string>& names) const {
  const auto host = cuda::ProfilerHost::open(profiler_, chip);
  std::vector<CountedMetric> metrics;
  for (const std::string& name : names) {
    CountedMetric& metric = metrics.emplace_back();
    metric.name = name;
    metric.derived = !name.ends_with(".sum");
    if (!host) continue;
    if (auto properties = host->properties(name)) {
      metric.description = std::move(properties->description);
      metric.units = std::move(properties->dimension);
    }
  }
  return metrics;
}

bool CounterCollector::open(ContextState& state) {
  if (const char* const missing = cuda::missing_entry(profiler_, true)) {
    fail_with(state, {.problem = CounterProblem::old_library,
                      .reason = std::string("this CUPTI has no ") + missing,
                      .remedy = "use a program with the CUPTI of CUDA 12.8 or later"});
    return false;
  }
  const auto failed = [&](const cuda::ProfilerFailure& failure) {
    fail_with(state, failure_of(failure));
    return false;
  };
  {
    const std::scoped_lock lock(mutex_);
    if (!initialized_) {
      if (const auto done = cuda::initialize_profiler(profiler_); !done) {
        state.unusable = true;
        if (!results_.failure) results_.failure = failure_of(done.error());
        return false;
      }
      initialized_ = true;
    }
  }
  const auto device = static_cast<cuda::Device>(state.device);
  const auto support = cuda::device_support(profiler_, device);
  if (!support) return failed(support.error());
  if (support->supported != cuda::SupportLevel::supported) {
    fail_with(state, failure_of(*support));
    return false;
  }
  const auto chip = cuda::chip_name(profiler_, device);
  if (!chip) return failed(chip.error());
  const auto available = cuda::counter_availability(profiler_, state.context);
  if (!available) return failed(available.error());
  auto plan = cuda::plan_metrics(profiler_, *chip, settings_.metrics, 0, *available);
  if (!plan) return failed(plan.error());
  {
    const std::scoped_lock lock(mutex_);
    if (results_.refused.empty()) results_.refused = plan->refused;
  }
  if (plan->groups.empty()) {
    fail_with(state, {.problem = CounterProblem::no_metric,
                      .reason = *chip + " has none of the metrics that were asked for",
                      .remedy = "ask for others: rocm-perf profile --roofline knows those of "
                                "this GPU"});
    return false;
  }
  auto enabled = cuda::RangeProfiler::enable(
      profiler_, state.context, *chip, std::move(plan->groups.front()), *available, kMostLaunches);
  if (!enabled) return failed(enabled.error());
  state.metrics =
      std::make_shared<const std::vector<CountedMetric>>(described(*chip, enabled->metrics()));
  state.profiler.emplace(*std::move(enabled));
  const std::scoped_lock lock(mutex_);
  results_.passes = std::max(results_.passes, state.profiler->passes());
  return true;
}

bool CounterCollector::count(ContextState& state, CountedLaunch launch) {
  state.began = Clock::now();
  if (!state.profiler && !open(state)) return false;
  if (state.pending.size() == kMostLaunches) pause(state);
  if (state.unusable) return false;
  if (!state.profiler->started())
    if (const auto started = state.profiler->start(); !started) {
      fail_with(state, failure_of(started.error()));
      return false;
    }
  launch.metrics = state.metrics;
  state.pending.push_back(std::move(launch));
  state.counting = true;
  return true;
}

void CounterCollector::pause(ContextState& state) {
  std::vector<CountedLaunch> pending = std::exchange(state.pending, {});
  if (!state.profiler || !state.profiler->started()) return;
  auto counted = state.profiler->stop();
  if (!counted) return fail_with(state, failure_of(counted.error()));
  // Fills are ranges, too: whose values are whose is not known then.
  const bool matches = counted->dropped == 0 && counted->ranges.size() == pending.size();
  if (!matches && ++state.mismatches == kMostMismatches)
    fail_with(state, {.problem = CounterProblem::mismatch,
                      .reason = "CUPTI counted " + std::to_string(counted->ranges.size()) +
                                " launches of a session of " + std::to_string(pending.size()) +
                                ", and " + std::to_string(counted->dropped) +
                                " found no room: after several such sessions no more are made",
                      .remedy = {}});
  const std::scoped_lock lock(mutex_);
  if (!matches) results_.skipped[static_cast<std::size_t>(CounterSkip::failed)] += pending.size();
  for (std::size_t i = 0; i < pending.size(); ++i) {
    if (matches) {
      pending[i].values = std::move(counted->ranges[i]);
      ++results_.launches_counted;
    } else {
      pending[i].metrics = nullptr;
    }
    results_.launches.push_back(std::move(pending[i]));
  }
}

void CounterCollector::leave(cuda::Context context) {
  const Inside guard;
  std::unique_ptr<ContextState> state;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = contexts_.find(context);
    if (found == contexts_.end()) return;
    state = std::move(found->second);
    contexts_.erase(found);
  }
  const std::scoped_lock lock(state->turn);
  pause(*state);
  if (state->profiler) state->profiler->disable();
}

std::vector<CountedLaunch> CounterCollector::take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(results_.launches, {});
}

CounterResults CounterCollector::finish() {
  const Inside guard;
  std::vector<ContextState*> states;
  {
    const std::scoped_lock lock(mutex_);
    finished_ = true;
    for (const auto& [context, state] : contexts_) states.push_back(state.get());
  }
  cuda::Context before = nullptr;
  driver_.context_get_current(&before);
  for (ContextState* const state : states) {
    // A thread that is inside a launch at the exit keeps its turn: its session is lost.
    const std::unique_lock lock(state->turn, std::try_to_lock);
    if (!lock) continue;
    driver_.context_set_current(state->context);
    pause(*state);
    if (state->profiler) state->profiler->disable();
    state->unusable = true;
  }
  driver_.context_set_current(before);
  const std::scoped_lock lock(mutex_);
  return std::exchange(results_, {});
}

}  // namespace perflab::record
