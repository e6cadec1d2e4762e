// The entry points of the CUDA driver and of CUPTI that this project calls: member, exported name,
// whether nothing can be recorded without it, signature. Origin: docs/facts/cuda_cupti.md "Entry
// points".
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
    std::uint32_t* status))

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
