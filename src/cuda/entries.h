// The entry points of the CUDA driver and of CUPTI that this project calls: member, exported name,
// whether nothing can be recorded without it, signature. Those that only capture and replay need
// are not needed for recording: replay/cuda looks for its own. Origin: docs/facts/cuda_cupti.md
// "Entry points".
#pragma once

#include "cuda/records.h"

// NOLINTBEGIN(cppcoreguidelines-macro-usage)
// clang-format off

/// X(member, exported name, needed, signature): libcuda.so.1.
#define PERFLAB_CUDA_DRIVER(X)                                                                    \
  X(init, cuInit, true, DriverResult(std::uint32_t flags))                                        \
  X(driver_get_version, cuDriverGetVersion, true, DriverResult(int* version))                     \
  X(get_error_name, cuGetErrorName, false, DriverResult(DriverResult result, const char** name))  \
  X(device_get_count, cuDeviceGetCount, true, DriverResult(int* count))                           \
  X(device_get, cuDeviceGet, true, DriverResult(Device* device, int ordinal))                     \
  X(device_get_name, cuDeviceGetName, true, DriverResult(char* name, int bytes, Device device))   \
  X(device_get_attribute, cuDeviceGetAttribute, true, DriverResult(int* value,                    \
    DeviceAttribute attribute, Device device))                                                    \
  X(device_total_memory, cuDeviceTotalMem_v2, true, DriverResult(std::size_t* bytes,              \
    Device device))                                                                               \
  X(device_get_pci_bus_id, cuDeviceGetPCIBusId, true, DriverResult(char* id, int bytes,           \
    Device device))                                                                               \
  X(device_get_uuid, cuDeviceGetUuid_v2, false, DriverResult(Uuid* uuid, Device device))          \
  X(primary_context_retain, cuDevicePrimaryCtxRetain, false, DriverResult(Context* context,       \
    Device device))                                                                               \
  X(primary_context_release, cuDevicePrimaryCtxRelease_v2, false, DriverResult(Device device))    \
  X(primary_context_get_state, cuDevicePrimaryCtxGetState, false, DriverResult(Device device,     \
    std::uint32_t* flags, int* active))                                                           \
  X(context_get_current, cuCtxGetCurrent, true, DriverResult(Context* context))                   \
  X(context_set_current, cuCtxSetCurrent, true, DriverResult(Context context))                    \
  X(context_get_device, cuCtxGetDevice, true, DriverResult(Device* device))                       \
  X(context_synchronize, cuCtxSynchronize, true, DriverResult())                                  \
  X(memory_get_info, cuMemGetInfo_v2, false, DriverResult(std::size_t* free_bytes,                \
    std::size_t* all_bytes))                                                                      \
  X(stream_is_capturing, cuStreamIsCapturing, false, DriverResult(Stream stream,                  \
    std::uint32_t* status))                                                                       \
  X(thread_exchange_capture_mode, cuThreadExchangeStreamCaptureMode, false, DriverResult(         \
    StreamCaptureMode* mode))                                                                     \
  PERFLAB_CUDA_DRIVER_MEMORY(X)                                                                   \
  PERFLAB_CUDA_DRIVER_VIRTUAL_MEMORY(X)                                                           \
  PERFLAB_CUDA_DRIVER_MODULES(X)                                                                  \
  PERFLAB_CUDA_DRIVER_STREAMS(X)                                                                  \
  PERFLAB_CUDA_DRIVER_GRAPHS(X)

