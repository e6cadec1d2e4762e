// The exported functions of the stand-in libcupti.so.13, and its subscriber. Facts:
// docs/facts/cuda_cupti.md "Results", "Callbacks", "Other clients".
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bitset>
#include <cstdio>
#include <string>

#include "cuda/entries.h"
#include "cuda/launch_parameters.h"
#include "cuda_sim/activity.h"
#include "cuda_sim/cupti_pc_sampling.h"
#include "cuda_sim/cupti_profiler.h"
#include "cuda_sim/faults.h"

namespace perflab::cuda_sim {

using cuda::CallbackDomain;
using cuda::CuptiResult;

namespace {

constexpr std::size_t kDomainCount = 7;
constexpr std::size_t kCallbackCount = 1024;

struct SubscriberState {
  std::atomic<cuda::CallbackFunction> function = nullptr;
  void* user_data = nullptr;
  std::string name;
  std::array<std::array<std::atomic<bool>, kCallbackCount>, kDomainCount> enabled{};
};
SubscriberState& subscriber() {
  static auto* one = new SubscriberState;
  return *one;
}

void call_back(CallbackDomain domain, cuda::CallbackId id, const void* data) {
  SubscriberState& one = subscriber();
  const cuda::CallbackFunction function = one.function;
  if (function == nullptr || !one.enabled[static_cast<std::size_t>(domain)][id % kCallbackCount])
    return;
  function(one.user_data, domain, id, data);
}

/// What a callback is given of a call; null where the stand-in has nothing of it.
const void* parameters_of(const Call& call) {
  return call.what.domain == CallbackDomain::runtime_api &&
                 call.what.id == cuda::runtime_call::set_device
             ? &call.device
             : call.parameters;
}

void call_back(Call& call, cuda::CallbackSite site) {
  const cuda::CallbackData data{.site = site,
                                .function_name = call.what.name,
                                .function_parameters = parameters_of(call),
                                .function_return_value = &call.answer,
                                .symbol_name = call.symbol,
                                .context = call.context,
                                .context_uid = call.context_id,
                                .correlation_data = &call.correlation_data,
                                .correlation_id = call.correlation};
  call_back(call.what.domain, call.what.id, &data);
}

/// Turns what the machine tells into records and callbacks.
class Ears : public Listener {
 public:
  void entered(Call& call) override {
    call.start = Activity::get().now();
    call_back(call, cuda::CallbackSite::enter);
  }
  void left(Call& call) override {
    call_back(call, cuda::CallbackSite::exit);
    Activity::get().call_ended(call);
  }
  void submitted(const Work& work) override {
    Work seen = work;
    seen.repeated = profiler_saw(work);
    pc_sampling_saw(work);
    Activity::get().submitted(seen);
  }
  void graph_launched(const Work& first, const Work& last) override {
    Activity::get().graph_launched(first, last);
  }
  void waited(const Call& call, const Wait& wait, std::uint64_t since) override {
    Activity::get().waited(call, wait, since);
  }
  void recorded(const Call& call, const Recorded& event) override {
    Activity::get().recorded(call, event);
  }
  void allocated(const Call& call, const Allocated& memory) override {
    Activity::get().allocated(call, memory);
  }
  void pool(const Call& call, const PoolEvent& event) override {
    Activity::get().pool(call, event);
  }
  void loaded_lazily(const Call& call, std::uint64_t since) override {
    Activity::get().loaded_lazily(call, since);
  }
  void resource(cuda::CallbackId id, cuda::Context context, std::uint32_t context_id,
                std::uint32_t device, cuda::Stream stream, std::uint32_t stream_id,
                void* descriptor) override {
    if (id == cuda::resource_callback::context_created)
      Activity::get().made_context(context_id, device, stream_id);
    if (id == cuda::resource_callback::stream_created)
      Activity::get().made_stream(nullptr, context_id, stream_id);
    const cuda::ResourceData data{.context = context, .stream = stream, .descriptor = descriptor};
    call_back(CallbackDomain::resource, id, &data);
  }
  void synchronized(cuda::CallbackId id, cuda::Context context, cuda::Stream stream) override {
    const cuda::SynchronizeData data{.context = context, .stream = stream};
    call_back(CallbackDomain::synchronize, id, &data);
  }
};

// Nothing is listened to before the client asks for something: an injected library that does
// nothing costs nothing.
void listen() {
  static auto* ears = new Ears;
  cuda_sim_listen(ears);
}

pid_t first_process() {
  static const pid_t kProcess = getpid();
  return kProcess;
}

/// Runs `body` unless the call is to fail; a fork's child is told that nothing is initialized.
template <class Body>
CuptiResult answered(const char* call, std::uint32_t argument, Body&& body) {
  if (first_process() != getpid()) return CuptiResult::not_initialized;
  if (const auto fault = Faults::get().answer(call, argument)) return *fault;
  return body();
}

const CallName* find_call(CallbackDomain domain, cuda::CallbackId id) {
  // NOLINTBEGIN(cppcoreguidelines-macro-usage)
#define PERFLAB_SIM_DRIVER_CASE(number, name) driver_calls::name,
#define PERFLAB_SIM_RUNTIME_CASE(number, name, version) runtime_calls::name,
  // NOLINTEND(cppcoreguidelines-macro-usage)
  static constexpr std::array kAll{PERFLAB_SIM_DRIVER_CALLS(PERFLAB_SIM_DRIVER_CASE)
                                       PERFLAB_SIM_RUNTIME_CALLS(PERFLAB_SIM_RUNTIME_CASE)};
#undef PERFLAB_SIM_DRIVER_CASE
#undef PERFLAB_SIM_RUNTIME_CASE
  for (const CallName& call : kAll)
    if (call.domain == domain && call.id == id) return &call;
  return nullptr;
}

const char* name_of(CuptiResult result) {
  switch (result) {
    case CuptiResult::success:
      return "CUPTI_SUCCESS";
    case CuptiResult::invalid_parameter:
      return "CUPTI_ERROR_INVALID_PARAMETER";
    case CuptiResult::invalid_operation:
      return "CUPTI_ERROR_INVALID_OPERATION";
    case CuptiResult::out_of_memory:
      return "CUPTI_ERROR_OUT_OF_MEMORY";
    case CuptiResult::max_limit_reached:
      return "CUPTI_ERROR_MAX_LIMIT_REACHED";
    case CuptiResult::not_initialized:
      return "CUPTI_ERROR_NOT_INITIALIZED";
    case CuptiResult::invalid_kind:
      return "CUPTI_ERROR_INVALID_KIND";
    case CuptiResult::not_compatible:
      return "CUPTI_ERROR_NOT_COMPATIBLE";
    case CuptiResult::not_supported:
      return "CUPTI_ERROR_NOT_SUPPORTED";
    case CuptiResult::insufficient_privileges:
      return "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
    case CuptiResult::multiple_subscribers_not_supported:
      return "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
    case CuptiResult::unknown:
      return "CUPTI_ERROR_UNKNOWN";
    default:
      return nullptr;
  }
}

CuptiResult subscribe(cuda::Subscriber* answer, cuda::CallbackFunction callback, void* user_data,
                      const char* name, std::string* there) {
  SubscriberState& one = subscriber();
  if (answer == nullptr || callback == nullptr) return CuptiResult::invalid_parameter;
  if (!Faults::get().second_client.empty()) {
    *there = Faults::get().second_client;
    return CuptiResult::multiple_subscribers_not_supported;
  }
  cuda::CallbackFunction nobody = nullptr;
  if (!one.function.compare_exchange_strong(nobody, callback)) {
    *there = one.name;
    return CuptiResult::multiple_subscribers_not_supported;
  }
  one.user_data = user_data;
  one.name = std::string("CUPTI for ") + (name == nullptr ? "" : name);
  *answer = reinterpret_cast<cuda::Subscriber>(&one);
  listen();
  return CuptiResult::success;
}

bool is_ours(cuda::Subscriber one) {
  return reinterpret_cast<SubscriberState*>(one) == &subscriber() &&
         subscriber().function.load() != nullptr;
}

CuptiResult next_record(std::uint8_t* buffer, std::size_t valid_bytes, cuda::Record** record) {
  if (buffer == nullptr || record == nullptr) return CuptiResult::invalid_parameter;
  std::uint8_t* at = buffer;
  if (*record != nullptr) {
    at = reinterpret_cast<std::uint8_t*>(*record);
    const std::size_t bytes = record_bytes((*record)->kind);
    if (bytes == 0) return CuptiResult::invalid_kind;
    at += bytes;
  }
  if (at >= buffer + valid_bytes) return CuptiResult::max_limit_reached;
  auto* const next = reinterpret_cast<cuda::Record*>(at);
  if (record_bytes(next->kind) == 0) return CuptiResult::invalid_kind;
  *record = next;
  return CuptiResult::success;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

CuptiResult cuptiGetVersion(std::uint32_t* version) {
  return answered("cuptiGetVersion", 0, [&] {
    *version = Faults::get().version;
    return CuptiResult::success;
  });
}

CuptiResult cuptiGetResultString(CuptiResult result, const char** text) {
  *text = name_of(result);
  return *text == nullptr ? CuptiResult::invalid_parameter : CuptiResult::success;
}

CuptiResult cuptiGetTimestamp(std::uint64_t* timestamp) {
  return answered("cuptiGetTimestamp", 0, [&] {
    *timestamp = Activity::get().now();
    return CuptiResult::success;
  });
}

CuptiResult cuptiGetContextId(cuda::Context context, std::uint32_t* id) {
  return answered("cuptiGetContextId", 0, [&] {
    *id = cuda_sim_context_id(context);
    return *id == 0 ? CuptiResult::invalid_context : CuptiResult::success;
  });
}

CuptiResult cuptiGetStreamIdEx(cuda::Context /*context*/, cuda::Stream stream,
                               std::uint8_t per_thread, std::uint32_t* id) {
  return answered("cuptiGetStreamIdEx", 0, [&] {
    *id = cuda_sim_stream_id(per_thread != 0 && stream == nullptr ? per_thread_stream : stream);
    return *id == 0 ? CuptiResult::invalid_stream : CuptiResult::success;
  });
}

CuptiResult cuptiGetDeviceId(cuda::Context context, std::uint32_t* id) {
  return answered("cuptiGetDeviceId", 0, [&] {
    const int device = cuda_sim_device_of(context);
    if (device < 0) return CuptiResult::invalid_context;
    *id = static_cast<std::uint32_t>(device);
    return CuptiResult::success;
  });
}

CuptiResult cuptiSetThreadIdType(cuda::ThreadIdType type) {
  return answered("cuptiSetThreadIdType", static_cast<std::uint32_t>(type), [&] {
    Activity::get().set_system_threads(type == cuda::ThreadIdType::system);
    return CuptiResult::success;
  });
}

CuptiResult cuptiActivityRegisterCallbacks(cuda::BufferRequested requested,
                                           cuda::BufferCompleted completed) {
  return answered("cuptiActivityRegisterCallbacks", 0, [&] {
    if (requested == nullptr || completed == nullptr) return CuptiResult::invalid_parameter;
    Activity::get().buffers.register_callbacks(requested, completed);
    return CuptiResult::success;
  });
}

CuptiResult cuptiActivityRegisterTimestampCallback(cuda::TimestampFunction function) {
  return answered("cuptiActivityRegisterTimestampCallback", 0, [&] {
    if (function == nullptr) return CuptiResult::invalid_parameter;
    Activity::get().set_timestamp(function);
    return CuptiResult::success;
  });
}

CuptiResult cuptiActivityEnable(cuda::ActivityKind kind) {
  return answered("cuptiActivityEnable", static_cast<std::uint32_t>(kind), [&] {
    listen();
    return Activity::get().enable(kind, true) ? CuptiResult::success : CuptiResult::invalid_kind;
  });
}

CuptiResult cuptiActivityDisable(cuda::ActivityKind kind) {
  return answered("cuptiActivityDisable", static_cast<std::uint32_t>(kind), [&] {
    return Activity::get().enable(kind, false) ? CuptiResult::success : CuptiResult::invalid_kind;
  });
}

CuptiResult cuptiActivityFlushAll(std::uint32_t flags) {
  // In a fork's child the thread that gives buffers back is missing, and the call waits for it.
  while (first_process() != getpid()) pause();
  return answered("cuptiActivityFlushAll", flags, [&] {
    if (!Activity::get().buffers.registered()) return CuptiResult::invalid_operation;
    Activity::get().flush((flags & cuda::flush_forced) != 0);
    return CuptiResult::success;
  });
}

CuptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid_bytes,
                                       cuda::Record** record) {
  return answered("cuptiActivityGetNextRecord", 0,
                  [&] { return next_record(buffer, valid_bytes, record); });
}

CuptiResult cuptiActivityGetNumDroppedRecords(cuda::Context /*context*/,
                                              std::uint32_t /*stream_id*/, std::size_t* dropped) {
  return answered("cuptiActivityGetNumDroppedRecords", 0, [&] {
    *dropped = Activity::get().buffers.take_dropped();
    return CuptiResult::success;
  });
}

CuptiResult cuptiActivityEnableLatencyTimestamps(std::uint8_t enable) {
  return answered("cuptiActivityEnableLatencyTimestamps", enable, [&] {
    Activity::get().set_latency_timestamps(enable != 0);
    return CuptiResult::success;
  });
}

CuptiResult cuptiActivityEnableCudaEventDeviceTimestamps(std::uint8_t enable) {
  return answered("cuptiActivityEnableCudaEventDeviceTimestamps", enable, [&] {
    Activity::get().set_event_timestamps(enable != 0);
    return CuptiResult::success;
  });
}

CuptiResult cuptiActivityEnableRuntimeApi(cuda::CallbackId id, std::uint8_t enable) {
  return answered("cuptiActivityEnableRuntimeApi", id, [&] {
    Activity::get().enable_call(CallbackDomain::runtime_api, id, enable != 0);
    return CuptiResult::success;
  });
}

CuptiResult cuptiActivityEnableDriverApi(cuda::CallbackId id, std::uint8_t enable) {
  return answered("cuptiActivityEnableDriverApi", id, [&] {
    Activity::get().enable_call(CallbackDomain::driver_api, id, enable != 0);
    return CuptiResult::success;
  });
}

CuptiResult cuptiSubscribe(cuda::Subscriber* answer, cuda::CallbackFunction callback,
                           void* user_data) {
  return answered("cuptiSubscribe", 0, [&] {
    std::string there;
    return subscribe(answer, callback, user_data, nullptr, &there);
  });
}

CuptiResult cuptiSubscribe_v2(cuda::Subscriber* answer, cuda::CallbackFunction callback,
                              void* user_data, cuda::SubscriberParameters* parameters) {
  return answered("cuptiSubscribe_v2", 0, [&] {
    if (parameters != nullptr && parameters->struct_size != sizeof *parameters)
      return CuptiResult::invalid_parameter;
    std::string there;
    const CuptiResult result =
        subscribe(answer, callback, user_data,
                  parameters == nullptr ? nullptr : parameters->subscriber_name, &there);
    if (result == CuptiResult::multiple_subscribers_not_supported && parameters != nullptr &&
        parameters->old_subscriber_name != nullptr)
      std::snprintf(parameters->old_subscriber_name, parameters->old_subscriber_size, "%s",
                    there.c_str());
    return result;
  });
}

CuptiResult cuptiUnsubscribe(cuda::Subscriber one) {
  return answered("cuptiUnsubscribe", 0, [&] {
    if (!is_ours(one)) return CuptiResult::invalid_parameter;
    subscriber().function = nullptr;
    for (auto& domain : subscriber().enabled)
      for (auto& callback : domain) callback = false;
    return CuptiResult::success;
  });
}

CuptiResult cuptiEnableCallback(std::uint32_t enable, cuda::Subscriber one, CallbackDomain domain,
                                cuda::CallbackId id) {
  return answered("cuptiEnableCallback", id, [&] {
    if (!is_ours(one) || static_cast<std::size_t>(domain) >= kDomainCount || id >= kCallbackCount)
      return CuptiResult::invalid_parameter;
    subscriber().enabled[static_cast<std::size_t>(domain)][id] = enable != 0;
    return CuptiResult::success;
  });
}

CuptiResult cuptiEnableDomain(std::uint32_t enable, cuda::Subscriber one, CallbackDomain domain) {
  return answered("cuptiEnableDomain", static_cast<std::uint32_t>(domain), [&] {
    if (!is_ours(one) || static_cast<std::size_t>(domain) >= kDomainCount)
      return CuptiResult::invalid_parameter;
    for (auto& callback : subscriber().enabled[static_cast<std::size_t>(domain)])
      callback = enable != 0;
    return CuptiResult::success;
  });
}

CuptiResult cuptiGetCallbackName(CallbackDomain domain, cuda::CallbackId id, const char** name) {
  return answered("cuptiGetCallbackName", id, [&] {
    const CallName* const call = find_call(domain, id);
    if (call == nullptr) return CuptiResult::invalid_parameter;
    *name = call->name;
    return CuptiResult::success;
  });
}

CuptiResult cuptiFinalize() {
  return answered("cuptiFinalize", 0, [&] {
    cuda_sim_listen(nullptr);
    return CuptiResult::success;
  });
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace perflab::cuda_sim
