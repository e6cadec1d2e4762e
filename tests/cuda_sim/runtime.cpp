// Each call is told to the listener, then the driver is called inside it.
#include "cuda_sim/runtime.h"

#include <mutex>

namespace perflab::cuda_sim::runtime {
namespace {

thread_local int chosen_device = 0;

// The device's primary context becomes the thread's, unless it has one.
DriverResult ready() {
  cuda::Context context = nullptr;
  if (const DriverResult answer = cuCtxGetCurrent(&context); answer != DriverResult::success)
    return answer;
  if (context != nullptr && cuda_sim_device_of(context) == chosen_device)
    return DriverResult::success;
  if (const DriverResult answer = cuDevicePrimaryCtxRetain(&context, chosen_device);
      answer != DriverResult::success)
    return answer;
  return cuCtxSetCurrent(context);
}

// What the runtime asks of every device before its first call, with records of their own.
void look_at_devices() {
  int count = 0;
  cuDeviceGetCount(&count);
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cuda::Device device = 0;
    cuDeviceGet(&device, ordinal);
    char name[64] = "";
    cuDeviceGetName(name, sizeof name, device);
    std::size_t bytes = 0;
    cuDeviceTotalMem_v2(&bytes, device);
    int value = 0;
    for (const auto attribute :
         {cuda::DeviceAttribute::compute_capability_major,
          cuda::DeviceAttribute::compute_capability_minor, cuda::DeviceAttribute::warp_size})
      cuDeviceGetAttribute(&value, attribute, device);
  }
}

// cuInit and what follows it: outside of the call that needed it.
DriverResult started() {
  if (const DriverResult answer = cuInit(0); answer != DriverResult::success) return answer;
  cuda_sim_count_thread();
  static std::once_flag looked;
  std::call_once(looked, &look_at_devices);
  return DriverResult::success;
}

template <class Body>
DriverResult call_of(const CallName& what, Body&& body, const char* symbol = nullptr,
                     int device = 0) {
  if (const DriverResult answer = started(); answer != DriverResult::success) return answer;
  Call call{.what = what, .symbol = symbol};
  call.device = device;
  cuda_sim_enter(&call);
  DriverResult answer = ready();
  if (answer == DriverResult::success) answer = body();
  call.answer = static_cast<std::uint32_t>(answer);
  cuda_sim_leave(&call);
  return answer;
}

}  // namespace

DriverResult get_device_count(int* count) {
  return call_of(runtime_calls::cudaGetDeviceCount, [&] { return cuDeviceGetCount(count); });
}
DriverResult set_device(int device) {
  chosen_device = device;
  return call_of(
      runtime_calls::cudaSetDevice, [] { return DriverResult::success; }, nullptr, device);
}
DriverResult allocate(cuda::DevicePointer* address, std::size_t bytes) {
  return call_of(runtime_calls::cudaMalloc, [&] { return cuMemAlloc_v2(address, bytes); });
}
DriverResult release(cuda::DevicePointer address) {
  return call_of(runtime_calls::cudaFree, [&] { return cuMemFree_v2(address); });
}
DriverResult allocate_host(void** address, std::size_t bytes) {
  return call_of(runtime_calls::cudaMallocHost, [&] { return cuMemAllocHost_v2(address, bytes); });
}
DriverResult release_host(void* address) {
  return call_of(runtime_calls::cudaFreeHost, [&] { return cuMemFreeHost(address); });
}
DriverResult allocate_managed(cuda::DevicePointer* address, std::size_t bytes) {
  return call_of(runtime_calls::cudaMallocManaged,
                 [&] { return cuMemAllocManaged(address, bytes, 1); });
}
DriverResult allocate_async(cuda::DevicePointer* address, std::size_t bytes, cuda::Stream stream) {
  return call_of(runtime_calls::cudaMallocAsync,
                 [&] { return cuMemAllocAsync(address, bytes, stream); });
}
DriverResult release_async(cuda::DevicePointer address, cuda::Stream stream) {
  return call_of(runtime_calls::cudaFreeAsync, [&] { return cuMemFreeAsync(address, stream); });
}
DriverResult trim_pool() {
  return call_of(runtime_calls::cudaMemPoolTrimTo, [] { return cuMemPoolTrimTo(nullptr, 0); });
}

DriverResult copy(cuda::CopyKind kind, std::size_t bytes, cuda::Stream stream) {
  return call_of(runtime_calls::cudaMemcpyAsync, [&] {
    switch (kind) {
      case cuda::CopyKind::host_to_device:
        return cuMemcpyHtoDAsync_v2(0, nullptr, bytes, stream);
      case cuda::CopyKind::device_to_host:
        return cuMemcpyDtoHAsync_v2(nullptr, 0, bytes, stream);
      case cuda::CopyKind::device_to_device:
        return cuMemcpyDtoDAsync_v2(0, 0, bytes, stream);
      default:
        return DriverResult::invalid_value;
    }
  });
}

