// The table of host API calls of HIP and HSA; cuda_calls.cpp has those of CUDA. Sources: HIP API
// reference (hip_runtime_api.h) and HSA runtime specification 1.2; which of them wait: the same,
// and docs/facts/hsa_runtime.md "Packets of HIP".
#include "trace/api_calls.h"

#include <algorithm>
#include <array>
#include <utility>

#include "trace/cuda_calls.h"

namespace perflab::trace {
namespace {

using Entry = std::pair<std::string_view, CallKind>;

/// Exact names, sorted. Per-thread-stream variants (_spt) do what the plain call does.
constexpr auto kCalls = std::to_array<Entry>({
    {"hipCtxSynchronize", CallKind::device_sync},
    {"hipDeviceReset", CallKind::implicit_sync},
    {"hipDeviceSynchronize", CallKind::device_sync},
    {"hipDrvMemcpy2DUnaligned", CallKind::blocking_copy},
    {"hipDrvMemcpy3D", CallKind::blocking_copy},
    {"hipDrvMemcpy3DAsync", CallKind::copy},
    {"hipEventCreate", CallKind::resource},
    {"hipEventCreateWithFlags", CallKind::resource},
    {"hipEventDestroy", CallKind::resource},
    {"hipEventRecord", CallKind::event_record},
    {"hipEventRecordWithFlags", CallKind::event_record},
    {"hipEventSynchronize", CallKind::event_sync},
    {"hipExtLaunchKernel", CallKind::launch},
    {"hipExtLaunchMultiKernelMultiDevice", CallKind::launch},
    {"hipExtModuleLaunchKernel", CallKind::launch},
    {"hipExtStreamCreateWithCUMask", CallKind::make_stream},
    {"hipFree", CallKind::implicit_sync},
    {"hipFreeArray", CallKind::implicit_sync},
    {"hipFreeAsync", CallKind::resource},
    {"hipFreeHost", CallKind::implicit_sync},
    {"hipGraphInstantiate", CallKind::resource},
    {"hipGraphInstantiateWithFlags", CallKind::resource},
    {"hipGraphLaunch", CallKind::launch},
    {"hipGraphUpload", CallKind::resource},
    {"hipHccModuleLaunchKernel", CallKind::launch},
    {"hipHostAlloc", CallKind::resource},
    {"hipHostFree", CallKind::implicit_sync},
    {"hipHostMalloc", CallKind::resource},
    {"hipHostRegister", CallKind::resource},
    {"hipHostUnregister", CallKind::implicit_sync},
    {"hipInit", CallKind::resource},
    {"hipLaunchByPtr", CallKind::launch},
    {"hipLaunchCooperativeKernel", CallKind::launch},
    {"hipLaunchCooperativeKernelMultiDevice", CallKind::launch},
    {"hipLaunchKernel", CallKind::launch},
    {"hipLaunchKernelExC", CallKind::launch},
    {"hipMalloc", CallKind::resource},
    {"hipMalloc3D", CallKind::resource},
    {"hipMallocArray", CallKind::resource},
    {"hipMallocAsync", CallKind::resource},
    {"hipMallocFromPoolAsync", CallKind::resource},
    {"hipMallocManaged", CallKind::resource},
    {"hipMallocPitch", CallKind::resource},
    {"hipMemAddressReserve", CallKind::resource},
    {"hipMemCreate", CallKind::resource},
    {"hipMemMap", CallKind::resource},
    {"hipMemPrefetchAsync", CallKind::copy},
    {"hipMemSetAccess", CallKind::resource},
    {"hipMemUnmap", CallKind::resource},
    {"hipModuleLaunchCooperativeKernel", CallKind::launch},
    {"hipModuleLaunchKernel", CallKind::launch},
    {"hipModuleLoad", CallKind::resource},
    {"hipModuleLoadData", CallKind::resource},
    {"hipModuleLoadDataEx", CallKind::resource},
    {"hipModuleUnload", CallKind::implicit_sync},
    {"hipSetDevice", CallKind::set_device},
    {"hipStreamBeginCapture", CallKind::begin_capture},
    {"hipStreamCreate", CallKind::make_blocking_stream},
    {"hipStreamCreateWithFlags", CallKind::make_stream},
    {"hipStreamCreateWithPriority", CallKind::make_stream},
    {"hipStreamDestroy", CallKind::destroy_stream},
    {"hipStreamEndCapture", CallKind::end_capture},
    {"hipStreamSynchronize", CallKind::stream_sync},
    {"hipStreamWaitEvent", CallKind::stream_wait_event},
    {"hsa_amd_signal_wait_all", CallKind::signal_wait},
    {"hsa_amd_signal_wait_any", CallKind::signal_wait},
    {"hsa_signal_wait_acquire", CallKind::signal_wait},
    {"hsa_signal_wait_relaxed", CallKind::signal_wait},
    {"hsa_signal_wait_scacquire", CallKind::signal_wait},
});
static_assert(std::ranges::is_sorted(kCalls, {}, &Entry::first));

/// Families that keep growing. Fills return at once; copies do when their names say so.
CallKind kind_of_family(std::string_view name) {
  if (name.starts_with("hipMemset")) return CallKind::copy;
  if (!name.starts_with("hipMemcpy")) return CallKind::other;
  return name.ends_with("Async") ? CallKind::copy : CallKind::blocking_copy;
}

}  // namespace

CallKind call_kind(std::string_view name) {
  if (is_cuda_call(name)) return cuda_call_kind(name);
  if (name.ends_with("_spt")) name.remove_suffix(4);
  const auto* const found = std::ranges::lower_bound(kCalls, name, {}, &Entry::first);
  if (found != kCalls.end() && found->first == name) return found->second;
  return kind_of_family(name);
}

bool is_graph_launch(std::string_view name) {
  return name.starts_with("hipGraphLaunch") || name.starts_with("cudaGraphLaunch") ||
         name.starts_with("cuGraphLaunch");
}

bool is_marker_category(std::string_view category) {
  return category.find("MARKER") != std::string_view::npos ||
         category.find("marker") != std::string_view::npos;
}

}  // namespace perflab::trace