/// Allocations and copies.
#define PERFLAB_CUDA_DRIVER_MEMORY(X)                                                             \
  X(memory_allocate, cuMemAlloc_v2, false, DriverResult(DevicePointer* address,                   \
    std::size_t bytes))                                                                           \
  X(memory_free, cuMemFree_v2, false, DriverResult(DevicePointer address))                        \
  X(memory_allocate_managed, cuMemAllocManaged, false, DriverResult(DevicePointer* address,       \
    std::size_t bytes, std::uint32_t flags))                                                      \
  X(memory_allocate_async, cuMemAllocAsync, false, DriverResult(DevicePointer* address,           \
    std::size_t bytes, Stream stream))                                                            \
  X(memory_free_async, cuMemFreeAsync, false, DriverResult(DevicePointer address, Stream stream)) \
  X(memory_get_address_range, cuMemGetAddressRange_v2, false, DriverResult(DevicePointer* base,   \
    std::size_t* bytes, DevicePointer address))                                                   \
  X(host_allocate, cuMemHostAlloc, false, DriverResult(void** address, std::size_t bytes,         \
    std::uint32_t flags))                                                                         \
  X(host_free, cuMemFreeHost, false, DriverResult(void* address))                                 \
  X(host_register, cuMemHostRegister_v2, false, DriverResult(void* address, std::size_t bytes,    \
    std::uint32_t flags))                                                                         \
  X(host_unregister, cuMemHostUnregister, false, DriverResult(void* address))                     \
  X(host_get_device_pointer, cuMemHostGetDevicePointer_v2, false, DriverResult(                   \
    DevicePointer* device, void* host, std::uint32_t flags))                                      \
  X(pointer_get_attribute, cuPointerGetAttribute, false, DriverResult(void* value,                \
    PointerAttribute attribute, DevicePointer address))                                           \
  X(copy_to_device, cuMemcpyHtoD_v2, false, DriverResult(DevicePointer to, const void* from,      \
    std::size_t bytes))                                                                           \
  X(copy_to_host, cuMemcpyDtoH_v2, false, DriverResult(void* to, DevicePointer from,              \
    std::size_t bytes))                                                                           \
  X(copy_on_device, cuMemcpyDtoD_v2, false, DriverResult(DevicePointer to, DevicePointer from,    \
    std::size_t bytes))                                                                           \
  X(copy_to_device_async, cuMemcpyHtoDAsync_v2, false, DriverResult(DevicePointer to,             \
    const void* from, std::size_t bytes, Stream stream))                                          \
  X(copy_to_host_async, cuMemcpyDtoHAsync_v2, false, DriverResult(void* to, DevicePointer from,   \
    std::size_t bytes, Stream stream))                                                            \
  X(copy_on_device_async, cuMemcpyDtoDAsync_v2, false, DriverResult(DevicePointer to,             \
    DevicePointer from, std::size_t bytes, Stream stream))                                        \
  X(fill, cuMemsetD8_v2, false, DriverResult(DevicePointer to, std::uint8_t value,                \
    std::size_t bytes))                                                                           \
  X(fill_async, cuMemsetD8Async, false, DriverResult(DevicePointer to, std::uint8_t value,        \
    std::size_t bytes, Stream stream))

/// Addresses apart from the memory behind them.
#define PERFLAB_CUDA_DRIVER_VIRTUAL_MEMORY(X)                                                     \
  X(allocation_granularity, cuMemGetAllocationGranularity, false, DriverResult(                   \
    std::size_t* granularity, const AllocationProperties* properties, std::uint32_t recommended)) \
  X(address_reserve, cuMemAddressReserve, false, DriverResult(DevicePointer* address,             \
    std::size_t bytes, std::size_t alignment, DevicePointer wish, unsigned long long flags))      \
  X(address_free, cuMemAddressFree, false, DriverResult(DevicePointer address,                    \
    std::size_t bytes))                                                                           \
  X(memory_create, cuMemCreate, false, DriverResult(MemoryHandle* handle, std::size_t bytes,      \
    const AllocationProperties* properties, unsigned long long flags))                            \
  X(memory_release, cuMemRelease, false, DriverResult(MemoryHandle handle))                       \
  X(memory_map, cuMemMap, false, DriverResult(DevicePointer address, std::size_t bytes,           \
    std::size_t offset, MemoryHandle handle, unsigned long long flags))                           \
  X(memory_unmap, cuMemUnmap, false, DriverResult(DevicePointer address, std::size_t bytes))      \
  X(memory_set_access, cuMemSetAccess, false, DriverResult(DevicePointer address,                 \
    std::size_t bytes, const AccessDescription* access, std::size_t count))                       \
  X(memory_get_access, cuMemGetAccess, false, DriverResult(unsigned long long* flags,             \
    const MemoryLocation* location, DevicePointer address))