DriverResult copy_peer(int to_device, std::size_t bytes, cuda::Stream stream) {
  return call_of(runtime_calls::cudaMemcpyPeerAsync, [&] {
    cuda::Context to = nullptr;
    if (const DriverResult answer = cuDevicePrimaryCtxRetain(&to, to_device);
        answer != DriverResult::success)
      return answer;
    return cuMemcpyPeerAsync(0, to, 0, nullptr, bytes, stream);
  });
}

DriverResult fill(std::uint8_t value, std::size_t bytes, cuda::Stream stream) {
  return call_of(runtime_calls::cudaMemsetAsync,
                 [&] { return cuMemsetD8Async(0, value, bytes, stream); });
}

DriverResult launch(cuda::Function kernel, const Launch& shape, cuda::Stream stream,
                    void** parameters) {
  const CallName* outer = &runtime_calls::cudaLaunchKernel;
  const CallName* inner = &driver_calls::cuLaunchKernel;
  if (shape.type == cuda::launch_type::cooperative) {
    outer = &runtime_calls::cudaLaunchCooperativeKernel;
    inner = &driver_calls::cuLaunchCooperativeKernel;
  } else if (shape.cluster.x > 0) {
    outer = &runtime_calls::cudaLaunchKernelExC;
    inner = &driver_calls::cuLaunchKernelEx;
  } else if (stream == per_thread_stream) {
    outer = &runtime_calls::cudaLaunchKernel_ptsz;
    inner = &driver_calls::cuLaunchKernel_ptsz;
  }
  if (const DriverResult answer = started(); answer != DriverResult::success) return answer;
  // Only with a client of CUPTI, and with a record of its own.
  if (outer == &runtime_calls::cudaLaunchKernel && cuda_sim_has_listener()) {
    const char* name = nullptr;
    cuKernelGetName(&name, kernel);
  }
  return call_of(*outer,
                 [&] { return cuda_sim_launch(inner, kernel, &shape, stream, parameters); });
}

DriverResult create_stream(cuda::Stream* stream, bool blocking) {
  return call_of(runtime_calls::cudaStreamCreateWithFlags,
                 [&] { return cuStreamCreate(stream, blocking ? 0 : 1); });
}
DriverResult destroy_stream(cuda::Stream stream) {
  return call_of(runtime_calls::cudaStreamDestroy, [&] { return cuStreamDestroy_v2(stream); });
}
DriverResult synchronize(cuda::Stream stream) {
  return call_of(runtime_calls::cudaStreamSynchronize, [&] { return cuStreamSynchronize(stream); });
}
DriverResult query(cuda::Stream stream) {
  return call_of(runtime_calls::cudaStreamQuery, [&] { return cuStreamQuery(stream); });
}
DriverResult create_event(cuda::Event* event) {
  return call_of(runtime_calls::cudaEventCreateWithFlags, [&] { return cuEventCreate(event, 0); });
}
DriverResult destroy_event(cuda::Event event) {
  return call_of(runtime_calls::cudaEventDestroy, [&] { return cuEventDestroy_v2(event); });
}
DriverResult record(cuda::Event event, cuda::Stream stream) {
  return call_of(runtime_calls::cudaEventRecord, [&] { return cuEventRecord(event, stream); });
}
DriverResult wait(cuda::Stream stream, cuda::Event event) {
  return call_of(runtime_calls::cudaStreamWaitEvent,
                 [&] { return cuStreamWaitEvent(stream, event, 0); });
}
DriverResult synchronize_event(cuda::Event event) {
  return call_of(runtime_calls::cudaEventSynchronize, [&] { return cuEventSynchronize(event); });
}
DriverResult synchronize_device() {
  return call_of(runtime_calls::cudaDeviceSynchronize, [] { return cuCtxSynchronize(); });
}
DriverResult reset_device() {
  return call_of(runtime_calls::cudaDeviceReset, [] {
    cuda_sim_stop_contexts();
    return DriverResult::success;
  });
}

DriverResult begin_capture(cuda::Stream stream) {
  return call_of(runtime_calls::cudaStreamBeginCapture,
                 [&] { return cuStreamBeginCapture_v2(stream, 0); });
}
DriverResult end_capture(cuda::Stream stream, Graph* graph) {
  return call_of(runtime_calls::cudaStreamEndCapture,
                 [&] { return cuStreamEndCapture(stream, graph); });
}
DriverResult instantiate(cuda::GraphExec* executable, Graph graph) {
  return call_of(runtime_calls::cudaGraphInstantiate,
                 [&] { return cuGraphInstantiateWithFlags(executable, graph, 0); });
}
DriverResult launch_graph(cuda::GraphExec executable, cuda::Stream stream) {
  return call_of(runtime_calls::cudaGraphLaunch, [&] { return cuGraphLaunch(executable, stream); });
}
DriverResult destroy_graph(cuda::GraphExec executable) {
  return call_of(runtime_calls::cudaGraphExecDestroy,
                 [&] { return cuGraphExecDestroy(executable); });
}

}  // namespace perflab::cuda_sim::runtime
