// Calls, initialization with the injected library, devices and contexts of the stand-in
// libcuda.so.1. Facts: docs/facts/cuda_cupti.md "Driver", "Injection, exit, forks".
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "cuda_sim/machine.h"
#include "cuda_sim/memory_map.h"

namespace perflab::cuda_sim {
namespace {

enum class Phase : std::uint8_t { none, initializing, ready };
std::atomic<Phase> phase = Phase::none;
std::atomic<pid_t> owner = 0;
std::mutex initialization;

thread_local bool counts_calls = false;
thread_local int call_depth = 0;
thread_local std::uint32_t outer_correlation = 0;

// What cuInit does with CUDA_INJECTION64_PATH: open it, call InitializeInjection, keep it. A
// library that cannot be opened is left out silently.
void inject() {
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr || *path == '\0') return;
  void* const library = dlopen(path, RTLD_NOW);
  if (library == nullptr) return;
  using Initialize = int();
  if (auto* const initialize = reinterpret_cast<Initialize*>(dlsym(library, "InitializeInjection")))
    initialize();
}

// The H100 of docs/facts/cuda_cupti.md, as its attributes were read.
int attribute_of(cuda::DeviceAttribute attribute, cuda::Device device) {
  using enum cuda::DeviceAttribute;
  switch (attribute) {
    case max_threads_per_block:
      return 1024;
    case max_shared_memory_per_block:
      return 49152;
    case warp_size:
      return 32;
    case max_registers_per_block:
    case max_registers_per_multiprocessor:
      return 65536;
    case clock_rate:
      return 1'980'000;
    case multiprocessor_count:
      return 132;
    case pci_bus_id:
      return 0x17 + device;
    case memory_clock_rate:
      return 2'619'000;
    case global_memory_bus_width:
      return 5120;
    case l2_cache_size:
      return 52'428'800;
    case max_threads_per_multiprocessor:
      return 2048;
    case compute_capability_major:
      return 9;
    case max_shared_memory_per_multiprocessor:
      return 233'472;
    case max_shared_memory_per_block_optin:
      return 232'448;
    case max_blocks_per_multiprocessor:
      return 32;
    case reserved_shared_memory_per_block:
      return 1024;
    case cooperative_launch:
      return 1;
    case gpu_pci_device_id:
      return 0x233010de;
    case pci_device_id:
    case pci_domain_id:
    case compute_capability_minor:
      return 0;
  }
  return -1;
}

const char* name_of(DriverResult result) {
  switch (result) {
    case DriverResult::success:
      return "CUDA_SUCCESS";
    case DriverResult::invalid_value:
      return "CUDA_ERROR_INVALID_VALUE";
    case DriverResult::out_of_memory:
      return "CUDA_ERROR_OUT_OF_MEMORY";
    case DriverResult::not_initialized:
      return "CUDA_ERROR_NOT_INITIALIZED";
    case DriverResult::no_device:
      return "CUDA_ERROR_NO_DEVICE";
    case DriverResult::invalid_image:
      return "CUDA_ERROR_INVALID_IMAGE";
    case DriverResult::not_found:
      return "CUDA_ERROR_NOT_FOUND";
    case DriverResult::illegal_address:
      return "CUDA_ERROR_ILLEGAL_ADDRESS";
    case DriverResult::launch_failed:
      return "CUDA_ERROR_LAUNCH_FAILED";
    default:
      return nullptr;
  }
}

bool exists(cuda::Device device) {
  return device >= 0 && device < Machine::get().settings.devices;
}

}  // namespace

bool initialized() {
  return phase == Phase::ready && owner == getpid();
}

