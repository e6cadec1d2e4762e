// Callbacks come at the beginning and the end of every call of the driver, within one of the
// runtime too. At the beginning of the captured launch the pre-image is taken, at its end the
// post-image. No lock of ours is held while the driver is called.
#include "isolate/cuda/cuda_tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <new>
#include <utility>

#include "isolate/cuda/kernel_timer.h"
#include "isolate/cuda/own_calls.h"

namespace perflab::isolate {
namespace {

namespace calls = cuda::driver_call;
namespace events = cuda::resource_callback;
using cuda::CallbackDomain;
using cuda::CuptiResult;
using cuda::DriverResult;

/// How long the record of a kernel that has ended may take to come.
constexpr std::chrono::milliseconds kRecordPatience{5'000};

/// The launch that this thread captures: its correlation id; 0: none.
thread_local std::uint32_t captured_by_thread = 0;

void on_callback(void* tool, CallbackDomain domain, cuda::CallbackId id, const void* data) {
  static_cast<CudaTool*>(tool)->callback(domain, id, data);
}

Result<void> need(const cuda::Cupti& cupti, const char* call, CuptiResult result) {
  if (result == CuptiResult::success) return {};
  return fail(ErrorCode::refused, fmt::format("{}: {}", call, cuda::result_name(cupti, result)));
}

/// Calls that the driver makes on our behalf may not spoil a stream capture of another thread.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const cuda::Driver& driver) : driver_(driver) { exchange(); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;
  ~RelaxedCapture() { exchange(); }

 private:
  void exchange() {
    if (driver_.thread_exchange_capture_mode != nullptr)
      driver_.thread_exchange_capture_mode(&mode_);
  }
  const cuda::Driver& driver_;
  cuda::StreamCaptureMode mode_ = cuda::StreamCaptureMode::relaxed;
};

/// Makes a context the thread's for a while.
class Current {
 public:
  Current(const cuda::Driver& driver, cuda::Context wanted) : driver_(driver) {
    driver_.context_get_current(&before_);
    changed_ = wanted != nullptr && before_ != wanted &&
               driver_.context_set_current(wanted) == DriverResult::success;
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() {
    if (changed_) driver_.context_set_current(before_);
  }

 private:
  const cuda::Driver& driver_;
  cuda::Context before_ = nullptr;
  bool changed_ = false;
};

}  // namespace

Result<CudaTool*> CudaTool::start(ProcessState& process) {
  cuda::DriverLibrary driver = cuda::open_driver();
  if (driver.problem != cuda::LibraryProblem::none)
    return fail(ErrorCode::missing_tool, driver.detail, "install the NVIDIA driver");
  cuda::CuptiLibrary cupti = cuda::open_cupti();
  if (cupti.problem != cuda::LibraryProblem::none)
    return fail(ErrorCode::missing_tool, cupti.detail, "install CUPTI of CUDA 12.8 or later");
  // Never deleted, as callbacks may come at any time; not even after an error.
  static CudaTool* tool = nullptr;
  tool = new CudaTool(process, std::move(driver), std::move(cupti));
  PERFLAB_TRY_VOID(tool->subscribe());
  return tool;
}

Result<void> CudaTool::subscribe() {
  const cuda::Cupti& cupti = cupti_.api;
  std::array<char, 256> other{};
  CuptiResult result = CuptiResult::success;
  if (cupti.subscribe_v2 != nullptr) {
    cuda::SubscriberParameters parameters{.struct_size = sizeof(cuda::SubscriberParameters),
                                          .subscriber_name = "rocm-perf isolate",
                                          .old_subscriber_name = other.data(),
                                          .old_subscriber_size = other.size()};
    result = cupti.subscribe_v2(&subscriber_, on_callback, this, &parameters);
  } else {
    result = cupti.subscribe(&subscriber_, on_callback, this);
  }
  if (result == CuptiResult::multiple_subscribers_not_supported)
    return fail(ErrorCode::refused,
                fmt::format("another profiler uses CUPTI in this process already: {}",
                            other[0] != '\0' ? other.data() : "a client without a name"));
  PERFLAB_TRY_VOID(need(cupti, "cuptiSubscribe", result));
  for (const CallbackDomain domain : {CallbackDomain::driver_api, CallbackDomain::resource})
    PERFLAB_TRY_VOID(need(cupti, "cuptiEnableDomain", cupti.enable_domain(1, subscriber_, domain)));
  // Without records the capture has no time; nothing else is lost.
  KernelTimer::start(cupti);
  return {};
}

void CudaTool::callback(CallbackDomain domain, cuda::CallbackId id, const void* data) {
  // A child of a fork has no GPU, and CUPTI hangs in it.
  if (data == nullptr || ::getpid() != pid_) return;
  if (domain == CallbackDomain::resource)
    return resource(id, *static_cast<const cuda::ResourceData*>(data));
  if (domain != CallbackDomain::driver_api || OwnCalls::any()) return;
  const auto& call = *static_cast<const cuda::CallbackData*>(data);
  if (call.site == cuda::CallbackSite::enter)
    call_begins(id, call);
  else
    call_ends(id, call);
}

void CudaTool::resource(cuda::CallbackId id, const cuda::ResourceData& data) {
  switch (id) {
    case events::module_loaded:
      if (!done_ && data.descriptor != nullptr)
        modules_.loaded(data.context, *static_cast<const cuda::ModuleData*>(data.descriptor));
      return;
    case events::module_unload_starting:
      if (data.descriptor != nullptr)
        modules_.unloading(*static_cast<const cuda::ModuleData*>(data.descriptor));
      return;
    case events::context_created: {
      const std::lock_guard lock(mutex_);
      contexts_.push_back(data.context);
      return;
    }
    case events::context_destroy_starting: {
      const std::lock_guard lock(mutex_);
      std::erase(contexts_, data.context);
      std::erase_if(streams_, [&](const auto& one) { return one.second == data.context; });
      return;
    }
    case events::stream_created: {
      if (OwnCalls::any()) return;
      const std::lock_guard lock(mutex_);
      streams_.insert_or_assign(data.stream, data.context);
      return;
    }
    case events::stream_destroy_starting: {
      const std::lock_guard lock(mutex_);
      streams_.erase(data.stream);
      return;
    }
    default:
      return;
  }
}

void CudaTool::call_begins(cuda::CallbackId id, const cuda::CallbackData& data) {
  CudaModules::forget_loads();
  if (held_.contains(id)) hold_.enter();
  if (const auto launch = launch_of(id, data)) launch_begins(*launch, data);
  if ((id == calls::graph_launch || id == calls::graph_launch_ptsz) &&
      data.function_parameters != nullptr)
    graph_begins(*static_cast<const cuda::GraphLaunchParameters*>(data.function_parameters), data);
}

void CudaTool::call_ends(cuda::CallbackId id, const cuda::CallbackData& data) {
  const auto answer = data.function_return_value == nullptr
                          ? DriverResult::unknown
                          : *static_cast<const DriverResult*>(data.function_return_value);
  if (captured_by_thread != 0 && is_launch(id) && data.correlation_id == captured_by_thread) {
    captured_by_thread = 0;
    const Result<void> ended = end_capture(answer);
    if (!ended) give_up(*captured_name_, ended.error());
    hold_.open();
  }
  if (answer == DriverResult::success && data.function_parameters != nullptr) {
    memory_.called(id, data.function_parameters);
    if (!done_) {
      const OwnCalls own;
      graphs_.called(id, data.function_parameters);
    }
    if (id >= calls::module_load && id <= calls::module_load_fat_binary)
      modules_.bind_loads(
          *static_cast<const cuda::LoadModuleParameters*>(data.function_parameters)->module);
  }
  if (held_.contains(id)) hold_.leave();
}

bool CudaTool::is_captured(cuda::Stream stream) const {
  std::uint32_t status = 0;
  if (driver_.api.stream_is_capturing == nullptr) return false;
  // An error is one of a capture too: the default stream may not be asked while another one is
  // captured.
  return driver_.api.stream_is_capturing(stream, &status) != DriverResult::success || status != 0;
}

bool CudaTool::any_stream_captured() {
  std::vector<cuda::Stream> streams;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [stream, context] : streams_) streams.push_back(stream);
  }
  return std::ranges::any_of(streams, [this](cuda::Stream one) {
    std::uint32_t status = 0;
    return driver_.api.stream_is_capturing != nullptr &&
           driver_.api.stream_is_capturing(one, &status) == DriverResult::success && status != 0;
  });
}

