// Every number of src/cuda against the toolkit's headers. Compiled where the build found them;
// elsewhere one test says that it did not.
#include <gtest/gtest.h>

#ifdef PERFLAB_CUPTI_HEADERS
#include <cupti.h>

#include <type_traits>

#include "cuda/cupti_types.h"
#include "cuda/driver_types.h"
#include "cuda/entries.h"
#include "cuda/records.h"

namespace perflab::cuda {
namespace {

template <class Number>
constexpr std::uint64_t plain(Number number) {
  return static_cast<std::uint64_t>(number);
}

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define SAME_NUMBER(ours, theirs) static_assert(plain(ours) == plain(theirs))

TEST(CudaNumbers, DriverResult) {
  SAME_NUMBER(DriverResult::success, CUDA_SUCCESS);
  SAME_NUMBER(DriverResult::invalid_value, CUDA_ERROR_INVALID_VALUE);
  SAME_NUMBER(DriverResult::out_of_memory, CUDA_ERROR_OUT_OF_MEMORY);
  SAME_NUMBER(DriverResult::not_initialized, CUDA_ERROR_NOT_INITIALIZED);
  SAME_NUMBER(DriverResult::deinitialized, CUDA_ERROR_DEINITIALIZED);
  SAME_NUMBER(DriverResult::no_device, CUDA_ERROR_NO_DEVICE);
  SAME_NUMBER(DriverResult::invalid_device, CUDA_ERROR_INVALID_DEVICE);
  SAME_NUMBER(DriverResult::invalid_image, CUDA_ERROR_INVALID_IMAGE);
  SAME_NUMBER(DriverResult::invalid_context, CUDA_ERROR_INVALID_CONTEXT);
  SAME_NUMBER(DriverResult::no_binary_for_gpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
  SAME_NUMBER(DriverResult::invalid_handle, CUDA_ERROR_INVALID_HANDLE);
  SAME_NUMBER(DriverResult::not_found, CUDA_ERROR_NOT_FOUND);
  SAME_NUMBER(DriverResult::not_ready, CUDA_ERROR_NOT_READY);
  SAME_NUMBER(DriverResult::illegal_address, CUDA_ERROR_ILLEGAL_ADDRESS);
  SAME_NUMBER(DriverResult::launch_out_of_resources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  SAME_NUMBER(DriverResult::host_memory_already_registered,
              CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  SAME_NUMBER(DriverResult::host_memory_not_registered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  SAME_NUMBER(DriverResult::launch_failed, CUDA_ERROR_LAUNCH_FAILED);
  SAME_NUMBER(DriverResult::cooperative_launch_too_large, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  SAME_NUMBER(DriverResult::not_supported, CUDA_ERROR_NOT_SUPPORTED);
  SAME_NUMBER(DriverResult::stream_capture_unsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  SAME_NUMBER(DriverResult::stream_capture_implicit, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  SAME_NUMBER(DriverResult::unknown, CUDA_ERROR_UNKNOWN);
}

TEST(CudaNumbers, CallsOfMemoryModulesAndGraphs) {
  using namespace driver_call;
  SAME_NUMBER(module_load, CUPTI_DRIVER_TRACE_CBID_cuModuleLoad);
  SAME_NUMBER(module_load_data, CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData);
  SAME_NUMBER(module_load_data_ex, CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx);
  SAME_NUMBER(module_load_fat_binary, CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary);
  SAME_NUMBER(memory_free_host, CUPTI_DRIVER_TRACE_CBID_cuMemFreeHost);
  SAME_NUMBER(host_allocate, CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc);
  SAME_NUMBER(memory_allocate, CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2);
  SAME_NUMBER(memory_allocate_pitch, CUPTI_DRIVER_TRACE_CBID_cuMemAllocPitch_v2);
  SAME_NUMBER(memory_free, CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2);
  SAME_NUMBER(host_allocate_v2, CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc_v2);
  SAME_NUMBER(memory_allocate_host, CUPTI_DRIVER_TRACE_CBID_cuMemAllocHost_v2);
  SAME_NUMBER(host_unregister, CUPTI_DRIVER_TRACE_CBID_cuMemHostUnregister);
  SAME_NUMBER(ipc_open, CUPTI_DRIVER_TRACE_CBID_cuIpcOpenMemHandle);
  SAME_NUMBER(ipc_close, CUPTI_DRIVER_TRACE_CBID_cuIpcCloseMemHandle);
  SAME_NUMBER(memory_allocate_managed, CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged);
  SAME_NUMBER(host_register, CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2);
  SAME_NUMBER(external_memory_map, CUPTI_DRIVER_TRACE_CBID_cuExternalMemoryGetMappedBuffer);
  SAME_NUMBER(graph_instantiate, CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiate);
  SAME_NUMBER(address_reserve, CUPTI_DRIVER_TRACE_CBID_cuMemAddressReserve);
  SAME_NUMBER(address_free, CUPTI_DRIVER_TRACE_CBID_cuMemAddressFree);
  SAME_NUMBER(memory_release, CUPTI_DRIVER_TRACE_CBID_cuMemRelease);
  SAME_NUMBER(memory_map, CUPTI_DRIVER_TRACE_CBID_cuMemMap);
  SAME_NUMBER(memory_unmap, CUPTI_DRIVER_TRACE_CBID_cuMemUnmap);
  SAME_NUMBER(memory_import, CUPTI_DRIVER_TRACE_CBID_cuMemImportFromShareableHandle);
  SAME_NUMBER(ipc_open_v2, CUPTI_DRIVER_TRACE_CBID_cuIpcOpenMemHandle_v2);
  SAME_NUMBER(graph_instantiate_v2, CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiate_v2);
  SAME_NUMBER(memory_allocate_async, CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync);
  SAME_NUMBER(memory_allocate_async_ptsz, CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync_ptsz);
  SAME_NUMBER(memory_free_async, CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync);
  SAME_NUMBER(memory_free_async_ptsz, CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync_ptsz);
  SAME_NUMBER(memory_allocate_from_pool, CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync);
  SAME_NUMBER(memory_allocate_from_pool_ptsz, CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync_ptsz);
  SAME_NUMBER(pool_import_pointer, CUPTI_DRIVER_TRACE_CBID_cuMemPoolImportPointer);
  SAME_NUMBER(graph_instantiate_flags, CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags);
  SAME_NUMBER(graph_instantiate_parameters, CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams);
  SAME_NUMBER(graph_instantiate_parameters_ptsz,
              CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams_ptsz);
  SAME_NUMBER(graph_exec_destroy, CUPTI_DRIVER_TRACE_CBID_cuGraphExecDestroy);
  SAME_NUMBER(graph_exec_kernel_node_set, CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams);
  SAME_NUMBER(graph_exec_update, CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate);
  SAME_NUMBER(graph_exec_kernel_node_set_v2,
              CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2);
  SAME_NUMBER(graph_exec_update_v2, CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2);
  SAME_NUMBER(graph_exec_node_set, CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams);
}

TEST(CudaNumbers, GraphsAndStreamCapture) {
  SAME_NUMBER(StreamCaptureMode::global, CU_STREAM_CAPTURE_MODE_GLOBAL);
  SAME_NUMBER(StreamCaptureMode::thread_local_only, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  SAME_NUMBER(StreamCaptureMode::relaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
  SAME_NUMBER(GraphNodeType::kernel, CU_GRAPH_NODE_TYPE_KERNEL);
  SAME_NUMBER(GraphNodeType::copy, CU_GRAPH_NODE_TYPE_MEMCPY);
  SAME_NUMBER(GraphNodeType::fill, CU_GRAPH_NODE_TYPE_MEMSET);
  SAME_NUMBER(GraphNodeType::host, CU_GRAPH_NODE_TYPE_HOST);
  SAME_NUMBER(GraphNodeType::graph, CU_GRAPH_NODE_TYPE_GRAPH);
  SAME_NUMBER(GraphNodeType::empty, CU_GRAPH_NODE_TYPE_EMPTY);
}

TEST(CudaNumbers, FunctionAttribute) {
  using enum FunctionAttribute;
  SAME_NUMBER(max_threads_per_block, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  SAME_NUMBER(shared_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  SAME_NUMBER(constant_bytes, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
  SAME_NUMBER(local_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  SAME_NUMBER(registers, CU_FUNC_ATTRIBUTE_NUM_REGS);
  SAME_NUMBER(binary_version, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
  SAME_NUMBER(max_dynamic_shared_bytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  SAME_NUMBER(preferred_shared_carveout, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  SAME_NUMBER(non_portable_cluster_size_allowed,
              CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
}

TEST(CudaNumbers, Memory) {
  SAME_NUMBER(PointerAttribute::memory_type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
  SAME_NUMBER(PointerAttribute::is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED);
  SAME_NUMBER(PointerAttribute::device_ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
  SAME_NUMBER(MemoryType::host, CU_MEMORYTYPE_HOST);
  SAME_NUMBER(MemoryType::device, CU_MEMORYTYPE_DEVICE);
  SAME_NUMBER(MemoryType::array, CU_MEMORYTYPE_ARRAY);
  SAME_NUMBER(MemoryType::unified, CU_MEMORYTYPE_UNIFIED);
  SAME_NUMBER(LocationType::invalid, CU_MEM_LOCATION_TYPE_INVALID);
  SAME_NUMBER(LocationType::device, CU_MEM_LOCATION_TYPE_DEVICE);
  SAME_NUMBER(LocationType::host, CU_MEM_LOCATION_TYPE_HOST);
  SAME_NUMBER(allocation_pinned, CU_MEM_ALLOCATION_TYPE_PINNED);
  SAME_NUMBER(access_read_write, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  SAME_NUMBER(host_memory::portable, CU_MEMHOSTALLOC_PORTABLE);
  SAME_NUMBER(host_memory::io_memory, CU_MEMHOSTREGISTER_IOMEMORY);
  SAME_NUMBER(host_memory::device_map, CU_MEMHOSTALLOC_DEVICEMAP);
  SAME_NUMBER(host_memory::portable, CU_MEMHOSTREGISTER_PORTABLE);
  SAME_NUMBER(host_memory::device_map, CU_MEMHOSTREGISTER_DEVICEMAP);
  SAME_NUMBER(managed_global, CU_MEM_ATTACH_GLOBAL);
}

TEST(CudaNumbers, Launch) {
  SAME_NUMBER(LaunchAttributeId::ignore, CU_LAUNCH_ATTRIBUTE_IGNORE);
  SAME_NUMBER(LaunchAttributeId::cooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
  SAME_NUMBER(LaunchAttributeId::cluster_dimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  SAME_NUMBER(launch_parameter::end, CU_LAUNCH_PARAM_END_AS_INT);
  SAME_NUMBER(launch_parameter::buffer_pointer, CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT);
  SAME_NUMBER(launch_parameter::buffer_size, CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT);
}

TEST(CudaNumbers, DeviceAttribute) {
  SAME_NUMBER(DeviceAttribute::max_threads_per_block, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  SAME_NUMBER(DeviceAttribute::max_shared_memory_per_block,
              CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  SAME_NUMBER(DeviceAttribute::warp_size, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  SAME_NUMBER(DeviceAttribute::max_registers_per_block,
              CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  SAME_NUMBER(DeviceAttribute::clock_rate, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  SAME_NUMBER(DeviceAttribute::multiprocessor_count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  SAME_NUMBER(DeviceAttribute::pci_bus_id, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
  SAME_NUMBER(DeviceAttribute::pci_device_id, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
  SAME_NUMBER(DeviceAttribute::memory_clock_rate, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  SAME_NUMBER(DeviceAttribute::global_memory_bus_width,
              CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  SAME_NUMBER(DeviceAttribute::l2_cache_size, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  SAME_NUMBER(DeviceAttribute::max_threads_per_multiprocessor,
              CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  SAME_NUMBER(DeviceAttribute::pci_domain_id, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
  SAME_NUMBER(DeviceAttribute::compute_capability_major,
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  SAME_NUMBER(DeviceAttribute::compute_capability_minor,
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  SAME_NUMBER(DeviceAttribute::max_shared_memory_per_multiprocessor,
              CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  SAME_NUMBER(DeviceAttribute::max_registers_per_multiprocessor,
              CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  SAME_NUMBER(DeviceAttribute::cooperative_launch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
  SAME_NUMBER(DeviceAttribute::max_shared_memory_per_block_optin,
              CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  SAME_NUMBER(DeviceAttribute::max_blocks_per_multiprocessor,
              CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  SAME_NUMBER(DeviceAttribute::reserved_shared_memory_per_block,
              CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  SAME_NUMBER(DeviceAttribute::gpu_pci_device_id, CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID);
}

TEST(CudaNumbers, CuptiResult) {
  SAME_NUMBER(CuptiResult::success, CUPTI_SUCCESS);
  SAME_NUMBER(CuptiResult::invalid_parameter, CUPTI_ERROR_INVALID_PARAMETER);
  SAME_NUMBER(CuptiResult::invalid_device, CUPTI_ERROR_INVALID_DEVICE);
  SAME_NUMBER(CuptiResult::invalid_context, CUPTI_ERROR_INVALID_CONTEXT);
  SAME_NUMBER(CuptiResult::invalid_operation, CUPTI_ERROR_INVALID_OPERATION);
  SAME_NUMBER(CuptiResult::out_of_memory, CUPTI_ERROR_OUT_OF_MEMORY);
  SAME_NUMBER(CuptiResult::hardware, CUPTI_ERROR_HARDWARE);
  SAME_NUMBER(CuptiResult::parameter_size_not_sufficient,
              CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT);
  SAME_NUMBER(CuptiResult::api_not_implemented, CUPTI_ERROR_API_NOT_IMPLEMENTED);
  SAME_NUMBER(CuptiResult::max_limit_reached, CUPTI_ERROR_MAX_LIMIT_REACHED);
  SAME_NUMBER(CuptiResult::not_ready, CUPTI_ERROR_NOT_READY);
  SAME_NUMBER(CuptiResult::not_compatible, CUPTI_ERROR_NOT_COMPATIBLE);
  SAME_NUMBER(CuptiResult::not_initialized, CUPTI_ERROR_NOT_INITIALIZED);
  SAME_NUMBER(CuptiResult::invalid_metric_name, CUPTI_ERROR_INVALID_METRIC_NAME);
  SAME_NUMBER(CuptiResult::queue_empty, CUPTI_ERROR_QUEUE_EMPTY);
  SAME_NUMBER(CuptiResult::invalid_handle, CUPTI_ERROR_INVALID_HANDLE);
  SAME_NUMBER(CuptiResult::invalid_stream, CUPTI_ERROR_INVALID_STREAM);
  SAME_NUMBER(CuptiResult::invalid_kind, CUPTI_ERROR_INVALID_KIND);
  SAME_NUMBER(CuptiResult::disabled, CUPTI_ERROR_DISABLED);
  SAME_NUMBER(CuptiResult::hardware_busy, CUPTI_ERROR_HARDWARE_BUSY);
  SAME_NUMBER(CuptiResult::not_supported, CUPTI_ERROR_NOT_SUPPORTED);
  SAME_NUMBER(CuptiResult::virtualized_device_not_supported,
              CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
  SAME_NUMBER(CuptiResult::insufficient_privileges, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  SAME_NUMBER(CuptiResult::old_profiler_api_initialized, CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED);
  SAME_NUMBER(CuptiResult::legacy_profiler_not_supported,
              CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED);
  SAME_NUMBER(CuptiResult::multiple_subscribers_not_supported,
              CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  SAME_NUMBER(CuptiResult::virtualized_device_insufficient_privileges,
              CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
  SAME_NUMBER(CuptiResult::confidential_computing_not_supported,
              CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
  SAME_NUMBER(CuptiResult::cmp_device_not_supported, CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED);
  SAME_NUMBER(CuptiResult::mig_device_not_supported, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
  SAME_NUMBER(CuptiResult::sli_device_not_supported, CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED);
  SAME_NUMBER(CuptiResult::wsl_device_not_supported, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);
  SAME_NUMBER(CuptiResult::invalid_chip_name, CUPTI_ERROR_INVALID_CHIP_NAME);
  SAME_NUMBER(CuptiResult::unknown, CUPTI_ERROR_UNKNOWN);
}

TEST(CudaNumbers, CallbackDomain) {
  SAME_NUMBER(CallbackDomain::invalid, CUPTI_CB_DOMAIN_INVALID);
  SAME_NUMBER(CallbackDomain::driver_api, CUPTI_CB_DOMAIN_DRIVER_API);
  SAME_NUMBER(CallbackDomain::runtime_api, CUPTI_CB_DOMAIN_RUNTIME_API);
  SAME_NUMBER(CallbackDomain::resource, CUPTI_CB_DOMAIN_RESOURCE);
  SAME_NUMBER(CallbackDomain::synchronize, CUPTI_CB_DOMAIN_SYNCHRONIZE);
  SAME_NUMBER(CallbackDomain::nvtx, CUPTI_CB_DOMAIN_NVTX);
  SAME_NUMBER(CallbackDomain::state, CUPTI_CB_DOMAIN_STATE);
}

TEST(CudaNumbers, ResourceCallback) {
  SAME_NUMBER(resource_callback::context_created, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  SAME_NUMBER(resource_callback::context_destroy_starting,
              CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
  SAME_NUMBER(resource_callback::stream_created, CUPTI_CBID_RESOURCE_STREAM_CREATED);
  SAME_NUMBER(resource_callback::stream_destroy_starting,
              CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING);
  SAME_NUMBER(resource_callback::init_finished, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED);
  SAME_NUMBER(resource_callback::module_loaded, CUPTI_CBID_RESOURCE_MODULE_LOADED);
  SAME_NUMBER(resource_callback::module_unload_starting,
              CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
  SAME_NUMBER(resource_callback::module_profiled, CUPTI_CBID_RESOURCE_MODULE_PROFILED);
  SAME_NUMBER(resource_callback::graph_created, CUPTI_CBID_RESOURCE_GRAPH_CREATED);
  SAME_NUMBER(resource_callback::graph_destroy_starting,
              CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING);
  SAME_NUMBER(resource_callback::graph_cloned, CUPTI_CBID_RESOURCE_GRAPH_CLONED);
  SAME_NUMBER(resource_callback::graph_node_create_starting,
              CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING);
  SAME_NUMBER(resource_callback::graph_node_created, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
  SAME_NUMBER(resource_callback::graph_node_destroy_starting,
              CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING);
  SAME_NUMBER(resource_callback::graph_node_dependency_created,
              CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED);
  SAME_NUMBER(resource_callback::graph_node_dependency_destroy_starting,
              CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING);
  SAME_NUMBER(resource_callback::graph_exec_create_starting,
              CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING);
  SAME_NUMBER(resource_callback::graph_exec_created, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED);
  SAME_NUMBER(resource_callback::graph_exec_destroy_starting,
              CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING);
  SAME_NUMBER(resource_callback::graph_node_cloned, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
}

TEST(CudaNumbers, SynchronizeCallback) {
  SAME_NUMBER(synchronize_callback::stream_synchronized,
              CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED);
  SAME_NUMBER(synchronize_callback::context_synchronized,
              CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED);
}

TEST(CudaNumbers, StateCallback) {
  SAME_NUMBER(state_callback::fatal_error, CUPTI_CBID_STATE_FATAL_ERROR);
  SAME_NUMBER(state_callback::error, CUPTI_CBID_STATE_ERROR);
  SAME_NUMBER(state_callback::warning, CUPTI_CBID_STATE_WARNING);
}

TEST(CudaNumbers, DriverCall) {
  SAME_NUMBER(driver_call::launch_kernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
  SAME_NUMBER(driver_call::graph_launch, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch);
  SAME_NUMBER(driver_call::launch_kernel_ptsz, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz);
  SAME_NUMBER(driver_call::launch_cooperative_kernel,
              CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel);
  SAME_NUMBER(driver_call::launch_cooperative_kernel_ptsz,
              CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz);
  SAME_NUMBER(driver_call::graph_launch_ptsz, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz);
  SAME_NUMBER(driver_call::launch_kernel_ex, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx);
  SAME_NUMBER(driver_call::launch_kernel_ex_ptsz, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz);
}

TEST(CudaNumbers, CallbackSite) {
  SAME_NUMBER(CallbackSite::enter, CUPTI_API_ENTER);
  SAME_NUMBER(CallbackSite::exit, CUPTI_API_EXIT);
}

TEST(CudaNumbers, ActivityKind) {
  SAME_NUMBER(ActivityKind::invalid, CUPTI_ACTIVITY_KIND_INVALID);
  SAME_NUMBER(ActivityKind::copy, CUPTI_ACTIVITY_KIND_MEMCPY);
  SAME_NUMBER(ActivityKind::fill, CUPTI_ACTIVITY_KIND_MEMSET);
  SAME_NUMBER(ActivityKind::kernel, CUPTI_ACTIVITY_KIND_KERNEL);
  SAME_NUMBER(ActivityKind::driver_call, CUPTI_ACTIVITY_KIND_DRIVER);
  SAME_NUMBER(ActivityKind::runtime_call, CUPTI_ACTIVITY_KIND_RUNTIME);
  SAME_NUMBER(ActivityKind::device, CUPTI_ACTIVITY_KIND_DEVICE);
  SAME_NUMBER(ActivityKind::context, CUPTI_ACTIVITY_KIND_CONTEXT);
  SAME_NUMBER(ActivityKind::concurrent_kernel, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  SAME_NUMBER(ActivityKind::marker, CUPTI_ACTIVITY_KIND_MARKER);
  SAME_NUMBER(ActivityKind::marker_data, CUPTI_ACTIVITY_KIND_MARKER_DATA);
  SAME_NUMBER(ActivityKind::overhead, CUPTI_ACTIVITY_KIND_OVERHEAD);
  SAME_NUMBER(ActivityKind::peer_copy, CUPTI_ACTIVITY_KIND_MEMCPY2);
  SAME_NUMBER(ActivityKind::event, CUPTI_ACTIVITY_KIND_CUDA_EVENT);
  SAME_NUMBER(ActivityKind::stream, CUPTI_ACTIVITY_KIND_STREAM);
  SAME_NUMBER(ActivityKind::synchronization, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  SAME_NUMBER(ActivityKind::external_correlation, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  SAME_NUMBER(ActivityKind::internal_launch, CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API);
  SAME_NUMBER(ActivityKind::memory, CUPTI_ACTIVITY_KIND_MEMORY2);
  SAME_NUMBER(ActivityKind::memory_pool, CUPTI_ACTIVITY_KIND_MEMORY_POOL);
  SAME_NUMBER(ActivityKind::graph_trace, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
}

TEST(CudaNumbers, LaunchType) {
  SAME_NUMBER(launch_type::regular, CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR);
  SAME_NUMBER(launch_type::cooperative, CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE);
  SAME_NUMBER(launch_type::cooperative_multi_device,
              CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_MULTI_DEVICE);
}

TEST(CudaNumbers, ChannelType) {
  SAME_NUMBER(ChannelType::invalid, CUPTI_CHANNEL_TYPE_INVALID);
  SAME_NUMBER(ChannelType::compute, CUPTI_CHANNEL_TYPE_COMPUTE);
  SAME_NUMBER(ChannelType::copy, CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY);
}

TEST(CudaNumbers, CopyKind) {
  SAME_NUMBER(CopyKind::unknown, CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN);
  SAME_NUMBER(CopyKind::host_to_device, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
  SAME_NUMBER(CopyKind::device_to_host, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
  SAME_NUMBER(CopyKind::host_to_array, CUPTI_ACTIVITY_MEMCPY_KIND_HTOA);
  SAME_NUMBER(CopyKind::array_to_host, CUPTI_ACTIVITY_MEMCPY_KIND_ATOH);
  SAME_NUMBER(CopyKind::array_to_array, CUPTI_ACTIVITY_MEMCPY_KIND_ATOA);
  SAME_NUMBER(CopyKind::array_to_device, CUPTI_ACTIVITY_MEMCPY_KIND_ATOD);
  SAME_NUMBER(CopyKind::device_to_array, CUPTI_ACTIVITY_MEMCPY_KIND_DTOA);
  SAME_NUMBER(CopyKind::device_to_device, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
  SAME_NUMBER(CopyKind::host_to_host, CUPTI_ACTIVITY_MEMCPY_KIND_HTOH);
  SAME_NUMBER(CopyKind::peer_to_peer, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
}

TEST(CudaNumbers, MemoryKind) {
  SAME_NUMBER(MemoryKind::unknown, CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN);
  SAME_NUMBER(MemoryKind::pageable, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
  SAME_NUMBER(MemoryKind::pinned, CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
  SAME_NUMBER(MemoryKind::device, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
  SAME_NUMBER(MemoryKind::array, CUPTI_ACTIVITY_MEMORY_KIND_ARRAY);
  SAME_NUMBER(MemoryKind::managed, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED);
  SAME_NUMBER(MemoryKind::device_static, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC);
  SAME_NUMBER(MemoryKind::managed_static, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC);
}

TEST(CudaNumbers, SynchronizationType) {
  SAME_NUMBER(SynchronizationType::unknown, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN);
  SAME_NUMBER(SynchronizationType::event_synchronize,
              CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE);
  SAME_NUMBER(SynchronizationType::stream_wait_event,
              CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT);
  SAME_NUMBER(SynchronizationType::stream_synchronize,
              CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE);
  SAME_NUMBER(SynchronizationType::context_synchronize,
              CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE);
}

TEST(CudaNumbers, MemoryOperation) {
  SAME_NUMBER(MemoryOperation::invalid, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_INVALID);
  SAME_NUMBER(MemoryOperation::allocation, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);
  SAME_NUMBER(MemoryOperation::release, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
}

TEST(CudaNumbers, MemoryPoolType) {
  SAME_NUMBER(MemoryPoolType::invalid, CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID);
  SAME_NUMBER(MemoryPoolType::local, CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL);
  SAME_NUMBER(MemoryPoolType::imported, CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED);
}

TEST(CudaNumbers, MemoryPoolOperation) {
  SAME_NUMBER(MemoryPoolOperation::invalid, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_INVALID);
  SAME_NUMBER(MemoryPoolOperation::created, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED);
  SAME_NUMBER(MemoryPoolOperation::destroyed, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED);
  SAME_NUMBER(MemoryPoolOperation::trimmed, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED);
}

TEST(CudaNumbers, ObjectKind) {
  SAME_NUMBER(ObjectKind::unknown, CUPTI_ACTIVITY_OBJECT_UNKNOWN);
  SAME_NUMBER(ObjectKind::process, CUPTI_ACTIVITY_OBJECT_PROCESS);
  SAME_NUMBER(ObjectKind::thread, CUPTI_ACTIVITY_OBJECT_THREAD);
  SAME_NUMBER(ObjectKind::device, CUPTI_ACTIVITY_OBJECT_DEVICE);
  SAME_NUMBER(ObjectKind::context, CUPTI_ACTIVITY_OBJECT_CONTEXT);
  SAME_NUMBER(ObjectKind::stream, CUPTI_ACTIVITY_OBJECT_STREAM);
}

TEST(CudaNumbers, MarkerFlag) {
  SAME_NUMBER(marker_flag::instantaneous, CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS);
  SAME_NUMBER(marker_flag::start, CUPTI_ACTIVITY_FLAG_MARKER_START);
  SAME_NUMBER(marker_flag::end, CUPTI_ACTIVITY_FLAG_MARKER_END);
  SAME_NUMBER(marker_flag::sync_acquire, CUPTI_ACTIVITY_FLAG_MARKER_SYNC_ACQUIRE);
  SAME_NUMBER(marker_flag::sync_acquire_success, CUPTI_ACTIVITY_FLAG_MARKER_SYNC_ACQUIRE_SUCCESS);
  SAME_NUMBER(marker_flag::sync_acquire_failed, CUPTI_ACTIVITY_FLAG_MARKER_SYNC_ACQUIRE_FAILED);
  SAME_NUMBER(marker_flag::sync_release, CUPTI_ACTIVITY_FLAG_MARKER_SYNC_RELEASE);
}

TEST(CudaNumbers, PayloadKind) {
  SAME_NUMBER(payload_kind::floating, CUPTI_METRIC_VALUE_KIND_DOUBLE);
  SAME_NUMBER(payload_kind::unsigned_integer, CUPTI_METRIC_VALUE_KIND_UINT64);
  SAME_NUMBER(payload_kind::percent, CUPTI_METRIC_VALUE_KIND_PERCENT);
  SAME_NUMBER(payload_kind::throughput, CUPTI_METRIC_VALUE_KIND_THROUGHPUT);
  SAME_NUMBER(payload_kind::signed_integer, CUPTI_METRIC_VALUE_KIND_INT64);
  SAME_NUMBER(payload_kind::utilization, CUPTI_METRIC_VALUE_KIND_UTILIZATION_LEVEL);
  SAME_NUMBER(payload_kind::extended, CUPTI_METRIC_VALUE_KIND_NVTX_EXTENDED_PAYLOAD);
}

TEST(CudaNumbers, StreamFlag) {
  SAME_NUMBER(stream_flag::unknown, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_UNKNOWN);
  SAME_NUMBER(stream_flag::by_default, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT);
  SAME_NUMBER(stream_flag::non_blocking, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING);
  SAME_NUMBER(stream_flag::null, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL);
}

TEST(CudaNumbers, OverheadKind) {
  SAME_NUMBER(overhead_kind::unknown, CUPTI_ACTIVITY_OVERHEAD_UNKNOWN);
  SAME_NUMBER(overhead_kind::driver_compiler, CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER);
  SAME_NUMBER(overhead_kind::buffer_flush, CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH);
  SAME_NUMBER(overhead_kind::instrumentation, CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION);
  SAME_NUMBER(overhead_kind::resource, CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE);
  SAME_NUMBER(overhead_kind::runtime_module_loading,
              CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING);
  SAME_NUMBER(overhead_kind::lazy_function_loading, CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING);
  SAME_NUMBER(overhead_kind::command_buffer_full, CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL);
  SAME_NUMBER(overhead_kind::buffer_request, CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST);
  SAME_NUMBER(overhead_kind::uvm_init, CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT);
}

TEST(CudaNumbers, Others) {
  SAME_NUMBER(activity_async, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
  SAME_NUMBER(activity_async, CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC);
  SAME_NUMBER(flush_forced, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  SAME_NUMBER(no_stream, CUPTI_SYNCHRONIZATION_INVALID_VALUE);
  SAME_NUMBER(no_stream, CUPTI_INVALID_STREAM_ID);
  SAME_NUMBER(no_event, CUPTI_SYNCHRONIZATION_INVALID_VALUE);
  SAME_NUMBER(ThreadIdType::by_default, CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT);
  SAME_NUMBER(ThreadIdType::system, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  SAME_NUMBER(old_subscriber_name_bytes, CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN);
  SAME_NUMBER(sizeof(SubscriberParameters), CUpti_SubscriberParams_STRUCT_SIZE);
}

// The number and the width of a call's parameters and answer, as the header declares it.
template <class Ours, class Theirs>
struct SameCall : std::false_type {};
template <class OurAnswer, class... Ours, class TheirAnswer, class... Theirs>
  requires(sizeof...(Ours) == sizeof...(Theirs))
struct SameCall<OurAnswer(Ours...), TheirAnswer(Theirs...)>
    : std::bool_constant<sizeof(OurAnswer) == sizeof(TheirAnswer) &&
                         ((sizeof(Ours) == sizeof(Theirs)) && ...)> {};

TEST(CudaNumbers, ParametersOfCalls) {
// NOLINTBEGIN(cppcoreguidelines-macro-usage)
#define SAME_CALL(name, exported, needed, ...) \
  static_assert(SameCall<__VA_ARGS__, decltype(::exported)>::value, #exported);
  // NOLINTEND(cppcoreguidelines-macro-usage)
  PERFLAB_CUDA_DRIVER(SAME_CALL)
  PERFLAB_CUDA_CUPTI(SAME_CALL)
}

}  // namespace
}  // namespace perflab::cuda
#else
TEST(CudaNumbers, Headers) {
  GTEST_SKIP() << "the build found no CUPTI headers of CUDA 13 (cupti.h): numbers not compared";
}
#endif