/// Modules, kernels and launches.
#define PERFLAB_CUDA_DRIVER_MODULES(X)                                                            \
  X(module_load_data, cuModuleLoadData, false, DriverResult(Module* module, const void* image))   \
  X(module_unload, cuModuleUnload, false, DriverResult(Module module))                            \
  X(module_get_function, cuModuleGetFunction, false, DriverResult(Function* function,             \
    Module module, const char* name))                                                             \
  X(module_get_global, cuModuleGetGlobal_v2, false, DriverResult(DevicePointer* address,          \
    std::size_t* bytes, Module module, const char* name))                                         \
  X(function_get_attribute, cuFuncGetAttribute, false, DriverResult(int* value,                   \
    FunctionAttribute attribute, Function function))                                              \
  X(function_set_attribute, cuFuncSetAttribute, false, DriverResult(Function function,            \
    FunctionAttribute attribute, int value))                                                      \
  X(function_get_name, cuFuncGetName, false, DriverResult(const char** name, Function function))  \
  X(function_get_module, cuFuncGetModule, false, DriverResult(Module* module, Function function)) \
  X(function_get_parameter, cuFuncGetParamInfo, false, DriverResult(Function function,            \
    std::size_t index, std::size_t* offset, std::size_t* bytes))                                  \
  X(library_load_data, cuLibraryLoadData, false, DriverResult(Library* library,                   \
    const void* image, void* jit_options, void** jit_values, std::uint32_t jit_count,             \
    void* options, void** values, std::uint32_t count))                                           \
  X(library_get_kernel, cuLibraryGetKernel, false, DriverResult(Kernel* kernel, Library library,  \
    const char* name))                                                                            \
  X(library_get_module, cuLibraryGetModule, false, DriverResult(Module* module, Library library)) \
  X(kernel_get_function, cuKernelGetFunction, false, DriverResult(Function* function,             \
    Kernel kernel))                                                                               \
  X(kernel_get_library, cuKernelGetLibrary, false, DriverResult(Library* library, Kernel kernel)) \
  X(launch_kernel, cuLaunchKernel, false, DriverResult(Function function, std::uint32_t grid_x,   \
    std::uint32_t grid_y, std::uint32_t grid_z, std::uint32_t block_x, std::uint32_t block_y,     \
    std::uint32_t block_z, std::uint32_t shared_bytes, Stream stream, void** parameters,          \
    void** extra))                                                                                \
  X(launch_kernel_ex, cuLaunchKernelEx, false, DriverResult(const LaunchConfiguration* shape,     \
    Function function, void** parameters, void** extra))

/// Streams and events.
#define PERFLAB_CUDA_DRIVER_STREAMS(X)                                                            \
  X(stream_create, cuStreamCreate, false, DriverResult(Stream* stream, std::uint32_t flags))      \
  X(stream_destroy, cuStreamDestroy_v2, false, DriverResult(Stream stream))                       \
  X(stream_query, cuStreamQuery, false, DriverResult(Stream stream))                              \
  X(stream_synchronize, cuStreamSynchronize, false, DriverResult(Stream stream))                  \
  X(event_create, cuEventCreate, false, DriverResult(Event* event, std::uint32_t flags))          \
  X(event_destroy, cuEventDestroy_v2, false, DriverResult(Event event))                           \
  X(event_record, cuEventRecord, false, DriverResult(Event event, Stream stream))                 \
  X(event_query, cuEventQuery, false, DriverResult(Event event))                                  \
  X(event_synchronize, cuEventSynchronize, false, DriverResult(Event event))                      \
  X(event_elapsed_time, cuEventElapsedTime_v2, false, DriverResult(float* milliseconds,           \
    Event start, Event end))

/// Graphs.
#define PERFLAB_CUDA_DRIVER_GRAPHS(X)                                                             \
  X(graph_get_nodes, cuGraphGetNodes, false, DriverResult(Graph graph, GraphNode* nodes,          \
    std::size_t* count))                                                                          \
  X(graph_node_get_type, cuGraphNodeGetType, false, DriverResult(GraphNode node,                  \
    GraphNodeType* type))                                                                         \
  X(graph_kernel_node_get, cuGraphKernelNodeGetParams_v2, false, DriverResult(GraphNode node,     \
    KernelNodeParameters* parameters))                                                            \
  X(graph_node_get_dependencies, cuGraphNodeGetDependencies_v2, false, DriverResult(              \
    GraphNode node, GraphNode* dependencies, void* edges, std::size_t* count))                    \
  X(graph_kernel_node_attribute, cuGraphKernelNodeGetAttribute, false, DriverResult(              \
    GraphNode node, LaunchAttributeId attribute, LaunchAttributeValue* value))