Result<CudaTarget> CudaTool::target_of(const LaunchCall& call, const KernelName& name,
                                       const cuda::CallbackData& data) {
  CudaTarget target{.call = call, .context = data.context, .name = &name};
  PERFLAB_TRY(target.function, function_of(driver_.api, call.function));
  modules_.bind_loads(target.function.module);
  PERFLAB_TRY(target.arguments, arguments_of(driver_.api, call, target.function.function));
  return target;
}

// CUPTI names the kernel at the beginning of a launch; where it does not, the driver can be asked.
std::string CudaTool::symbol_of(const LaunchCall& call) const {
  const OwnCalls own;
  const char* symbol = nullptr;
  const auto found = function_of(driver_.api, call.function);
  if (!found || driver_.api.function_get_name == nullptr ||
      driver_.api.function_get_name(&symbol, found->function) != DriverResult::success)
    return {};
  return symbol == nullptr ? "" : symbol;
}

void CudaTool::launch_begins(const LaunchCall& call, const cuda::CallbackData& data) {
  const std::string symbol = data.symbol_name != nullptr ? data.symbol_name : symbol_of(call);
  if (symbol.empty()) return;
  KernelName& name = *process_.kernels.named(symbol);
  if (!name.wanted || done_) return process_.kernels.count(name);
  const OwnCalls own;
  if (is_captured(call.stream)) return pass_over(name);
  process_.kernels.count(name);
  const Result<CudaTarget> target = target_of(call, name, data);
  if (!process_.is_target()) return;
  done_ = true;
  captured_name_ = &name;
  Result<void> begun = begin_capture(target);
  if (begun) {
    captured_by_thread = data.correlation_id;
    return;
  }
  give_up(name, begun.error());
  hold_.open();
}

