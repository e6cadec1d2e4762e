// CUPTI's activity records as libcupti.so.13 writes them (CUPTI API 130001): kinds, layouts, values
// of their fields. Every record starts with its kind and is 8-byte aligned. CUPTI appends to its
// records: what API 26 (CUDA 12.8) does not write yet is marked "13.0"; do not read it of a record
// of that library (api_generation). Compared with the toolkit's headers in tests/cuda. Facts:
// docs/facts/cuda_cupti.md "Records".
#pragma once

#include <cstdint>

#include "cuda/cupti_types.h"

namespace perflab::cuda {

enum class ActivityKind : std::uint32_t {
  invalid = 0,
  copy = 1,
  fill = 2,
  kernel = 3,  ///< serialises kernels: never enable it
  driver_call = 4,
  runtime_call = 5,
  device = 8,
  context = 9,
  concurrent_kernel = 10,
  marker = 12,
  marker_data = 13,
  overhead = 17,
  peer_copy = 22,
  event = 36,
  stream = 37,
  synchronization = 38,
  external_correlation = 39,
  internal_launch = 48,
  memory = 49,
  memory_pool = 50,
  graph_trace = 51,  ///< suppresses the records of a graph's nodes
};

/// The stream of a record that has none.
inline constexpr std::uint32_t no_stream = 0xffffffff;
/// The event of a synchronisation that has none.
inline constexpr std::uint32_t no_event = 0xffffffff;

/// Start of every record.
struct Record {
  ActivityKind kind;
};

/// KernelRecord::launch_type.
namespace launch_type {
inline constexpr std::uint8_t regular = 0, cooperative = 1, cooperative_multi_device = 2;
}

/// What carried a kernel or copy out.
enum class ChannelType : std::uint32_t { invalid = 0, compute = 1, copy = 2 };

/// Kinds kernel and concurrent_kernel. Sizes are bytes, times ns; start = end = 0: not finished
/// when the buffers were flushed.
struct KernelRecord {
  ActivityKind kind;
  std::uint8_t cache_config;
  std::uint8_t shared_memory_config;
  std::uint16_t registers_per_thread;
  std::uint32_t partitioned_cache_requested;
  std::uint32_t partitioned_cache_executed;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t completed;  ///< 0: unknown
  std::uint32_t device_id;
  std::uint32_t context_id;
  std::uint32_t stream_id;
  std::int32_t grid_x, grid_y, grid_z;     ///< blocks
  std::int32_t block_x, block_y, block_z;  ///< threads
  std::int32_t static_shared_memory;
  std::int32_t dynamic_shared_memory;
  std::uint32_t local_memory_per_thread;
  std::uint32_t local_memory_total_32;  ///< its low half; see local_memory_total
  std::uint32_t correlation_id;         ///< of the outermost call
  std::int64_t grid_id;
  const char* name;  ///< mangled; the library's, lives as long as it
  void* reserved;
  std::uint64_t queued, submitted;  ///< 0 unless latency timestamps were enabled
  std::uint8_t launch_type;
  std::uint8_t carveout_requested;      ///< whether the next is set
  std::uint8_t shared_memory_carveout;  ///< percent
  std::uint8_t padding;
  std::uint32_t shared_memory_executed;      ///< carve-out of the SM
  std::uint64_t graph_node_id;               ///< 0: not from a graph
  std::uint32_t shared_memory_limit_config;  ///< whether the function opted in to more
  std::uint32_t graph_id;
  void* access_policy_window;
  std::uint32_t channel_id;
  ChannelType channel_type;
  std::uint32_t cluster_x, cluster_y, cluster_z;  ///< blocks; 0 without clusters
  std::uint32_t cluster_scheduling_policy;
  std::uint64_t local_memory_total;
  std::uint32_t max_potential_cluster_size;
  std::uint32_t max_active_clusters;
  std::uint8_t is_device_launched;  ///< 13.0
  std::uint8_t padding_end[7];
};
static_assert(sizeof(KernelRecord) == 216);

enum class CopyKind : std::uint8_t {
  unknown = 0,
  host_to_device = 1,
  device_to_host = 2,
  host_to_array = 3,
  array_to_host = 4,
  array_to_array = 5,
  array_to_device = 6,
  device_to_array = 7,
  device_to_device = 8,
  host_to_host = 9,
  peer_to_peer = 10,
};

enum class MemoryKind : std::uint32_t {
  unknown = 0,
  pageable = 1,
  pinned = 2,
  device = 3,
  array = 4,
  managed = 5,
  device_static = 6,
  managed_static = 7,
};

/// Flags of copies and fills.
inline constexpr std::uint8_t activity_async = 1;

/// Kind copy.
struct CopyRecord {
  ActivityKind kind;
  CopyKind copy_kind;
  std::uint8_t source_kind;       ///< a MemoryKind
  std::uint8_t destination_kind;  ///< a MemoryKind
  std::uint8_t flags;             ///< activity_async
  std::uint64_t bytes;
  std::uint64_t start, end;
  std::uint32_t device_id;
  std::uint32_t context_id;
  std::uint32_t stream_id;
  std::uint32_t correlation_id;
  std::uint32_t runtime_correlation_id;
  std::uint32_t padding;
  void* reserved;
  std::uint64_t graph_node_id;
  std::uint32_t graph_id;
  std::uint32_t channel_id;
  ChannelType channel_type;
  std::uint8_t is_device_launched;
  std::uint8_t padding_end[3];
  std::uint64_t copy_count;
};
static_assert(sizeof(CopyRecord) == 96);

/// Kind peer_copy: between two devices.
struct PeerCopyRecord {
  ActivityKind kind;
  CopyKind copy_kind;
  std::uint8_t source_kind;
  std::uint8_t destination_kind;
  std::uint8_t flags;
  std::uint64_t bytes;
  std::uint64_t start, end;
  std::uint32_t device_id;
  std::uint32_t context_id;
  std::uint32_t stream_id;
  std::uint32_t source_device_id;
  std::uint32_t source_context_id;
  std::uint32_t destination_device_id;
  std::uint32_t destination_context_id;
  std::uint32_t correlation_id;
  void* reserved;
  std::uint64_t graph_node_id;
  std::uint32_t graph_id;
  std::uint32_t channel_id;
  ChannelType channel_type;
  std::uint32_t padding_end;
};
static_assert(sizeof(PeerCopyRecord) == 96);

/// Kind fill.
struct FillRecord {
  ActivityKind kind;
  std::uint32_t value;
  std::uint64_t bytes;
  std::uint64_t start, end;
  std::uint32_t device_id;
  std::uint32_t context_id;
  std::uint32_t stream_id;
  std::uint32_t correlation_id;
  std::uint16_t flags;        ///< activity_async
  std::uint16_t memory_kind;  ///< a MemoryKind
  std::uint32_t padding;
  void* reserved;
  std::uint64_t graph_node_id;
  std::uint32_t graph_id;
  std::uint32_t channel_id;
  ChannelType channel_type;
  std::uint8_t is_device_launched;
  std::uint8_t padding_end[3];
};
static_assert(sizeof(FillRecord) == 88);

/// Kinds driver_call, runtime_call and internal_launch.
struct ApiRecord {
  ActivityKind kind;
  CallbackId callback_id;  ///< of the domain driver_api or runtime_api
  std::uint64_t start, end;
  std::uint32_t process_id;
  std::uint32_t thread_id;  ///< see ThreadIdType
  std::uint32_t correlation_id;
  std::uint32_t return_value;
};
static_assert(sizeof(ApiRecord) == 40);

enum class SynchronizationType : std::uint32_t {
  unknown = 0,
  event_synchronize = 1,
  stream_wait_event = 2,
  stream_synchronize = 3,
  context_synchronize = 4,
};

/// Kind synchronization.
struct SynchronizationRecord {
  ActivityKind kind;
  SynchronizationType type;
  std::uint64_t start, end;
  std::uint32_t correlation_id;
  std::uint32_t context_id;
  std::uint32_t stream_id;      ///< or no_stream
  std::uint32_t event_id;       ///< or no_event
  std::uint64_t event_sync_id;  ///< EventRecord::event_sync_id of the record that is waited for
  std::uint32_t return_value;
  std::uint32_t padding;
};
static_assert(sizeof(SynchronizationRecord) == 56);

/// Kind event: a cudaEventRecord.
struct EventRecord {
  ActivityKind kind;
  std::uint32_t correlation_id;
  std::uint32_t context_id;
  std::uint32_t stream_id;
  std::uint32_t event_id;
  std::uint32_t padding;
  std::uint32_t device_id;
  std::uint32_t padding_2;
  void* reserved;
  std::uint64_t device_timestamp;  ///< 0 unless enabled (activity_enable_event_timestamps)
  std::uint64_t event_sync_id;     ///< one per time that an event is recorded
};
static_assert(sizeof(EventRecord) == 56);

enum class MemoryOperation : std::uint32_t { invalid = 0, allocation = 1, release = 2 };
enum class MemoryPoolType : std::uint32_t { invalid = 0, local = 1, imported = 2 };

/// Kind memory: an allocation or its release.
struct MemoryRecord {
  ActivityKind kind;
  MemoryOperation operation;
  MemoryKind memory_kind;
  std::uint32_t correlation_id;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint64_t timestamp;
  std::uint64_t program_counter;
  std::uint32_t process_id;
  std::uint32_t device_id;
  std::uint32_t context_id;
  std::uint32_t stream_id;  ///< in stream order, else no_stream; 0 of variables
  const char* name;         ///< of a variable, else null
  std::uint32_t is_async;
  std::uint32_t padding;
  MemoryPoolType pool_type;
  std::uint32_t pool_padding;
  std::uint64_t pool_address;
  std::uint64_t pool_release_threshold;
  std::uint64_t pool_size;  ///< local pools; of imported ones: the process that made it
  std::uint64_t pool_utilized_size;
  const char* source;  ///< 13.0
};
static_assert(sizeof(MemoryRecord) == 128);

enum class MemoryPoolOperation : std::uint32_t {
  invalid = 0,
  created = 1,
  destroyed = 2,
  trimmed = 3
};

/// Kind memory_pool.
struct MemoryPoolRecord {
  ActivityKind kind;
  MemoryPoolOperation operation;
  MemoryPoolType pool_type;
  std::uint32_t correlation_id;
  std::uint32_t process_id;
  std::uint32_t device_id;
  std::uint64_t min_bytes_to_keep;
  std::uint64_t address;
  std::uint64_t size;
  std::uint64_t release_threshold;
  std::uint64_t timestamp;
  std::uint64_t utilized_size;
  std::uint8_t is_managed;  ///< 13.0
  std::uint8_t padding_end[7];
};
static_assert(sizeof(MemoryPoolRecord) == 80);

enum class ObjectKind : std::uint32_t {
  unknown = 0,
  process = 1,
  thread = 2,
  device = 3,
  context = 4,
  stream = 5,
};

/// Which object: process and thread id of a process or thread, else device, context, stream.
struct ObjectId {
  std::uint32_t process_or_device;
  std::uint32_t thread_or_context;
  std::uint32_t stream_id;
};
static_assert(sizeof(ObjectId) == 12);

/// MarkerRecord::flags.
namespace marker_flag {
inline constexpr std::uint32_t instantaneous = 1, start = 2, end = 4, sync_acquire = 8,
                               sync_acquire_success = 16, sync_acquire_failed = 32,
                               sync_release = 64;
}  // namespace marker_flag

/// Kind marker: an NVTX range's start or end, or a mark. An end has no name: join by id.
struct MarkerRecord {
  ActivityKind kind;
  std::uint32_t flags;
  std::uint64_t timestamp;
  std::uint32_t id;
  ObjectKind object_kind;
  ObjectId object;
  std::uint32_t padding;
  const char* name;    ///< null at an end
  const char* domain;  ///< null: the default one
};
static_assert(sizeof(MarkerRecord) == 56);

/// MarkerDataRecord::payload_kind.
namespace payload_kind {
inline constexpr std::uint32_t floating = 0, unsigned_integer = 1, percent = 2, throughput = 3,
                               signed_integer = 4, utilization = 5, extended = 6;
}

/// Kind marker_data: what an NVTX call carried beside its text.
struct MarkerDataRecord {
  ActivityKind kind;
  std::uint32_t flags;
  std::uint32_t id;
  std::uint32_t payload_kind;
  std::uint64_t payload;  ///< its bits; extended: an address
  std::uint32_t color;
  std::uint32_t category;
  std::uint32_t domain_id;  ///< 13.0
  std::uint32_t padding;    ///< 13.0
};
static_assert(sizeof(MarkerDataRecord) == 40);

/// Kind device.
struct DeviceRecord {
  ActivityKind kind;
  std::uint32_t flags;
  std::uint64_t global_memory_bandwidth;  ///< kB/s
  std::uint64_t global_memory_size;
  std::uint32_t constant_memory_size;
  std::uint32_t l2_cache_size;
  std::uint32_t threads_per_warp;
  std::uint32_t core_clock_rate;  ///< kHz
  std::uint32_t copy_engines;
  std::uint32_t multiprocessors;
  std::uint32_t max_ipc;
  std::uint32_t max_warps_per_multiprocessor;
  std::uint32_t max_blocks_per_multiprocessor;
  std::uint32_t max_shared_memory_per_multiprocessor;
  std::uint32_t max_registers_per_multiprocessor;
  std::uint32_t max_registers_per_block;
  std::uint32_t max_shared_memory_per_block;
  std::uint32_t max_threads_per_block;
  std::uint32_t max_block_x, max_block_y, max_block_z;
  std::uint32_t max_grid_x, max_grid_y, max_grid_z;
  std::uint32_t compute_capability_major;
  std::uint32_t compute_capability_minor;
  std::uint32_t id;
  std::uint32_t ecc_enabled;
  Uuid uuid;
  const char* name;
  std::uint8_t is_cuda_visible;
  std::uint8_t is_mig_enabled;
  std::uint8_t reserved[6];
  std::uint32_t gpu_instance_id;
  std::uint32_t compute_instance_id;
  Uuid mig_uuid;
  std::uint32_t is_numa_node;  ///< 13.0
  std::uint32_t numa_id;       ///< 13.0
};
static_assert(sizeof(DeviceRecord) == 184);

/// Kind context.
struct ContextRecord {
  ActivityKind kind;
  std::uint32_t context_id;
  std::uint32_t device_id;
  std::uint16_t compute_api_kind;
  std::uint16_t null_stream_id;  ///< its default stream
  std::uint32_t parent_context_id;
  std::uint8_t is_green_context;
  std::uint8_t padding;
  std::uint16_t multiprocessors;
  std::uint32_t cig_mode;   ///< 13.0
  std::uint32_t padding_2;  ///< 13.0
};
static_assert(sizeof(ContextRecord) == 32);

/// StreamRecord::flag.
namespace stream_flag {
inline constexpr std::uint32_t unknown = 0, by_default = 1, non_blocking = 2, null = 3;
}

/// Kind stream.
struct StreamRecord {
  ActivityKind kind;
  std::uint32_t context_id;
  std::uint32_t stream_id;
  std::uint32_t priority;
  std::uint32_t flag;
  std::uint32_t correlation_id;
};
static_assert(sizeof(StreamRecord) == 24);

/// Kind external_correlation.
struct ExternalCorrelationRecord {
  ActivityKind kind;
  std::uint32_t external_kind;
  std::uint64_t external_id;
  std::uint32_t correlation_id;
  std::uint32_t reserved;
};
static_assert(sizeof(ExternalCorrelationRecord) == 24);

/// OverheadRecord::overhead_kind.
namespace overhead_kind {
inline constexpr std::uint32_t unknown = 0, driver_compiler = 1, buffer_flush = 1U << 16,
                               instrumentation = 2U << 16, resource = 3U << 16,
                               runtime_module_loading = 4U << 16, lazy_function_loading = 5U << 16,
                               command_buffer_full = 6U << 16, buffer_request = 7U << 16,
                               uvm_init = 8U << 16;
}  // namespace overhead_kind

/// Kind overhead: time that loading, compiling or CUPTI itself took.
struct OverheadRecord {
  ActivityKind kind;
  std::uint32_t overhead_kind;
  ObjectKind object_kind;
  ObjectId object;
  std::uint64_t start, end;
  std::uint32_t correlation_id;
  std::uint32_t reserved;
  void* data;  ///< 13.0
};
static_assert(sizeof(OverheadRecord) == 56);

/// Kind graph_trace: one launch of a graph as a whole.
struct GraphTraceRecord {
  ActivityKind kind;
  std::uint32_t correlation_id;
  std::uint64_t start, end;
  std::uint32_t device_id;
  std::uint32_t graph_id;
  std::uint32_t context_id;
  std::uint32_t stream_id;
  void* reserved;
  std::uint32_t end_device_id;
  std::uint32_t end_context_id;
};
static_assert(sizeof(GraphTraceRecord) == 56);

}  // namespace perflab::cuda