/// X(member, exported name, needed, signature): libcupti.so.13 and .12.
#define PERFLAB_CUDA_CUPTI(X)                                                                     \
  X(get_version, cuptiGetVersion, true, CuptiResult(std::uint32_t* version))                      \
  X(get_result_string, cuptiGetResultString, true, CuptiResult(CuptiResult result,                \
    const char** text))                                                                           \
  X(get_timestamp, cuptiGetTimestamp, false, CuptiResult(std::uint64_t* timestamp))               \
  X(get_context_id, cuptiGetContextId, false, CuptiResult(Context context, std::uint32_t* id))    \
  X(get_stream_id, cuptiGetStreamIdEx, false, CuptiResult(Context context, Stream stream,         \
    std::uint8_t per_thread, std::uint32_t* id))                                                  \
  X(get_device_id, cuptiGetDeviceId, false, CuptiResult(Context context, std::uint32_t* id))      \
  X(set_thread_id_type, cuptiSetThreadIdType, true, CuptiResult(ThreadIdType type))               \
  X(activity_register_callbacks, cuptiActivityRegisterCallbacks, true, CuptiResult(               \
    BufferRequested requested, BufferCompleted completed))                                        \
  X(activity_register_timestamp, cuptiActivityRegisterTimestampCallback, true, CuptiResult(       \
    TimestampFunction function))                                                                  \
  X(activity_enable, cuptiActivityEnable, true, CuptiResult(ActivityKind kind))                   \
  X(activity_disable, cuptiActivityDisable, true, CuptiResult(ActivityKind kind))                 \
  X(activity_flush_all, cuptiActivityFlushAll, true, CuptiResult(std::uint32_t flags))            \
  X(activity_get_next_record, cuptiActivityGetNextRecord, true, CuptiResult(std::uint8_t* buffer, \
    std::size_t valid_bytes, Record** record))                                                    \
  X(activity_get_dropped, cuptiActivityGetNumDroppedRecords, true, CuptiResult(Context context,   \
    std::uint32_t stream_id, std::size_t* dropped))                                               \
  X(activity_enable_latency_timestamps, cuptiActivityEnableLatencyTimestamps, false,              \
    CuptiResult(std::uint8_t enable))                                                             \
  X(activity_enable_event_timestamps, cuptiActivityEnableCudaEventDeviceTimestamps, false,        \
    CuptiResult(std::uint8_t enable))                                                             \
  X(activity_enable_runtime_call, cuptiActivityEnableRuntimeApi, false, CuptiResult(              \
    CallbackId id, std::uint8_t enable))                                                          \
  X(activity_enable_driver_call, cuptiActivityEnableDriverApi, false, CuptiResult(CallbackId id,  \
    std::uint8_t enable))                                                                         \
  X(subscribe, cuptiSubscribe, true, CuptiResult(Subscriber* subscriber,                          \
    CallbackFunction callback, void* user_data))                                                  \
  X(subscribe_v2, cuptiSubscribe_v2, false, CuptiResult(Subscriber* subscriber,                   \
    CallbackFunction callback, void* user_data, SubscriberParameters* parameters))                \
  X(unsubscribe, cuptiUnsubscribe, true, CuptiResult(Subscriber subscriber))                      \
  X(enable_domain, cuptiEnableDomain, true, CuptiResult(std::uint32_t enable,                     \
    Subscriber subscriber, CallbackDomain domain))                                                \
  X(enable_callback, cuptiEnableCallback, true, CuptiResult(std::uint32_t enable,                 \
    Subscriber subscriber, CallbackDomain domain, CallbackId id))                                 \
  X(get_callback_name, cuptiGetCallbackName, true, CuptiResult(CallbackDomain domain,             \
    CallbackId id, const char** name))                                                            \
  X(finalize, cuptiFinalize, false, CuptiResult())

// clang-format on
// NOLINTEND(cppcoreguidelines-macro-usage)