void CudaTool::graph_begins(const cuda::GraphLaunchParameters& graph,
                            const cuda::CallbackData& data) {
  const auto kernels = graphs_.kernels_of(graph.executable);
  if (kernels->empty()) return;
  const OwnCalls own;
  if (is_captured(graph.stream)) return;  // becomes a node of another graph
  const GraphKernel* target = nullptr;
  for (const GraphKernel& kernel : *kernels) {
    process_.kernels.count(*kernel.name);
    if (kernel.name->wanted && !done_ && process_.is_target()) {
      target = &kernel;
      done_ = true;
    }
  }
  if (target == nullptr) return;
  captured_name_ = target->name;
  if (const Result<void> taken = capture_alone(*target, data.context); !taken)
    give_up(*target->name, taken.error());
  hold_.open();
}

Result<void> CudaTool::capture_alone(const GraphKernel& kernel, cuda::Context context) {
  try {
    if (!kernel.problem.empty()) return fail(ErrorCode::refused, kernel.problem);
    if (!kernel.first)
      return fail(ErrorCode::refused,
                  "it runs inside a graph, behind other nodes of it: the memory as it is then "
                  "cannot be taken");
    const CudaTarget target{.call = kernel.call,
                            .arguments = kernel.arguments,
                            .function = kernel.function,
                            .context = context,
                            .name = kernel.name};
    PERFLAB_TRY_VOID(begin_capture(target));
    const RelaxedCapture relaxed(driver_.api);
    const Current current(driver_.api, context);
    return run_and_take_back(kernel);
  } catch (const std::exception& error) {
    return fail(ErrorCode::refused, error.what());
  }
}

Result<void> CudaTool::run_and_take_back(const GraphKernel& kernel) {
  PERFLAB_TRY_VOID(launch_alone(driver_.api, kernel, nullptr));
  PERFLAB_TRY_VOID(drain("the launch"));
  std::vector<std::string> limits = this->limits();
  limits.emplace_back(
      "The launch is a node of a graph. It was launched alone, before the graph; what it changed "
      "was taken back.");
  PERFLAB_TRY_VOID(finish_capture(std::move(limits)));
  if (const Result<void> back = snapshot_->take_back(); !back) {
    std::error_code ignored;
    std::filesystem::remove_all(process_.settings.folder, ignored);
    return fail(ErrorCode::refused,
                "memory of the program could not be put back as it was, so that what it computes "
                "from here on is wrong: " +
                    back.error().message);
  }
  say_captured();
  return {};
}

