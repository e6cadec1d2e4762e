// The calls of CUDA that submit, wait or order. Sources: CUDA Runtime API and CUDA Driver API
// references, there "API synchronization behavior" for who waits; CUPTI's names of callbacks
// (docs/facts/cuda_calls.md).
#include "trace/cuda_calls.h"

#include <algorithm>
#include <array>
#include <utility>

namespace perflab::trace {
namespace {

using CudaEntry = std::pair<std::string_view, CallKind>;

/// Exact names without suffixes, sorted. Allocations from pools and their frees take their place in
/// a stream: no call waits for them.
constexpr auto kCudaCalls = std::to_array<CudaEntry>({
    {"cuArray3DCreate", CallKind::resource},
    {"cuArrayCreate", CallKind::resource},
    {"cuArrayDestroy", CallKind::implicit_sync},
    {"cuCtxCreate", CallKind::resource},
    {"cuCtxDestroy", CallKind::implicit_sync},
    {"cuCtxSynchronize", CallKind::device_sync},
    {"cuDevicePrimaryCtxReset", CallKind::implicit_sync},
    {"cuDevicePrimaryCtxRetain", CallKind::resource},
    {"cuEventCreate", CallKind::resource},
    {"cuEventDestroy", CallKind::resource},
    {"cuEventRecord", CallKind::event_record},
    {"cuEventRecordWithFlags", CallKind::event_record},
    {"cuEventSynchronize", CallKind::event_sync},
    {"cuGraphInstantiate", CallKind::resource},
    {"cuGraphInstantiateWithFlags", CallKind::resource},
    {"cuGraphInstantiateWithParams", CallKind::resource},
    {"cuGraphLaunch", CallKind::launch},
    {"cuGraphUpload", CallKind::resource},
    {"cuInit", CallKind::resource},
    {"cuKernelGetFunction", CallKind::resource},
    {"cuLaunch", CallKind::launch},
    {"cuLaunchCooperativeKernel", CallKind::launch},
    {"cuLaunchCooperativeKernelMultiDevice", CallKind::launch},
    {"cuLaunchGrid", CallKind::launch},
    {"cuLaunchGridAsync", CallKind::launch},
    {"cuLaunchKernel", CallKind::launch},
    {"cuLaunchKernelEx", CallKind::launch},
    {"cuLibraryLoadData", CallKind::resource},
    {"cuLibraryLoadFromFile", CallKind::resource},
    {"cuLibraryUnload", CallKind::implicit_sync},
    {"cuLinkComplete", CallKind::resource},
    {"cuMemAddressReserve", CallKind::resource},
    {"cuMemAlloc", CallKind::resource},
    {"cuMemAllocAsync", CallKind::resource},
    {"cuMemAllocFromPoolAsync", CallKind::resource},
    {"cuMemAllocHost", CallKind::resource},
    {"cuMemAllocManaged", CallKind::resource},
    {"cuMemAllocPitch", CallKind::resource},
    {"cuMemCreate", CallKind::resource},
    {"cuMemFree", CallKind::implicit_sync},
    {"cuMemFreeAsync", CallKind::resource},
    {"cuMemFreeHost", CallKind::implicit_sync},
    {"cuMemHostAlloc", CallKind::resource},
    {"cuMemHostRegister", CallKind::resource},
    {"cuMemHostUnregister", CallKind::implicit_sync},
    {"cuMemMap", CallKind::resource},
    {"cuMemPoolCreate", CallKind::resource},
    {"cuMemPoolDestroy", CallKind::resource},
    {"cuMemPoolTrimTo", CallKind::resource},
    {"cuMemPrefetchAsync", CallKind::copy},
    {"cuMemRelease", CallKind::resource},
    {"cuMemSetAccess", CallKind::resource},
    {"cuMemUnmap", CallKind::resource},
    {"cuModuleGetFunction", CallKind::resource},
    {"cuModuleLoad", CallKind::resource},
    {"cuModuleLoadData", CallKind::resource},
    {"cuModuleLoadDataEx", CallKind::resource},
    {"cuModuleLoadFatBinary", CallKind::resource},
    {"cuModuleUnload", CallKind::implicit_sync},
    {"cuStreamBeginCapture", CallKind::begin_capture},
    {"cuStreamBeginCaptureToGraph", CallKind::begin_capture},
    {"cuStreamCreate", CallKind::make_stream},
    {"cuStreamCreateWithPriority", CallKind::make_stream},
    {"cuStreamDestroy", CallKind::destroy_stream},
    {"cuStreamEndCapture", CallKind::end_capture},
    {"cuStreamSynchronize", CallKind::stream_sync},
    {"cuStreamWaitEvent", CallKind::stream_wait_event},
    {"cudaDeviceReset", CallKind::implicit_sync},
    {"cudaDeviceSynchronize", CallKind::device_sync},
    {"cudaEventCreate", CallKind::resource},
    {"cudaEventCreateWithFlags", CallKind::resource},
    {"cudaEventDestroy", CallKind::resource},
    {"cudaEventRecord", CallKind::event_record},
    {"cudaEventRecordWithFlags", CallKind::event_record},
    {"cudaEventSynchronize", CallKind::event_sync},
    {"cudaFree", CallKind::implicit_sync},
    {"cudaFreeArray", CallKind::implicit_sync},
    {"cudaFreeAsync", CallKind::resource},
    {"cudaFreeHost", CallKind::implicit_sync},
    {"cudaFreeMipmappedArray", CallKind::implicit_sync},
    {"cudaGraphInstantiate", CallKind::resource},
    {"cudaGraphInstantiateWithFlags", CallKind::resource},
    {"cudaGraphInstantiateWithParams", CallKind::resource},
    {"cudaGraphLaunch", CallKind::launch},
    {"cudaGraphUpload", CallKind::resource},
    {"cudaHostAlloc", CallKind::resource},
    {"cudaHostRegister", CallKind::resource},
    {"cudaHostUnregister", CallKind::implicit_sync},
    {"cudaInitDevice", CallKind::resource},
    {"cudaLaunch", CallKind::launch},
    {"cudaLaunchCooperativeKernel", CallKind::launch},
    {"cudaLaunchCooperativeKernelMultiDevice", CallKind::launch},
    {"cudaLaunchKernel", CallKind::launch},
    {"cudaLaunchKernelExC", CallKind::launch},
    {"cudaLibraryLoadData", CallKind::resource},
    {"cudaLibraryLoadFromFile", CallKind::resource},
    {"cudaLibraryUnload", CallKind::implicit_sync},
    {"cudaMalloc", CallKind::resource},
    {"cudaMalloc3D", CallKind::resource},
    {"cudaMalloc3DArray", CallKind::resource},
    {"cudaMallocArray", CallKind::resource},
    {"cudaMallocAsync", CallKind::resource},
    {"cudaMallocFromPoolAsync", CallKind::resource},
    {"cudaMallocHost", CallKind::resource},
    {"cudaMallocManaged", CallKind::resource},
    {"cudaMallocMipmappedArray", CallKind::resource},
    {"cudaMallocPitch", CallKind::resource},
    {"cudaMemPoolCreate", CallKind::resource},
    {"cudaMemPoolDestroy", CallKind::resource},
    {"cudaMemPoolTrimTo", CallKind::resource},
    {"cudaMemPrefetchAsync", CallKind::copy},
    {"cudaSetDevice", CallKind::set_device},
    {"cudaStreamBeginCapture", CallKind::begin_capture},
    {"cudaStreamBeginCaptureToGraph", CallKind::begin_capture},
    {"cudaStreamCreate", CallKind::make_blocking_stream},
    {"cudaStreamCreateWithFlags", CallKind::make_stream},
    {"cudaStreamCreateWithPriority", CallKind::make_stream},
    {"cudaStreamDestroy", CallKind::destroy_stream},
    {"cudaStreamEndCapture", CallKind::end_capture},
    {"cudaStreamSynchronize", CallKind::stream_sync},
    {"cudaStreamWaitEvent", CallKind::stream_wait_event},
    {"cudaThreadExit", CallKind::implicit_sync},
    {"cudaThreadSynchronize", CallKind::device_sync},
});
static_assert(std::ranges::is_sorted(kCudaCalls, {}, &CudaEntry::first));

/// Without "_ptsz" and "_ptds" (the default stream is the thread's own) and "_v2" (a later ABI).
std::string_view cuda_plain_name(std::string_view name) {
  for (const std::string_view tail : {"_ptsz", "_ptds"})
    if (name.ends_with(tail)) name.remove_suffix(tail.size());
  const std::size_t digits = name.find_last_not_of("0123456789");
  if (digits != name.npos && digits > 0 && digits + 1 < name.size() &&
      name.substr(digits - 1, 2) == "_v")
    name = name.substr(0, digits - 1);
  return name;
}

/// Families that keep growing. Fills return at once; copies do when their names say so.
CallKind cuda_family(std::string_view name) {
  name.remove_prefix(name.starts_with("cuda") ? 4 : 2);
  if (name.starts_with("Memset")) return CallKind::copy;
  if (!name.starts_with("Memcpy")) return CallKind::other;
  return name.ends_with("Async") ? CallKind::copy : CallKind::blocking_copy;
}

}  // namespace

CallKind cuda_call_kind(std::string_view name) {
  name = cuda_plain_name(name);
  const auto* const found = std::ranges::lower_bound(kCudaCalls, name, {}, &CudaEntry::first);
  if (found != kCudaCalls.end() && found->first == name) return found->second;
  return cuda_family(name);
}

}  // namespace perflab::trace
