// Size and offset of every field of every record and callback structure, against the toolkit's
// headers (CUPTI_API_VERSION 130001). Compiled where the build found them; elsewhere one test says
// that it did not.
#include <gtest/gtest.h>

#ifdef PERFLAB_CUPTI_HEADERS
#include <cupti.h>

#include <cstddef>

#include "cuda/cupti_types.h"
#include "cuda/launch_parameters.h"
#include "cuda/records.h"
#include "cuda/same_field.h"

namespace perflab::cuda {
namespace {

TEST(CudaLayout, LaunchConfiguration) {
  using Ours = LaunchConfiguration;
  using Theirs = CUlaunchConfig;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  static_assert(offsetof(Ours, grid) == offsetof(Theirs, gridDimX));
  static_assert(offsetof(Ours, block) == offsetof(Theirs, blockDimX));
  SAME_FIELD(shared_bytes, sharedMemBytes);
  SAME_FIELD(stream, hStream);
  SAME_FIELD(attributes, attrs);
  SAME_FIELD(attribute_count, numAttrs);
}

TEST(CudaLayout, LaunchAttribute) {
  using Ours = LaunchAttribute;
  using Theirs = CUlaunchAttribute;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(id, id);
  SAME_FIELD(value, value);
  SAME_FIELD(value.cooperative, value.cooperative);
  static_assert(offsetof(Ours, value.cluster) == offsetof(Theirs, value.clusterDim.x));
}

TEST(CudaLayout, AllocationProperties) {
  using Ours = AllocationProperties;
  using Theirs = CUmemAllocationProp;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(type, type);
  SAME_FIELD(handle_types, requestedHandleTypes);
  SAME_FIELD(location.type, location.type);
  SAME_FIELD(location.id, location.id);
  SAME_FIELD(windows_metadata, win32HandleMetaData);
  SAME_FIELD(compression, allocFlags.compressionType);
  SAME_FIELD(gpu_direct_rdma, allocFlags.gpuDirectRDMACapable);
  SAME_FIELD(usage, allocFlags.usage);
  SAME_FIELD(reserved, allocFlags.reserved);
}

TEST(CudaLayout, ParametersOfCalls) {
  {
    using Ours = LaunchKernelParameters;
    using Theirs = cuLaunchKernel_params;
    EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
    SAME_FIELD(function, f);
    static_assert(offsetof(Ours, grid) == offsetof(Theirs, gridDimX));
    static_assert(offsetof(Ours, block) == offsetof(Theirs, blockDimX));
    SAME_FIELD(shared_bytes, sharedMemBytes);
    SAME_FIELD(stream, hStream);
    SAME_FIELD(parameters, kernelParams);
    SAME_FIELD(extra, extra);
  }
  {
    using Ours = LaunchKernelParameters;
    using Theirs = cuLaunchCooperativeKernel_params;
    SAME_FIELD(function, f);
    SAME_FIELD(stream, hStream);
    SAME_FIELD(parameters, kernelParams);
  }
  {
    using Ours = LaunchKernelExParameters;
    using Theirs = cuLaunchKernelEx_params;
    EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
    SAME_FIELD(config, config);
    SAME_FIELD(function, f);
    SAME_FIELD(parameters, kernelParams);
    SAME_FIELD(extra, extra);
  }
  {
    using Ours = GraphLaunchParameters;
    using Theirs = cuGraphLaunch_params;
    EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
    SAME_FIELD(executable, hGraph);
    SAME_FIELD(stream, hStream);
  }
}

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define SAME_START(Theirs_, ours, theirs) \
  static_assert(offsetof(Theirs_, theirs) == offsetof(Ours, ours))

TEST(CudaLayout, ParametersOfMemoryCalls) {
  {
    using Ours = AllocateParameters;
    SAME_START(cuMemAlloc_v2_params, address, dptr);
    SAME_START(cuMemAllocPitch_v2_params, address, dptr);
    SAME_START(cuMemAllocAsync_params, address, dptr);
    SAME_START(cuMemAllocFromPoolAsync_params, address, dptr);
    SAME_START(cuMemAllocManaged_params, address, dptr);
    SAME_START(cuIpcOpenMemHandle_v2_params, address, pdptr);
    SAME_START(cuMemPoolImportPointer_params, address, ptr_out);
    SAME_START(cuExternalMemoryGetMappedBuffer_params, address, devPtr);
  }
  {
    using Ours = HostAllocateParameters;
    SAME_START(cuMemHostAlloc_params, address, pp);
    SAME_START(cuMemHostAlloc_params, bytes, bytesize);
    SAME_START(cuMemAllocHost_v2_params, bytes, bytesize);
  }
  {
    using Ours = HostRegisterParameters;
    using Theirs = cuMemHostRegister_v2_params;
    EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
    SAME_FIELD(address, p);
    SAME_FIELD(bytes, bytesize);
    SAME_FIELD(flags, Flags);
  }
  {
    using Ours = FreeParameters;
    SAME_START(cuMemFree_v2_params, address, dptr);
    SAME_START(cuMemFreeAsync_params, address, dptr);
    SAME_START(cuMemFreeHost_params, address, p);
    SAME_START(cuMemHostUnregister_params, address, p);
    SAME_START(cuIpcCloseMemHandle_params, address, dptr);
  }
  {
    using Ours = MapParameters;
    using Theirs = cuMemMap_params;
    EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
    SAME_FIELD(address, ptr);
    SAME_FIELD(bytes, size);
    SAME_FIELD(offset, offset);
    SAME_FIELD(handle, handle);
    SAME_FIELD(flags, flags);
  }
  {
    using Ours = UnmapParameters;
    SAME_START(cuMemUnmap_params, bytes, size);
    SAME_START(cuMemAddressFree_params, bytes, size);
  }
  {
    using Ours = ReserveParameters;
    using Theirs = cuMemAddressReserve_params;
    EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
    SAME_FIELD(address, ptr);
    SAME_FIELD(bytes, size);
    SAME_FIELD(alignment, alignment);
    SAME_FIELD(wish, addr);
    SAME_FIELD(flags, flags);
  }
  {
    using Ours = ImportHandleParameters;
    SAME_START(cuMemImportFromShareableHandle_params, handle, handle);
  }
  {
    using Ours = ReleaseHandleParameters;
    SAME_START(cuMemRelease_params, handle, handle);
  }
  {
    using Ours = LoadModuleParameters;
    SAME_START(cuModuleLoad_params, module, module);
    SAME_START(cuModuleLoadData_params, module, module);
    SAME_START(cuModuleLoadDataEx_params, module, module);
    SAME_START(cuModuleLoadFatBinary_params, module, module);
  }
  {
    using Ours = GraphInstantiateParameters;
    SAME_START(cuGraphInstantiateWithFlags_params, graph, hGraph);
    SAME_START(cuGraphInstantiateWithParams_params, graph, hGraph);
  }
  {
    using Ours = GraphExecParameters;
    SAME_START(cuGraphExecUpdate_v2_params, executable, hGraphExec);
    SAME_START(cuGraphExecUpdate_v2_params, graph, hGraph);
    SAME_START(cuGraphExecKernelNodeSetParams_v2_params, executable, hGraphExec);
    SAME_START(cuGraphExecDestroy_params, executable, hGraphExec);
  }
}

TEST(CudaLayout, Graphs) {
  {
    using Ours = KernelNodeParameters;
    using Theirs = CUDA_KERNEL_NODE_PARAMS;
    EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
    SAME_FIELD(function, func);
    static_assert(offsetof(Ours, grid) == offsetof(Theirs, gridDimX));
    static_assert(offsetof(Ours, block) == offsetof(Theirs, blockDimX));
    SAME_FIELD(shared_bytes, sharedMemBytes);
    SAME_FIELD(parameters, kernelParams);
    SAME_FIELD(extra, extra);
    SAME_FIELD(kernel, kern);
    SAME_FIELD(context, ctx);
  }
  using Ours = GraphData;
  using Theirs = CUpti_GraphData;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(graph, graph);
  SAME_FIELD(original_graph, originalGraph);
  SAME_FIELD(node, node);
  SAME_FIELD(original_node, originalNode);
  SAME_FIELD(node_type, nodeType);
  SAME_FIELD(dependency, dependency);
  SAME_FIELD(executable, graphExec);
}

TEST(CudaLayout, AccessDescription) {
  using Ours = AccessDescription;
  using Theirs = CUmemAccessDesc;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(location, location);
  SAME_FIELD(flags, flags);
}

TEST(CudaLayout, KernelRecord) {
  using Ours = KernelRecord;
  using Theirs = CUpti_ActivityKernel10;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(kind, kind);
  SAME_FIELD(cache_config, cacheConfig);
  SAME_FIELD(shared_memory_config, sharedMemoryConfig);
  SAME_FIELD(registers_per_thread, registersPerThread);
  SAME_FIELD(partitioned_cache_requested, partitionedGlobalCacheRequested);
  SAME_FIELD(partitioned_cache_executed, partitionedGlobalCacheExecuted);
  SAME_FIELD(start, start);
  SAME_FIELD(end, end);
  SAME_FIELD(completed, completed);
  SAME_FIELD(device_id, deviceId);
  SAME_FIELD(context_id, contextId);
  SAME_FIELD(stream_id, streamId);
  SAME_FIELD(grid_x, gridX);
  SAME_FIELD(grid_y, gridY);
  SAME_FIELD(grid_z, gridZ);
  SAME_FIELD(block_x, blockX);
  SAME_FIELD(block_y, blockY);
  SAME_FIELD(block_z, blockZ);
  SAME_FIELD(static_shared_memory, staticSharedMemory);
  SAME_FIELD(dynamic_shared_memory, dynamicSharedMemory);
  SAME_FIELD(local_memory_per_thread, localMemoryPerThread);
  SAME_FIELD(local_memory_total_32, localMemoryTotal);
  SAME_FIELD(correlation_id, correlationId);
  SAME_FIELD(grid_id, gridId);
  SAME_FIELD(name, name);
  SAME_FIELD(reserved, reserved0);
  SAME_FIELD(queued, queued);
  SAME_FIELD(submitted, submitted);
  SAME_FIELD(launch_type, launchType);
  SAME_FIELD(carveout_requested, isSharedMemoryCarveoutRequested);
  SAME_FIELD(shared_memory_carveout, sharedMemoryCarveoutRequested);
  SAME_FIELD(padding, padding);
  SAME_FIELD(shared_memory_executed, sharedMemoryExecuted);
  SAME_FIELD(graph_node_id, graphNodeId);
  SAME_FIELD(shared_memory_limit_config, shmemLimitConfig);
  SAME_FIELD(graph_id, graphId);
  SAME_FIELD(access_policy_window, pAccessPolicyWindow);
  SAME_FIELD(channel_id, channelID);
  SAME_FIELD(channel_type, channelType);
  SAME_FIELD(cluster_x, clusterX);
  SAME_FIELD(cluster_y, clusterY);
  SAME_FIELD(cluster_z, clusterZ);
  SAME_FIELD(cluster_scheduling_policy, clusterSchedulingPolicy);
  SAME_FIELD(local_memory_total, localMemoryTotal_v2);
  SAME_FIELD(max_potential_cluster_size, maxPotentialClusterSize);
  SAME_FIELD(max_active_clusters, maxActiveClusters);
  SAME_FIELD(is_device_launched, isDeviceLaunched);
  SAME_FIELD(padding_end, padding3);
}

TEST(CudaLayout, CopyRecord) {
  using Ours = CopyRecord;
  using Theirs = CUpti_ActivityMemcpy6;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(kind, kind);
  SAME_FIELD(copy_kind, copyKind);
  SAME_FIELD(source_kind, srcKind);
  SAME_FIELD(destination_kind, dstKind);
  SAME_FIELD(flags, flags);
  SAME_FIELD(bytes, bytes);
  SAME_FIELD(start, start);
  SAME_FIELD(end, end);
  SAME_FIELD(device_id, deviceId);
  SAME_FIELD(context_id, contextId);
  SAME_FIELD(stream_id, streamId);
  SAME_FIELD(correlation_id, correlationId);
  SAME_FIELD(runtime_correlation_id, runtimeCorrelationId);
  SAME_FIELD(padding, pad);
  SAME_FIELD(reserved, reserved0);
  SAME_FIELD(graph_node_id, graphNodeId);
  SAME_FIELD(graph_id, graphId);
  SAME_FIELD(channel_id, channelID);
  SAME_FIELD(channel_type, channelType);
  SAME_FIELD(is_device_launched, isDeviceLaunched);
  SAME_FIELD(padding_end, pad2);
  SAME_FIELD(copy_count, copyCount);
}

TEST(CudaLayout, PeerCopyRecord) {
  using Ours = PeerCopyRecord;
  using Theirs = CUpti_ActivityMemcpyPtoP4;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(kind, kind);
  SAME_FIELD(copy_kind, copyKind);
  SAME_FIELD(source_kind, srcKind);
  SAME_FIELD(destination_kind, dstKind);
  SAME_FIELD(flags, flags);
  SAME_FIELD(bytes, bytes);
  SAME_FIELD(start, start);
  SAME_FIELD(end, end);
  SAME_FIELD(device_id, deviceId);
  SAME_FIELD(context_id, contextId);
  SAME_FIELD(stream_id, streamId);
  SAME_FIELD(source_device_id, srcDeviceId);
  SAME_FIELD(source_context_id, srcContextId);
  SAME_FIELD(destination_device_id, dstDeviceId);
  SAME_FIELD(destination_context_id, dstContextId);
  SAME_FIELD(correlation_id, correlationId);
  SAME_FIELD(reserved, reserved0);
  SAME_FIELD(graph_node_id, graphNodeId);
  SAME_FIELD(graph_id, graphId);
  SAME_FIELD(channel_id, channelID);
  SAME_FIELD(channel_type, channelType);
}

TEST(CudaLayout, FillRecord) {
  using Ours = FillRecord;
  using Theirs = CUpti_ActivityMemset4;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(kind, kind);
  SAME_FIELD(value, value);
  SAME_FIELD(bytes, bytes);
  SAME_FIELD(start, start);
  SAME_FIELD(end, end);
  SAME_FIELD(device_id, deviceId);
  SAME_FIELD(context_id, contextId);
  SAME_FIELD(stream_id, streamId);
  SAME_FIELD(correlation_id, correlationId);
  SAME_FIELD(flags, flags);
  SAME_FIELD(memory_kind, memoryKind);
  SAME_FIELD(padding, pad);
  SAME_FIELD(reserved, reserved0);
  SAME_FIELD(graph_node_id, graphNodeId);
  SAME_FIELD(graph_id, graphId);
  SAME_FIELD(channel_id, channelID);
  SAME_FIELD(channel_type, channelType);
  SAME_FIELD(is_device_launched, isDeviceLaunched);
  SAME_FIELD(padding_end, pad2);
}

TEST(CudaLayout, ApiRecord) {
  using Ours = ApiRecord;
  using Theirs = CUpti_ActivityAPI;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(kind, kind);
  SAME_FIELD(callback_id, cbid);
  SAME_FIELD(start, start);
  SAME_FIELD(end, end);
  SAME_FIELD(process_id, processId);
  SAME_FIELD(thread_id, threadId);
  SAME_FIELD(correlation_id, correlationId);
  SAME_FIELD(return_value, returnValue);
}

TEST(CudaLayout, SynchronizationRecord) {
  using Ours = SynchronizationRecord;
  using Theirs = CUpti_ActivitySynchronization2;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(kind, kind);
  SAME_FIELD(type, type);
  SAME_FIELD(start, start);
  SAME_FIELD(end, end);
  SAME_FIELD(correlation_id, correlationId);
  SAME_FIELD(context_id, contextId);
  SAME_FIELD(stream_id, streamId);
  SAME_FIELD(event_id, cudaEventId);
  SAME_FIELD(event_sync_id, cudaEventSyncId);
  SAME_FIELD(return_value, returnValue);
  SAME_FIELD(padding, pad);
}

TEST(CudaLayout, EventRecord) {
  using Ours = EventRecord;
  using Theirs = CUpti_ActivityCudaEvent2;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(kind, kind);
  SAME_FIELD(correlation_id, correlationId);
  SAME_FIELD(context_id, contextId);
  SAME_FIELD(stream_id, streamId);
  SAME_FIELD(event_id, eventId);
  SAME_FIELD(padding, pad);
  SAME_FIELD(device_id, deviceId);
  SAME_FIELD(padding_2, pad2);
  SAME_FIELD(reserved, reserved0);
  SAME_FIELD(device_timestamp, deviceTimestamp);
  SAME_FIELD(event_sync_id, cudaEventSyncId);
}

TEST(CudaLayout, MemoryRecord) {
  using Ours = MemoryRecord;
  using Theirs = CUpti_ActivityMemory4;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(kind, kind);
  SAME_FIELD(operation, memoryOperationType);
  SAME_FIELD(memory_kind, memoryKind);
  SAME_FIELD(correlation_id, correlationId);
  SAME_FIELD(address, address);
  SAME_FIELD(bytes, bytes);
  SAME_FIELD(timestamp, timestamp);
  SAME_FIELD(program_counter, PC);
  SAME_FIELD(process_id, processId);
  SAME_FIELD(device_id, deviceId);
  SAME_FIELD(context_id, contextId);
  SAME_FIELD(stream_id, streamId);
  SAME_FIELD(name, name);
  SAME_FIELD(is_async, isAsync);
  SAME_FIELD(padding, pad1);
  SAME_FIELD(pool_type, memoryPoolConfig.memoryPoolType);
  SAME_FIELD(pool_padding, memoryPoolConfig.pad2);
  SAME_FIELD(pool_address, memoryPoolConfig.address);
  SAME_FIELD(pool_release_threshold, memoryPoolConfig.releaseThreshold);
  SAME_FIELD(pool_size, memoryPoolConfig.pool);
  SAME_FIELD(pool_utilized_size, memoryPoolConfig.utilizedSize);
  SAME_FIELD(source, source);
}

TEST(CudaLayout, MemoryPoolRecord) {
  using Ours = MemoryPoolRecord;
  using Theirs = CUpti_ActivityMemoryPool3;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(kind, kind);
  SAME_FIELD(operation, memoryPoolOperationType);
  SAME_FIELD(pool_type, memoryPoolType);
  SAME_FIELD(correlation_id, correlationId);
  SAME_FIELD(process_id, processId);
  SAME_FIELD(device_id, deviceId);
  SAME_FIELD(min_bytes_to_keep, minBytesToKeep);
  SAME_FIELD(address, address);
  SAME_FIELD(size, size);
  SAME_FIELD(release_threshold, releaseThreshold);
  SAME_FIELD(timestamp, timestamp);
  SAME_FIELD(utilized_size, utilizedSize);
  SAME_FIELD(is_managed, isManagedPool);
  SAME_FIELD(padding_end, pad2);
}

TEST(CudaLayout, MarkerRecord) {
  using Ours = MarkerRecord;
  using Theirs = CUpti_ActivityMarker2;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(kind, kind);
  SAME_FIELD(flags, flags);
  SAME_FIELD(timestamp, timestamp);
  SAME_FIELD(id, id);
  SAME_FIELD(object_kind, objectKind);
  SAME_FIELD(object, objectId);
  SAME_FIELD(padding, pad);
  SAME_FIELD(name, name);
  SAME_FIELD(domain, domain);
}

TEST(CudaLayout, MarkerDataRecord) {
  using Ours = MarkerDataRecord;
  using Theirs = CUpti_ActivityMarkerData2;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(kind, kind);
  SAME_FIELD(flags, flags);
  SAME_FIELD(id, id);
  SAME_FIELD(payload_kind, payloadKind);
  SAME_FIELD(payload, payload);
  SAME_FIELD(color, color);
  SAME_FIELD(category, category);
  SAME_FIELD(domain_id, cuptiDomainId);
  SAME_FIELD(padding, padding);
}

TEST(CudaLayout, DeviceRecord) {
  using Ours = DeviceRecord;
  using Theirs = CUpti_ActivityDevice5;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(kind, kind);
  SAME_FIELD(flags, flags);
  SAME_FIELD(global_memory_bandwidth, globalMemoryBandwidth);
  SAME_FIELD(global_memory_size, globalMemorySize);
  SAME_FIELD(constant_memory_size, constantMemorySize);
  SAME_FIELD(l2_cache_size, l2CacheSize);
  SAME_FIELD(threads_per_warp, numThreadsPerWarp);
  SAME_FIELD(core_clock_rate, coreClockRate);
  SAME_FIELD(copy_engines, numMemcpyEngines);
  SAME_FIELD(multiprocessors, numMultiprocessors);
  SAME_FIELD(max_ipc, maxIPC);
  SAME_FIELD(max_warps_per_multiprocessor, maxWarpsPerMultiprocessor);
  SAME_FIELD(max_blocks_per_multiprocessor, maxBlocksPerMultiprocessor);
  SAME_FIELD(max_shared_memory_per_multiprocessor, maxSharedMemoryPerMultiprocessor);
  SAME_FIELD(max_registers_per_multiprocessor, maxRegistersPerMultiprocessor);
  SAME_FIELD(max_registers_per_block, maxRegistersPerBlock);
  SAME_FIELD(max_shared_memory_per_block, maxSharedMemoryPerBlock);
  SAME_FIELD(max_threads_per_block, maxThreadsPerBlock);
  SAME_FIELD(max_block_x, maxBlockDimX);
  SAME_FIELD(max_block_y, maxBlockDimY);
  SAME_FIELD(max_block_z, maxBlockDimZ);
  SAME_FIELD(max_grid_x, maxGridDimX);
  SAME_FIELD(max_grid_y, maxGridDimY);
  SAME_FIELD(max_grid_z, maxGridDimZ);
  SAME_FIELD(compute_capability_major, computeCapabilityMajor);
  SAME_FIELD(compute_capability_minor, computeCapabilityMinor);
  SAME_FIELD(id, id);
  SAME_FIELD(ecc_enabled, eccEnabled);
  SAME_FIELD(uuid, uuid);
  SAME_FIELD(name, name);
  SAME_FIELD(is_cuda_visible, isCudaVisible);
  SAME_FIELD(is_mig_enabled, isMigEnabled);
  SAME_FIELD(reserved, reserved);
  SAME_FIELD(gpu_instance_id, gpuInstanceId);
  SAME_FIELD(compute_instance_id, computeInstanceId);
  SAME_FIELD(mig_uuid, migUuid);
  SAME_FIELD(is_numa_node, isNumaNode);
  SAME_FIELD(numa_id, numaId);
}

TEST(CudaLayout, ContextRecord) {
  using Ours = ContextRecord;
  using Theirs = CUpti_ActivityContext3;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(kind, kind);
  SAME_FIELD(context_id, contextId);
  SAME_FIELD(device_id, deviceId);
  SAME_FIELD(compute_api_kind, computeApiKind);
  SAME_FIELD(null_stream_id, nullStreamId);
  SAME_FIELD(parent_context_id, parentContextId);
  SAME_FIELD(is_green_context, isGreenContext);
  SAME_FIELD(padding, padding);
  SAME_FIELD(multiprocessors, numMultiprocessors);
  SAME_FIELD(cig_mode, cigMode);
  SAME_FIELD(padding_2, padding2);
}

TEST(CudaLayout, StreamRecord) {
  using Ours = StreamRecord;
  using Theirs = CUpti_ActivityStream;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(kind, kind);
  SAME_FIELD(context_id, contextId);
  SAME_FIELD(stream_id, streamId);
  SAME_FIELD(priority, priority);
  SAME_FIELD(flag, flag);
  SAME_FIELD(correlation_id, correlationId);
}

TEST(CudaLayout, ExternalCorrelationRecord) {
  using Ours = ExternalCorrelationRecord;
  using Theirs = CUpti_ActivityExternalCorrelation;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(kind, kind);
  SAME_FIELD(external_kind, externalKind);
  SAME_FIELD(external_id, externalId);
  SAME_FIELD(correlation_id, correlationId);
  SAME_FIELD(reserved, reserved);
}

TEST(CudaLayout, OverheadRecord) {
  using Ours = OverheadRecord;
  using Theirs = CUpti_ActivityOverhead3;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(kind, kind);
  SAME_FIELD(overhead_kind, overheadKind);
  SAME_FIELD(object_kind, objectKind);
  SAME_FIELD(object, objectId);
  SAME_FIELD(start, start);
  SAME_FIELD(end, end);
  SAME_FIELD(correlation_id, correlationId);
  SAME_FIELD(reserved, reserved0);
  SAME_FIELD(data, overheadData);
}

TEST(CudaLayout, GraphTraceRecord) {
  using Ours = GraphTraceRecord;
  using Theirs = CUpti_ActivityGraphTrace2;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(kind, kind);
  SAME_FIELD(correlation_id, correlationId);
  SAME_FIELD(start, start);
  SAME_FIELD(end, end);
  SAME_FIELD(device_id, deviceId);
  SAME_FIELD(graph_id, graphId);
  SAME_FIELD(context_id, contextId);
  SAME_FIELD(stream_id, streamId);
  SAME_FIELD(reserved, reserved);
  SAME_FIELD(end_device_id, endDeviceId);
  SAME_FIELD(end_context_id, endContextId);
}

TEST(CudaLayout, CallbackData) {
  using Ours = CallbackData;
  using Theirs = CUpti_CallbackData;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(site, callbackSite);
  SAME_FIELD(function_name, functionName);
  SAME_FIELD(function_parameters, functionParams);
  SAME_FIELD(function_return_value, functionReturnValue);
  SAME_FIELD(symbol_name, symbolName);
  SAME_FIELD(context, context);
  SAME_FIELD(context_uid, contextUid);
  SAME_FIELD(correlation_data, correlationData);
  SAME_FIELD(correlation_id, correlationId);
}

TEST(CudaLayout, ResourceData) {
  using Ours = ResourceData;
  using Theirs = CUpti_ResourceData;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(context, context);
  SAME_FIELD(stream, resourceHandle);
  SAME_FIELD(descriptor, resourceDescriptor);
}

TEST(CudaLayout, ModuleData) {
  using Ours = ModuleData;
  using Theirs = CUpti_ModuleResourceData;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(module_id, moduleId);
  SAME_FIELD(cubin_size, cubinSize);
  SAME_FIELD(cubin, pCubin);
}

TEST(CudaLayout, SynchronizeData) {
  using Ours = SynchronizeData;
  using Theirs = CUpti_SynchronizeData;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(context, context);
  SAME_FIELD(stream, stream);
}

TEST(CudaLayout, SubscriberParameters) {
  using Ours = SubscriberParameters;
  using Theirs = CUpti_SubscriberParams;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(struct_size, structSize);
  SAME_FIELD(subscriber_name, subscriberName);
  SAME_FIELD(old_subscriber_name, oldSubscriberName);
  SAME_FIELD(old_subscriber_size, oldSubscriberSize);
}

TEST(CudaLayout, StateData) {
  // The notification stands in a union without a name of its own.
  EXPECT_EQ(sizeof(StateData), sizeof(CUpti_StateData));
  EXPECT_EQ(offsetof(StateData, result), offsetof(CUpti_StateData, notification.result));
  EXPECT_EQ(offsetof(StateData, message), offsetof(CUpti_StateData, notification.message));
}

TEST(CudaLayout, WhatApi26WritesIsAPrefix) {
  // The newest records that CUDA 12.8 may write: they end where records.h starts to say "13.0".
  EXPECT_EQ(sizeof(CUpti_ActivityKernel9), offsetof(KernelRecord, is_device_launched));
  EXPECT_EQ(sizeof(CUpti_ActivityMemory3), offsetof(MemoryRecord, source));
  EXPECT_EQ(sizeof(CUpti_ActivityMemoryPool2), offsetof(MemoryPoolRecord, is_managed));
  EXPECT_EQ(sizeof(CUpti_ActivityMarkerData), offsetof(MarkerDataRecord, domain_id));
  EXPECT_EQ(sizeof(CUpti_ActivityDevice4), offsetof(DeviceRecord, is_numa_node));
  EXPECT_EQ(sizeof(CUpti_ActivityContext2), offsetof(ContextRecord, cig_mode));
  EXPECT_EQ(sizeof(CUpti_ActivityOverhead2), offsetof(OverheadRecord, data));
}

}  // namespace
}  // namespace perflab::cuda
#else
TEST(CudaLayout, Headers) {
  GTEST_SKIP() << "the build found no CUPTI headers of CUDA 13 (cupti.h): layouts not compared";
}
#endif