Result<void> CudaTool::drain(const std::string& what) {
  std::vector<cuda::Context> contexts;
  {
    const std::lock_guard lock(mutex_);
    contexts = contexts_;
  }
  PERFLAB_TRY(const bool ended, run_within(patience(), [this, contexts]() -> Result<void> {
                for (cuda::Context context : contexts) {
                  if (driver_.api.context_set_current(context) != DriverResult::success)
                    continue;  // gone meanwhile
                  PERFLAB_TRY_VOID(
                      checked(driver_.api, "cuCtxSynchronize", driver_.api.context_synchronize()));
                }
                return {};
              }));
  if (ended) return {};
  if (snapshot_ != nullptr) snapshot_->leave_behind();
  return fail(ErrorCode::refused,
              fmt::format("{} did not end within {} ms while the program was held: a kernel waits "
                          "for the host or for another process, or takes longer",
                          what, patience().count()));
}

Result<void> CudaTool::begin_capture(const Result<CudaTarget>& target) {
  try {
    if (!target) return std::unexpected(target.error());
    if (!hold_.close())
      return fail(ErrorCode::refused,
                  fmt::format("a call of another thread that gives the GPU work or takes memory "
                              "away did not come back within {} ms",
                              patience().count()));
    if (any_stream_captured())
      return fail(ErrorCode::refused,
                  "another stream of the program was being captured into a graph");
    const RelaxedCapture relaxed(driver_.api);
    const Current current(driver_.api, target->context);
    PERFLAB_TRY_VOID(drain("the work before the launch"));
    snapshot_ =
        std::make_unique<CudaSnapshot>(driver_.api, process_, memory_, modules_, hold_, *target);
    PERFLAB_TRY_VOID(snapshot_->before());
    KernelTimer::expect(cupti_.api, target->name->symbol);
    return {};
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::refused, "there was not enough memory to take the capture");
  } catch (const std::exception& error) {
    return fail(ErrorCode::refused, error.what());
  }
}

Result<void> CudaTool::finish_capture(std::vector<std::string> limits) {
  const auto nanoseconds = KernelTimer::take(cupti_.api, kRecordPatience);
  PERFLAB_TRY_VOID(snapshot_->after(nanoseconds, std::move(limits)));
  if (!hold_.broken()) return {};
  std::error_code ignored;
  std::filesystem::remove_all(process_.settings.folder, ignored);
  return fail(ErrorCode::refused,
              "another thread of the program could not be held while the capture was taken");
}

Result<void> CudaTool::end_capture(DriverResult launched) {
  try {
    const OwnCalls own;
    PERFLAB_TRY_VOID(checked(driver_.api, "the launch", launched));
    const RelaxedCapture relaxed(driver_.api);
    PERFLAB_TRY_VOID(drain("the launch"));
    PERFLAB_TRY_VOID(finish_capture(limits()));
    say_captured();
    return {};
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::refused, "there was not enough memory to take the capture");
  } catch (const std::exception& error) {
    return fail(ErrorCode::refused, error.what());
  }
}

void CudaTool::say_captured() {
  snapshot_.reset();
  KernelTimer::stop(cupti_.api);
  process_.status.say("captured",
                      {{"kernel", captured_name_->symbol}, {"folder", process_.settings.folder}});
}

void CudaTool::give_up(const KernelName& name, const Error& error) {
  const OwnCalls own;
  snapshot_.reset();
  KernelTimer::stop(cupti_.api);
  try {
    std::string text = error.message;
    for (const std::string& note : error.notes) text += "; " + note;
    process_.status.say("refused", {{"kernel", name.symbol}, {"reason", text}});
  } catch (...) {
    return;  // no memory for a sentence: the reader sees that there is no capture
  }
}

// A launch that does not run now: into the graph that a stream's capture makes.
void CudaTool::pass_over(const KernelName& name) {
  std::string sentence = fmt::format(
      "launches of {} while a stream was captured into a graph did not run and were not counted",
      demangled(name.symbol));
  {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(limits_, sentence) != limits_.end()) return;
    limits_.push_back(sentence);
  }
  process_.status.say("note", {{"sentence", std::move(sentence)}});
}

std::vector<std::string> CudaTool::limits() {
  const std::lock_guard lock(mutex_);
  return limits_;
}

}  // namespace perflab::isolate