extern "C" {

bool cuda_sim_initialized() {
  return initialized();
}

void cuda_sim_listen(Listener* listener) {
  Machine::get().listener = listener;
}

bool cuda_sim_has_listener() {
  return Machine::get().listener != nullptr;
}

std::uint64_t cuda_sim_now() {
  return Machine::now();
}

void cuda_sim_count_thread() {
  counts_calls = true;
}

Counts cuda_sim_counts() {
  Machine& machine = Machine::get();
  const std::lock_guard held(machine.lock);
  return machine.counts;
}

void cuda_sim_enter(Call* call) {
  Machine& machine = Machine::get();
  call->outermost = call_depth++ == 0;
  if (call->outermost) {
    outer_correlation = machine.next_correlation++;
    const std::lock_guard held(machine.lock);
    if (call->what.domain == cuda::CallbackDomain::runtime_api) {
      ++machine.counts.runtime_calls;
    } else if (counts_calls && call->what.id != driver_calls::cuInit.id &&
               call->what.id != driver_calls::cuKernelGetName.id) {
      // cuInit began before anybody recorded, cuKernelGetName is not the program's.
      ++machine.counts.driver_calls;
    }
  }
  call->correlation = outer_correlation;
  if (const ContextState* const context = Machine::current()) {
    call->context = reinterpret_cast<cuda::Context>(const_cast<ContextState*>(context));
    call->context_id = context->id;
  }
  if (Listener* const told = machine.listener) told->entered(*call);
}

void cuda_sim_leave(Call* call) {
  if (Listener* const told = Machine::get().listener) told->left(*call);
  --call_depth;
}

std::uint32_t cuda_sim_context_id(cuda::Context context) {
  return context == nullptr ? 0 : reinterpret_cast<ContextState*>(context)->id;
}
int cuda_sim_device_of(cuda::Context context) {
  return context == nullptr ? -1
                            : static_cast<int>(reinterpret_cast<ContextState*>(context)->device);
}
std::uint32_t cuda_sim_stream_id(cuda::Stream stream) {
  const StreamState* const state = Machine::get().stream_of(stream);
  return state == nullptr ? 0 : state->id;
}

void cuda_sim_stop_contexts() {
  Machine::get().stop_contexts();
}

DriverResult cuInit(std::uint32_t flags) {
  if (flags != 0) return DriverResult::invalid_value;
  if (phase == Phase::ready)
    return initialized() ? DriverResult::success : DriverResult::not_initialized;
  // From within the injected library.
  if (phase == Phase::initializing && call_depth > 0) return DriverResult::success;
  const std::lock_guard held(initialization);
  if (phase == Phase::ready) return DriverResult::success;
  if (Machine::get().settings.devices <= 0) return DriverResult::no_device;
  phase = Phase::initializing;
  Call call{.what = driver_calls::cuInit};
  cuda_sim_enter(&call);
  note_holes();
  inject();
  owner = getpid();
  phase = Phase::ready;
  if (Listener* const told = Machine::get().listener)
    told->resource(cuda::resource_callback::init_finished, nullptr, 0, 0, nullptr, 0, nullptr);
  cuda_sim_leave(&call);
  return DriverResult::success;
}

DriverResult cuDriverGetVersion(int* version) {
  *version = Machine::get().settings.driver_version;
  return DriverResult::success;
}

DriverResult cuGetErrorName(DriverResult result, const char** name) {
  const char* const found = name_of(result);
  *name = found;
  return found == nullptr ? DriverResult::invalid_value : DriverResult::success;
}

DriverResult cuDeviceGetCount(int* count) {
  return called(driver_calls::cuDeviceGetCount, [&](Call&) {
    *count = Machine::get().settings.devices;
    return DriverResult::success;
  });
}

DriverResult cuDeviceGet(cuda::Device* device, int ordinal) {
  return called(driver_calls::cuDeviceGet, [&](Call&) {
    if (!exists(ordinal)) return DriverResult::invalid_device;
    *device = ordinal;
    return DriverResult::success;
  });
}

DriverResult cuDeviceGetName(char* name, int bytes, cuda::Device device) {
  return called(driver_calls::cuDeviceGetName, [&](Call&) {
    if (!exists(device)) return DriverResult::invalid_device;
    if (Machine::get().settings.nameless) return DriverResult::unknown;
    std::snprintf(name, static_cast<std::size_t>(bytes), "%s", "NVIDIA H100 80GB HBM3");
    return DriverResult::success;
  });
}

DriverResult cuDeviceGetAttribute(int* value, cuda::DeviceAttribute attribute,
                                  cuda::Device device) {
  return called(driver_calls::cuDeviceGetAttribute, [&](Call&) {
    if (!exists(device)) return DriverResult::invalid_device;
    const int found = attribute_of(attribute, device);
    if (found < 0) return DriverResult::invalid_value;
    *value = found;
    return DriverResult::success;
  });
}

DriverResult cuDeviceTotalMem_v2(std::size_t* bytes, cuda::Device device) {
  return called(driver_calls::cuDeviceTotalMem_v2, [&](Call&) {
    if (!exists(device)) return DriverResult::invalid_device;
    *bytes = std::size_t{81'559} << 20;
    return DriverResult::success;
  });
}

DriverResult cuDeviceGetPCIBusId(char* id, int bytes, cuda::Device device) {
  return called(driver_calls::cuDeviceGetPCIBusId, [&](Call&) {
    if (!exists(device)) return DriverResult::invalid_device;
    std::snprintf(id, static_cast<std::size_t>(bytes), "0000:%02X:00.0",
                  static_cast<unsigned>(0x17 + device));
    return DriverResult::success;
  });
}

DriverResult cuDeviceGetUuid_v2(cuda::Uuid* uuid, cuda::Device device) {
  return called(driver_calls::cuDeviceGetUuid_v2, [&](Call&) {
    if (!exists(device)) return DriverResult::invalid_device;
    *uuid = {};
    uuid->bytes[15] = static_cast<char>(device + 1);
    return DriverResult::success;
  });
}

DriverResult cuDevicePrimaryCtxRetain(cuda::Context* context, cuda::Device device) {
  return called(driver_calls::cuDevicePrimaryCtxRetain, [&](Call&) {
    if (!exists(device)) return DriverResult::invalid_device;
    *context = reinterpret_cast<cuda::Context>(
        Machine::get().context_of_device(static_cast<std::uint32_t>(device)));
    return DriverResult::success;
  });
}

DriverResult cuDevicePrimaryCtxRelease_v2(cuda::Device device) {
  return called(driver_calls::cuDevicePrimaryCtxRelease_v2, [&](Call&) {
    return exists(device) ? DriverResult::success : DriverResult::invalid_device;
  });
}

DriverResult cuDevicePrimaryCtxGetState(cuda::Device device, std::uint32_t* flags, int* active) {
  return called(driver_calls::cuDevicePrimaryCtxGetState, [&](Call&) {
    if (!exists(device)) return DriverResult::invalid_device;
    *flags = 0;
    *active =
        Machine::get().existing_context(static_cast<std::uint32_t>(device)) == nullptr ? 0 : 1;
    return DriverResult::success;
  });
}

DriverResult cuCtxGetCurrent(cuda::Context* context) {
  return called(driver_calls::cuCtxGetCurrent, [&](Call&) {
    *context = reinterpret_cast<cuda::Context>(Machine::current());
    return DriverResult::success;
  });
}

DriverResult cuCtxSetCurrent(cuda::Context context) {
  return called(driver_calls::cuCtxSetCurrent, [&](Call&) {
    Machine::set_current(reinterpret_cast<ContextState*>(context));
    return DriverResult::success;
  });
}

DriverResult cuCtxGetDevice(cuda::Device* device) {
  return called(driver_calls::cuCtxGetDevice, [&](Call&) {
    const ContextState* const context = Machine::current();
    if (context == nullptr) return DriverResult::invalid_context;
    *device = static_cast<cuda::Device>(context->device);
    return DriverResult::success;
  });
}

DriverResult cuCtxSynchronize() {
  return called(driver_calls::cuCtxSynchronize, [&](Call& call) {
    Machine& machine = Machine::get();
    ContextState* const context = Machine::current();
    if (context == nullptr) return DriverResult::invalid_context;
    if (machine.spoils_capture(*context)) return DriverResult::stream_capture_unsupported;
    const std::uint64_t since = Machine::now();
    Machine::sleep_until(machine.end_of(*context));
    if (machine.is_dead(*context)) return context->fault;
    {
      const std::lock_guard held(machine.lock);
      ++machine.counts.waits;
    }
    if (Listener* const told = machine.listener) {
      told->waited(call,
                   {.type = cuda::SynchronizationType::context_synchronize,
                    .context = context->id,
                    .stream = cuda::no_stream,
                    .event = cuda::no_event,
                    .event_sync = 0},
                   since);
      told->synchronized(cuda::synchronize_callback::context_synchronized,
                         reinterpret_cast<cuda::Context>(context), nullptr);
    }
    return DriverResult::success;
  });
}

}  // extern "C"

}  // namespace perflab::cuda_sim
